"""The graph of a fabric: what leaves a rank, a middle and a group, and the nodes that a link joins."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.model.fabric import Attach, Shape
from podsim.topology.axes import DOWN, HUB, UP, RankGraph, axes


def graph(*levels):
    whole = fabric(*levels)
    return RankGraph(whole, axes(whole))


def rank(number):
    return ("rank", 0, number)


def test_a_rank_of_a_ring_has_a_link_to_each_neighbour():
    ring = graph(level("ring", Shape.RING, 4))
    assert list(ring.steps(rank(0))) == [(rank(1), (0, 0, UP)), (rank(3), (0, 0, DOWN))]
    assert list(graph(level("ring", Shape.RING, 1)).steps(rank(0))) == []


def test_a_star_is_entered_crossed_and_left():
    star = graph(level("pod", Shape.STAR, 3, hub="slow"))
    assert list(star.steps(rank(1))) == [(("in", 0, 0), (0, 1, UP))]
    assert list(star.steps(("in", 0, 0))) == [(("out", 0, 0), (0, 0, HUB))]
    assert list(star.steps(("out", 0, 0))) == [(rank(at), (0, at, DOWN)) for at in range(3)]


def test_the_inside_of_a_switch_and_the_way_to_a_medium_are_free():
    assert list(graph(level("pod", Shape.SWITCH, 3)).steps(("in", 0, 0))) == [(("out", 0, 0), None)]
    medium = graph(level("bus", Shape.SHARED, 2))
    assert list(medium.steps(rank(1))) == [(("in", 0, 0), None)]
    assert list(medium.steps(("in", 0, 0))) == [(("out", 0, 0), (0, 0, HUB))]
    assert list(medium.steps(("out", 0, 0))) == [(rank(0), None), (rank(1), None)]


def test_members_reach_another_group_through_its_ways_out_and_in():
    """Rings of 4 joined as groups by a ring of 3: a rank is free to the way out, which has two links."""
    groups = graph(level("ring", Shape.RING, 4), level("pod", Shape.RING, 3, attach=Attach.GROUP))
    assert (("up", 0, 1), None) in list(groups.steps(rank(6)))
    assert list(groups.steps(("up", 0, 1))) == [(("down", 0, 2), (1, 1, UP)), (("down", 0, 0), (1, 1, DOWN))]
    assert list(groups.steps(("down", 0, 2))) == [(("up", 0, 2), None), *((rank(at), None) for at in range(8, 12))]


def test_a_switched_group_is_entered_through_its_switch_and_left_from_there():
    groups = graph(level("leaf", Shape.SWITCH, 2), level("pod", Shape.RING, 3, attach=Attach.GROUP))
    assert list(groups.steps(("down", 0, 2))) == [(("up", 0, 2), None), (("in", 0, 2), None)]
    assert list(groups.steps(("out", 0, 1)))[-1] == (("up", 0, 1), None)
    assert list(groups.steps(rank(4))) == [(("in", 0, 2), (0, 4, UP))]


def test_middles_of_several_places_serve_their_own_members():
    two = graph(level("ring", Shape.RING, 2), level("pod", Shape.SWITCH, 3), level("all", Shape.RING, 2))
    assert list(two.steps(("out", 1, 3))) == [(rank(at), (1, at, DOWN)) for at in (7, 9, 11)]


@pytest.mark.parametrize(
    ("link", "key", "arcs"),
    [
        ("wire", (0, 1, UP), [(rank(1), rank(2))]),
        ("half", (0, 1, UP), [(rank(1), rank(2)), (rank(2), rank(1))]),
    ],
)
def test_a_link_of_a_ring_joins_one_way_or_both(link, key, arcs):
    assert list(graph(level("ring", Shape.RING, 4, link)).arcs(key)) == arcs


def test_links_to_middles_join_their_two_sides():
    star = graph(level("pod", Shape.STAR, 3, hub="slow"))
    assert list(star.arcs((0, 1, UP))) == [(rank(1), ("in", 0, 0))]
    assert list(star.arcs((0, 1, DOWN))) == [(("out", 0, 0), rank(1))]
    assert list(star.arcs((0, 0, HUB))) == [(("in", 0, 0), ("out", 0, 0))]
    both = graph(level("pod", Shape.SWITCH, 3, "half"))
    assert list(both.arcs((0, 1, UP))) == [(rank(1), ("in", 0, 0)), (("out", 0, 0), rank(1))]


def test_links_of_groups_join_a_way_out_to_a_way_in():
    groups = graph(level("ring", Shape.RING, 4), level("pod", Shape.RING, 3, attach=Attach.GROUP))
    assert list(groups.arcs((1, 2, UP))) == [(("up", 0, 2), ("down", 0, 0))]


def test_a_lost_rank_takes_its_links_of_both_directions_and_none_of_its_group():
    groups = graph(level("ring", Shape.RING, 4), level("pod", Shape.RING, 3, attach=Attach.GROUP))
    assert set(groups.of_rank(5)) == {(0, 5, UP), (0, 6, DOWN), (0, 5, DOWN), (0, 4, UP)}
    assert set(graph(level("pod", Shape.SWITCH, 3)).of_rank(1)) == {(0, 1, UP), (0, 1, DOWN)}
    assert list(graph(level("bus", Shape.SHARED, 3)).of_rank(1)) == []
