"""Published mappings: their global batch, that they fit, and that searches keep off those of presets alone."""

from dataclasses import replace

import pytest

import podsim
from podsim.files import catalog
from podsim.planning import configuration
from podsim.tiles import memory

BATCH = {  # graphcore-examples, global batch by workload, preset and machine
    ("gpt2-large", "pytorch", "pod16"): 8192,
    ("gpt2-large-512", "pytorch", "pod16"): 8192,
    ("gpt2-large-512", "pytorch", "pod64"): 8192,
    ("bert-large-128", "tensorflow2", "pod16"): 65280,
    ("bert-large-512", "tensorflow2", "pod16"): 16320,
    ("bert-large-128", "popxl-phased", "pod16"): 2048,
    ("bert-large-512", "popxl-phased", "pod16"): 2048,
    ("resnet50", "pytorch", "m2000"): 16416,
    ("resnet50", "pytorch", "pod16"): 16416,
    ("resnet50", "pytorch", "pod64"): 16128,
    ("resnet50", "examples-v2.6-lars", "pod16"): 3520,
    ("resnet50", "examples-v2.6-lars", "pod32"): 4224,
    ("resnet50", "examples-v2.6-lars", "pod64"): 5120,
}
LENGTH = {"gpt2-large": 8192.0, "gpt2-large-512": 8192.0}


@pytest.mark.parametrize(("workload", "preset", "machine"), BATCH)
def test_the_published_batch_on_all_ipus(workload, preset, machine):
    prediction = podsim.predict(
        workload, preset=preset, topology=machine, engine="analytic", samples=LENGTH.get(workload)
    )
    assert prediction.mapping.global_batch == BATCH[workload, preset, machine]
    assert prediction.mapping.ipus == prediction.ipus
    assert prediction.memory.fits


def test_the_head_of_gpt2_runs_after_its_embedding():
    """Both are on IPU 0, which needs what either needs and not the largest of both at once."""
    prediction = podsim.predict("gpt2-large", preset="pytorch", pod=16, engine="analytic", samples=8192.0)
    topology, workload = catalog.topology("pod16").value, catalog.workload("gpt2-large").value
    whole = memory.fit(workload, prediction.mapping, topology).ipus[0]
    first, last = prediction.mapping.stages[0], prediction.mapping.stages[-1]
    assert (first.ipu, last.ipu) == (0, 0)
    passing = ("activations", "exchange_buffers")
    alone = [
        memory.fit(workload, replace(prediction.mapping, stages=(stage,)), topology).ipus[0].by_category
        for stage in (first, last)
    ]
    most = max(sum(table[name] for name in passing) for table in alone)
    assert sum(whole.by_category[name] for name in passing) == pytest.approx(most)
    assert sum(max(table[name] for table in alone) for name in passing) > most


def test_searches_keep_off_configurations_of_presets():
    for name in ("bert-large-128", "bert-large-512", "resnet50"):
        workload = catalog.workload(name).value
        kept = {item.name for item in workload.configurations if item.preset_only}
        assert kept
        for chip, size, sdk in (("gc200", 4, "2.3"), ("gc200", 1, "3.3"), ("bow", 4, "2.3")):
            published = configuration.published_configuration(workload, chip, sdk, size, 4)
            assert published is None or published.name not in kept
            assert configuration.nearest(workload, chip, sdk, size).name.partition(",")[0] not in kept
