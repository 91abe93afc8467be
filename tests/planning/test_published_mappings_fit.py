"""Every published mapping fits, with its optimizer state where it was published; what did not fit stays refused.

Mappings are those of presets, on the machine they were published for and on Bow Pods as large (calibration/points,
graphcore-examples, the vendor's table of Bow results); of readings of published.csv; and of results without a preset.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import catalog, find, readings_file
from podsim.model.readings import Mode
from podsim.planning import choose
from podsim.planning.available_memory import STEPS, largest_that_fits
from podsim.planning.configuration import MappingBuilder
from podsim.tiles import memory
from podsim.workloads import presets

WORKLOADS = catalog.names("workloads")
MACHINES = set(catalog.names("topologies"))
WITHOUT_PRESET: list[tuple[str, dict[str, Any]]] = [
    # BERT-Large on SQuAD over 4 IPUs, micro-batch 1 (Gradient-HuggingFace, introduction_to_optimum_graphcore)
    ("squad", {"topology": "pod16", "replicas": 4, "ipus_per_replica": 4, "micro_batch": 1, "accumulation": 64}),
    # ResNet-50, 8 images a micro-batch (CARAML, resnet50_mlperf_pod4_bs20 with a batch of 8)
    ("resnet50", {"topology": "m2000", "replicas": 4, "ipus_per_replica": 1, "micro_batch": 8, "accumulation": 1}),
    # BERT-Base in two phases, micro-batch 32 at 128 tokens (PaddleNLP, model_zoo/bert/static_ipu, pod16)
    ("bert-base", {"topology": "pod16", "replicas": 4, "ipus_per_replica": 4, "micro_batch": 32, "accumulation": 512}),
    # ResNet-50 on four IPUs of a Bow Pod64, 18 images (argonne-lcf, example-programs)
    (
        "resnet50",
        {"topology": "bow-2000", "replicas": 4, "ipus_per_replica": 1, "micro_batch": 18, "accumulation": 228},
    ),
]
SERVED = [
    ("resnet50", "16.16", 32),
    ("resnet50", "8.16", 32),
    ("swin-large", "16.16", 2),
    ("swin-large", "8.16", 4),
    ("bert-base", "16.16", 128),
]
"""Batches that a C600 was measured with (ByteMLPerf) or is configured for (PopRT, BERT-Base of 128 tokens)."""


LONG = {"published-0023", "published-0088", "published-0089"}
"""Rows of which one takes seconds; the others take a tenth of one each."""


def preset_on(workload: str, name: str, machine: str):
    """The mapping of a preset at the available memory that it takes, what it holds, and its configuration."""
    model, topology = catalog.workload(workload).value, catalog.topology(machine).value
    preset = presets.preset(model, name, topology)
    configuration = next(
        configuration for configuration in model.configurations if configuration.name == preset.configuration
    )
    mapping = choose.published_mapping(MappingBuilder(model, topology, preset.sdk), preset)
    return *largest_that_fits(model, mapping, topology), configuration


def published_on(workload: str) -> list[tuple[str, str]]:
    """The presets of a workload, and the machines that they were published for."""
    return [(preset.name, preset.topology) for preset in catalog.workload(workload).value.presets]


def check_that_it_fits(workload: str, preset: str, machine: str) -> None:
    mapping, content, configuration = preset_on(workload, preset, machine)
    assert content.fits, (preset, machine)
    assert mapping.state is configuration.state, (preset, machine)
    known = mapping.configuration.memory_proportion in STEPS or configuration.available_memory is not None
    assert known, (preset, machine)


@pytest.mark.parametrize("workload", slow_but(WORKLOADS[::2], WORKLOADS))
def test_every_published_mapping_fits(workload):
    for preset, machine in published_on(workload):
        check_that_it_fits(workload, preset, machine)


@pytest.mark.slow
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_published_mapping_fits_on_bow(workload):
    for preset, machine in published_on(workload):
        if f"bow-{machine}" in MACHINES and not preset.startswith("mlperf"):
            check_that_it_fits(workload, preset, f"bow-{machine}")


def test_every_calibration_point_is_of_a_preset_that_fits_at_the_default():
    """None of the results that parameters are fitted to needs less available memory than the library's default."""
    points = {(point.workload, point.preset, point.topology) for point in catalog.points()}
    for workload in {point[0] for point in points}:
        assert {point[1:] for point in points if point[0] == workload} <= set(published_on(workload))
    assert not any(preset_on(*point)[0].memory_lowered for point in points)


def trained():
    """Readings of one workload; runs in phases are of workloads whose presets are above."""
    single = set(WORKLOADS)
    return [
        reading
        for reading in readings_file.readings().value.readings
        if reading.mode is Mode.TRAIN and reading.workload in single
    ]


@pytest.mark.parametrize(
    "reading",
    [
        pytest.param(reading, id=reading.row, marks=[pytest.mark.slow] if reading.row in LONG else [])
        for reading in trained()
    ],
)
def test_every_reading_of_a_published_row_fits(reading):
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "preset", "sdk")
    flags = {name: value for name in names if (value := getattr(reading, name))}
    prediction = podsim.predict(
        reading.workload, topology=reading.machine, changes=reading.changes, samples=1e9, engine="analytic", **flags
    )
    assert prediction.memory.fits


@pytest.mark.parametrize(("workload", "flags"), WITHOUT_PRESET)
def test_published_mappings_without_a_preset_fit(workload, flags):
    assert podsim.predict(workload, samples=1e9, engine="analytic", **flags).memory.fits


@pytest.mark.parametrize(("workload", "precision", "batch"), SERVED)
def test_a_card_holds_the_batches_it_was_measured_with(workload, precision, batch):
    report = podsim.infer(workload, topology="c600", batch=batch, precision=precision, engine="analytic", requests=100)
    assert report.memory.fits


def test_the_largest_square_product_of_a_gc2_is_the_published_one():
    """jia-2019, table 5.1: 2,944 is the largest square in single precision that fits; sizes are multiples of 128."""
    fits = {
        size: not podsim.op("matmul", m=size, k=size, n=size, precision="32", chip="gc2").overflows
        for size in (2816, 2944, 3072, 3200)
    }
    assert fits == {2816: True, 2944: True, 3072: False, 3200: False}


def test_gpt3_175b_does_not_fit_an_ipu_pod64():
    """graphcore-examples, nlp/gpt3_175b: "minimum POD256"; at no available memory do 64 IPUs hold it."""
    model, topology = catalog.workload("gpt3-175b").value, catalog.topology("pod64").value
    preset = next(preset for preset in model.presets if preset.topology == "pod256")
    mapping = choose.published_mapping(MappingBuilder(model, topology, preset.sdk), preset)
    alone = replace(mapping, replicas=1, accumulation=mapping.accumulation * mapping.replicas)
    for share in STEPS:
        smaller = replace(alone, configuration=replace(alone.configuration, available_memory=share))
        assert not memory.fit(model, smaller, topology).fits
    with pytest.raises(Infeasible):
        podsim.predict(
            "gpt3-175b", pod=64, ipus_per_replica=64, replicas=1, micro_batch=1, accumulation=128, engine="analytic"
        )


def test_a_machine_below_the_stated_minimum_is_answered_with_what_the_source_states():
    """On 128 IPUs the estimate of memory has GPT-3 175B fit, at 99 %; no published run does."""
    small, large = (
        [*map(str, podsim.predict("gpt3-175b", pod=pod, engine="analytic").assumptions)] for pod in (128, 256)
    )
    assert "at least 256 IPUs (graphcore-examples, gpt3_175B_pod256" in small[0]
    assert "this mapping uses 128" in small[0]
    assert not [line for line in large if "at least (" in line]


def test_any_workload_may_state_a_minimum(tmp_path):
    text = find.find("workloads", "bert-base").path.read_text(encoding="utf-8")
    table = '[minimum]\nipus = {}\nsource = "graphcore-examples"\n\n[benchmark]\n'
    details = {}
    for ipus in (16, 17):
        path = tmp_path / f"own-{ipus}.toml"
        path.write_text(text.replace("[benchmark]\n", table.format(ipus), 1), encoding="utf-8")
        notes = podsim.predict(str(path), pod=16, samples=1e6, engine="analytic").assumptions
        details[ipus] = [line for line in map(str, notes) if line.startswith("the source asks for")]
    assert details[16] == []
    assert details[17][0].startswith(
        "the source asks for at least 17 IPUs (graphcore-examples), and this mapping uses 16"
    )


def test_a_minimum_of_no_ipus_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    text = find.find("workloads", "bert-base").path.read_text(encoding="utf-8")
    path.write_text(text.replace("[benchmark]\n", '[minimum]\nipus = 0\nsource = "x"\n[benchmark]\n', 1), "utf-8")
    with pytest.raises(InputError, match="must be at least 1, not 0"):
        podsim.predict(str(path), pod=16, samples=1e6, engine="analytic")
