"""Bisection and diameter of stated fabrics against networkx and every route."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.fabric import Attach, GenericFabric, GenericLevel, Link, Shape
from podsim.topology.measure import bisection_bytes_per_s, diameter_hops, per_rank_bytes_per_s
from podsim.topology.stated_network import RankNetwork

SHAPES = (Shape.RING, Shape.LINE, Shape.FULL, Shape.SWITCH, Shape.STAR, Shape.SHARED)
LINKS = {"wire": Link(bandwidth_bytes_per_s=1.0), "hub": Link(bandwidth_bytes_per_s=2.5)}


def level(name, shape, holds, **more):
    size = {"sides": holds} if shape is Shape.TORUS else {"holds": holds}
    return GenericLevel(name=name, shape=shape, link="wire", **size, **more)


def stated(*levels):
    return GenericFabric(name="some", title="Some", levels=levels, links=LINKS)


def least_cut(fabric):
    """Least bandwidth from one half of the ranks to the other, over every even split, through the whole graph."""
    network = RankNetwork(fabric)
    flow = nx.DiGraph()
    for source, target, arc in network.graph.edges(data=True):
        flow.add_edge(source, target, **({} if arc["key"] is None else {"capacity": arc["bandwidth_bytes_per_s"]}))
    cuts = []
    for side in combinations(range(1, network.endpoints), network.endpoints // 2 - 1):
        split = flow.copy()
        for rank in range(network.endpoints):
            node, here = network.node(rank), rank == 0 or rank in side
            split.add_edge(*(("from", node) if here else (node, "to")))
        cuts.append(nx.minimum_cut_value(split, "from", "to"))
    return min(cuts)


@pytest.mark.parametrize(
    "found",
    [
        *(level("part", shape, holds) for shape in SHAPES for holds in (2, 4, 6)),
        level("part", Shape.STAR, 6, hub="hub"),
        level("part", Shape.STAR, 4, hub="hub"),
        level("part", Shape.TORUS, (4, 2)),
        level("part", Shape.TORUS, (2, 2)),
        level("part", Shape.TORUS, (2, 2, 2)),
    ],
    ids=lambda result: f"{result.shape}-{result.members}-{result.hub}",
)
def test_bisection_is_the_least_even_split(found):
    item = stated(found)
    assert bisection_bytes_per_s(item) == {"part": pytest.approx(least_cut(item))}


def test_bisection_between_groups_counts_what_each_rank_or_each_group_has():
    rings = level("ring", Shape.RING, 4)
    assert bisection_bytes_per_s(stated(rings, level("top", Shape.SWITCH, 4))) == {"ring": 2.0, "top": 8.0}
    grouped = stated(rings, level("top", Shape.SWITCH, 4, attach=Attach.GROUP))
    assert bisection_bytes_per_s(grouped) == {"ring": 2.0, "top": 2.0}
    assert bisection_bytes_per_s(stated(level("one", Shape.RING, 1))) == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([shape for shape in Shape if shape not in (Shape.LADDER, Shape.TORUS)]),
            st.integers(1, 5),
            st.sampled_from([Attach.EACH, Attach.GROUP]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_route_is_longer_than_the_diameter_and_one_is_as_long(parts):
    fabric = stated(
        *(level(f"l{'abc'[at]}", shape, holds, attach=attach) for at, (shape, holds, attach) in enumerate(parts))
    )
    result = RankNetwork(fabric)
    hops = {len(result.links_of_route(a, b)) for a in range(result.endpoints) for b in range(result.endpoints)}
    assert diameter_hops(fabric) == max(hops)


def test_what_a_rank_sends_at_once():
    assert per_rank_bytes_per_s(stated(level("part", Shape.TORUS, (4, 2, 1))), 0) == 3.0
    assert per_rank_bytes_per_s(stated(level("part", Shape.SHARED, 4)), 0) == 0.25
    assert per_rank_bytes_per_s(stated(level("part", Shape.FULL, 4)), 0) == 3.0
    assert per_rank_bytes_per_s(stated(level("part", Shape.RING, 1)), 0) is None
    grouped = stated(level("leaf", Shape.SWITCH, 4), level("top", Shape.RING, 4, attach=Attach.GROUP))
    assert [per_rank_bytes_per_s(grouped, at) for at in (0, 1)] == [1.0, 0.5]
