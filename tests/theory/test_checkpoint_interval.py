"""The simulated best interval against Young's first-order optimum and Daly's refinement."""

import math

import pytest

from podsim.engines.des.histories import simulate
from podsim.model.goodput import InterruptedRun, PartCount
from podsim.predicting.checkpoints import IntervalSearch, luck


def interrupted(mtbf_s, checkpoint_s, work_s):
    part = PartCount(name="ipu", count=1, mtbf_s=mtbf_s, repair_s=0.0, spared=False)
    return InterruptedRun(work_s=work_s, checkpoint_s=checkpoint_s, detect_s=0.0, restart_s=100.0, parts=(part,))


def young(mtbf_s, checkpoint_s):
    """Time lost a second: checkpoint / tau + tau / (2 mtbf), least where both are equal (young-1974)."""
    return math.sqrt(2 * checkpoint_s * mtbf_s)


def daly(mtbf_s, checkpoint_s):
    """Daly's higher order: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18 M) - C, for C < 2 M (daly-2006)."""
    ratio = checkpoint_s / (2 * mtbf_s)
    return math.sqrt(2 * checkpoint_s * mtbf_s) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - checkpoint_s


CASES = [(86_400.0, 5.0), (14_400.0, 60.0), (3_600.0, 120.0), (1_800.0, 300.0)]


@pytest.mark.parametrize(("mtbf_s", "checkpoint_s"), CASES)
def test_the_best_interval_is_near_dalys(mtbf_s, checkpoint_s):
    run = interrupted(mtbf_s, checkpoint_s, 200 * mtbf_s)
    tried = IntervalSearch(run, 1.0, 0).best()
    best = max(tried, key=lambda interval: interval.goodput).interval_s
    others = sorted(abs(math.log(interval.interval_s / best)) for interval in tried)
    assert others[2] < 0.06  # the grid is 40 % apart: it was narrowed around the best
    assert best == pytest.approx(daly(mtbf_s, checkpoint_s), rel=0.25)  # the optimum is flat: 25 % off costs 0.1 to 1 %


@pytest.mark.parametrize(("mtbf_s", "checkpoint_s"), CASES)
def test_no_other_interval_beats_it_by_more_than_chance(mtbf_s, checkpoint_s):
    run = interrupted(mtbf_s, checkpoint_s, 200 * mtbf_s)
    best = max(IntervalSearch(run, 1.0, 0).best(), key=lambda interval: interval.goodput).interval_s
    fresh = luck(run, 300, 99)
    mean_s = simulate(fresh, best).mean_s
    for other in (young(mtbf_s, checkpoint_s), daly(mtbf_s, checkpoint_s), best / 2, 2 * best):
        assert mean_s <= simulate(fresh, other).mean_s * 1.003


def test_where_failures_are_rare_the_first_order_is_the_limit():
    run = interrupted(1e6, 1.0, 2e7)
    best = max(IntervalSearch(run, 1.0, 0).best(), key=lambda interval: interval.goodput).interval_s
    assert best == pytest.approx(young(1e6, 1.0), rel=0.25)


def test_lost_time_is_a_checkpoint_and_half_an_interval_a_failure():
    """At the optimum both shares are equal, sqrt(C / 2M) each."""
    mtbf_s, checkpoint_s = 86_400.0, 5.0
    run = interrupted(mtbf_s, checkpoint_s, 100 * mtbf_s)
    lost = simulate(luck(run, 500, 0), young(mtbf_s, checkpoint_s)).losses
    share = math.sqrt(checkpoint_s / (2 * mtbf_s))
    assert lost.checkpoints_s / run.work_s == pytest.approx(share, rel=0.02)
    assert lost.lost_work_s / run.work_s == pytest.approx(share, rel=0.05)
