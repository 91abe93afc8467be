"""What the validate and calibrate screens say."""

from dataclasses import replace

import pytest
from parts_of_documents import charts
from samples_of_results import fit_report, validation

from podsim.model.validation import STEP, TIME, TIME_PREDICTED_SAMPLES, TOLERANCES
from podsim.report.terminal import Look, render
from podsim.report.views import validation_view as view
from podsim.studies.calibrate import report as fit_view


def test_points_stand_beside_their_predictions_in_one_unit() -> None:
    text = render(view.document(validation()), Look(100))
    line = next(line for line in text.splitlines() if "bert/pod64/v1.1-closed" in line)
    assert line.split()[1:] == ["310.0", "294.8", "−4.9", "%", "−9.8", "%"]
    assert "Published, ms" in text
    assert "Published, min" in text


def test_a_document_draws_errors_of_steps_in_sample_and_held_out() -> None:
    assert charts(view.document(validation())) == []
    (chart,) = charts(view.document(validation(), charts=True))
    points = [point for point in validation().points if point.quantity == STEP]
    in_sample, held_out = chart.series
    assert [y for _, y in in_sample.points] == pytest.approx([100 * point.error for point in points])
    known = [point for point in points if point.held_out_error is not None]
    assert [y for _, y in held_out.points] == pytest.approx([100 * (point.held_out_error or 0) for point in known])
    assert set(filter(None, held_out.names)) <= {point.id for point in known}
    assert any(held_out.names)
    other = replace(validation(), points=tuple(point for point in validation().points if point.quantity != STEP))
    assert charts(view.document(other, charts=True)) == []


def test_the_verdict_is_the_first_line_with_the_headline_errors() -> None:
    first, *_ = (line for line in render(view.document(validation()), Look(100)).splitlines() if line)
    assert first.strip() == view.answer(validation())


def test_predicted_samples_are_listed_with_v() -> None:
    title = view.TITLES[TIME_PREDICTED_SAMPLES]
    assert title not in render(view.document(validation()), Look(100))
    assert title in render(view.document(validation(), verbose=True), Look(100))


def test_inside_the_tolerance_is_a_pass() -> None:
    assert validation().misses == ()
    assert "PASS" in render(view.document(validation()), Look(100))
    assert view.answer(validation()) == "PASS: mean step-time error 2.4 % in sample, 3.6 % held out"


@pytest.mark.parametrize("worst", [0.081, -0.081])
def test_outside_the_tolerance_is_named(worst: float) -> None:
    result = validation(worst=worst)
    assert [(quantity, which) for quantity, which, *_ in result.misses] == [(STEP, "worst")]
    text = render(view.document(result), Look(100))
    assert "FAIL" in text
    assert "Step time: worst 8.1 %, tolerance 8.0 %" in text


def test_held_out_errors_have_a_tolerance_too() -> None:
    step = validation().summary[STEP]
    assert step.held_out
    poor = replace(step, held_out=replace(step.held_out, mean_abs=0.05))
    result = replace(validation(), summary={STEP: poor, TIME: poor})
    assert result.misses == ((TIME, "held-out mean", 0.05, TOLERANCES[TIME].held_out_mean_abs),)


@pytest.mark.parametrize("signed", [0.011, -0.011])
def test_a_lean_to_one_side_is_outside(signed: float) -> None:
    result = replace(validation(), summary={STEP: replace(validation().summary[STEP], mean_signed=signed)})
    assert result.misses == ((STEP, "mean signed", 0.011, 0.01),)


def test_an_error_that_is_no_number_is_no_pass() -> None:
    step = replace(validation().summary[STEP], mean_abs=float("nan"))
    assert replace(validation(), summary={STEP: step}).misses


def test_a_fit_names_what_it_could_not_learn() -> None:
    text = render(fit_view.document(fit_report()), Look(160))
    assert "16 points, 2 free parameters" in text
    assert "exchange.efficiency: barely informed by these points, its error is 44 %" in text
    assert "compute.efficiency and exchange.efficiency correlate -0.87" in text
    assert all(text.count(warning) == 1 for warning in ("barely informed", "correlate")), "each is said once"
    assert "−0.9 σ" in text
    assert "wrote calibration/parameters.toml" in text


def test_a_dry_run_says_that_nothing_was_written() -> None:
    assert "nothing was written" in render(fit_view.document(replace(fit_report(), path="")), Look(100))
