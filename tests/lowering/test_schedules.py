"""Order of micro-batches on stages, read from the programs themselves."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, pod, unit, world
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.model.fabric import Link
from podsim.model.program import TaskKind
from podsim.model.training import Schedule
from podsim.model.workload import Pass
from podsim.tiles.memory import in_flight
from podsim.topology.build import build

BACK = (Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
LONG = st.integers(1, 12)
PRODUCTS = st.lists(st.sampled_from([16, 48, 64, 96]), min_size=6, max_size=8)


def line(schedule, accumulation, *, products=(64,) * 8, tied=False, replicas=1):
    units = [unit(f"u{number}", products=size, boundary=10) for number, size in enumerate(products)]
    if tied:
        units.append(unit("heads", products=16, tied=True))
    return world(
        model(*units, row_bytes=10.0),
        pod(),
        replicas=replicas,
        ipus_per_replica=4,
        accumulation=accumulation,
        configuration=replace(CONFIGURATION, schedule=schedule),
    )


def computes(block):
    """(stage, backward, IPU) of the computing tasks of a block, in order."""
    for task in block.tasks:
        if task.kind is TaskKind.COMPUTE:
            what, stage = task.name.split()
            yield int(stage), what == "backward", task.where


@given(LONG, st.sampled_from(PIPELINED), st.booleans(), st.booleans())
def test_each_stage_goes_forward_and_backward_once_a_micro_batch(accumulation, schedule, tied, folded):
    setup = line(schedule, accumulation, tied=tied, replicas=2)
    runs = Counter()
    for block in setup.pipeline(folded=folded).blocks:
        for key in computes(block):
            runs[key] += block.repeat
    shown = range(1) if folded else range(2)
    stages = setup.mapping.stages
    assert runs == {
        (stage.index, backward, replica * 4 + stage.ipu): accumulation
        for stage in stages
        for backward in (False, True)
        for replica in shown
    }


@given(LONG, st.booleans())
def test_a_grouped_cycle_moves_every_micro_batch_one_stage(accumulation, tied):
    """Micro-batch m is on stage s in cycle m + s, and back there in cycle m + 2 S - 1 - s: N + 2 S - 1 cycles."""
    setup = line(Schedule.GROUPED, accumulation, tied=tied)
    stages = len(setup.mapping.stages)
    cycles = [block for block in setup.pipeline().blocks for _ in range(block.repeat)]
    assert len(cycles) == accumulation + 2 * stages - 1
    for number, block in enumerate(cycles):
        forward = {stage for stage in range(stages) if 0 <= number - stage < accumulation}
        backward = {stage for stage in range(stages) if 0 <= number - (2 * stages - 1 - stage) < accumulation}
        seen = list(computes(block))
        assert {stage for stage, back, _ in seen if not back} == forward
        assert {stage for stage, back, _ in seen if back} == backward
        assert len(seen) == len(forward) + len(backward)
        assert sum(task.kind is TaskKind.SYNC for task in block.tasks) == 1
        assert sum(task.kind is TaskKind.HOST for task in block.tasks) == (0 in forward)


@given(LONG, st.booleans())
def test_what_a_grouped_stage_holds_at_a_barrier_is_what_memory_counts(accumulation, tied):
    """2 (S - s) - 1 micro-batches between two cycles, or as many as there are."""
    setup = line(Schedule.GROUPED, accumulation, tied=tied)
    footprint, most = Counter(), Counter()
    for block in setup.pipeline(folded=False).blocks:
        for stage, backward, _ in computes(block):
            footprint[stage] += -1 if backward else 1
        for stage, count in footprint.items():
            most[stage] = max(most[stage], count)
    assert most == {stage.index: in_flight(setup.mapping, stage) for stage in setup.mapping.stages}
    assert not any(footprint.values())


@given(LONG, st.booleans(), PRODUCTS)
def test_what_one_f_one_b_holds_is_what_memory_counts(accumulation, tied, products):
    """S - s micro-batches on stage s, whatever the stages take."""
    setup = line(Schedule.ONE_F_ONE_B, accumulation, tied=tied, products=products)
    (block,) = setup.pipeline().blocks
    footprint, most = Counter(), Counter()
    for stage, backward, _ in computes(block):
        footprint[stage] += -1 if backward else 1
        most[stage] = max(most[stage], footprint[stage])
        assert footprint[stage] >= 0
    allowed = {stage.index: in_flight(setup.mapping, stage) for stage in setup.mapping.stages}
    assert most == allowed


@given(LONG, st.booleans(), PRODUCTS)
def test_one_f_one_b_alternates_once_its_pipeline_is_full(accumulation, tied, products):
    """narayanan-2019: stage s runs S - s forwards (all, if there are fewer), then one backward, one forward in turn.

    However uneven the stages: an order that hung on times would let a faster stage make a longer step.
    """
    setup = line(Schedule.ONE_F_ONE_B, accumulation, tied=tied, products=products)
    (block,) = setup.pipeline().blocks
    for stage in setup.mapping.stages:
        warm = min(len(setup.mapping.stages) - stage.index, accumulation)
        rest = accumulation - warm
        seen = "".join("B" if back else "F" for index, back, _ in computes(block) if index == stage.index)
        assert seen == "F" * warm + "BF" * rest + "B" * warm


@given(LONG, PRODUCTS, st.sampled_from([0.3, 3.0, 40.0]))
def test_the_order_of_1f1b_is_the_workloads_and_not_the_machines(accumulation, products, by):
    """Faster links and clocks change when, never what comes after what; so nothing faster makes a longer step."""
    base = line(Schedule.ONE_F_ONE_B, accumulation, tied=True, products=products)
    topology = base.machine.topology
    quick = replace(
        topology,
        chip=replace(topology.chip, clock_hz=by * topology.chip.clock_hz),
        links={"ipu-link": Link(bandwidth_bytes_per_s=by * 1e9, latency_s=1e-3)},
    )
    other = replace(base, machine=replace(base.machine, topology=quick), fabric=build(quick))
    names = [[task.name for task in setup.pipeline().blocks[0].tasks] for setup in (base, other)]
    assert names[0] == names[1]


@given(LONG, PRODUCTS)
def test_an_ipu_with_two_stages_takes_a_backward_first(accumulation, products):
    """By arithmetic, over links that take no time: no forward goes before a backward that could start as soon."""
    setup = line(Schedule.ONE_F_ONE_B, accumulation, tied=True, products=products)
    (block,) = setup.pipeline().blocks
    flop = [
        [sum(each.flop(run) for each in stage.units for run in runs) for runs in ((Pass.FORWARD,), BACK)]
        for stage in setup.mapping.stages
    ]
    most = max(map(max, flop))
    free, end, done = Counter(), {}, Counter()
    order = []
    for stage, backward, where in computes(block):
        key = (stage, done[stage, backward], backward)
        done[stage, backward] += 1
        need = (stage + 1, key[1], True) if backward else (stage - 1, key[1], False)
        need = (stage, key[1], False) if backward and stage == 4 else need
        start = max(free[where], end.get(need, 0))
        free[where] = end[key] = start + max(1, round(1000 * flop[stage][backward] / most))
        order.append((where, key, start, end.get(need, 0)))
    for (where, key, start, _), (other, follower, _, ready) in pairwise(item for item in order if item[0] == 0):
        assert where == other
        assert key[2] or not follower[2] or ready > start or key[0] == follower[0]


@given(LONG)
def test_a_sequential_micro_batch_leaves_before_the_next_enters(accumulation):
    setup = line(Schedule.SEQUENTIAL, accumulation)
    (block,) = setup.pipeline().blocks
    assert block.repeat == accumulation
    forward, backward = [(s, False, s) for s in range(4)], [(s, True, s) for s in (3, 2, 1, 0)]
    assert list(computes(block)) == forward + backward


@given(LONG, st.sampled_from(PIPELINED), st.booleans())
def test_needs_name_earlier_tasks_and_one_ipu_does_one_thing_at_a_time(accumulation, schedule, folded):
    """Tasks of one IPU are ordered by needs, not by luck: each reaches the one before."""
    setup = line(schedule, accumulation, tied=True, replicas=2)
    for block in setup.program(folded=folded).blocks:
        before: list[set[int]] = []
        last: dict[int, int] = {}
        for number, task in enumerate(block.tasks):
            assert all(need < number for need in task.needs)
            before.append(set(task.needs).union(*(before[need] for need in task.needs)))
            if task.where >= 0:
                assert last.get(task.where, number) in before[number] | {number}
                last[task.where] = number


@pytest.mark.parametrize("schedule", PIPELINED)
def test_stages_of_one_ipu_send_nothing_to_each_other(schedule):
    """Two IPUs, three stages 0, 1, 0: both boundaries cross; one IPU alone has no transfer at all."""
    units = [unit(f"u{number}", boundary=10) for number in range(4)] + [unit("heads", tied=True)]
    configuration = replace(CONFIGURATION, schedule=schedule)
    for ipus, crossings in ((2, 4), (1, 0)):
        setup = world(model(*units), pod(), ipus_per_replica=ipus, accumulation=3, configuration=configuration)
        flows = sum(
            len(task.flows) * block.repeat
            for block in setup.pipeline().blocks
            for task in block.tasks
            if task.kind is TaskKind.TRANSFER
        )
        assert flows == 3 * crossings


@pytest.mark.parametrize("schedule", PIPELINED)
def test_boundaries_carry_elements_rows_and_two_bytes(schedule):
    setup = line(schedule, 5)
    setup = replace(setup, mapping=replace(setup.mapping, micro_batch=3))
    sizes = {
        flow.volume_bytes
        for block in setup.pipeline().blocks
        for task in block.tasks
        for flow in task.flows
        if task.kind is TaskKind.TRANSFER
    }
    assert sizes == {10 * 3 * 2}


def test_inputs_of_one_f_one_b_arrive_one_after_the_other():
    """A host slower than the stages sets the pace: the first input waits, the N of the next micro-batches follow."""
    setup = line(Schedule.ONE_F_ONE_B, 6)
    slow = replace(setup, workload=replace(setup.workload, row_bytes=1e7))
    timeline = analytic.run(slow.pipeline(), slow.fabric)
    hosted = [span for span in timeline.spans if span.kind is TaskKind.HOST]
    assert [span.start_s for span in hosted] == pytest.approx([0.01 * number for number in range(6)])
    assert timeline.step_s == pytest.approx(0.06)


FORWARD = st.sampled_from([Schedule.GROUPED, Schedule.ONE_F_ONE_B, Schedule.SEQUENTIAL])


@given(LONG, FORWARD, st.booleans(), st.booleans())
def test_an_evaluation_takes_every_micro_batch_forward_once(count, schedule, tied, folded):
    setup = line(schedule, 1, tied=tied, replicas=2)
    program = setup.evaluation(2 * count, folded=folded)
    runs = Counter()
    for block in program.blocks:
        for key in computes(block):
            runs[key] += block.repeat
    assert runs == {
        (stage.index, False, replica * 4 + stage.ipu): count
        for stage in setup.mapping.stages
        for replica in range(1 if folded else 2)
    }
    assert (program.micro_batches, program.ipus) == (count, 4 if folded else 8)


@given(LONG, st.booleans(), PRODUCTS)
def test_a_1f1b_evaluation_runs_ahead_of_the_last_stage_by_what_grouped_training_holds(count, tied, products):
    setup = line(Schedule.ONE_F_ONE_B, 1, tied=tied, products=products)
    (block,) = setup.evaluation(count).blocks
    stages = len(setup.mapping.stages)
    done = Counter()
    for stage, _, _ in computes(block):
        done[stage] += 1
        assert done[stage] - done[stages - 1] <= 2 * (stages - 1 - stage) + 1
