"""What the user states is given; the grade of the answer is that of its other inputs."""

from pathlib import Path

import pytest

import podsim
from podsim.model.quantity import Grade, SourceKind
from podsim.predicting.intervals import worst

OWN = Path(__file__).parents[1] / "data" / "siglip-so400m.toml"


def test_given_is_worse_than_measured_and_better_than_all_else() -> None:
    assert worst(Grade.MEASURED, Grade.GIVEN) is Grade.GIVEN
    assert worst(Grade.GIVEN, Grade.INTERPOLATED) is Grade.INTERPOLATED


@pytest.mark.parametrize("length", [{"samples": 2.5e6}, {"tokens": 1e9}])
def test_a_length_by_flag_is_given_and_the_time_has_the_grade_of_the_step(length: dict[str, float]) -> None:
    answer = podsim.predict("bert", pod=64, engine="analytic", **length)
    assert answer.samples_to_converge.grade is Grade.GIVEN
    assert answer.grades.figures["samples_to_converge"].grade is Grade.GIVEN
    assert answer.time_to_train_s.grade is answer.step_s.grade is Grade.INTERPOLATED


def test_a_length_without_a_flag_is_not_given() -> None:
    for workload in ("bert", "bert-large-512"):
        answer = podsim.predict(workload, pod=64, engine="analytic")
        assert answer.samples_to_converge.grade is not Grade.GIVEN


def test_a_length_in_a_file_of_the_user_is_given() -> None:
    answer = podsim.predict(str(OWN), pod=8, engine="analytic")
    assert answer.samples_to_converge.value == 1000
    assert answer.samples_to_converge.grade is Grade.GIVEN


def test_a_length_of_machines_without_ipus_is_given() -> None:
    answer = podsim.predict("bert", topology="dgx-a100", chips=64, samples=2.5e6)
    assert answer.samples_to_converge.grade is Grade.GIVEN


def test_a_change_makes_an_answer_assumed_as_before() -> None:
    """The number is given; what it does to the answer was never measured."""
    answer = podsim.predict("bert", pod=64, engine="analytic", changes=["chip.clock=2x"])
    assert answer.step_s.grade is Grade.ASSUMED


def test_a_fitted_number_that_is_set_is_given_among_sensitivities() -> None:
    explanation = podsim.explain("bert", pod=16, samples=2.5e6, engine="analytic", changes=["program.stretch=1.2"])
    kinds = {item.name: (item.kind, item.grade) for item in explanation.influences}
    assert kinds["program.stretch"] == (SourceKind.GIVEN, Grade.GIVEN)
    assert kinds["collective.efficiency"][0] is SourceKind.FITTED
