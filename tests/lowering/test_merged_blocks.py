"""Gradients that are reduced while other IPUs still run backward: what starts when, what it hides, what it cannot."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, parameters, pod, published, unit, world
from hypothesis import given
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.fabric import Link
from podsim.model.program import Part, TaskKind
from podsim.model.training import Schedule
from podsim.physics.links import alone_s
from podsim.physics.sync import COLLECTIVE_STEP_S, machine_sync_s

ENGINES = pytest.mark.parametrize("run", [analytic.run, des.run], ids=["analytic", "des"])
SCHEDULES = pytest.mark.parametrize("schedule", PIPELINED)
CLOSE = 1e-12
PRODUCTS = st.lists(st.sampled_from([16, 48, 64, 96]), min_size=6, max_size=8)


def line(schedule, *, overlaps, count=6, products=(64,) * 8, tied=False, quiet=False, **changes):
    """Four replicas of four IPUs; with `quiet`, links that take no latency and boundaries of no bytes."""
    units = [unit(f"u{n}", products=size, boundary=0 if quiet else 10) for n, size in enumerate(products)]
    if tied:
        units.append(unit("heads", products=16, tied=True))
    topology = pod()
    if quiet:
        topology = replace(topology, links=topology.links | {"ipu-link": Link(bandwidth_bytes_per_s=1e9)})
    configuration = replace(CONFIGURATION, schedule=schedule, overlaps_reduction=overlaps, **changes)
    return world(
        model(*units), topology, replicas=4, ipus_per_replica=4, accumulation=count, configuration=configuration
    )


def pair(schedule, **changes):
    return line(schedule, overlaps=False, **changes), line(schedule, overlaps=True, **changes)


def reductions(program):
    """Bytes by route of every flow that reduces in the rack."""
    reductions = Counter()
    for block in program.blocks:
        for task in block.tasks:
            if task.name == "reduce-scatter":
                for flow in task.flows:
                    reductions[flow.route] += flow.volume_bytes * task.repeat * block.repeat
    return reductions


@SCHEDULES
@pytest.mark.parametrize("folded", [True, False])
def test_the_same_bytes_take_the_same_links(schedule, folded):
    plain, overlapping = (setup.program(folded=folded) for setup in pair(schedule, tied=True))
    assert reductions(overlapping) == pytest.approx(reductions(plain), rel=CLOSE)
    assert any(block.name == "reduce-scatter" for block in plain.blocks)
    assert not any(block.name == "reduce-scatter" for block in overlapping.blocks)


@SCHEDULES
@ENGINES
def test_an_ipu_reduces_once_its_last_backward_is_done(run, schedule):
    """Not before, and where nothing else is in the way not later."""
    setup = line(schedule, overlaps=True, tied=True)
    program = setup.program(folded=False)
    spans = run(program, setup.fabric).spans
    last = Counter()
    for span in spans:
        if span.name.startswith("backward"):
            last[span.where % 4] = max(last[span.where % 4], span.end_s)
    begun = [span.start_s for span in spans if span.name.startswith("reduce-scatter by")]
    assert len(last) == 4
    assert min(begun) == pytest.approx(min(last.values()), rel=CLOSE)
    assert all(min(abs(at - done) for at in begun) <= CLOSE * done for done in last.values())


def exposed_s(timeline):
    """What of collectives no compute hides, their software included."""
    return timeline.breakdown_s[Part.ALL_REDUCE] + timeline.breakdown_s[Part.COLLECTIVE_STEPS]


@given(st.sampled_from(PIPELINED), PRODUCTS, st.booleans(), st.integers(1, 9))
def test_overlap_hides_at_most_the_reduction_and_never_that_of_the_first_ipu(schedule, products, tied, count):
    """Between the step without it, less its reduction, and that step; IPU 0 finishes last and hides nothing."""
    plain, overlapping = pair(schedule, products=products, tied=tied, count=count)
    before, after = (analytic.run(setup.program(), setup.fabric) for setup in (plain, overlapping))
    whole_s = analytic.run(plain.block("reduce-scatter"), plain.fabric).step_s
    weights = [sum(item.parameters for item in stage.units) for stage in plain.mapping.stages if stage.ipu == 0]
    # 4 members: 3 times a quarter, half of it each way round, at half the rate; a flow or more on a rail of 2 GB/s.
    own_s = 2 * COLLECTIVE_STEP_S + 3 * sum(weights) * 2 / (2 * 4) / (0.5 * 2e9)
    assert after.step_s <= before.step_s * (1 + CLOSE)
    assert after.step_s >= (before.step_s - whole_s + own_s) * (1 - CLOSE)
    hidden_s = exposed_s(before) - exposed_s(after)
    assert hidden_s == pytest.approx(before.step_s - after.step_s, abs=1e-9 * before.step_s)


@given(PRODUCTS, st.sampled_from([0.5, 0.05, 0.005]), st.integers(4, 9))
def test_stage_s_of_a_grouped_pipeline_has_s_cycles_to_hide_its_reduction(products, share, count):
    """Cycle k from the end runs backward on stages 0 to k: it lasts as long as the slowest of them, and a barrier.

    So the last backward of stage s ends that much before the pipeline does, and what its reduction takes longer shows.
    """
    setups = [
        line(Schedule.GROUPED, overlaps=overlaps, quiet=True, products=products, count=count)
        for overlaps in (False, True)
    ]
    setups = [
        replace(setup, machine=replace(setup.machine, parameters=parameters(collective_efficiency=share)))
        for setup in setups
    ]
    plain, overlapping = (analytic.run(setup.program(), setup.fabric) for setup in setups)
    joint = next(block for block in setups[1].program().blocks if block.after)
    pieces = [task for task in joint.tasks[-joint.after :] if task.name != "host input"]
    capacities = setups[1].fabric.capacities
    took_s = [step.repeat * (step.fixed_s + alone_s(step.flows, capacities)) for step in pieces]
    each_s = [math.fsum(took_s[at : at + len(pieces) // 4]) for at in range(0, len(pieces), len(pieces) // 4)]
    sync_s = machine_sync_s(setups[0].machine.chip, 4)
    before_s, shown_s = 0.0, [0.0]
    for stage, (_, backward_s) in enumerate(setups[0].work_s()):
        before_s += max(other for _, other in setups[0].work_s()[: stage + 1]) + sync_s
        shown_s.append(backward_s + each_s[stage] - before_s)
    whole_s = analytic.run(setups[0].block("reduce-scatter"), setups[0].fabric).step_s
    assert overlapping.step_s == pytest.approx(plain.step_s - whole_s + max(shown_s), rel=CLOSE)


@pytest.mark.parametrize(("workload", "topology"), [("bert", "pod16"), ("bert", "pod64"), ("bert", "pod128")])
@SCHEDULES
def test_overlap_pays_on_shipped_machines_even_where_flows_meet(workload, topology, schedule):
    """With the same tiles; contention between reductions takes back a part of what overlap hides."""
    plain = published(workload, topology, schedule=schedule)
    overlapping = published(workload, topology, schedule=schedule, overlaps_reduction=True)
    quick = analytic.run(overlapping.program(), overlapping.fabric)
    events = des.run(overlapping.program(), overlapping.fabric)
    before = des.run(plain.program(), plain.fabric)
    assert quick.step_s * (1 - 1e-9) <= events.step_s < before.step_s
    assert exposed_s(events) < exposed_s(before)


def test_a_replica_of_one_ipu_has_nothing_to_hide_behind():
    plain, overlapping = (published("resnet50", "pod16", overlaps_reduction=each) for each in (False, True))
    timeline, other = (analytic.run(setup.program(), setup.fabric) for setup in (plain, overlapping))
    assert other.step_s == pytest.approx(timeline.step_s, rel=CLOSE)


@SCHEDULES
def test_a_replica_alone_reduces_nothing(schedule):
    """One replica: the same program with and without."""
    setups = [replace(setup, mapping=replace(setup.mapping, replicas=1)) for setup in pair(schedule)]
    assert setups[0].program() == setups[1].program()


def test_host_and_compute_of_the_turns_that_reductions_cross_are_the_same():
    """The pipeline's own tasks, once each, whether their barriers are crossed or not."""
    seen = []
    for setup in pair(Schedule.GROUPED, tied=True):
        table = Counter()
        for block in setup.pipeline().blocks:
            for task in block.tasks[: len(block.tasks) - (block.after or 0)]:
                table[task.kind, task.name, task.where] += block.repeat
        seen.append(table)
    assert seen[0] == seen[1]
    assert {kind for kind, _, _ in seen[0]} == {TaskKind.COMPUTE, TaskKind.SYNC, TaskKind.HOST, TaskKind.TRANSFER}
