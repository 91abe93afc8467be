"""Machines without IPUs: which there are, the flags that a law takes, and what counts their chips."""

import pytest

import podsim
from podsim.errors import InputError
from podsim.planning import workload_sequence
from podsim.planning.comparator_runs import answer, has_law, predict, refuse_chips
from podsim.scenario import MachineSpec, Scenario

RUN = workload_sequence.run("bert")


def test_a_law_answers_for_machines_without_ipus_alone():
    assert has_law(MachineSpec(topology="dgx-a100"))
    assert not has_law(MachineSpec(topology="pod64"))
    assert not has_law(MachineSpec(pod=64))


def test_chips_samples_and_division_reach_the_law():
    few, many, open_ = (
        predict(Scenario.of("bert", topology="dgx-a100", **flags), RUN)
        for flags in ({"chips": 8}, {"chips": 64, "samples": 3e6}, {"chips": 8, "division": "open"})
    )
    assert (few.chips, many.chips) == (8, 64)
    assert many.samples_to_converge.value == 3e6
    assert (few.division, open_.division) == ("closed", "open")
    assert many.time_to_train_s.value < few.time_to_train_s.value
    assert few == answer(Scenario.of("bert", topology="dgx-a100", chips=8))


@pytest.mark.parametrize(
    ("flags", "flag"),
    [
        ({"hosts": 2}, "--hosts"),
        ({"ipus_per_replica": 2}, "--ipus-per-replica"),
        ({"changes": ["chip.clock=1 GHz"]}, "--set"),
        ({"faults": ["ipu:0=0.5"]}, "--fault"),
    ],
)
def test_other_flags_are_refused_as_they_are_spelled(flags, flag):
    with pytest.raises(InputError, match=f"^{flag} does not apply to dgx-a100, which has no IPUs") as refusal:
        predict(Scenario.of("bert", topology="dgx-a100", **flags), RUN)
    assert refusal.value.code == "conflicting-flags"


def test_chips_may_stand_behind_the_name():
    named = answer(Scenario.of("bert", topology="dgx-a100:64"))
    assert named == answer(Scenario.of("bert", topology="dgx-a100", chips=64))
    assert named == answer(Scenario.of("bert", topology="dgx-a100:64", chips=64))
    for flags, message in (
        ({"topology": "dgx-a100:64", "chips": 8}, "and so does --chips 8"),
        ({"topology": "dgx-a100:7"}, "comes in portions of 8"),
        ({"topology": "dgx-a100:x"}, "does not say how many chips"),
    ):
        with pytest.raises(InputError, match=message) as refusal:
            answer(Scenario.of("bert", **flags))
        assert refusal.value.hint.startswith("write dgx-a100:")


@pytest.mark.parametrize("verb", ["explain", "infer", "scale", "goodput"])
def test_other_verbs_say_which_one_answers(verb):
    machine = {"topologies": "dgx-a100:64"} if verb == "scale" else {"topology": "dgx-a100:64"}
    with pytest.raises(InputError, match="has no IPUs") as refusal:
        getattr(podsim, verb)("bert", **machine)
    assert refusal.value.hint == 'podsim.predict("bert", topology="dgx-a100:64")'


def test_a_comparison_takes_chips_behind_names():
    comparison = podsim.compare("bert", ["pod64", "dgx-a100:64", "dgx-a100:128"])
    assert [case.answer.chips for case in comparison.sides[1:]] == [64, 128]
    assert [case.label for case in comparison.sides[1:]] == ["DGX A100, 64 chips", "DGX A100, 128 chips"]


def test_no_law_knows_phases():
    phased = workload_sequence.run("bert-large-full")
    assert phased.phases is not None
    with pytest.raises(InputError, match="no law knows phases, and dgx-a100 has no IPUs"):
        predict(Scenario.of("bert-large-full", topology="dgx-a100"), phased)


def test_chips_are_refused_where_ipus_are_counted():
    refuse_chips(MachineSpec(topology="pod64"))
    with pytest.raises(InputError, match="--chips sizes machines without IPUs, not pod64"):
        refuse_chips(MachineSpec(topology="pod64", chips=8))
    with pytest.raises(InputError, match="not an IPU-POD") as refusal:
        refuse_chips(MachineSpec(chips=8))
    assert refusal.value.hint.startswith("--pod 8 in place of --chips")
    with pytest.raises(InputError, match="nowhere") as unknown:
        refuse_chips(MachineSpec(topology="nowhere", chips=8))
    assert unknown.value.code != "conflicting-flags"
