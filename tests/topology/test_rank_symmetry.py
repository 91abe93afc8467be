"""One rank that stands for all: its share of each kind of link, and the route that it takes."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.model.fabric import Attach, Shape
from podsim.topology.rank_symmetry import Quotient
from podsim.topology.stated_network import RankNetwork


def quotient(*levels):
    return Quotient(RankNetwork(fabric(*levels)))


def names_of(part, *offsets):
    return [part.link(number).name for number in part.folded_route(offsets).links]


def test_a_link_stands_in_the_route_as_often_as_it_is_crossed():
    torus = quotient(level("torus", Shape.TORUS, (5, 4)))
    route = torus.folded_route((3, 1))
    assert [torus.link(number).name for number in route.links] == ["torus.0 -1", "torus.0 -1", "torus.1 +1"]
    assert (route.hops, len(torus.capacities)) == (3, 2)
    assert route.latency_s == pytest.approx(3 * 0.5e-6)
    assert [torus.kind(number) for number in route.links] == ["torus.0", "torus.0", "torus.1"]


def test_offsets_are_taken_modulo_the_size():
    ring = quotient(level("ring", Shape.RING, 6))
    assert ring.folded_route((7,)) == ring.folded_route((1,))
    assert ring.folded_route((-1,)) == ring.folded_route((5,))
    assert ring.folded_route((6,)).links == ()


def test_names_of_ports_of_a_mesh_and_of_a_switch():
    assert names_of(quotient(level("mesh", Shape.FULL, 4)), 3) == ["mesh +3"]
    star = quotient(level("pod", Shape.STAR, 4, hub="slow"))
    assert names_of(star, 2) == ["pod up", "pod middle", "pod down"]


def test_a_rank_has_its_share_of_what_all_share():
    """A quarter of a hub of 8 GB/s among 4, half of an uplink of 8 GB/s of a pair, all of its own wire."""
    star = quotient(level("pod", Shape.STAR, 4, hub="slow"))
    route = star.folded_route((1,))
    assert [star.capacities[number] for number in route.links] == [50e9, 2e9, 50e9]
    group = quotient(level("pair", Shape.RING, 2), level("top", Shape.SWITCH, 3, "slow", attach=Attach.GROUP))
    route = group.folded_route((0, 1))
    assert [group.capacities[number] for number in route.links] == [4e9, 4e9]
    assert [group.link(number).bytes_per_s for number in route.links] == [4e9, 4e9]


def test_as_many_offsets_as_dimensions():
    with pytest.raises(ValueError, match="some has 1 dimensions, not 2"):
        quotient(level("ring", Shape.RING, 6)).folded_route((1, 1))
