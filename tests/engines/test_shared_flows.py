"""Flows on shared links by hand: max-min rates from event to event, groups that arrive whole, links that never meet."""

import pytest
import simpy

from podsim.engines.des.flows import SharedLinks
from podsim.engines.des.sharing import Sharings
from podsim.model.program import Flow

GB = 1e9


def arrivals(capacities, *sent, recorded=False):
    """When each group is through; `sent` are (start, flows) in the order of their numbers."""
    env, through = simpy.Environment(), {}
    links = SharedLinks(Sharings(capacities), [flows for _, flows in sent])
    links.open(env, lambda number: through.setdefault(number, env.now), recorded=recorded)
    for number, (start_s, _) in enumerate(sent):
        if start_s:
            env.timeout(start_s).callbacks.append(lambda event, number=number: links.send(number, event))
        else:
            links.send(number)
    env.run()
    return [through[number] for number in range(len(sent))], links


def one(route, volume=GB, count=1):
    return (Flow(route, volume, count),)


def test_a_flow_alone_has_the_link():
    assert arrivals([2 * GB], (0, one((0,))))[0] == [0.5]


def test_what_moves_nothing_is_through_at_once():
    assert arrivals([GB], (3.0, ()), (0, one((0,), 0.0)))[0] == [3.0, 0.0]


def test_two_share_a_link_and_the_first_to_come_is_through_first():
    """Half a second alone, a second together, half a second alone."""
    assert arrivals([GB], (0, one((0,))), (0.5, one((0,))))[0] == pytest.approx([1.5, 2.0])


def test_what_starts_at_one_time_is_through_at_one_time():
    assert arrivals([GB], (1.0, one((0,))), (1.0, one((0,))), (1.0, one((0,))))[0] == pytest.approx([4.0] * 3)


def test_what_a_narrow_link_leaves_goes_to_others():
    """Flow 0 crosses links of 1 and 4 GB/s, flow 1 the wide one alone: 1 and 3 GB/s, then all 4."""
    ends, _ = arrivals([GB, 4 * GB], (0, one((0, 1), GB)), (0, one((1,), 5 * GB)))
    assert ends == pytest.approx([1.0, 1.5])


def test_links_that_never_meet_do_not_wait_for_each_other():
    ends, links = arrivals([GB, GB], (0, one((0,))), (0.25, one((1,))))
    assert ends == pytest.approx([1.0, 1.25])
    joined, _ = arrivals([GB, GB], (0, one((0,))), (0.25, one((1,))), (9.0, one((0, 1))))
    assert joined[:2] == pytest.approx([1.0, 1.25])
    assert links.events == 2


def test_a_group_is_through_when_its_last_flow_has_arrived():
    flows = (Flow((0,), GB), Flow((1,), 3 * GB), Flow((0,), 0.0))
    assert arrivals([GB, GB], (0, flows))[0] == pytest.approx([3.0])


def test_equal_flows_on_one_route_share_it():
    assert arrivals([GB], (0, one((0,), GB, count=3)))[0] == pytest.approx([3.0])


def test_a_flow_that_crosses_a_link_twice_has_half_of_it():
    assert arrivals([GB], (0, one((0, 0))))[0] == pytest.approx([2.0])


def test_what_is_recorded_adds_up_to_the_bytes():
    _, links = arrivals([GB], (0, one((0,))), (0.5, one((0,))), (5.0, one((0,))), recorded=True)
    moved = sum((until_s - since_s) * sharing.loads()[0] for since_s, until_s, sharing in links.used)
    assert moved == pytest.approx(3 * GB)
    assert arrivals([GB], (0, one((0,))))[1].used is None
