"""Order of micro-batches on stages, read from the programs themselves."""

from collections import Counter
from dataclasses import replace

import pytest
from engines.worlds import PRACTICE, model, pod, unit, world
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.model.fabric import Link
from podsim.model.program import TaskKind
from podsim.model.training import Schedule
from podsim.tiles.memory import in_flight
from podsim.topology.fabric import build

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
        practice=replace(PRACTICE, schedule=schedule),
    )


def computes(block):
    """(stage, backward, IPU) of the computing tasks of a block, in order."""
    for task in block.tasks:
        if task.kind is TaskKind.COMPUTE:
            what, stage = task.name.split()
            yield int(stage), what == "backward", task.where


@given(LONG, st.sampled_from(list(Schedule)), st.booleans(), st.booleans())
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
    held, most = Counter(), Counter()
    for block in setup.pipeline(folded=False).blocks:
        for stage, backward, _ in computes(block):
            held[stage] += -1 if backward else 1
        for stage, count in held.items():
            most[stage] = max(most[stage], count)
    assert most == {stage.index: in_flight(setup.mapping, stage) for stage in setup.mapping.stages}
    assert not any(held.values())


@given(LONG, st.booleans(), PRODUCTS)
def test_what_one_f_one_b_holds_is_what_memory_counts(accumulation, tied, products):
    """S - s micro-batches on stage s, whatever the stages take."""
    setup = line(Schedule.ONE_F_ONE_B, accumulation, tied=tied, products=products)
    (block,) = setup.pipeline().blocks
    held, most = Counter(), Counter()
    for stage, backward, _ in computes(block):
        held[stage] += -1 if backward else 1
        most[stage] = max(most[stage], held[stage])
        assert held[stage] >= 0
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


@given(LONG, PRODUCTS)
def test_an_ipu_with_two_stages_takes_a_waiting_backward_first(accumulation, products):
    """Over links that take no time: no forward starts while the other stage's next backward could."""
    base = line(Schedule.ONE_F_ONE_B, accumulation, tied=True, products=products)
    links = base.machine.topology.links | {"ipu-link": Link(bandwidth_bytes_per_s=1e18)}
    topology = replace(base.machine.topology, links=links)
    setup = replace(base, machine=replace(base.machine, topology=topology), fabric=build(topology))
    setup = replace(setup, workload=replace(setup.workload, row_bytes=0.0))
    ran, started, ended = [], {}, {}
    for span in analytic.run(setup.pipeline(), setup.fabric).spans:
        if span.kind is TaskKind.COMPUTE:
            what, stage = span.name.split()
            key = (int(stage), sum(k[::2] == (int(stage), what == "backward") for k in started), what == "backward")
            started[key], ended[key] = span.start_s, span.end_s
            ran += [key] if span.where == 0 else []
    for position, (_, _, backward) in enumerate(ran):
        for stage in (0, 4):
            waiting = next((key for key in ran[position:] if key[0] == stage), None)
            if backward or waiting is None or not waiting[2]:
                continue
            need = (stage + 1, waiting[1], True) if stage < 4 else (stage, waiting[1], False)
            assert ended[need] > started[ran[position]] - 1e-15


@given(LONG)
def test_a_sequential_micro_batch_leaves_before_the_next_enters(accumulation):
    setup = line(Schedule.SEQUENTIAL, accumulation)
    (block,) = setup.pipeline().blocks
    assert block.repeat == accumulation
    forward, backward = [(s, False, s) for s in range(4)], [(s, True, s) for s in (3, 2, 1, 0)]
    assert list(computes(block)) == forward + backward


@given(LONG, st.sampled_from(list(Schedule)), st.booleans())
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


@pytest.mark.parametrize("schedule", Schedule)
def test_stages_of_one_ipu_send_nothing_to_each_other(schedule):
    """Two IPUs, three stages 0, 1, 0: both boundaries cross; one IPU alone has no transfer at all."""
    units = [unit(f"u{number}", boundary=10) for number in range(4)] + [unit("heads", tied=True)]
    practice = replace(PRACTICE, schedule=schedule)
    for ipus, crossings in ((2, 4), (1, 0)):
        setup = world(model(*units), pod(), ipus_per_replica=ipus, accumulation=3, practice=practice)
        flows = sum(
            len(task.flows) * block.repeat for block in setup.pipeline().blocks for task in block.tasks if task.flows
        )
        assert flows == 3 * crossings


@pytest.mark.parametrize("schedule", Schedule)
def test_boundaries_carry_elements_rows_and_two_bytes(schedule):
    setup = line(schedule, 5)
    setup = replace(setup, mapping=replace(setup.mapping, micro_batch=3))
    sizes = {flow.volume_bytes for block in setup.pipeline().blocks for task in block.tasks for flow in task.flows}
    assert sizes == {10 * 3 * 2}


def test_inputs_of_one_f_one_b_arrive_one_after_the_other():
    """A host slower than the stages sets the pace: N inputs, then one micro-batch through all stages."""
    setup = line(Schedule.ONE_F_ONE_B, 6)
    slow = replace(setup, workload=replace(setup.workload, row_bytes=1e7))
    timeline = analytic.run(slow.pipeline(), slow.fabric)
    hosted = [span for span in timeline.spans if span.kind is TaskKind.HOST]
    assert [span.start_s for span in hosted] == pytest.approx([0.01 * number for number in range(6)])
    assert timeline.step_s > 0.06
