"""The ladder of IPU-Links, the ways along it, and the ring of racks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.fabric import Shape
from podsim.topology import wiring


def count(edges, links):
    return sum(edge.links == links for edge in edges)


def test_pod64_is_a_torus_of_32_rungs_and_64_rails(build_pod):
    edges = wiring.rack_edges(build_pod(64))
    assert (count(edges, 6), count(edges, 2)) == (32, 64)


def test_every_ipu_of_a_closed_rack_uses_ten_links(build_pod):
    edges = wiring.rack_edges(build_pod(64))
    used = [sum(edge.links for edge in edges if number in (edge.end, edge.other)) for number in range(64)]
    assert used == [10] * 64


def test_pod16_is_an_open_ladder_whose_end_ipus_keep_two_links_free(build_pod):
    edges = wiring.rack_edges(build_pod(16))
    used = [sum(edge.links for edge in edges if number in (edge.end, edge.other)) for number in range(16)]
    assert (count(edges, 6), count(edges, 2)) == (8, 14)
    assert used == [8, 8, *[10] * 12, 8, 8]


@pytest.mark.parametrize(("ipus", "edges"), [(1, 0), (2, 1), (4, 4)])
def test_part_of_a_machine(build_pod, ipus, edges):
    assert len(wiring.rack_edges(build_pod(ipus))) == edges


def test_links_of_an_edge_come_from_the_level_that_holds_both_ends(topology_of, ladder_of):
    rack = ladder_of("rack", 2, rung_links=5, rail_links=1)
    edges = {
        (edge.end, edge.other): edge.links for edge in wiring.rack_edges(topology_of(ladder_of("machine", 4), rack))
    }
    assert edges[4, 5] == 6  # a rung never leaves its machine
    assert edges[0, 2] == 2
    assert edges[2, 4] == 1


def test_closing_two_machines_gives_a_second_edge_between_their_ends(topology_of, ladder_of):
    edges = wiring.rack_edges(topology_of(ladder_of("machine", 2), ladder_of("rack", 2, closed=True)))
    assert sorted({edge.end, edge.other} == {0, 2} for edge in edges) == [False] * 4 + [True] * 2


@st.composite
def trips(draw):
    size = 2 ** draw(st.integers(0, 6))
    end = st.integers(0, size - 1)
    return size, draw(st.booleans()), draw(end), draw(end)


@given(trips())
def test_a_path_walks_over_edges_and_takes_the_shorter_way(trip):
    size, closed, start, end = trip
    path = wiring.rack_path(start, end, size=size, closed=closed)
    assert (path[0], path[-1]) == (start, end)
    apart = abs(end // 2 - start // 2)
    rails = min(apart, size // 2 - apart) if closed else apart
    assert len(path) - 1 == rails + (start % 2 != end % 2)
    for number, other in pairwise(path):
        along = {(number - other) % size, (other - number) % size} if closed else {abs(number - other)}
        assert number // 2 == other // 2 or 2 in along


def test_halfway_round_goes_upwards():
    assert wiring.rack_path(0, 4, size=8, closed=True) == (0, 2, 4)
    assert wiring.rack_path(4, 0, size=8, closed=True) == (4, 6, 0)
    assert wiring.rack_path(1, 6, size=8, closed=True) == (1, 7, 6)


@given(racks=st.integers(1, 64), start=st.integers(0, 63), end=st.integers(0, 63))
def test_a_ring_path_is_no_longer_than_half_the_ring(racks, start, end):
    start, end = start % racks, end % racks
    path = wiring.ring_path(start, end, racks)
    assert (path[0], path[-1]) == (start, end)
    assert len(path) - 1 == min((end - start) % racks, (start - end) % racks)
    assert all((other - number) % racks in {1, racks - 1} for number, other in pairwise(path))


def test_a_machine_splits_its_gw_links_only_on_a_ring_of_more_than_two(pod_of):
    assert wiring.gateway_links(pod_of(2)) == 2
    assert wiring.gateway_links(pod_of(4)) == 1
    assert wiring.gateway_links(pod_of(4, Shape.SWITCH)) == 2
