"""Flows that share links: closed forms, and what max-min fairness promises."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.program import Flow
from podsim.physics import links as physics
from podsim.physics.links import alone_s, floor_s, max_min_rates

CLOSE = 1e-9
VOLUMES = st.floats(1.0, 1e9)


@st.composite
def groups(draw, volumes=VOLUMES):
    """Flows over up to six links, with the links' capacities."""
    capacities = draw(st.lists(st.floats(1.0, 1e3), min_size=1, max_size=6))
    route = st.lists(st.integers(0, len(capacities) - 1), min_size=1, unique=True).map(tuple)
    flows = draw(st.lists(st.builds(Flow, route, volumes, st.integers(1, 4)), min_size=1, max_size=8))
    return flows, capacities


def entries(flows):
    return [(flow.route, flow.count) for flow in flows]


def loads(flows, rates, capacities):
    """Rate carried by each link."""
    carried = [0.0] * len(capacities)
    for flow, rate in zip(flows, rates, strict=True):
        for link in flow.route:
            carried[link] += rate * flow.count
    return carried


def stepwise_s(flows, capacities):
    """The definition: solve, run to the next finish, solve again."""
    left = [(flow.route, flow.count, flow.volume_bytes) for flow in flows]
    elapsed = 0.0
    while left:
        rates = max_min_rates([(route, count) for route, count, _ in left], capacities)
        first = min(volume / rate for (*_, volume), rate in zip(left, rates, strict=True))
        elapsed += first
        left = [
            (route, count, volume - rate * first)
            for (route, count, volume), rate in zip(left, rates, strict=True)
            if volume / rate > first * (1 + 1e-12)
        ]
    return elapsed


def test_two_flows_on_one_link_share_equally():
    """n flows on a link of rate B get B / n each and take n V / B together."""
    assert max_min_rates([((0,), 1), ((0,), 1)], [10.0]) == [5.0, 5.0]
    assert max_min_rates([((0,), 2)], [10.0]) == [5.0]
    assert alone_s([Flow((0,), 100.0), Flow((0,), 100.0)], [10.0]) == 20.0


def test_the_textbook_line():
    """One flow over links of 10 and 4, a second on the 4: the shared link halves, the rest of the 10 is the third's."""
    assert max_min_rates([((0, 1), 1), ((1,), 1), ((0,), 1)], [10.0, 4.0]) == [2.0, 2.0, 8.0]


def test_a_short_flow_leaves_its_half_to_the_long_one():
    """V and 3 V on a link of rate B: both at B / 2 until 2 V / B, then 2 V at B, so 4 V / B: the link is never idle."""
    assert alone_s([Flow((0,), 10.0), Flow((0,), 30.0)], [10.0]) == 4.0


def test_a_leaver_may_slow_another():
    """Max-min is not monotone: the flow over both links grows when the first leaves, at the cost of the third.

    Links of 6 and 10. Flow a on link 0, b on both, c on link 1: b is held at 3, so c runs at 7. When a is through
    (3 bytes at t = 1) b takes its half of link 1, 5, and c falls to 5: 27 bytes need 1 + 20 / 5 = 5 s.
    """
    flows = [Flow((0,), 3.0), Flow((0, 1), 100.0), Flow((1,), 27.0)]
    capacities = [6.0, 10.0]
    assert max_min_rates(entries(flows), capacities) == [3.0, 3.0, 7.0]
    assert max_min_rates(entries(flows[1:]), capacities) == [5.0, 5.0]
    # b has 100 - 3 - 4 x 5 = 77 bytes left at 5 s and link 0, now its own, gives 6
    assert alone_s(flows, capacities) == pytest.approx(5.0 + 77.0 / 6.0)


def test_links_alike_but_for_rounding_fill_together():
    """Else symmetric flows would finish one rounding error after the other, each with a solve of its own."""
    first, second = max_min_rates([((0,), 1), ((1,), 1)], [0.3, 0.1 * 3])
    assert first == second


def test_an_empty_route_takes_no_time():
    assert max_min_rates([((), 1), ((0,), 1)], [10.0]) == [math.inf, 10.0]
    assert alone_s([Flow((), 1e9)], [10.0]) == 0.0
    assert alone_s([], [10.0]) == floor_s([], [10.0]) == 0.0


def test_no_bytes_take_no_time_and_no_share():
    assert alone_s([Flow((0,), 0.0, 5), Flow((0,), 10.0)], [10.0]) == 1.0


@pytest.mark.parametrize("hops", [1, 2, 3, 8])
def test_a_shift_round_a_ring_takes_hops_times_one(hops):
    """Every one of p members sends V to the member h further on: each link carries h flows, so h V / B."""
    members = 32
    flows = [Flow(tuple((start + hop) % members for hop in range(hops)), 10.0) for start in range(members)]
    assert alone_s(flows, [2.0] * members) == pytest.approx(hops * 5.0, rel=CLOSE)


@given(groups())
def test_no_link_over_capacity_and_a_full_link_for_each_flow(group):
    flows, capacities = group
    rates = max_min_rates(entries(flows), capacities)
    carried = loads(flows, rates, capacities)
    assert all(rate <= capacity * (1 + CLOSE) for rate, capacity in zip(carried, capacities, strict=True))
    for flow, rate in zip(flows, rates, strict=True):
        # max-min by definition: some link is full, on which no other flow is faster
        assert any(
            carried[link] >= capacities[link] * (1 - CLOSE)
            and all(rate >= r * (1 - CLOSE) for f, r in zip(flows, rates, strict=True) if link in f.route)
            for link in flow.route
        )


@given(groups(), st.randoms(use_true_random=False))
def test_relabelling_links_and_flows_changes_nothing(group, dice):
    flows, capacities = group
    numbers = list(range(len(capacities)))
    dice.shuffle(numbers)
    order = list(range(len(flows)))
    dice.shuffle(order)
    moved = [0.0] * len(capacities)
    for old, new in enumerate(numbers):
        moved[new] = capacities[old]
    renamed = [Flow(tuple(numbers[link] for link in f.route), f.volume_bytes, f.count) for f in flows]
    shuffled = [renamed[index] for index in order]
    rates = max_min_rates(entries(flows), capacities)
    assert max_min_rates(entries(shuffled), moved) == pytest.approx([rates[index] for index in order], rel=CLOSE)
    assert alone_s(shuffled, moved) == pytest.approx(alone_s(flows, capacities), rel=CLOSE)
    assert floor_s(shuffled, moved) == pytest.approx(floor_s(flows, capacities), rel=CLOSE)


@given(groups())
def test_a_count_is_that_many_flows(group):
    flows, capacities = group
    single = [Flow(flow.route, flow.volume_bytes) for flow in flows for _ in range(flow.count)]
    assert alone_s(single, capacities) == pytest.approx(alone_s(flows, capacities), rel=CLOSE)
    assert floor_s(single, capacities) == pytest.approx(floor_s(flows, capacities), rel=CLOSE)


@given(groups())
def test_never_faster_than_the_most_loaded_link(group):
    assert alone_s(*group) >= floor_s(*group) * (1 - CLOSE)


@given(groups())
def test_twice_the_capacity_is_half_the_time(group):
    flows, capacities = group
    doubled = [2 * capacity for capacity in capacities]
    assert alone_s(flows, doubled) == alone_s(flows, capacities) / 2
    assert floor_s(flows, doubled) == floor_s(flows, capacities) / 2


@given(groups(volumes=st.sampled_from([1.0, 2.0, 5.0])))
def test_the_short_cut_gives_what_solving_at_every_finish_gives(group):
    assert alone_s(*group) == pytest.approx(stepwise_s(*group), rel=CLOSE)


@given(groups(volumes=st.just(7.0)))
def test_equal_volumes_take_one_solve(solves, group):
    flows, capacities = group
    solves.clear()
    seconds = alone_s(flows, capacities)
    assert len(solves) == 1
    assert seconds == 7.0 / min(max_min_rates(entries(flows), capacities))


@pytest.fixture(scope="module")
def solves():
    """Calls of the solver."""
    calls = []

    def counted(flows, capacities):
        calls.append(len(flows))
        return max_min_rates(flows, capacities)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(physics, "max_min_rates", counted)
        yield calls


@given(st.lists(st.tuples(st.floats(1.0, 1e9), st.floats(1.0, 1e3)), min_size=1, max_size=20))
def test_flows_that_do_not_meet_take_the_time_of_the_slowest(pairs):
    flows = [Flow((link,), volume) for link, (volume, _) in enumerate(pairs)]
    assert alone_s(flows, [capacity for _, capacity in pairs]) == pytest.approx(max(v / c for v, c in pairs), rel=CLOSE)


@given(groups())
def test_many_links_fill_in_the_order_in_which_few_do(group):
    """Kept in order or looked at one by one."""
    flows, capacities = group
    few = max_min_rates(entries(flows), capacities)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(physics, "SCAN_LIMIT", 0)
        assert max_min_rates(entries(flows), capacities) == pytest.approx(few, rel=CLOSE)


@given(groups(volumes=st.sampled_from([1.0, 2.0, 5.0])))
def test_many_flows_take_as_long_by_class_as_few_do_one_by_one(group):
    alone = alone_s(*group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(physics, "FEW", 0)
        assert alone_s(*group) == pytest.approx(alone, rel=CLOSE)


def test_a_route_that_crosses_a_link_twice_loads_it_twice():
    assert max_min_rates([((0, 1, 0), 2), ((1,), 1)], [12.0, 10.0]) == [3.0, 4.0]
    assert floor_s([Flow((0, 1, 0), 6.0)], [12.0, 10.0]) == 1.0
