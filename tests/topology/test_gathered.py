"""Faults as they are read one after the other."""

import pytest

from podsim.errors import InputError
from podsim.model.fault import FaultyPart, PartFault
from podsim.topology.faults import DamageReader
from podsim.topology.network import Damage

DOWN = PartFault("link 0-1 down", FaultyPart.LINK, "0-1", 0.0)
SLOW = PartFault("link 0-1 at 50%", FaultyPart.LINK, "0-1", 0.5)
LOST = PartFault("ipu 3 lost", FaultyPart.IPU, "3", 0.0)
LATE = PartFault("ipu 4 at 90%", FaultyPart.IPU, "4", 0.9)


def test_a_rate_of_zero_is_a_loss_and_any_other_a_rate():
    read = DamageReader()
    read.link("a", DOWN)
    read.link("b", SLOW)
    read.endpoint(3, LOST)
    read.endpoint(4, LATE)
    assert read.damage() == Damage(frozenset("a"), {"b": 0.5}, frozenset({3}), {4: 0.9})


@pytest.mark.parametrize("damage", [Damage({"a"}), Damage(rates={"a": 0.5}), Damage(lost={1}), Damage(slow={1: 0.9})])
def test_any_kind_of_damage_counts(damage):
    assert damage
    assert not Damage()


@pytest.mark.parametrize("other", [DOWN, SLOW])
def test_two_faults_of_one_link_are_refused(other):
    read = DamageReader()
    read.link("a", SLOW)
    with pytest.raises(InputError, match="about the same part") as refused:
        read.link("a", other)
    assert refused.value.code == "conflicting-faults"


def test_the_links_of_a_lost_ipu_are_down_unless_more_is_said_of_them():
    read = DamageReader()
    read.endpoint(3, LOST)
    read.take_down(["a", "b"], LOST)
    read.take_down(["b"], DOWN)  # the other end is lost too
    assert read.damage().down == {"a", "b"}
    read.link("c", SLOW)
    with pytest.raises(InputError, match="about the same part"):
        read.take_down(["c"], LOST)
