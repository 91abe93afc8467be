"""Flows that meet on links, on programs made by hand with known answers and on drawn ones with bounds."""

import pytest
from engines.programs import ends, programs, run, task
from hypothesis import given

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.program import Flow

CLOSE = 1e-9


def test_two_groups_that_start_together_share_a_link():
    """100 B each at 10 B/s: both at 5 B/s, both done after 20 s. Alone each would take 10 s."""
    two = [task(0.0, Flow((0,), 100.0)), task(0.0, Flow((0,), 100.0))]
    assert ends(run(des, two, [10.0])) == [20.0, 20.0]
    assert ends(run(analytic, two, [10.0])) == [10.0, 10.0]


def test_a_group_that_starts_later_shares_what_is_left():
    """The second starts after 4 s. The first has 60 B left then, at 5 B/s: done at 16 s. The second has sent 60 B by
    then and the link to itself: 40 B more take 4 s, done at 20 s. The link was never idle: 200 B in 20 s."""
    assert ends(run(des, [task(0.0, Flow((0,), 100.0)), task(4.0, Flow((0,), 100.0))], [10.0])) == [16.0, 20.0]


def test_a_leaving_group_gives_its_share_back():
    """20 B and 100 B at 5 B/s each until 4 s, then 80 B at 10 B/s: 12 s."""
    assert ends(run(des, [task(0.0, Flow((0,), 20.0)), task(0.0, Flow((0,), 100.0))], [10.0])) == [4.0, 12.0]


def test_nearly_together_is_not_together():
    """100 B and 101 B: 100 B each after 20 s, and the last byte has the link to itself for a tenth of a second."""
    two = [task(0.0, Flow((0,), 100.0)), task(0.0, Flow((0,), 101.0))]
    assert ends(run(des, two, [10.0])) == pytest.approx([20.0, 20.1], rel=CLOSE)


def test_shares_are_by_flow_not_by_group():
    """A group of three flows has three of four shares: 30 B each at 2.5 B/s; the fourth has 30 B too: 12 s."""
    assert ends(run(des, [task(0.0, Flow((0,), 30.0, 3)), task(0.0, Flow((0,), 30.0))], [10.0])) == [12.0, 12.0]


def test_a_flow_over_two_links_is_held_by_the_fuller_one():
    """a over links of 10 and 4, b on the 4, c on the 10: a and b get 2, c gets 8 and is done after 10 s.

    Nothing changes for a, which the link of 4 holds: 40 B at 2 B/s take 20 s, b with it.
    """
    flows = [task(0.0, Flow((0, 1), 40.0)), task(0.0, Flow((1,), 40.0)), task(0.0, Flow((0,), 80.0))]
    assert ends(run(des, flows, [10.0, 4.0])) == pytest.approx([20.0, 20.0, 10.0], rel=CLOSE)


def test_repeats_meet_one_after_the_other():
    """Three times (1 s, then 10 B), against 60 B from the start, on 10 B/s.

    0 to 1 s alone: 10 B of 60. Then 10 B at 5 B/s take 2 s, 1 s pause, and so on: at 9 s the three are through and the
    long one has sent 3 x (10 + 10) = 60 B: both end at 9 s.
    """
    timeline = run(des, [task(1.0, Flow((0,), 10.0), repeat=3), task(0.0, Flow((0,), 60.0))], [10.0])
    assert ends(timeline) == pytest.approx([9.0, 9.0], rel=CLOSE)


def test_a_group_is_done_with_its_last_flow():
    """What needs it waits for both flows."""
    timeline = run(des, [task(0.0, Flow((0,), 10.0), Flow((1,), 30.0)), task(1.0, needs=(0,))], [10.0, 10.0])
    assert ends(timeline) == [3.0, 4.0]


def test_empty_routes_and_no_bytes_take_no_time():
    assert ends(run(des, [task(2.0, Flow((), 1e9)), task(3.0, Flow((0,), 0.0))], [1.0])) == [2.0, 3.0]


def test_a_wait_for_several_ends_with_the_last():
    timeline = run(des, [task(1.0), task(5.0), task(3.0), task(1.0, needs=(0, 1, 2))], [])
    assert ends(timeline) == [1.0, 5.0, 3.0, 6.0]


@given(programs())
def test_never_slower_than_one_flow_after_the_other(program):
    """Some link is full at any time, so the seconds each flow would need alone shrink by a second a second."""
    tasks, capacities = program
    serial_s = sum(
        item.repeat
        * (
            item.fixed_s
            + sum(f.count * f.volume_bytes * max(f.route.count(x) / capacities[x] for x in f.route) for f in item.flows)
        )
        for item in tasks
    )
    assert run(des, tasks, capacities).step_s <= serial_s * (1 + CLOSE)


@given(programs())
def test_the_same_program_gives_the_same_timeline(program):
    assert run(des, *program) == run(des, *program)


@given(programs())
def test_nothing_starts_before_what_it_needs(program):
    tasks, _ = program
    spans = run(des, *program).spans
    for item, span in zip(tasks, spans, strict=True):
        assert span.start_s == max((spans[need].end_s for need in item.needs), default=0.0)
        assert span.end_s >= span.start_s + item.repeat * item.fixed_s * (1 - CLOSE)
