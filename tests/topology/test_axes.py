"""Dimensions of a fabric: strides, where ports lead, the links that a move crosses, and the names of their ends."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.model.fabric import Attach, Shape
from podsim.topology.axes import DOWN, HUB, UP, axes


def one(shape, holds, link="wire", **more):
    (axis,) = axes(fabric(level("part", shape, holds, link, **more)))
    return axis


def test_a_torus_is_a_ring_for_each_side_and_levels_follow_with_longer_strides():
    result = axes(fabric(level("torus", Shape.TORUS, (3, 4)), level("pod", Shape.SWITCH, 5)))
    assert [(axis.name, axis.shape, axis.size, axis.stride) for axis in result] == [
        ("torus.0", Shape.RING, 3, 1),
        ("torus.1", Shape.RING, 4, 3),
        ("pod", Shape.SWITCH, 5, 12),
    ]
    assert [(axis.index, axis.level) for axis in result] == [(0, 0), (1, 0), (2, 1)]


def test_coordinates_and_moves_in_the_middle_of_three_levels():
    """Endpoint 23 of 2 x 3 x 4 is 1 + 2 x (2 + 3 x 3)."""
    levels = (level("a", Shape.RING, 2), level("b", Shape.RING, 3), level("c", Shape.RING, 4))
    inner, middle, outer = axes(fabric(*levels))
    assert (inner.coordinate(23), middle.coordinate(23), outer.coordinate(23)) == (1, 2, 3)
    assert middle.move(23, 0) == 1 + 2 * (0 + 3 * 3)
    assert outer.move(23, 1) == 1 + 2 * (2 + 3 * 1)


def test_groups_stand_for_their_ranks_and_have_the_name_of_the_level_inside():
    rings = level("ring", Shape.RING, 4)
    _, each = axes(fabric(rings, level("top", Shape.SWITCH, 3)))
    _, group = axes(fabric(rings, level("top", Shape.SWITCH, 3, attach=Attach.GROUP)))
    assert (each.unit, each.copies, each.has_group_links, each.node_name(7)) == (1, 4, False, "rank7")
    assert (group.unit, group.copies, group.has_group_links, group.node_name(2)) == (4, 1, True, "ring2")
    assert (each.middle_name(2), group.middle_name(0)) == ("top0.2", "top0")


def test_a_rank_of_the_second_group_goes_through_a_middle_of_the_second_group():
    """8 ranks to a group of two pairs times two: two middles of each outer group, one for each place in a pair."""
    _, middle, _ = axes(fabric(level("a", Shape.RING, 2), level("b", Shape.SWITCH, 4), level("c", Shape.RING, 2)))
    assert [middle.middle(endpoint) for endpoint in (0, 1, 6, 7, 8, 9, 15)] == [0, 1, 0, 1, 2, 3, 3]


def test_two_ports_of_a_ring_lead_to_both_neighbours_and_back():
    ring = one(Shape.RING, 5)
    assert list(ring.beside(4)) == [(UP, 0), (DOWN, 3)]
    assert [ring.opposite(port) for port in (UP, DOWN)] == [DOWN, UP]
    assert list(one(Shape.RING, 2).beside(1)) == [(UP, 0)]
    assert one(Shape.RING, 2).opposite(UP) == UP


def test_the_ends_of_a_line_have_one_neighbour():
    line = one(Shape.LINE, 4)
    assert [list(line.beside(at)) for at in (0, 2, 3)] == [[(UP, 1)], [(UP, 3), (DOWN, 1)], [(DOWN, 2)]]


def test_a_full_mesh_names_ports_by_how_far_they_lead_the_nearest_first():
    mesh = one(Shape.FULL, 5)
    assert list(mesh.beside(3)) == [(1, 4), (4, 2), (2, 0), (3, 1)]
    assert [mesh.opposite(port) for port in (1, 2)] == [4, 3]
    assert [port for port, _ in one(Shape.FULL, 4).beside(0)] == [1, 3, 2]


@pytest.mark.parametrize(
    ("start", "to", "nodes"),
    [(0, 2, [(0, UP), (1, UP)]), (0, 4, [(0, DOWN), (5, DOWN)]), (1, 4, [(1, UP), (2, UP), (3, UP)])],
)
def test_a_ring_of_six_is_gone_the_shorter_way_upwards_where_both_are(start, to, nodes):
    assert [(node, port) for _, node, port in one(Shape.RING, 6).links_to(start, to)] == nodes


def test_a_line_is_never_gone_round():
    assert [(node, port) for _, node, port in one(Shape.LINE, 4).links_to(3, 0)] == [(3, DOWN), (2, DOWN), (1, DOWN)]


def test_a_star_is_crossed_up_through_its_hub_and_down():
    star = one(Shape.STAR, 4, hub="slow")
    assert list(star.links_to(1, 3)) == [(0, 1, UP), (0, 0, HUB), (0, 3, DOWN)]
    assert list(star.way_in(1)) == [(0, 1, UP), (0, 0, HUB)]
    assert list(star.way_out(3)) == [(0, 0, HUB), (0, 3, DOWN)]
    assert list(one(Shape.SHARED, 4).links_to(1, 3)) == [(0, 0, HUB)]
    assert [*one(Shape.RING, 4).way_in(1), *one(Shape.RING, 4).way_out(1)] == []


def test_a_link_of_both_directions_has_one_name():
    """Seen from either end, on a ring, a pair, a mesh and to a middle."""
    ring, pair, mesh, switch = (
        one(shape, 4 - 2 * (at == 1), "half")
        for at, shape in enumerate((Shape.RING, Shape.RING, Shape.FULL, Shape.SWITCH))
    )
    assert ring.key(3, UP) == ring.key(0, DOWN) == (0, 3, UP)
    assert pair.key(0, UP) == pair.key(1, UP) == (0, 0, UP)
    assert mesh.key(3, 2) == mesh.key(1, 2) == (0, 1, 2)
    assert switch.key(2, DOWN) == switch.key(2, UP) == (0, 2, UP)
    assert one(Shape.RING, 4).key(0, DOWN) == (0, 0, DOWN)
    assert one(Shape.RING, 2).key(1, DOWN) == (0, 1, UP)


def test_links_for_each_endpoint():
    """Of a half-duplex pair both share one; the middle link of a half-duplex mesh is shared as well."""
    assert one(Shape.RING, 4).fold(UP) == (UP, 1.0)
    assert one(Shape.RING, 2, "half").fold(UP) == (UP, 0.5)
    assert one(Shape.FULL, 4, "half").fold(2) == (2, 0.5)
    assert one(Shape.FULL, 4, "half").fold(3) == (1, 1.0)
    assert one(Shape.STAR, 4, hub="slow").fold(HUB) == (HUB, 0.25)
    _, group = axes(fabric(level("ring", Shape.RING, 4), level("top", Shape.SWITCH, 3, attach=Attach.GROUP)))
    assert group.fold(UP) == (UP, 0.25)


def test_ends_of_links():
    assert one(Shape.RING, 4).ends((0, 0, DOWN)) == ("rank0", "rank3")
    assert one(Shape.FULL, 4).ends((0, 3, 2)) == ("rank3", "rank1")
    switch = one(Shape.SWITCH, 4)
    assert switch.ends((0, 3, UP)) == ("rank3", "part0")
    assert switch.ends((0, 3, DOWN)) == ("part0", "rank3")
    assert one(Shape.STAR, 4, hub="slow").ends((0, 0, HUB)) == ("part0", "part0")


def test_links_to_other_groups_are_dealt_out_to_members_in_the_order_of_their_offsets():
    """9 groups of 4: 8 links, 2 of each member; 8 groups: 7 links, the last member has one."""
    _, outer = axes(fabric(level("group", Shape.FULL, 4), level("all", Shape.FULL, 9, attach=Attach.SPREAD)))
    assert [outer.leaves_at(offset) for offset in range(1, 9)] == [0, 0, 1, 1, 2, 2, 3, 3]
    _, less = axes(fabric(level("group", Shape.FULL, 4), level("all", Shape.FULL, 8, attach=Attach.SPREAD)))
    assert [less.leaves_at(offset) for offset in range(1, 8)] == [0, 0, 1, 1, 2, 2, 3]
