"""Generic fabrics: routes by closed form, links that join, the quotient against the whole fabric."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.fabric import Attach, Duplex, GenericFabric, GenericLevel, Link, Override, Shape
from podsim.topology.stated_network import RankNetwork

RATE, LATENCY = 50e9, 0.5e-6
KINDS = {
    "wire": Link(bandwidth_bytes_per_s=RATE, latency_s=LATENCY),
    "slow": Link(bandwidth_bytes_per_s=10e9, latency_s=2e-6, efficiency=0.8),
    "half": Link(bandwidth_bytes_per_s=20e9, latency_s=1e-6, duplex=Duplex.HALF),
}


def level(name, shape, holds, link="wire", **more):
    size = {"sides": holds} if shape is Shape.TORUS else {"holds": holds}
    return GenericLevel(name=name, shape=shape, link=link, **size, **more)


def fabric(*levels, overrides=()):
    return GenericFabric(name="some", title="Some", levels=levels, links=KINDS, overrides=overrides)


def network(*levels, **more):
    return RankNetwork(fabric(*levels, **more))


def names(result, route):
    return [result.link(number).name for number in route.links]


def one(shape, holds, **more):
    return network(level("part", shape, holds, **more))


SHAPES = (Shape.RING, Shape.LINE, Shape.FULL, Shape.SWITCH, Shape.STAR, Shape.SHARED)


@st.composite
def levels(draw, *, line=True):
    """Fabrics of up to three levels of any shape, kind of link and attachment, at most 125 ranks."""
    result = []
    for at in range(draw(st.integers(1, 3))):
        shape = draw(st.sampled_from([*SHAPES, Shape.TORUS] if line else [s for s in SHAPES if s is not Shape.LINE]))
        holds = draw(st.sampled_from([(2, 2), (3, 2), (1, 4)])) if shape is Shape.TORUS else draw(st.integers(1, 5))
        more = {"hub": "slow"} if shape is Shape.STAR and draw(st.booleans()) else {}
        attach = draw(st.sampled_from([Attach.EACH, Attach.GROUP]))
        result.append(level(f"l{'abc'[at]}", shape, holds, draw(st.sampled_from(list(KINDS))), attach=attach, **more))
    return tuple(result)


# --- closed forms ---------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.data())
def test_a_ring_is_gone_round_the_shorter_way_and_upwards_where_both_are(size, data):
    ring, a, b = one(Shape.RING, size), *(data.draw(st.integers(0, size - 1)) for _ in range(2))
    route = ring.route(a, b)
    assert route.hops == min((b - a) % size, (a - b) % size)
    assert route.latency_s == pytest.approx(route.hops * LATENCY)
    if 2 * ((b - a) % size) == size and size > 2:
        assert names(ring, route)[0] == f"rank{a}->rank{(a + 1) % size}"


@given(st.integers(1, 40), st.data())
def test_hops_of_the_other_shapes(size, data):
    a, b = (data.draw(st.integers(0, size - 1)) for _ in range(2))
    apart = int(a != b)
    assert one(Shape.LINE, size).route(a, b).hops == abs(a - b)
    assert one(Shape.FULL, size).route(a, b).hops == apart
    assert one(Shape.SWITCH, size).route(a, b).hops == 2 * apart
    assert one(Shape.STAR, size).route(a, b).hops == 2 * apart
    assert one(Shape.STAR, size, hub="slow").route(a, b).hops == 3 * apart
    assert one(Shape.SHARED, size).route(a, b).hops == apart


@given(st.integers(0, 59), st.integers(0, 59))
def test_a_torus_is_a_ring_for_each_side(a, b):
    torus = one(Shape.TORUS, (3, 4, 5))
    sides = [(3, 1), (4, 3), (5, 12)]
    apart = [(b // stride - a // stride) % size for size, stride in sides]
    assert torus.route(a, b).hops == sum(
        min(way, size - way) for way, (size, _) in zip(apart, sides, strict=True) if way
    )


def test_a_pair_has_one_link_each_way():
    pair = one(Shape.RING, 2)
    assert names(pair, pair.route(0, 1)) == ["rank0->rank1"]
    assert names(pair, pair.route(1, 0)) == ["rank1->rank0"]
    assert len(pair.capacities) == 2


def test_every_rank_has_its_own_switch_port_or_shares_the_uplink_of_its_group():
    rings = level("ring", Shape.RING, 4)
    each = network(rings, level("switch", Shape.SWITCH, 4))
    assert names(each, each.route(1, 15)) == ["rank1->rank2", "rank2->rank3", "rank3->switch0.3", "switch0.3->rank15"]
    group = network(rings, level("switch", Shape.SWITCH, 4, "slow", attach=Attach.GROUP))
    assert names(group, group.route(1, 15)) == ["ring0->switch0", "switch0->ring3"]
    assert [group.capacities[at] for at in group.route(1, 15).links] == [8e9, 8e9]


def test_a_cluster_of_clusters_is_left_and_entered_through_its_switches():
    result = network(
        level("leaf", Shape.SWITCH, 4),
        level("spine", Shape.STAR, 2, "slow", attach=Attach.GROUP, hub="slow"),
        level("top", Shape.RING, 4, "slow", attach=Attach.GROUP),
    )
    assert names(result, result.route(0, 3)) == ["rank0->leaf0", "leaf0->rank3"]
    assert names(result, result.route(0, 7)) == [
        "rank0->leaf0",
        "leaf0->spine0",
        "spine0",
        "spine0->leaf1",
        "leaf1->rank7",
    ]
    route = result.route(0, 8)
    assert names(result, route) == [
        "rank0->leaf0",
        "leaf0->spine0",
        "spine0",
        "spine0->spine1",
        "spine1",
        "spine1->leaf2",
        "leaf2->rank8",
    ]
    assert route.latency_s == pytest.approx(2 * LATENCY + 5 * 2e-6)


def test_a_shared_medium_is_crossed_once_by_every_message():
    bus = one(Shape.SHARED, 8)
    assert {bus.route(a, b).links for a in range(8) for b in range(8) if a != b} == {(0,)}
    assert (bus.link(0).name, list(bus.capacities)) == ("part0", [RATE])


def test_both_directions_of_a_half_duplex_link_are_one():
    ring = one(Shape.RING, 6, link="half")
    assert ring.route(2, 3).links == ring.route(3, 2).links
    assert names(ring, ring.route(3, 2)) == ["rank2-rank3"]
    star = one(Shape.STAR, 6, link="half")
    assert star.route(2, 3).links == star.route(3, 2).links[::-1]


def beyond_free(some, place):
    """Nodes, and those that steps without a link add."""
    free = list(place)
    while free:
        more = {there for there, key in some.arcs(free.pop()) if key is None} - place
        place |= more
        free += more
    return place


# --- properties -----------------------------------------------------------------------------------------------------


@given(levels(), st.data())
def test_routes_lead_where_they_should_and_stay_there_over_distinct_links(found, data):
    some = network(*found)
    a, b = (data.draw(st.integers(0, some.endpoints - 1)) for _ in range(2))
    keys = some.links_of_route(a, b)
    place = beyond_free(some, {("rank", 0, a)})
    for crossed in keys:  # every node of the graph that these links in this order can lead to
        place = beyond_free(some, {there for node in place for there, key in some.arcs(node) if key == crossed})
    assert ("rank", 0, b) in place
    halves = any(axis.half or axis.hub for axis in some.axes)
    assert halves or len(set(keys)) == len(keys)
    assert all(rate > 0 for rate in some.capacities)


@given(levels(), st.data())
def test_no_way_through_the_graph_is_shorter_than_its_widest_shortest(found, data):
    some = network(*found)
    a, b = (data.draw(st.integers(0, some.endpoints - 1)) for _ in range(2))
    best = some.graph.detour(some.node(a), some.node(b))
    assert best is not None
    assert len(best) <= len(some.links_of_route(a, b))
    if len(found) == 1 and found[0].shape is not Shape.SHARED:
        assert len(best) == len(some.links_of_route(a, b))


def test_groups_are_passed_through_without_touching_what_is_inside():
    result = network(level("bus", Shape.SHARED, 3), level("top", Shape.RING, 6, "slow", attach=Attach.GROUP))
    usual = result.links_of_route(0, 9)
    assert names(result, result.route(0, 9)) == ["bus0", "bus0->bus1", "bus1->bus2", "bus2->bus3", "bus3"]
    way = result.graph.detour(result.node(0), result.node(9))
    assert len(way or ()) == len(usual) == 5


@given(levels(line=False), st.data())
def test_one_rank_stands_for_all_where_every_rank_sends_alike(found, data):
    """Bytes over capacity of the most loaded link, in the quotient and over the whole fabric."""
    some = network(*found)
    offsets = [data.draw(st.integers(0, axis.size - 1)) for axis in some.axes]
    quotient = some.quotient
    route = quotient.folded_route(offsets)
    load = Counter(route.links)
    folded_s = max((count / quotient.capacities[at] for at, count in load.items()), default=0.0)
    whole: Counter[int] = Counter()
    for rank in range(some.endpoints):
        to = rank
        for axis, offset in zip(some.axes, offsets, strict=True):
            to = axis.move(to, (axis.coordinate(rank) + offset) % axis.size)
        other = some.route(rank, to)
        assert (other.hops, other.latency_s) == (route.hops, pytest.approx(route.latency_s))
        whole.update(other.links)
    assert folded_s == pytest.approx(max((n / some.capacities[at] for at, n in whole.items()), default=0.0))


@given(levels(), st.data())
def test_the_way_back_has_as_many_hops(found, data):
    some = network(*found)
    a, b = (data.draw(st.integers(0, some.endpoints - 1)) for _ in range(2))
    assert some.route(a, b).hops == some.route(b, a).hops


@given(levels())
def test_dimensions_multiply_to_all_ranks(found):
    some = network(*found)
    assert math.prod(dimension.size for dimension in some.dimensions) == some.endpoints == some.fabric.endpoints


# --- overrides, size, refusals --------------------------------------------------------------------------------------


def test_one_link_at_half_speed_both_ways_or_one():
    ring = level("ring", Shape.RING, 8)
    both = network(ring, overrides=(Override(name="rank3-rank4", bandwidth_bytes_per_s=25e9),))
    rates = [both.capacities[both.route(*ends).links[0]] for ends in ((3, 4), (4, 3), (4, 5))]
    assert rates == [25e9, 25e9, 50e9]
    alone = network(ring, overrides=(Override(name="rank3->rank4", latency_s=1e-3),))
    assert [alone.route(*ends).latency_s for ends in ((3, 4), (4, 3))] == [1e-3, LATENCY]
    assert both.quotient is None
    assert network(ring).quotient is not None
    assert one(Shape.LINE, 4).quotient is None


def test_an_override_states_what_the_cable_says_before_efficiency():
    slow = level("ring", Shape.RING, 4, "slow")
    result = network(slow, overrides=(Override(name="rank0-rank1", bandwidth_bytes_per_s=5e9),))
    assert result.capacities[result.route(0, 1).links[0]] == pytest.approx(4e9)


def test_links_exist_once_they_are_crossed():
    large = one(Shape.TORUS, (256, 256))
    assert (large.endpoints, len(large.capacities)) == (65536, 0)
    large.route(0, 257)
    assert len(large.capacities) == 2


@pytest.mark.parametrize("pair", [(0, 8), (-1, 0), (8, 8)])
def test_ranks_that_are_not_there(pair):
    with pytest.raises(ValueError, match="0 to 7"):
        one(Shape.RING, 8).route(*pair)


def test_offsets_of_too_few_dimensions():
    with pytest.raises(ValueError, match="2 dimensions, not 1"):
        one(Shape.TORUS, (4, 4)).quotient.folded_route((1,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "rank"},
        {"name": "a1"},
        {"name": "a b"},
        {"shape": Shape.LADDER},
        {"sides": (2, 2)},
        {"holds": None},
        {"hub": "wire"},
        {"shape": Shape.TORUS},
    ],
)
def test_a_level_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"name|shape|sides|holds|hub"):
        GenericLevel(**{"name": "ring", "shape": Shape.RING, "link": "wire", "holds": 4, **wrong})
