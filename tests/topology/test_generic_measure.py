"""Bisection and diameter of generic fabrics against a graph library and every route."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.fabric import Attach, GenericFabric, GenericLevel, Link, Shape
from podsim.topology.generic import GenericNetwork
from podsim.topology.generic_measure import bisection_bytes_per_s, diameter_hops, per_rank_bytes_per_s

SHAPES = (Shape.RING, Shape.LINE, Shape.FULL, Shape.SWITCH, Shape.STAR, Shape.SHARED)
LINKS = {"wire": Link(bandwidth_bytes_per_s=1.0), "hub": Link(bandwidth_bytes_per_s=2.5)}


def level(name, shape, holds, **more):
    size = {"sides": holds} if shape is Shape.TORUS else {"holds": holds}
    return GenericLevel(name=name, shape=shape, link="wire", **size, **more)


def network(*levels):
    return GenericNetwork(GenericFabric(name="some", title="Some", levels=levels, links=LINKS))


def least_cut(result):
    """Least bandwidth from one half of the ranks to the other, over every even split, through the whole graph."""
    flow, nodes, seen = nx.DiGraph(), [("rank", 0, rank) for rank in range(result.endpoints)], set()
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        for key, there in result.graph.steps(node):
            if key is None:
                flow.add_edge(node, there)
            else:
                flow.add_edge(node, there, capacity=result.rate(key).bytes_per_s)
            nodes.append(there)
    cuts = []
    for side in combinations(range(1, result.endpoints), result.endpoints // 2 - 1):
        split = flow.copy()
        for rank in range(result.endpoints):
            here = rank == 0 or rank in side
            split.add_edge(*(("from", ("rank", 0, rank)) if here else (("rank", 0, rank), "to")))
        cuts.append(nx.maximum_flow_value(split, "from", "to"))
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
    item = network(found)
    assert bisection_bytes_per_s(item) == {"part": pytest.approx(least_cut(item))}


def test_bisection_between_groups_counts_what_each_rank_or_each_group_has():
    rings = level("ring", Shape.RING, 4)
    assert bisection_bytes_per_s(network(rings, level("top", Shape.SWITCH, 4))) == {"ring": 2.0, "top": 8.0}
    grouped = network(rings, level("top", Shape.SWITCH, 4, attach=Attach.GROUP))
    assert bisection_bytes_per_s(grouped) == {"ring": 2.0, "top": 2.0}
    assert bisection_bytes_per_s(network(level("one", Shape.RING, 1))) == {}


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
    result = network(
        *(level(f"l{'abc'[at]}", shape, holds, attach=attach) for at, (shape, holds, attach) in enumerate(parts))
    )
    hops = {len(result.crossed(a, b)) for a in range(result.endpoints) for b in range(result.endpoints)}
    assert diameter_hops(result) == max(hops)


def test_what_a_rank_sends_at_once():
    assert per_rank_bytes_per_s(network(level("part", Shape.TORUS, (4, 2, 1))), 0) == 3.0
    assert per_rank_bytes_per_s(network(level("part", Shape.SHARED, 4)), 0) == 0.25
    assert per_rank_bytes_per_s(network(level("part", Shape.FULL, 4)), 0) == 3.0
    assert per_rank_bytes_per_s(network(level("part", Shape.RING, 1)), 0) is None
    grouped = network(level("leaf", Shape.SWITCH, 4), level("top", Shape.RING, 4, attach=Attach.GROUP))
    assert [per_rank_bytes_per_s(grouped, at) for at in (0, 1)] == [1.0, 0.5]
