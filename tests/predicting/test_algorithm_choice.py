"""The choice among algorithms: the same in full as folded, no worse for a fault that is next to none, never stuck."""

from dataclasses import replace

import pytest

import podsim
from podsim.engines.des import step_simulation as des
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.collective import Algorithm
from podsim.model.fabric import Override
from podsim.studies.collective import algorithm as algorithm_choice
from podsim.studies.collective.simulation import CollectiveArguments, answer, resolved_case
from podsim.topology import build


def ask(**flags):
    return podsim.collective("all-reduce", bytes="64 MiB", **flags)


@pytest.mark.parametrize("where", [{"topology": "ring-64"}, {"topology": "ring-512"}, {"pod": 128}])
def test_the_same_is_chosen_in_full_as_folded(where):
    folded, full = ask(**where), ask(**where, fidelity="full")
    assert folded.algorithm is full.algorithm
    assert full.time_s == pytest.approx(folded.time_s, rel=1e-9)
    assert {rival.algorithm: rival.time_s for rival in full.rivals} == {
        rival.algorithm: rival.time_s for rival in folded.rivals
    }


@pytest.mark.parametrize("where", [{"topology": "ring-64"}, {"topology": "ring-512"}, {"pod": 128}])
def test_a_fault_that_is_next_to_none_costs_next_to_nothing(where):
    """Even where the healthy fabric folds and the other is too large for all algorithms to be weighed."""
    link = "ipu2-ipu4" if "pod" in where else "rank3-rank4"
    result = ask(**where, faults=[f"link:{link}=0.999"])
    assert 0 <= result.faults.slowdown < 0.01
    assert result.chosen


def test_training_takes_the_same_method_in_full():
    folded, full = (ask(pod=128, fidelity=fidelity) for fidelity in ("folded", "full"))
    assert full.training_time_s == pytest.approx(folded.training_time_s, rel=1e-9)


def uneven(ranks):
    """A ring that does not fold, one link at half its rate."""
    ring = catalog.network(f"ring-{ranks}").value
    slow = Override(name="rank0-rank1", bandwidth_bytes_per_s=25e9)
    network = build.network(replace(ring, overrides=(slow,)))
    flags = CollectiveArguments("64 MiB", "all", 1, None, 1, "lockstep", "folded")
    return resolved_case("all-reduce", network, flags, catalog.parameters())


def test_where_none_can_be_weighed_the_closed_form_chooses(monkeypatch):
    """Rings before halving and doubling, whose messages pile up on a ring, and never everybody to everybody."""
    monkeypatch.setattr(algorithm_choice, "MESSAGES_OF_MANY", 10)
    report = answer(uneven(512), des.run, "des")
    assert all(rival.time_s is None for rival in report.rivals)
    assert report.algorithm in (Algorithm.RING_PAIR, Algorithm.MEET_IN_THE_MIDDLE)
    assert report.time_s < ask(topology="ring-512", algorithm="halving-doubling").time_s


def test_where_the_soonest_cannot_be_run_the_next_is(monkeypatch):
    question = uneven(16)
    best = answer(question, des.run, "des")
    real = algorithm_choice.pacing.tasks

    def tasks(plan, pace, chunks=1):
        if plan.algorithm is best.algorithm:
            raise algorithm_choice.TooManyError("as if it were")
        return real(plan, pace, chunks)

    monkeypatch.setattr(algorithm_choice.pacing, "tasks", tasks)
    report = answer(question, des.run, "des")
    assert report.algorithm is not best.algorithm
    assert report.time_s == pytest.approx(min(rival.time_s for rival in best.rivals if rival.time_s is not None))
    with pytest.raises(InputError, match="as if it were"):
        answer(replace(question, algorithm=best.algorithm), des.run, "des")


@pytest.mark.parametrize("text", ["１６", "consecutive:１６", "consecutive:", "all:4", "4:4", "9" * 5000])
def test_groups_are_numbers_of_ascii_digits(text):
    with pytest.raises(InputError) as caught:
        ask(topology="ring-64", group=text)
    assert caught.value.code in ("bad-value", "group-does-not-divide")
