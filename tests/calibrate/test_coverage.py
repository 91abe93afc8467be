"""Intervals against machine sizes that they have not seen, and what of the errors parameters leave unexplained."""

import math
from dataclasses import replace

import pytest

from podsim.calibration import convergence_factors, overheads, residual_spread
from podsim.calibration.coverage import LEVELS, coverage
from podsim.calibration.fit_cases import GROUP_OF, StepTimes, steps_s
from podsim.calibration.fit_data import cases as _cases
from podsim.calibration.holdout import held_out
from podsim.files import catalog
from podsim.model.parameters import FREE
from podsim.model.quantity import NINETY_PERCENT
from podsim.model.validation import LEAST_COVERAGE, MOST_COVERAGE, MOST_WIDTH, STEP, TIME, TIME_PREDICTED_SAMPLES

CASES = _cases()
PARAMETERS = catalog.parameters()


@pytest.fixture(scope="module")
def report(fitted):
    return coverage(CASES, PARAMETERS, FREE, without=fitted.without)


@pytest.fixture(scope="module")
def left_out():
    return residual_spread.left_out(CASES, PARAMETERS, FREE)


@pytest.mark.slow
def test_one_linear_step_leaves_a_size_out_as_a_new_fit_does(left_out):
    """Errors of sizes that were really left out of the fit of this form, within 2.5 % of a step."""
    start = {name: item.value for name, item in PARAMETERS.fitted.items()}
    without = held_out(CASES, "machine", replace(FREE, alternatives=()), start, StepTimes())
    for case, item in zip(CASES, left_out, strict=True):
        (step_s,) = steps_s([case], without[GROUP_OF["machine"](case)])
        assert item.error == pytest.approx(math.log(step_s / case.point.step_s), abs=0.025), case.point.id


def test_leaving_out_never_makes_parameters_surer(left_out):
    for case, item in zip(CASES, left_out, strict=True):
        assert item.variance > 0, case.point.id
    assert residual_spread.model_error(CASES, PARAMETERS, FREE) == pytest.approx(PARAMETERS.model_error, abs=2e-4)


def test_ninety_percent_intervals_hold_as_many_as_they_should(report):
    for row in report.rows:
        if row.level == NINETY_PERCENT:
            assert LEAST_COVERAGE <= row.share <= MOST_COVERAGE, row
            assert row.widest_between_sizes <= MOST_WIDTH, row
    assert report.misses == ()


def test_every_quantity_and_level_is_counted(report):
    assert [(row.quantity, row.level) for row in report.rows] == [
        (quantity, level) for quantity in (STEP, TIME, TIME_PREDICTED_SAMPLES) for level in LEVELS
    ]
    for row in report.rows:
        points = [p for p in report.points if (p.quantity, p.level) == (row.quantity, row.level)]
        assert (row.count, len(points)) == (28, 28)
        assert row.held == sum(p.low <= p.published <= p.high for p in points)


def test_wider_levels_hold_no_less(report):
    for quantity in (STEP, TIME, TIME_PREDICTED_SAMPLES):
        rows = [row for row in report.rows if row.quantity == quantity]
        assert [row.held for row in rows] == sorted(row.held for row in rows)
        assert [row.mean_width for row in rows] == sorted(row.mean_width for row in rows)


def test_an_interval_is_learned_from_other_sizes_alone(fitted):
    for name, parameters in fitted.without.items():
        others = [case for case in CASES if GROUP_OF["machine"](case) != name]
        assert parameters.run_spread == pytest.approx(convergence_factors.run_spread(others), abs=1e-5)
        assert parameters.outside_error == pytest.approx(overheads.outside_error(others, parameters), abs=1e-5)
        assert parameters.points == len(others) < 28


def test_points_beyond_the_others_show_what_a_doubling_costs(report):
    """16 IPUs below the others, the largest of each workload above."""
    assert report.distance.count == 13
    assert report.distance.per_doubling == math.sqrt(max(0.0, report.distance.variance_per_doubling))
