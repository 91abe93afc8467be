"""What fits: published mappings do, BERT-Large on one IPU does not; each category in closed form."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, pod, published, unit, world
from hypothesis import given
from hypothesis import strategies as st

from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.mapping import Mapping, Stage
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.model.workload import Gather, Kind, Operator, Pass
from podsim.tiles import gather, memory
from podsim.tiles.planner import Planner, PlanTarget

PRESETS = [
    (workload, preset.topology, preset.name)
    for workload in ("bert", "resnet50")
    for preset in catalog.workload(workload).value.presets
]
SUBMITTED = [row for row in PRESETS if row[2].startswith("mlperf-v1")]


def held(setup):
    return memory.fit(setup.workload, setup.mapping, setup.machine.topology)


def total(fit, category):
    """Of one category on all IPUs of a replica [B]."""
    return sum(ipu.by_category[category] for ipu in fit.ipus)


def five_on_four(schedule=Schedule.GROUPED, *, recompute=Recompute.NONE, accumulation=64, **changes):
    """Embedding and heads on the first of four IPUs: five stages."""
    units = [unit(f"u{number}", boundary=64 * (number + 1)) for number in range(10)]
    units[-1] = unit("heads", tied=True)
    configuration = replace(CONFIGURATION, schedule=schedule, recompute=recompute, **changes)
    return world(
        model(*units), pod(), ipus_per_replica=4, micro_batch=2, accumulation=accumulation, configuration=configuration
    )


def test_all_sixteen_published_mappings_of_v1_are_there():
    assert len(SUBMITTED) == 16


@pytest.mark.parametrize(("workload", "topology", "preset"), PRESETS)
def test_published_mappings_fit(workload, topology, preset):
    fit = held(published(workload, topology, preset))
    assert fit.fits
    assert 0.2 < fit.fraction <= 1


@pytest.mark.parametrize("state", StatePlace)
@pytest.mark.parametrize("recompute", Recompute)
def test_bert_large_does_not_fit_one_ipu_however_it_is_stored(state, recompute):
    """672 MB of weights in half precision, as much of gradients: more than the 941 MB there are."""
    base = published("bert", "pod16")
    stage = Stage(index=0, ipu=0, units=base.workload.units)
    configuration = replace(base.mapping.configuration, state=state, recompute=recompute, layout=())
    mapping = replace(
        base.mapping,
        replicas=16,
        ipus_per_replica=1,
        micro_batch=1,
        accumulation=1,
        stages=(stage,),
        configuration=configuration,
    )
    fit = memory.fit(base.workload, mapping, base.machine.topology)
    assert not fit.fits
    assert fit.fullest.by_category["weights"] == 2 * base.workload.parameters
    assert fit.capacity_bytes == 1472 * 624 * 1024


@pytest.mark.parametrize(("workload", "topology", "preset"), SUBMITTED)
def test_categories_add_up(workload, topology, preset):
    setup = published(workload, topology, preset)
    fit = held(setup)
    assert [ipu.ipu for ipu in fit.ipus] == list(range(setup.mapping.ipus_per_replica))
    assert sorted(stage for ipu in fit.ipus for stage in ipu.stages) == list(range(len(setup.mapping.stages)))
    for ipu in fit.ipus:
        assert ipu.used_bytes == sum(ipu.by_category.values())
        assert min(ipu.by_category.values()) >= 0
    assert fit.fraction == max(ipu.used_bytes for ipu in fit.ipus) / fit.capacity_bytes
    assert total(fit, "weights") == 2 * setup.workload.parameters
    assert total(fit, "gradients") == setup.mapping.configuration.gradient_bytes * setup.workload.parameters


@pytest.mark.parametrize(("topology", "sharing"), [("pod16", 4), ("pod64", 8), ("pod128", 8)])
def test_sharded_state_divides_by_the_replicas_of_a_rack(topology, sharing):
    """4 replicas of 4 IPUs; 8 of 8; and on two racks still 8, since shards do not leave their rack."""
    setup = published("bert", topology)
    configuration = setup.mapping.configuration
    assert configuration.state_sharded
    fit = held(setup)
    state = fit.streaming_bytes_per_ipu if configuration.state is StatePlace.STREAMING else fit.fullest.by_category
    whole = sum(configuration.moment_bytes) * setup.workload.parameters
    if configuration.state is StatePlace.ON_CHIP:
        assert total(fit, "optimizer_state") == pytest.approx(whole / sharing, rel=1e-12)
    else:
        assert total(fit, "optimizer_state") == 0
        on_one = max(ipu.by_category["weights"] / 2 for ipu in fit.ipus)
        assert state == pytest.approx(sum(configuration.moment_bytes) * on_one / sharing, rel=1e-12)
    alone = held(published("bert", topology, state_sharded=False, state=StatePlace.ON_CHIP))
    assert total(alone, "optimizer_state") == pytest.approx(whole, rel=1e-12)


def test_streaming_memory_is_a_limit_too():
    setup = five_on_four(state=StatePlace.STREAMING)
    topology = setup.machine.topology
    needed = held(setup).streaming_bytes_per_ipu
    assert needed > 0
    for share, fits in ((1.0, True), (0.99, False)):
        gateway = replace(topology.gateway, streaming_bytes=4 * needed * share)
        assert memory.fit(setup.workload, setup.mapping, replace(topology, gateway=gateway)).fits is fits


@pytest.mark.parametrize(
    ("schedule", "depths"),
    [
        (Schedule.GROUPED, [9, 7, 5, 3, 1]),
        (Schedule.ONE_F_ONE_B, [5, 4, 3, 2, 1]),
        (Schedule.SEQUENTIAL, [1, 1, 1, 1, 1]),
    ],
)
def test_micro_batches_in_flight_by_schedule(schedule, depths):
    """Stage s of S: 2 (S - s) - 1 grouped, S - s with 1F1B, one at a time; never more than a step has."""
    mapping = five_on_four(schedule).mapping
    assert [memory.in_flight(mapping, stage) for stage in mapping.stages] == depths
    short = five_on_four(schedule, accumulation=2).mapping
    assert [memory.in_flight(short, stage) for stage in short.stages] == [min(2, depth) for depth in depths]


@pytest.mark.parametrize("schedule", PIPELINED)
def test_without_recomputation_every_output_backward_needs_is_kept(schedule):
    """Each unit keeps its product (64 x 64): depth x rows x 2 B each, and no more is alive in backward."""
    setup = five_on_four(schedule)
    fit = held(setup)
    for ipu in fit.ipus:
        stages = [stage for stage in setup.mapping.stages if stage.ipu == ipu.ipu]
        kept = sum(memory.in_flight(setup.mapping, stage) * len(stage.units) for stage in stages)
        assert ipu.by_category["stash"] == kept * 2 * 2 * 64 * 64
        assert ipu.by_category["activations"] == 0


def test_with_recomputation_a_stage_keeps_what_enters_and_its_checkpoints():
    """Every unit ends in a checkpoint of 64 (number + 1) elements; the last of a stage has left with the transfer."""
    setup = five_on_four(recompute=Recompute.CHECKPOINTS)
    for ipu in held(setup).ipus:
        expected = 0
        for stage in setup.mapping.stages:
            if stage.ipu == ipu.ipu:
                inside = sum(64 * (int(u.name[1:]) + 1) for u in stage.units[:-1])
                entering = 64 * 64 if stage.index else 0  # what the first product reads
                expected += memory.in_flight(setup.mapping, stage) * 2 * 2 * (inside + entering)
        assert ipu.by_category["stash"] == expected
        # Beside a product's weight gradient: the gradient of its output, and of what the unit leaves.
        assert ipu.by_category["activations"] <= 2 * 2 * 2 * 64 * 64


def test_recomputation_trades_stash_for_time():
    """BERT as submitted recomputes; without it, activations alone overflow the chip."""
    kept = held(published("bert", "pod64", recompute=Recompute.NONE))
    assert held(published("bert", "pod64")).fits
    assert not kept.fits
    assert kept.fullest.by_category["stash"] > kept.capacity_bytes


@given(st.integers(1, 4), st.integers(1, 40), st.sampled_from(PIPELINED), st.sampled_from(list(Recompute)))
def test_a_larger_micro_batch_or_accumulation_never_needs_less(micro_batch, accumulation, schedule, recompute):
    """What the search for a mapping rests on when it stops at the first micro-batch that does not fit."""
    setup = five_on_four(schedule, recompute=recompute)

    def used(micro, count):
        mapping: Mapping = replace(setup.mapping, micro_batch=micro, accumulation=count)
        return [ipu.used_bytes for ipu in memory.fit(setup.workload, mapping, setup.machine.topology).ipus]

    base = used(micro_batch, accumulation)
    for larger in (used(micro_batch + 1, accumulation), used(micro_batch, accumulation + 1)):
        assert all(more >= less for more, less in zip(larger, base, strict=True))


def test_the_buffers_are_those_of_the_pass_that_needs_most(gc200):
    """Of BERT's products it is the gradient of the weights: more than the forward pass of any operator."""
    setup = published("bert", "pod64")
    planner, rows = Planner(PlanTarget(gc200, setup.workload.precision)), setup.mapping.micro_batch
    fullest = held(setup).fullest
    stages = [stage for stage in setup.mapping.stages if stage.ipu == fullest.ipu]
    operators = {
        item.name: item for stage in stages for unit in stage.units for item in unit.active(setup.mapping.configuration)
    }
    by_pass = {
        run: max(planner.pass_cost(operator, run, rows).buffer_bytes_per_tile for operator in operators.values())
        for run in (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
    }
    assert by_pass[Pass.WEIGHT_GRADIENT] > max(by_pass[Pass.FORWARD], by_pass[Pass.BACKWARD])
    assert fullest.by_category["exchange_buffers"] == pytest.approx(gc200.tiles * by_pass[Pass.WEIGHT_GRADIENT])
    name, run = fullest.largest.split()
    planned = planner.pass_cost(operators[name], Pass(run), rows)
    assert planned.buffer_bytes_per_tile == by_pass[Pass.WEIGHT_GRADIENT]
    assert planned.tiles == fullest.tiles < gc200.tiles


def test_tiles_that_the_largest_plan_leaves_idle_hold_no_buffers(gc200):
    fit = held(published("bert", "pod64"))
    full = fit.fullest
    relief = memory.relief(fit, gc200)
    idle = (full.used_bytes - full.by_category["exchange_buffers"]) / gc200.tiles / 1e3
    assert f"{full.tiles:,} tiles" in relief
    assert f"{idle:.0f} kB on the other {gc200.tiles - full.tiles:,}" in relief
    assert full.largest in relief


def test_vertex_state_is_that_of_plans_that_differ_and_a_part_of_the_code():
    """Two units of the same operators share their programs; one of another size has its own."""
    same = [unit(f"u{number}") for number in range(3)]
    other = [*same[:2], unit("u2", products=128)]
    tiny = pod().chip
    item, two = (
        held(
            world(model(*units), pod(), ipus_per_replica=1, micro_batch=2, configuration=CONFIGURATION)
        ).fullest.by_category
        for units in (same, other)
    )
    assert 0 < item["vertex_state"] < two["vertex_state"]
    for categories in (item, two):
        assert categories["vertex_state"] + categories["code"] == pytest.approx(0.1 * tiny.sram_bytes)
        assert categories["vertex_state"] % (memory.VERTEX_BYTES * tiny.tiles) == 0


def test_the_categories_are_all_there():
    names = set(held(published("resnet50", "pod16")).fullest.by_category)
    assert {"weights", "activations", "stash", "optimizer_state", "exchange_buffers", "code", "vertex_state"} <= names


def test_weights_and_activations_are_no_buffers_of_an_operator(gc200):
    """A table looked up is among the weights: beside it the plan holds its temporary bytes."""
    shape = Gather(table=30_000, width=1024, lookups=512)
    target = PlanTarget(gc200, Precision.FP16_16)
    plan = gather.plan(shape, Precision.FP16_16, gc200, overhead_cycles=0.0)
    planned = Planner(target).pass_cost(Operator(name="word", kind=Kind.GATHER, shape=shape), Pass.FORWARD, 1)
    assert plan.sram_bytes_per_tile["operands"] > 0
    assert planned.buffer_bytes_per_tile == plan.sram_bytes_per_tile["temporary"]
