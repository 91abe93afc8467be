"""One point of a sweep: what comes of it where podsim says no, or fails."""

import pytest

from podsim.errors import InputError
from podsim.model.sweep import BUG, SweepQuestion
from podsim.studies.sweep import points
from podsim.studies.sweep.points import SweepFiles

FLAGS = {"pod": "16", "ipus_per_replica": "4", "micro_batch": "2", "accumulation": "8", "engine": "analytic"}


def outcome(**flags):
    return points.outcome(SweepQuestion(workload="bert", flags={**FLAGS, **flags}), ".", "turn")


def test_a_bad_mapping_is_a_result():
    result = outcome(replicas="3")
    assert result.answer is None
    assert result.refusal.code == "bad-mapping"
    assert "power of two" in result.refusal.message


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), KeyError("x"), AssertionError("x"), ValueError("x")])
def test_a_failure_of_podsim_is_a_result_too(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(points, "_predict", fail)
    result = outcome(replicas="4")
    assert result.refusal.code == BUG
    assert type(error).__name__ in result.refusal.message


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), OSError("x")])
def test_what_another_try_may_mend_is_no_result(error, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(points, "_predict", fail)
    with pytest.raises(type(error)):
        outcome(replicas="4")


def test_every_flag_is_part_of_the_key():
    question = SweepQuestion(workload="bert", flags=FLAGS)
    keys = {points.key(question, SweepFiles("."))}
    for name, value in (("pod", "64"), ("micro_batch", "3"), ("seed", "1"), ("chip.clock", "1 GHz"), ("chip", "bow")):
        keys.add(points.key(SweepQuestion(workload="bert", flags={**FLAGS, name: value}), SweepFiles(".")))
    keys.add(points.key(SweepQuestion(workload="resnet50", flags=FLAGS), SweepFiles(".")))
    assert len(keys) == 7
    assert points.key(SweepQuestion(workload="bert", flags=dict(reversed(FLAGS.items()))), SweepFiles(".")) in keys


def test_another_podsim_is_another_key(monkeypatch):
    question = SweepQuestion(workload="bert", flags=FLAGS)
    before = points.key(question, SweepFiles("."))
    monkeypatch.setattr(points, "code_digest", lambda: "another")
    assert points.key(question, SweepFiles(".")) != before


def asked(**flags):
    return SweepQuestion(workload="bert", flags={"engine": "analytic", **flags})


def test_a_machine_that_cannot_be_is_a_result_with_a_key_of_its_own():
    outcome = points.outcome(asked(pod="17"), ".", "turn")
    assert outcome.answer is None
    assert outcome.refusal.code == "bad-pod"
    assert len({points.key(asked(pod=pod), SweepFiles(".")) for pod in ("16", "17", "18")}) == 3


def test_one_point_that_can_be_asked_is_enough():
    points.check([asked(pod="17"), asked(pod="16")], SweepFiles("."))
    with pytest.raises(InputError) as error:
        points.check([asked(pod="17"), asked(pod="18")], SweepFiles("."))
    assert error.value.message.startswith("17 IPUs")


def test_a_slip_in_every_one_of_many_points_is_told_soon(monkeypatch):
    tried = []

    def refuse(files, scenario):
        tried.append(scenario)
        raise InputError("no such path", code="bad-change")

    monkeypatch.setattr(SweepFiles, "target", refuse)
    with pytest.raises(InputError):
        points.check([asked(pod="16", seed=str(seed)) for seed in range(5000)], SweepFiles("."))
    assert len(tried) == 1 + points.MOST_TRIED
