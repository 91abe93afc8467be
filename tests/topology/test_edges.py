"""Links by the names of their ends: both ways, one way, hubs; what there is instead of one that is not."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.model.fabric import Attach, Shape
from podsim.topology.axes import DOWN, HUB, UP
from podsim.topology.edges import link_keys, nodes

RING = fabric(level("ring", Shape.RING, 4))


def test_a_dash_is_both_directions_and_an_arrow_one():
    assert link_keys(RING, "rank1-rank2") == ((0, 1, UP), (0, 2, DOWN))
    assert link_keys(RING, "rank1->rank2") == ((0, 1, UP),)
    assert link_keys(RING, "rank0->rank3") == ((0, 0, DOWN),)


def test_a_half_duplex_link_is_one_whatever_it_is_called():
    half = fabric(level("ring", Shape.RING, 4, "half"))
    assert {link_keys(half, text) for text in ("rank1-rank2", "rank2-rank1", "rank1->rank2", "rank2->rank1")} == {
        ((0, 1, UP),)
    }


def test_ports_of_a_switch_hubs_and_media():
    star = fabric(level("pod", Shape.STAR, 4, hub="slow"))
    assert link_keys(star, "rank2->pod0") == ((0, 2, UP),)
    assert link_keys(star, "pod0->rank2") == ((0, 2, DOWN),)
    assert link_keys(star, "pod0") == ((0, 0, HUB),)
    assert link_keys(fabric(level("bus", Shape.SHARED, 4)), "bus0") == ((0, 0, HUB),)


def test_each_place_in_a_member_has_its_own_hub():
    two = fabric(level("ring", Shape.RING, 2), level("pod", Shape.STAR, 3, hub="slow"), level("all", Shape.RING, 2))
    assert link_keys(two, "pod1.1") == ((1, 3, HUB),)
    for text in ("pod1", "pod1.2", "pod2.0", "pod01.0"):
        with pytest.raises(ValueError, match="no such link"):
            link_keys(two, text)


def test_a_name_with_a_dash_is_cut_where_both_ends_are_nodes():
    dashed = fabric(level("in-side", Shape.RING, 2), level("out", Shape.SWITCH, 2, attach=Attach.GROUP))
    assert link_keys(dashed, "in-side1-out0") == ((1, 1, UP), (1, 1, DOWN))


def test_who_is_not_joined_learns_the_neighbours():
    with pytest.raises(ValueError, match=r"^no link joins rank0 and rank2; rank0 is joined to rank1, rank3$"):
        link_keys(RING, "rank0-rank2")


def test_no_more_than_eight_neighbours_are_listed():
    """Of the two switches that a rank of a large switched fabric is not joined to, beside a mesh of 12."""
    mesh = fabric(level("mesh", Shape.FULL, 12), level("pod", Shape.RING, 2))
    with pytest.raises(ValueError, match="no link joins rank0 and rank13") as refusal:
        link_keys(mesh, "rank0-rank13")
    assert str(refusal.value).partition("joined to ")[2].count("rank") == 8


@pytest.mark.parametrize("text", ["rank1-rank4", "rank-rank2", "ring0", "rank1", "rank1->bus0", "ranks²"])
def test_what_is_no_node_is_refused_with_the_nodes_and_an_example(text):
    with pytest.raises(ValueError, match=r"^no such link; nodes are rank0 to rank3; .* as rank0-rank1$"):
        link_keys(RING, text)


def test_a_number_with_a_zero_before_it_names_nothing():
    mesh = fabric(level("mesh", Shape.FULL, 12))
    assert link_keys(mesh, "rank1->rank2") == ((0, 1, 1),)
    with pytest.raises(ValueError, match="no such link"):
        link_keys(mesh, "rank01->rank2")


def test_the_example_of_a_medium_is_its_own_name():
    with pytest.raises(ValueError, match=r"as bus0$"):
        link_keys(fabric(level("bus", Shape.SHARED, 4)), "rank0-rank9")


def test_every_kind_of_node():
    result = fabric(
        level("ring", Shape.RING, 4),
        level("pod", Shape.STAR, 3, attach=Attach.GROUP),
        level("all", Shape.SWITCH, 2),
        level("top", Shape.RING, 2),
    )
    assert nodes(result) == "rank0 to rank47, ring0 to ring11, pod0 to pod3, all0.0 to all1.11"
    assert nodes(fabric(level("pod", Shape.SWITCH, 4))) == "rank0 to rank3, pod0"
