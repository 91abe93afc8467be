"""Histories of failures: exact expectations, bookkeeping, spares, and one history by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines.des.histories import Luck, simulate
from podsim.model.goodput import InterruptedRun, PartCount
from podsim.predicting.checkpoints import luck


def part(mtbf_s, count=1, repair_s=0.0, *, spared=False, name="ipu"):
    return PartCount(name=name, count=count, mtbf_s=mtbf_s, repair_s=repair_s, spared=spared)


def interrupted(*parts, work_s=1e5, checkpoint_s=20.0, detect_s=30.0, restart_s=100.0, spares=0):
    return InterruptedRun(
        work_s=work_s, checkpoint_s=checkpoint_s, detect_s=detect_s, restart_s=restart_s, parts=parts, spares=spares
    )


def fixed(*uptimes_s):
    """Uniform numbers that give these uptimes to one history with a part that fails once a second on average."""
    rows = [1 - math.exp(-uptime) for uptime in uptimes_s]

    def uniform(name, count, columns):
        if name.startswith("part"):
            return np.zeros((count, columns))
        first = int(name.split()[1]) * count
        return np.array([[rows[at] if at < len(rows) else 1 - 1e-16] for at in range(first, first + count)])

    return uniform


def test_a_history_by_hand():
    """10 of work, a checkpoint of 0.5 every 2; fails after 6 (2 saved twice), restarts in 1, ends 1 + 6 + 1 later."""
    run = interrupted(part(1.0, repair_s=0.25), work_s=10.0, checkpoint_s=0.5, detect_s=0.125, restart_s=1.0)
    histories = simulate(Luck(run, 1, fixed(6.0)), 2.0)
    assert histories.failures == [1]
    # to the failure 6, then out of service 0.375, restart 1, six of work left with two checkpoints
    assert histories.finish_s == pytest.approx([6.0 + 0.375 + 1.0 + 6.0 + 2 * 0.5])
    assert histories.checkpoints_s == [4 * 0.5]
    assert histories.restarts_s == pytest.approx([1.0 + 0.125])
    assert histories.repairs_s == [0.25]
    assert histories.lost_work_s == pytest.approx([6.0 - 2 * 2.5])


def test_a_failure_while_it_restarts_saves_nothing():
    run = interrupted(part(1.0), work_s=4.0, checkpoint_s=0.0, detect_s=0.0, restart_s=1.0)
    histories = simulate(Luck(run, 1, fixed(2.5, 0.5)), 2.0)
    assert histories.failures == [2]
    assert histories.finish_s == pytest.approx([2.5 + 0.5 + 1.0 + 2.0])
    assert histories.restarts_s == pytest.approx([0.5 + 1.0])


def test_nothing_fails():
    run = interrupted(part(1e12), work_s=1000.0, checkpoint_s=5.0)
    histories = simulate(luck(run, 3, 0), 300.0)
    assert histories.finish_s == pytest.approx([1000.0 + 3 * 5.0] * 3)  # the last part needs no checkpoint
    assert histories.losses.lost_work_s == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("interval_s", [200.0, 1000.0, 5000.0])
@pytest.mark.parametrize("mtbf_s", [2000.0, 20_000.0])
def test_the_mean_is_that_of_renewal_theory(interval_s, mtbf_s):
    """E(a segment of length s after a reload r) = (1/f + D)(e^(f s) - 1) while it runs, times e^(f r) after failures.

    Every segment is a renewal: it needs s without failure, and after each failure D out of service and r + s without
    one. From the first failure on the expected time is D + (e^(f (r + s)) - 1)(1/f + D) - ..., written as a recursion:
    T = E[min(X, s)] + P(X < s) (D + T'),  T' = (1 - e^(-f u))/f + (1 - e^(-f u)) (D + T'), u = r + s.
    """
    run = interrupted(part(mtbf_s, repair_s=60.0), work_s=50 * interval_s)
    rate, out_s = run.failures_per_s, run.detect_s + 60.0

    def segment_s(size_s):
        again = -math.expm1(-rate * (run.restart_s + size_s))
        later = again * (1 / rate + out_s) / (1 - again)
        fails = -math.expm1(-rate * size_s)
        return fails / rate + fails * (out_s + later)

    exact = 49 * segment_s(interval_s + run.checkpoint_s) + segment_s(interval_s)
    histories = simulate(luck(run, 4000, 1), interval_s)
    error = 4 * histories.finish_s.std() / math.sqrt(4000)
    assert histories.mean_s == pytest.approx(exact, abs=error)


def test_time_adds_up_and_comes_from_where_it_is_said_to():
    run = interrupted(part(5000.0, repair_s=500.0), part(9000.0, repair_s=50.0, name="host"))
    histories = simulate(luck(run, 500, 3), 700.0)
    parts = histories.checkpoints_s + histories.lost_work_s + histories.restarts_s + histories.repairs_s
    assert run.work_s + parts == pytest.approx(histories.finish_s)
    assert (histories.lost_work_s >= -1e-6).all()
    repair = (500 / 5000 + 50 / 9000) / (1 / 5000 + 1 / 9000)
    assert histories.repairs_s.sum() / histories.failures.sum() == pytest.approx(repair, rel=0.02)


def test_spares_take_over_until_they_are_used_up():
    """One failure every 100 s, repaired in 1000 s: ten spares or more are always free, one seldom is."""
    finish = {}
    for spares in (0, 1, 5, 40):
        run = interrupted(
            part(100.0, repair_s=1000.0, spared=True),
            spares=spares,
            restart_s=1.0,
            detect_s=50.0,
            checkpoint_s=0.1,
            work_s=20_000.0,
        )
        histories = simulate(luck(run, 50, 0), 10.0)
        finish[spares] = histories.mean_s
        if spares == 40:
            assert histories.repairs_s == pytest.approx(0.0)
        if spares == 1:  # two machines take turns, each back 1000 s after it failed: two failures in 1000 + 100 + 50 s
            assert histories.repairs_s.sum() / histories.failures.sum() == pytest.approx(
                (1000 - 100 - 50) / 2, rel=0.03
            )
    assert finish[0] > finish[1] > finish[5] > finish[40]


def test_a_spare_machine_is_no_host():
    run = interrupted(part(1000.0, repair_s=300.0, name="host"), spares=5)
    histories = simulate(luck(run, 20, 0), 100.0)
    assert histories.repairs_s == pytest.approx(300.0 * histories.failures)


def test_histories_do_not_depend_on_how_many_failures_are_drawn_at_once():
    run = interrupted(part(1000.0, repair_s=10.0, spared=True), spares=1)
    whole, parts = luck(run, 7, 5), luck(run, 7, 5)
    parts.rows = 8
    parts._first = parts._draw(0)
    assert parts.rows < whole.rows
    histories, other = simulate(whole, 150.0), simulate(parts, 150.0)
    # the first failures are the same numbers; later blocks have their own
    assert histories.finish_s.mean() == pytest.approx(other.finish_s.mean(), rel=0.1)
    assert simulate(parts, 150.0).finish_s == pytest.approx(other.finish_s, rel=1e-15)


def test_rarer_failures_never_end_a_run_later():
    """Two scenarios of a seed have the same luck, so this holds on average with few histories."""
    often = simulate(luck(interrupted(part(3000.0)), 100, 2), 500.0)
    seldom = simulate(luck(interrupted(part(6000.0)), 100, 2), 500.0)
    apart = often.finish_s - seldom.finish_s
    assert apart.mean() > 0
    strangers = simulate(luck(interrupted(part(6000.0)), 100, 3), 500.0)
    assert apart.std() < (often.finish_s - strangers.finish_s).std()


@settings(max_examples=settings.default.max_examples // 2)
@given(st.floats(500.0, 1e6), st.floats(0.0, 50.0), st.floats(20.0, 1e5), st.integers(0, 3))
def test_useful_work_is_never_more_than_time(mtbf_s, checkpoint_s, interval_s, spares):
    run = interrupted(
        part(mtbf_s, repair_s=100.0, spared=True), work_s=2e4, checkpoint_s=checkpoint_s, spares=spares, restart_s=50.0
    )
    histories = simulate(luck(run, 5, 0), min(interval_s, 500.0))
    assert (histories.finish_s >= run.work_s * (1 - 1e-12)).all()
    assert (histories.lost_work_s >= -1e-6).all()
