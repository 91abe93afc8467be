"""Faults of stated fabrics: rates and losses by link and rank; what is refused, and when ranks are cut off."""

import pytest
from topology.stated_worlds import fabric, level

from podsim.errors import Infeasible, InputError
from podsim.model.fabric import Attach, Shape
from podsim.topology.axes import DOWN, HUB, UP
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_faults
from podsim.topology.stated_network import RankNetwork

RING = (level("ring", Shape.RING, 4),)


def with_faults(*texts, levels=RING):
    return apply_faults(RankNetwork(fabric(*levels)), parse(texts))


def test_a_slow_link_keeps_its_share_of_the_rate_both_ways():
    hurt = with_faults("link:rank0-rank1=1/4")
    assert {key: hurt.rate(key).bytes_per_s for key in ((0, 0, UP), (0, 1, DOWN), (0, 1, UP))} == {
        (0, 0, UP): 12.5e9,
        (0, 1, DOWN): 12.5e9,
        (0, 1, UP): 50e9,
    }


def test_a_lost_rank_takes_its_four_links_down_and_the_ring_goes_on_as_a_line():
    hurt = with_faults("rank:1=lost")
    assert (hurt.damage.lost, hurt.damage.slow) == ({1}, {})
    assert hurt.damage.down == {(0, 1, UP), (0, 2, DOWN), (0, 1, DOWN), (0, 0, UP)}
    assert hurt.route(0, 2).hops == 2


def test_a_slow_rank_is_no_link():
    hurt = with_faults("rank:3=80%")
    assert (dict(hurt.damage.slow), hurt.damage.down, dict(hurt.damage.rates)) == ({3: 0.8}, frozenset(), {})


def test_a_kind_of_link_is_checked_against_the_level():
    star = (level("pod", Shape.STAR, 4, hub="slow"),)
    assert with_faults("slow:pod0=0.5", levels=star).rate((0, 0, HUB)).bytes_per_s == 4e9
    with pytest.raises(InputError, match="pod0 is of kind slow") as refusal:
        with_faults("wire:pod0=0.5", levels=star)
    assert refusal.value.code == "unknown-part"
    assert refusal.value.hint == "slow:pod0, or link: for any kind"
    with pytest.raises(InputError, match="rank0-pod0 is of kind wire"):
        with_faults("slow:rank0-pod0=0.5", levels=star)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link:rank0-rank2=down", "no link joins rank0 and rank2"),
        ("ipu:1=0.5", "some has ranks, no ipu"),
        ("machine:0=lost", "some has ranks, no machine"),
        ("rank:4=lost", "has ranks 0 to 3"),
    ],
)
def test_what_is_not_there_is_refused_with_the_text_of_the_fault(text, message):
    with pytest.raises(InputError, match=message) as refusal:
        with_faults(text)
    assert refusal.value.code == "unknown-part"
    assert refusal.value.message.startswith(f'"{text}"')


def test_a_link_of_a_lost_rank_has_nothing_more_said_of_it():
    with pytest.raises(InputError, match=r'"link:rank0->rank1=0.5" and "rank:1=lost" are about the same part'):
        with_faults("link:rank0->rank1=0.5", "rank:1=lost")


def test_two_cuts_part_a_ring_and_one_does_not():
    assert with_faults("link:rank0-rank1=down").route(0, 1).hops == 3
    with pytest.raises(Infeasible, match="rank0, rank3 and rank1 to rank2 no longer reach each other") as no:
        with_faults("link:rank0-rank1=down", "link:rank2-rank3=down")
    assert no.value.code == "cut-off"
    assert no.value.context == ("down: rank0->rank1, rank1->rank0, rank2->rank3, rank3->rank2",)


def test_lost_ranks_part_those_between_them():
    with pytest.raises(Infeasible, match="rank0 and rank2 no longer reach each other"):
        with_faults("rank:1=lost", "rank:3=lost")


def test_one_direction_of_a_line_parts_it():
    with pytest.raises(Infeasible, match="no longer reach each other"):
        with_faults("link:rank1->rank2=down", levels=(level("line", Shape.LINE, 4),))


def test_nothing_is_left_of_a_fabric_without_ranks():
    with pytest.raises(Infeasible, match="nothing is left of some: every rank is lost"):
        with_faults("rank:0=lost", "rank:1=lost", levels=(level("ring", Shape.RING, 2),))


def test_links_that_are_spread_over_members_take_no_fault():
    spread = (level("group", Shape.FULL, 4), level("all", Shape.FULL, 9, attach=Attach.SPREAD))
    with pytest.raises(InputError, match="spread over the members of a group") as refusal:
        with_faults("rank:0=0.5", levels=spread)
    assert refusal.value.code == "not-on-stated-fabric"
