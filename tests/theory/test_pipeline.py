"""Closed forms of the three schedules, of what they leave idle, and of a forward-only pass.

S stages, N micro-batches, t_f and t_b one micro-batch forward and backward on a stage.
"""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, pod, published, unit, world

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.fabric import Link
from podsim.model.program import Part
from podsim.model.training import Schedule
from podsim.physics.sync import machine_sync_s

ENGINES = pytest.mark.parametrize("run", [analytic.run, des.run], ids=["analytic", "des"])
SIZES = pytest.mark.parametrize(("stages", "count"), [(2, 1), (2, 7), (4, 1), (4, 3), (4, 4), (4, 20), (8, 5), (8, 33)])
CLOSE = 1e-12
LATENCY_S, HOP_S, BYTES_PER_S = 1e-6, 1e-7, 1e9


def equal(schedule, stages, count, *, boundary=0, latency_s=0.0, hop_s=0.0):
    """Two equal units on each of `stages` IPUs; links take no time but for what is asked."""
    topology = pod(machines=2)
    link = Link(bandwidth_bytes_per_s=BYTES_PER_S, latency_s=latency_s, hop_s=hop_s)
    setup = world(
        model(*(unit(f"u{number}", boundary=boundary) for number in range(2 * stages))),
        replace(topology, links=topology.links | {"ipu-link": link}),
        ipus_per_replica=stages,
        accumulation=count,
        configuration=replace(CONFIGURATION, schedule=schedule),
    )
    assert len(setup.mapping.stages) == stages
    return setup


def both_ways_s(setup):
    """t_f + t_b, which is the same on every stage."""
    forward, backward = setup.work_s()[0]
    assert setup.work_s() == [(forward, backward)] * len(setup.mapping.stages)
    assert 0 < forward < backward
    return forward + backward


@ENGINES
@SIZES
def test_one_f_one_b(run, stages, count):
    """The last stage starts after S - 1 forwards, is never idle for N (t_f + t_b), and S - 1 backwards follow.

    So (N + S - 1) (t_f + t_b), and the bubble is its (S - 1) (t_f + t_b).
    """
    setup = equal(Schedule.ONE_F_ONE_B, stages, count)
    timeline = run(setup.pipeline(), setup.fabric)
    assert timeline.step_s == pytest.approx((count + stages - 1) * both_ways_s(setup), rel=CLOSE)
    assert timeline.breakdown_s[Part.BUBBLE] == pytest.approx((stages - 1) * both_ways_s(setup), rel=CLOSE)


@ENGINES
@SIZES
def test_grouped(run, stages, count):
    """Cycle c runs micro-batch c - s forward and c - (2 S - 1 - s) backward on stage s.

    A cycle lasts as long as its busiest stage. The last stage works forward in cycles S - 1 to N + S - 2 and backward
    in S to N + S - 1: both in N - 1 of them, and any other stage does both only where the last one does. Before lie S
    cycles with forwards only, after them S with backwards only. So S t_f + (N - 1) (t_f + t_b) + S t_b, which is
    (N + S - 1) (t_f + t_b) again, and N + 2 S - 1 barriers.
    """
    setup = equal(Schedule.GROUPED, stages, count)
    timeline = run(setup.pipeline(), setup.fabric)
    barriers_s = (count + 2 * stages - 1) * machine_sync_s(setup.machine.chip, stages)
    assert timeline.step_s == pytest.approx((count + stages - 1) * both_ways_s(setup) + barriers_s, rel=CLOSE)
    assert timeline.breakdown_s[Part.BUBBLE] == pytest.approx((stages - 1) * both_ways_s(setup), rel=CLOSE)


@ENGINES
@SIZES
def test_sequential(run, stages, count):
    """One micro-batch at a time through all stages and back: N S (t_f + t_b), all but 1 / S of it idle."""
    setup = equal(Schedule.SEQUENTIAL, stages, count)
    timeline = run(setup.pipeline(), setup.fabric)
    assert timeline.step_s == pytest.approx(count * stages * both_ways_s(setup), rel=CLOSE)
    assert timeline.breakdown_s[Part.BUBBLE] == pytest.approx(count * (stages - 1) * both_ways_s(setup), rel=CLOSE)


@ENGINES
def test_sequential_boundaries_add_up(run):
    """N micro-batches cross 2 (S - 1) boundaries one after the other: latency, a hop, and V over the link each.

    IPUs 0 and 1 are joined by a rung of 6 links; 1 and 2 by a rail of 2 and a rung; 2 and 3 by a rung.
    """
    setup = equal(Schedule.SEQUENTIAL, 4, 5, boundary=1000, latency_s=LATENCY_S, hop_s=HOP_S)
    rung_s, rail_s = 2000 / (6 * BYTES_PER_S), 2000 / (2 * BYTES_PER_S)
    crossing_s = 3 * LATENCY_S + 4 * HOP_S + rung_s + rail_s + rung_s
    timeline = run(setup.pipeline(), setup.fabric)
    assert timeline.step_s == pytest.approx(5 * (4 * both_ways_s(setup) + 2 * crossing_s), rel=CLOSE)
    assert timeline.breakdown_s[Part.TRANSFER] == pytest.approx(5 * 2 * crossing_s, rel=CLOSE)


@ENGINES
def test_grouped_boundaries_cross_together(run):
    """A cycle sends all its boundaries at once: it pays the longest latency and the slowest link, once.

    Between 2 stages on one rung: forward in cycles 0 to N - 1, backward in 2 to N + 1, so N + 2 of N + 3 cycles send.
    """
    setup = equal(Schedule.GROUPED, 2, 6, boundary=1000, latency_s=LATENCY_S, hop_s=HOP_S)
    crossing_s = LATENCY_S + HOP_S + 2000 / (6 * BYTES_PER_S)
    timeline = run(setup.pipeline(), setup.fabric)
    barriers_s = (6 + 3) * machine_sync_s(setup.machine.chip, 2)
    assert timeline.step_s == pytest.approx((6 + 1) * both_ways_s(setup) + barriers_s + (6 + 2) * crossing_s, rel=CLOSE)


@ENGINES
@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_grouped_with_embedding_and_heads_on_one_ipu(run, count):
    """S = 5 on 4 IPUs: the sum over cycles of the busiest IPU, from the definition of a cycle."""
    units = [unit("embedding", products=48), *(unit(f"u{number}", products=64) for number in range(8))]
    units.append(unit("heads", products=16, tied=True))
    setup = world(model(*units), pod(), ipus_per_replica=4, accumulation=count, configuration=replace(CONFIGURATION))
    ipus = [stage.ipu for stage in setup.mapping.stages]
    assert ipus == [0, 1, 2, 3, 0]
    link = setup.machine.topology.links["ipu-link"]
    expected_s = 0.0
    for cycle in range(count + 9):
        busy, crossing = [0.0] * 4, [0.0]
        for stage, (forward_s, backward_s) in enumerate(setup.work_s()):
            if 0 <= cycle - stage < count:
                busy[ipus[stage]] += forward_s
                crossing += [hops(ipus[stage], ipus[stage + 1])] if stage < 4 else []
            if 0 <= cycle - (9 - stage) < count:
                busy[ipus[stage]] += backward_s
                crossing += [hops(ipus[stage - 1], ipus[stage])] if stage else []
        latency_s = link.latency_s + link.hop_s * max(crossing) if max(crossing) else 0.0
        expected_s += max(busy) + latency_s + machine_sync_s(setup.machine.chip, 4)
    assert run(setup.pipeline(), setup.fabric).step_s == pytest.approx(expected_s, rel=CLOSE)


def hops(item, other):
    """On a ladder: along the rail, then over the rung."""
    return abs(item // 2 - other // 2) + abs(item % 2 - other % 2)


@ENGINES
@SIZES
def test_forward_only(run, stages, count):
    """An evaluation fills the pipeline and drains it, forward only: N + S - 1 cycles of t_f and a barrier."""
    setup = equal(Schedule.GROUPED, stages, 1)
    program = setup.evaluation(rows=count)
    forward_s, _ = setup.work_s()[0]
    cycle_s = forward_s + machine_sync_s(setup.machine.chip, stages)
    timeline = run(program, setup.fabric)
    assert timeline.step_s == pytest.approx((count + stages - 1) * cycle_s, rel=CLOSE)
    assert timeline.breakdown_s[Part.BUBBLE] == pytest.approx((stages - 1) * forward_s, rel=CLOSE)
    assert timeline.breakdown_s[Part.WEIGHT_UPDATE] == timeline.breakdown_s[Part.ALL_REDUCE] == 0


@ENGINES
@SIZES
@pytest.mark.parametrize("folded", [True, False])
def test_forward_only_without_barriers(run, stages, count, folded):
    """1F1B without B: the last stage starts after S - 1 forwards and is never idle, so N + S - 1 of t_f."""
    setup = equal(Schedule.ONE_F_ONE_B, stages, 1)
    forward_s, _ = setup.work_s()[0]
    timeline = run(setup.evaluation(rows=count, folded=folded), setup.fabric)
    assert timeline.step_s == pytest.approx((count + stages - 1) * forward_s, rel=CLOSE)
    assert timeline.breakdown_s[Part.BUBBLE] == pytest.approx((stages - 1) * forward_s, rel=CLOSE)


@ENGINES
@SIZES
@pytest.mark.parametrize("folded", [True, False])
def test_forward_only_one_after_the_other(run, stages, count, folded):
    """N S of t_f."""
    setup = equal(Schedule.SEQUENTIAL, stages, 1)
    forward_s, _ = setup.work_s()[0]
    timeline = run(setup.evaluation(rows=count, folded=folded), setup.fabric)
    assert timeline.step_s == pytest.approx(count * stages * forward_s, rel=CLOSE)


@ENGINES
@pytest.mark.parametrize("schedule", PIPELINED)
def test_an_evaluation_of_bert_is_the_same_folded_and_whole(run, schedule):
    setup = published("bert", "pod64", schedule=schedule)
    folded, whole = (run(setup.evaluation(500, folded=each), setup.fabric) for each in (True, False))
    assert whole.step_s == pytest.approx(folded.step_s, rel=1e-9)
    assert whole.breakdown_s == pytest.approx(folded.breakdown_s, rel=1e-9, abs=1e-9 * whole.step_s)


def test_rows_of_an_evaluation_are_shared_by_replicas_and_rounded_up():
    """10,000 / 2.04 rows over 8 replicas with 2 rows a micro-batch: 4,902 / 16 are 307 micro-batches."""
    setup = published("bert", "pod64")
    assert setup.mapping.replicas * setup.mapping.micro_batch == 16
    assert [setup.evaluation(rows).micro_batches for rows in (1, 16, 17, 4902)] == [1, 1, 2, 307]


@ENGINES
def test_a_slow_host_sets_the_pace(run):
    """One IPU, inputs of 1 ms behind 30 us of work: N ms."""
    work = model(*(unit(f"u{number}") for number in range(2)), row_bytes=1e6)
    setup = world(work, pod(), accumulation=7, configuration=replace(CONFIGURATION, schedule=Schedule.SEQUENTIAL))
    timeline = run(setup.pipeline(), setup.fabric)
    assert timeline.step_s == pytest.approx(7e-3, rel=CLOSE)
    work_s = 7 * both_ways_s(setup)
    assert timeline.breakdown_s[Part.HOST] == pytest.approx(7e-3 - work_s, rel=CLOSE)


@ENGINES
def test_a_grouped_cycle_waits_for_its_input(run):
    """The N cycles that take an input last 1 ms and a barrier; the other 2 S - 1 drain what is there."""
    setup = equal(Schedule.GROUPED, 2, 7)
    slow = replace(setup, workload=replace(setup.workload, row_bytes=1e6))
    forward_s, backward_s = setup.work_s()[0]
    drain_s = (forward_s + backward_s) + 2 * backward_s  # cycle N on the last stage, then two with backwards only
    barriers_s = (7 + 3) * machine_sync_s(setup.machine.chip, 2)
    timeline = run(slow.pipeline(), slow.fabric)
    assert timeline.step_s == pytest.approx(7e-3 + drain_s + barriers_s, rel=CLOSE)


@ENGINES
@pytest.mark.parametrize("schedule", [Schedule.GROUPED, Schedule.SEQUENTIAL])
def test_one_more_micro_batch_adds_a_period(run, schedule):
    """Once the pipeline is full."""
    long, longer = (published("bert", "pod16", schedule=schedule) for _ in range(2))
    longer = replace(long, mapping=replace(long.mapping, accumulation=long.mapping.accumulation + 1))
    base, more = run(long.program(), long.fabric), run(longer.program(), longer.fabric)
    assert more.step_s - base.step_s == pytest.approx(base.period_s, rel=1e-9)
