"""How far figures stand from measurements, in words."""

from dataclasses import replace

import pytest
from samples_of_results import estimate, prediction

from podsim.model.parameters import FORMS
from podsim.model.prediction import Figure, FormAnswer, Grades
from podsim.model.quantity import Estimate, Grade
from podsim.report.doc import DocTable, Note
from podsim.report.views import grades_view as view


@pytest.mark.parametrize(
    ("beyond", "smaller", "said"),
    [
        (4.0, False, "extrapolated 4×"),
        (4.0, True, "extrapolated 4× smaller"),
        (1.0, True, "extrapolated"),
    ],
)
def test_a_machine_below_the_calibrated_ones_is_called_smaller(beyond, smaller, said):
    assert view.short_grade(replace(estimate(100.0, 90.0, 110.0, beyond), smaller=smaller)) == said


def test_other_forms_of_the_model_are_named_in_words():
    form = FormAnswer(form=FORMS[1].name, above=2.7, step_s=0.473, time_to_train_s=180.0)
    answer = replace(prediction(beyond=1.0), forms=(form,))
    _, table = view.forms(answer)
    assert isinstance(table, DocTable)
    assert table.rows == (("sharding time per tensor", "+2.7", "473 ms", "3.00 min"),)
    (note,) = view.forms(replace(answer, forms=()))
    assert isinstance(note, Note)


def test_assumed_parts_of_a_calibrated_time_are_counted_in_short_evidence():
    """ResNet-50 on POD256 with 4 hosts: "within calibration", and 27 % of the time on an assumed host bandwidth."""
    time = Estimate(value=100.0, low=90.0, high=110.0, grade=Grade.INTERPOLATED)
    shares = {Grade.INTERPOLATED: 0.73, Grade.ASSUMED: 0.27}
    answer = replace(prediction(beyond=1.0), time_to_train_s=time, grades=Grades(figures={}, shares=shares))
    assert view.share_assumed(answer, time) == "within calibration, 27 % of the time to train assumed"
    little = replace(answer, grades=Grades(figures={}, shares={Grade.INTERPOLATED: 0.99, Grade.ASSUMED: 0.01}))
    assert view.share_assumed(little, time) == "within calibration"
    guess = replace(time, grade=Grade.ASSUMED)
    assert view.share_assumed(answer, guess) == "27 % of the time to train assumed"


def test_the_distance_is_by_machine_or_by_batch():
    time = estimate(100.0, 90.0, 110.0, 4.0)
    answer = replace(prediction(beyond=1.0), step_s=replace(time, smaller=True), time_to_train_s=time)
    assert view.share_assumed(answer, time, distance=True) == "extrapolated (4× below the smallest measured machine)"
    by_batch = replace(answer, step_s=estimate(1.0, 0.9, 1.1, 1.0))
    assert view.share_assumed(by_batch, time, distance=True).startswith("extrapolated (4× outside the published global")
    assert view.share_assumed(answer, time) == "extrapolated 4×"


def test_evidence_says_what_its_shares_are_of():
    shares = {Grade.INTERPOLATED: 0.72, Grade.EXTRAPOLATED: 0.28}
    step = Figure(grade=Grade.EXTRAPOLATED, beyond=2.0)
    mixed = replace(prediction(beyond=1.0), grades=Grades(figures={"step": step}, shares=shares))
    assert view.evidence(mixed).startswith("by part of the time to train: within calibration 72 %, extrapolated")
    for most in ({Grade.INTERPOLATED: 1.0}, {Grade.INTERPOLATED: 0.997, Grade.ASSUMED: 0.003}):
        time = replace(estimate(100.0, 90.0, 110.0, 1.0), grade=Grade.INTERPOLATED)
        alone = replace(mixed, time_to_train_s=time, grades=replace(mixed.grades, shares=most))
        assert view.evidence(alone) == "time to train within calibration", "its wall clock may not be"
        far = replace(alone, time_to_train_s=replace(time, grade=Grade.EXTRAPOLATED))
        assert view.evidence(far).startswith("by part of the time to train: within calibration "), "the whole is not"
