"""Which published configuration a mapping follows, and what is relaxed where none was published."""

from dataclasses import replace

import pytest
from engines.worlds import PIPELINED

import podsim
from podsim.errors import InputError, MissingParameter
from podsim.files import catalog
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.planning.configuration import (
    AS_PUBLISHED,
    MappingBuilder,
    WhatIf,
    nearest,
    options,
    published_configuration,
    what_if,
)
from podsim.scenario import Scenario
from podsim.tiles import memory
from podsim.tiles.memory import in_flight

BERT, RESNET = catalog.workload("bert").value, catalog.workload("resnet50").value


def test_bow_takes_the_layout_of_gc200_where_it_has_none_of_its_own():
    """Four IPUs a replica: published on GC200 alone, and followed as it is, not split evenly."""
    assert published_configuration(BERT, "bow", "2.5", 4, 4) is None
    assert published_configuration(BERT, "bow", "2.5", 4, 4, like="gc200").name == "popart-v1.1-pod16"
    assert published_configuration(BERT, "bow", "2.5", 8, 8, like="gc200").name == "popart-v2.0-pod64"
    assert catalog.chip("bow").value.layouts_of == "gc200"
    assert not catalog.chip("gc200").value.layouts_of


def machine(chip):
    return catalog.pod(64, chip).value


@pytest.mark.parametrize(
    ("chip", "sdk", "size", "replicas", "name"),
    [
        ("gc200", "2.1", 4, 4, "popart-v1.0-pod16"),
        ("gc200", "2.3", 4, 4, "popart-v1.1-pod16"),
        ("gc200", "2.1", 8, 8, "popart-v1.0-pod64"),
        ("gc200", "2.3", 8, 8, "popart-v1.1-pod64"),
        ("gc200", "2.3", 8, 16, "popart-v1.1-pod128"),
        ("gc200", "2.3", 8, 512, "popart-v1.1-pod128"),
        ("gc200", "2.5", 8, 8, "popart-v1.1-pod64"),
        ("gc200", "3.3", 4, 4, "popart-v1.1-pod16"),
        ("bow", "2.5", 8, 2, "popart-v2.0-pod16"),
        ("bow", "2.3", 8, 2, "popart-v2.0-pod16"),
        ("bow", "2.3", 8, 8, "popart-v2.0-pod64"),
    ],
)
def test_the_configuration_is_that_of_the_chip_the_size_and_the_sdk(chip, sdk, size, replicas, name):
    assert published_configuration(BERT, chip, sdk, size, replicas).name == name
    assert [configuration.name for configuration in options(BERT, machine(chip), sdk, size, replicas)] == [name]


def test_without_a_configuration_the_nearest_gives_all_but_its_split():
    configuration = nearest(BERT, "gc200", "2.3", 16)
    assert configuration.name == "popart-v1.1-pod64 with layers split evenly"
    assert configuration.layout == ()


def test_the_chip_counts_more_than_the_size():
    assert nearest(BERT, "bow", "2.3", 4).chips == ("bow",)


def test_storage_is_relaxed_in_order_and_each_option_once():
    tried = options(BERT, machine("gc200"), "2.3", 16, 4)
    assert len(tried) == len(set(map(repr, tried)))
    assert tried[0].state is StatePlace.ON_CHIP
    assert tried[-1].state is StatePlace.STREAMING


def test_without_streaming_memory_state_stays_on_chip():
    pod = machine("gc200")
    card = replace(pod, gateway=replace(pod.gateway, streaming_bytes=0.0))
    assert any(configuration.state is StatePlace.STREAMING for configuration in options(BERT, pod, "2.3", 16, 4))
    for size, replicas in ((16, 4), (4, 4), (1, 1)):
        tried = options(BERT, card, "2.3", size, replicas)
        assert {configuration.state for configuration in tried} == {StatePlace.ON_CHIP}
        assert tried[-1].recompute is Recompute.CHECKPOINTS


def test_a_workload_without_configuration_says_what_is_missing():
    with pytest.raises(MissingParameter) as caught:
        nearest(replace(BERT, configurations=()), "gc200", "2.3", 8)
    assert "podsim/workloads/bert.toml" in caught.value.hint


def test_the_first_option_that_fits_is_taken():
    """State that does not fit the SRAM goes to streaming memory before anything else gives."""
    planner = MappingBuilder(BERT, catalog.topology("pod16").value, "2.3")
    mapping, content = planner.first_that_fits(replicas=2, ipus_per_replica=2, micro_batch=1, accumulation=8)
    wide = MappingBuilder(BERT, catalog.topology("pod64").value, "2.3")
    alone, _ = wide.first_that_fits(replicas=8, ipus_per_replica=8, micro_batch=2, accumulation=96)
    assert alone.state is StatePlace.ON_CHIP
    assert not content.fits or mapping.state is StatePlace.STREAMING


def test_without_a_question_configuration_is_as_published():
    configuration = published_configuration(BERT, "gc200", "2.3", 8, 8)
    assert AS_PUBLISHED.of(configuration) == configuration
    assert list(AS_PUBLISHED.notes(configuration)) == list(AS_PUBLISHED.faults(1472)) == []


@pytest.mark.parametrize("schedule", PIPELINED)
def test_a_schedule_that_is_asked_for_is_what_memory_counts(schedule):
    """The stash of stage 1 of 9: 15 micro-batches grouped, 8 with 1F1B, 1 sequential; and it is said."""
    request = WhatIf(schedule=schedule)
    planner = MappingBuilder(BERT, catalog.topology("pod64").value, "2.3", request)
    mapping, content = planner.first_that_fits(replicas=8, ipus_per_replica=8, micro_batch=2, accumulation=96)
    assert mapping.schedule is schedule
    assert in_flight(mapping, mapping.stages[1]) == {"grouped": 15, "1f1b": 8, "sequential": 1}[schedule]
    sequential = replace(mapping, configuration=replace(mapping.configuration, schedule=Schedule.SEQUENTIAL))
    alone = memory.fit(BERT, sequential, planner.topology)
    stash, least = (fitted.ipus[1].by_category["stash"] for fitted in (content, alone))
    assert stash == in_flight(mapping, mapping.stages[1]) * least
    assert [*map(str, request.notes(mapping.configuration))] == [f"what-if: schedule {schedule} (given)"]


def test_tiles_set_aside_hold_nothing():
    """64 of 1,472 tiles: as much less room, and code takes its share of what is left."""
    planner = MappingBuilder(BERT, catalog.topology("pod64").value, "2.3", WhatIf(overlap=True))
    whole = MappingBuilder(BERT, catalog.topology("pod64").value, "2.3")
    table = {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 96}
    (mapping, less), (_, more) = planner.first_that_fits(**table), whole.first_that_fits(**table)
    assert (mapping.configuration.io_tiles, mapping.configuration.overlaps_reduction) == (64, True)
    assert less.capacity_bytes == pytest.approx(more.capacity_bytes * (1472 - 64) / 1472)
    assert less.fraction > more.fraction


def test_tiles_that_are_asked_for_are_the_ones_set_aside():
    configuration = published_configuration(BERT, "gc200", "2.3", 8, 8)
    assert WhatIf(overlap=True, io_tiles=32).of(configuration).io_tiles == 32
    assert WhatIf(io_tiles=32).of(configuration).overlaps_reduction is False
    assert WhatIf(overlap=True).of(replace(configuration, io_tiles=128)).io_tiles == 128
    assert WhatIf(prefetch=0).of(configuration).prefetch == 0


@pytest.mark.parametrize("asked", [WhatIf(io_tiles=1472), WhatIf(overlap=True, io_tiles=0)])
def test_what_no_chip_can_do_is_refused(asked):
    (fault,) = asked.faults(1472)
    assert fault.startswith("--")


def test_tensor_shards_go_with_no_schedule_but_phases():
    gpt3 = catalog.workload("gpt3-175b").value
    sharded, request = gpt3.configurations[0], WhatIf(schedule=Schedule.GROUPED)
    assert WhatIf(schedule=Schedule.PHASED).of(sharded) == sharded
    assert list(request.refuse_schedule(BERT.configurations)) == []
    with pytest.raises(InputError) as caught:
        request.of(sharded)
    assert caught.value.code == "bad-mapping"
    with pytest.raises(InputError, match="does not suit"):
        podsim.predict("gpt3-175b", pod=256, schedule="grouped")


@pytest.mark.parametrize("stated", [{"attention_parts": 2}, {"half_layers": True}])
def test_what_phases_alone_do_is_refused_of_another_schedule(stated):
    configuration = BERT.configurations[0]
    assert configuration.schedule is not Schedule.PHASED
    with pytest.raises(ValueError, match=f'{next(iter(stated))}: goes with schedule = "phased"'):
        replace(configuration, **stated)
    assert replace(configuration, schedule=Schedule.PHASED, **stated)


def test_a_configuration_that_needs_more_ipus_than_given_is_refused():
    planner = MappingBuilder(BERT, catalog.topology("pod16").value, "2.3")
    configuration = published_configuration(BERT, "gc200", "2.3", 8, 8)
    with pytest.raises(InputError) as caught:
        planner.mapping(configuration, replicas=1, ipus_per_replica=4, micro_batch=1, accumulation=1)
    assert caught.value.code == "mapping-does-not-divide"


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("workload", [BERT, RESNET], ids=lambda workload: workload.name)
def test_every_even_split_holds_every_unit_once(workload, size):
    planner = MappingBuilder(workload, catalog.topology("pod64").value, "2.3")
    configuration = nearest(workload, "gc200", "2.3", size)
    stages = planner.mapping(configuration, replicas=1, ipus_per_replica=size, micro_batch=1, accumulation=1).stages
    assert [unit for stage in stages for unit in stage.units] == list(workload.units)
    assert {stage.ipu for stage in stages} == set(range(size))


def test_a_configuration_that_leaves_no_tile_to_compute_on_is_refused():
    planner = MappingBuilder(BERT, catalog.topology("pod16").value, "2.3")
    configuration = replace(published_configuration(BERT, "gc200", "2.3", 4, 4), io_tiles=1472)
    with pytest.raises(InputError, match="has 1,472 IO tiles, the chip 1,472 tiles"):
        planner.mapping(configuration, replicas=1, ipus_per_replica=4, micro_batch=1, accumulation=1)


def test_a_schedule_by_name():
    assert what_if(Scenario.of("bert", schedule="1f1b", prefetch=2)) == WhatIf(
        schedule=Schedule.ONE_F_ONE_B, prefetch=2
    )
