"""Available memory is lowered only where none was given and only as far as needed; the answer says what it costs."""

from dataclasses import replace

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.training import AVAILABLE_MEMORY, StatePlace
from podsim.planning import choose
from podsim.planning.available_memory import STEPS, at_default, largest_that_fits
from podsim.planning.configuration import MappingBuilder
from podsim.report.terminal import Look, render
from podsim.studies.infer import report as inference
from podsim.tiles import memory
from podsim.workloads import presets

BASE = {"preset": "popart", "topology": "pod16", "samples": 1e9, "engine": "analytic"}


def shown(answer):
    return [line for line in map(str, answer.assumptions) if line.startswith("available-memory proportion")]


def with_configuration(mapping, **changes):
    return replace(mapping, configuration=replace(mapping.configuration, **changes))


def mapping_of(workload, preset, machine, changes=()):
    model, topology = catalog.workload(workload, changes).value, catalog.topology(machine).value
    named = presets.preset(model, preset, topology)
    return model, topology, choose.published_mapping(MappingBuilder(model, topology, named.sdk), named)


@pytest.mark.parametrize(
    ("workload", "preset"), [("bert-base", "popart"), ("squad", "popart"), ("gpt2-large", "pytorch")]
)
def test_it_is_the_largest_proportion_that_fits(workload, preset):
    model, topology, mapping = mapping_of(workload, preset, "pod16")
    result, content = largest_that_fits(model, mapping, topology)
    taken = result.configuration.available_memory
    assert content.fits
    assert taken in STEPS[1:]
    for larger in STEPS[: STEPS.index(taken)]:
        assert not memory.fit(model, with_configuration(mapping, available_memory=larger), topology).fits


@pytest.mark.parametrize(
    ("workload", "preset"), [("bert-base", "popart"), ("squad", "popart"), ("gpt2-large", "pytorch")]
)
def test_an_operator_that_stays_full_tells_what_all_plans_would(workload, preset):
    model, topology, mapping = mapping_of(workload, preset, "pod16")
    result, _ = largest_that_fits(model, mapping, topology)
    usual = memory.fit(model, with_configuration(mapping, available_memory=None), topology)
    told = {}
    for proportion in STEPS[1:]:
        lower = with_configuration(mapping, available_memory=proportion)
        told[proportion] = memory.stays_full(model, lower, topology, usual)
        assert not (told[proportion] and memory.fit(model, lower, topology).fits)
    assert not told[result.configuration.available_memory]
    assert memory.stays_full(model, with_configuration(mapping, available_memory=STEPS[0]), topology, usual)


def test_what_fits_at_the_default_is_left_alone():
    model, topology, mapping = mapping_of("bert", "mlperf-v1.1-closed", "pod16")
    result, _ = largest_that_fits(model, mapping, topology)
    assert result is mapping
    assert result.configuration.memory_proportion == AVAILABLE_MEMORY
    assert not shown(podsim.predict("bert", preset="mlperf-v1.1-closed", topology="pod16", engine="analytic"))


def test_the_answer_says_that_it_was_lowered_and_what_it_costs():
    lowered = podsim.predict("bert-base", **BASE)
    (line,) = shown(lowered)
    assert "0.4, since the default of 0.6 would fill " in line
    assert line.endswith("% longer")
    longer = float(line.split(" %")[-2].split()[-1])
    assert 0 < longer < 5


def test_a_given_value_is_never_lowered():
    given = "workload.configuration.popart-v2.6.available_memory=0.6"
    with pytest.raises(Infeasible):
        podsim.predict("bert-base", changes=[given], **BASE)
    lower = podsim.predict("bert-base", changes=[given.replace("0.6", "0.3")], **BASE)
    assert lower.mapping.configuration.available_memory == 0.3
    assert not shown(lower)


def test_squad_keeps_its_state_on_chip_as_published():
    answer = podsim.predict("squad", **BASE)
    assert answer.mapping.state is StatePlace.ON_CHIP
    assert answer.memory.streaming_bytes_per_ipu == 0
    assert answer.memory.fits


def test_nothing_is_tried_where_what_is_always_live_does_not_fit():
    """Both moments of SQuAD in 32 bit: weights, gradients, state and stash alone are more than the SRAM of IPU 0."""
    model, topology, mapping = mapping_of("squad", "popart", "pod16", ())
    wide = with_configuration(mapping, moment_bytes=(8, 8))
    result, content = largest_that_fits(model, wide, topology)
    assert result is wide
    assert not content.fits


def test_a_lowered_mapping_goes_back_to_the_default_where_that_fits():
    model, topology, mapping = mapping_of("bert-base", "popart", "pod16")
    lowered, _ = largest_that_fits(model, mapping, topology)
    assert at_default(lowered) == mapping
    smaller = replace(lowered, micro_batch=8)
    result, content = largest_that_fits(model, smaller, topology)
    assert content.fits
    assert not result.memory_lowered


def test_a_search_takes_a_larger_micro_batch_at_less_memory_only_where_it_is_faster():
    """Of the mappings shown, the one that was chosen trains soonest, whatever its available memory."""
    answer = podsim.predict("rnnt", pod=64, engine="analytic")
    best = min(answer.choice.considered, key=lambda item: item.time_to_train_s)
    assert best.mapping == answer.mapping


def test_a_served_batch_says_so_on_screen_without_asking():
    report = podsim.infer("bert-base", topology="c600", batch=128, engine="analytic", requests=100)
    (line,) = shown(report)
    text = " ".join(render(inference.document(report), Look(100)).split())
    assert line.endswith("% longer")
    assert line in text
