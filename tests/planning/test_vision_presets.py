"""Vision workloads as published configurations map them: what fits, where they are cut, how well they use the chip."""

import pytest

from podsim import predict
from podsim.files import catalog
from podsim.lowering import layout

NAMES = [
    "resnet50-gn",
    "resnet50-bn",
    "resnext101",
    "efficientnet-b0-g16",
    "efficientnet-b4-g1",
    "efficientnet-b4-g16",
    "efficientnet-b4-g16-gn",
    "vit-base",
]
PRESETS = [(name, preset) for name in NAMES for preset in catalog.workload(name).value.presets]
BATCH = {
    "resnet50-gn": {1024},
    "resnet50-bn": {16384},
    "resnext101": {768},
    "efficientnet-b0-g16": {800},
    "efficientnet-b4-g1": {768},
    "efficientnet-b4-g16": {6144},
    "efficientnet-b4-g16-gn": {2048},
    "vit-base": {65536, 4096, 2040},
}


@pytest.mark.parametrize(("name", "preset"), PRESETS, ids=lambda item: item if isinstance(item, str) else item.topology)
def test_every_preset_has_the_published_global_batch_on_all_ipus_of_its_machine(name, preset):
    samples = preset.micro_batch * preset.accumulation * preset.replicas
    assert samples in BATCH[name]
    assert preset.replicas * preset.ipus_per_replica == catalog.topology(preset.topology).value.ipus


@pytest.mark.parametrize("name", ["efficientnet-b4-g16", "vit-base"])
def test_presets_fit(name):
    for preset in catalog.workload(name).value.presets:
        prediction = predict(name, topology=preset.topology, preset=preset.name)
        assert prediction.memory.fits
        assert prediction.mapping.configuration.name == preset.configuration


@pytest.mark.parametrize(
    ("name", "configuration", "first"),
    [
        ("resnext101", "tensorflow1", ["stem", "block10"]),  # stage3/unit4: after 3 + 4 blocks the fourth of 23
        ("efficientnet-b0-g16", "pytorch-gn", ["stem", "block5"]),  # blocks/3/0: after 1 + 2 + 2 blocks
        ("efficientnet-b4-g1", "tensorflow1", ["stem", "block3", "block11", "block24"]),  # 2b, 4b, 6c
        ("efficientnet-b4-g16", "tensorflow1", ["stem", "block10"]),  # block4a: after 2 + 4 + 4 blocks
        ("efficientnet-b4-g16-gn", "pytorch-gn", ["stem", "block11"]),  # blocks/3/0/bn2, its block whole
        ("vit-base", "pytorch-16", ["embedding", *(f"layer{at}.attention" for at in (3, 6, 9))]),
    ],
)
def test_pipelines_are_cut_where_the_configurations_say(name, configuration, first):
    workload = catalog.workload(name).value
    stated = next(item for item in workload.configurations if item.name == configuration)
    stages = layout.stages(workload, stated, stated.ipus_per_replica[0])
    assert [stage.units[0].name for stage in stages] == first


def test_efficientnet_uses_a_few_per_cent_of_peak_and_resnet_and_vit_several_times_that():
    """Nothing of a workload is fitted: the order and the rough size come out of the tile model."""
    efficientnet, resnet, vit = (
        predict(name, topology="pod16", preset=preset).mfu
        for name, preset in (
            ("efficientnet-b4-g16", "examples-v2.6"),
            ("resnet50", "mlperf-v1.1-closed"),
            ("vit-base", "pretrain-lamb"),
        )
    )
    assert 0.02 < efficientnet < 0.07
    assert 0.15 < resnet < 0.20
    assert 0.15 < vit < 0.22


def test_efficientnet_b4_on_a_pod256_against_the_published_hours():
    """1.8 h (graphcore-blog-2021, mapping assumed): 20 % short with evaluations and start-up, 6 % of the run."""
    prediction = predict("efficientnet-b4-g16", topology="pod256", preset="blog-2021")
    assert prediction.time_to_train_s.value / 3600 / 1.8 == pytest.approx(0.80, abs=0.02)
    assert prediction.run.evaluations == 88
    outside_s = prediction.run.startup_s + prediction.run.evaluation_s + prediction.run.checkpoint_s
    assert 0.03 < outside_s / prediction.run.total_s < 0.1
    assert prediction.run.startup_s > 0


def test_resnet50_at_a_micro_batch_of_eight_as_measured_outside():
    """3,556 images/s of an IPU-POD4 with 4 replicas, global batch 32 (caraml-2024): 12 % short."""
    prediction = predict(
        "resnet50", pod=4, replicas=4, ipus_per_replica=1, micro_batch=8, accumulation=1, samples=1_000_000
    )
    assert prediction.throughput_samples_per_s.value / 3556.18 == pytest.approx(0.88, abs=0.03)
