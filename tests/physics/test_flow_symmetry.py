"""Classes of flows and links: that they are alike, that filling them is filling flows, and how few there are."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.physics.flow_symmetry import classes
from podsim.physics.links import fill, max_min_rates


def shift(members, hops, volumes=(1.0,), count=1):
    """Each member of a ring sends to the one `hops` further on."""
    return [
        (tuple((start + hop) % members for hop in range(hops)), count, volumes[start % len(volumes)])
        for start in range(members)
    ]


@st.composite
def drawn(draw):
    """Any flows, over links once or more often, with few kinds and capacities so that some are alike."""
    capacities = draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=1, max_size=8))
    route = st.lists(st.integers(0, len(capacities) - 1), min_size=1, max_size=4).map(tuple)
    flow = st.tuples(route, st.integers(1, 3), st.sampled_from(["a", "b"]))
    return draw(st.lists(flow, min_size=1, max_size=12)), capacities


@st.composite
def symmetric(draw):
    """Shifts round a ring by several distances at once, and a star through one hub of several crossings."""
    members = draw(st.sampled_from([4, 6, 12]))
    flows = []
    for hops in draw(st.lists(st.integers(1, members - 1), min_size=1, max_size=3)):
        flows += shift(members, hops, count=draw(st.integers(1, 3)))
    if draw(st.booleans()):
        flows += [((members + leaf, 2 * members, 2 * members), 1, 1.0) for leaf in range(members)]
    return flows, [draw(st.floats(1.0, 1e3))] * members + [7.0] * members + [draw(st.floats(1.0, 1e3))]


def rates_by_flow(flows, result):
    rates = [0.0] * len(flows)
    for members, rate in zip(result.members, fill(result.crossings, result.capacities), strict=True):
        for flow in members:
            rates[flow] = rate
    return rates


@given(drawn() | symmetric())
def test_filling_classes_is_filling_flows(instance):
    flows, capacities = instance
    plain = max_min_rates([(route, count) for route, count, _ in flows], capacities)
    assert rates_by_flow(flows, classes(flows, capacities)) == pytest.approx(plain, rel=1e-12)


@given(drawn() | symmetric())
def test_members_of_a_class_see_the_same_and_no_two_classes_could_be_one(instance):
    """Refined again from the classes found, nothing splits; refined by brute force, there are as many."""
    flows, capacities = instance
    result = classes(flows, capacities)
    assert sorted(flow for members in result.members for flow in members) == list(range(len(flows)))
    flow_of = {flow: (count, kind) for flow, (_, count, kind) in enumerate(flows)}
    link_of = {link: capacities[link] for route, _, _ in flows for link in route}
    for _ in range(len(flows) + len(capacities)):
        seen = {
            link: (
                link_of[link],
                *sorted(Counter(flow_of[f] for f, (r, _, _) in enumerate(flows) for x in r if x == link).items()),
            )
            for link in link_of
        }
        met = {f: (flow_of[f], *sorted(Counter(link_of[x] for x in r).items())) for f, (r, _, _) in enumerate(flows)}
        numbers = {key: number for number, key in enumerate(sorted(set(seen.values())))}
        kinds = {key: number for number, key in enumerate(sorted(set(met.values())))}
        link_of = {link: numbers[key] for link, key in seen.items()}
        flow_of = {flow: kinds[key] for flow, key in met.items()}
    by_force: dict[int, set[int]] = {}
    for flow, kind in flow_of.items():
        by_force.setdefault(kind, set()).add(flow)
    assert {frozenset(members) for members in result.members} == {frozenset(members) for members in by_force.values()}


def test_a_ring_is_one_class_of_flows_on_one_of_links():
    result = classes(shift(1024, 3), [2.0] * 1024)
    assert result.members == (tuple(range(1024)),)
    assert (result.crossings, result.capacities) == ((([0], [3]),), (2.0,))


def test_one_slow_link_tells_flows_by_their_distance_from_it():
    """Either side of the slow edge of a ring looks the same."""
    result = classes(shift(8, 2), [1.0] + [2.0] * 7)
    assert sorted(result.members) == [(0, 7), (1, 6), (2, 5), (3, 4)]


def test_links_that_look_alike_but_for_how_many_cross_them_tell_flows_apart():
    """Three flows through a hub go on over two equal links, one and two of them; a fourth goes elsewhere."""
    flows = [((9,), 1, ""), ((0, 1), 1, ""), ((0, 2), 1, ""), ((0, 2), 1, "")]
    result = classes(flows, [1.0, 2.0, 2.0, *[3.0] * 7])
    assert sorted(result.members) == [(0,), (1,), (2, 3)]


def test_kinds_and_counts_are_never_mixed():
    assert len(classes(shift(8, 1, volumes=(1.0, 2.0)), [1.0] * 8).members) == 2
    assert len(classes([((0,), 1, "a"), ((1,), 2, "a")], [1.0, 1.0]).members) == 2


def test_a_hub_carries_all_its_leaves():
    result = classes([((leaf, 100), 2, "") for leaf in range(100)], [1.0] * 101)
    assert sorted(zip(*result.crossings[0], strict=True)) == [(0, 2), (1, 200)]
