"""Other chips' samples over the reference's, and errors of laws by what was held out, without a fit."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from podsim.calibration.comparator_holdout import _by_group, _rms, _summaries, _unexplained_error, factors
from podsim.calibration.convergence_factors import LEAST_SPREAD
from podsim.files import catalog, comparator_results
from podsim.model.comparator import ComparatorPoint
from podsim.model.training import Division

POINT = ComparatorPoint(
    id="a",
    chip="a100",
    workload="bert",
    chips=8,
    measured_s=100.0,
    predicted_s=110.0,
    error=0.1,
    held_out_error=0.2,
    predicted_samples_error=None,
)


@pytest.fixture(scope="module")
def bert():
    return catalog.workload("bert").value


@pytest.fixture(scope="module")
def row(bert):
    """A result at the batch of a reference point, of just as many samples."""
    point = bert.curve.points[1]
    known = next(each for each in comparator_results.published_results() if each.workload == "bert")
    return replace(
        known,
        global_batch=point.batch,
        samples_to_converge=point.samples,
        optimizer="lamb",
        division=Division.CLOSED,
    )


def test_samples_of_the_reference_are_a_factor_of_one(row, bert):
    factor = factors([row], bert)["lamb"]["closed"]
    assert factor.factor == pytest.approx(1.0)
    assert (factor.spread, factor.points) == (LEAST_SPREAD, 1)


def test_a_factor_is_the_geometric_mean_by_optimizer_and_division(row, bert):
    """Twice and eight times the samples: four times, spread by the log of two."""
    rows = [replace(row, samples_to_converge=share * row.samples_to_converge) for share in (2.0, 8.0)]
    other = replace(row, optimizer="sgd", division=Division.OPEN)
    result = factors([*rows, other], bert)
    assert result["lamb"]["closed"].factor == pytest.approx(4.0)
    assert result["lamb"]["closed"].spread == pytest.approx(math.log(2.0))
    assert result["lamb"]["closed"].points == 2
    assert (list(result), list(result["sgd"])) == (["lamb", "sgd"], ["open"])


def test_results_are_in_groups_by_chip_and_count_in_order(row):
    rows = [
        replace(row, chip=chip, chips=chips) for chip, chips in (("v100", 8), ("a100", 64), ("a100", 8), ("a100", 64))
    ]
    groups = _by_group(rows, lambda each: (each.chip, each.chips))
    assert list(groups) == [("a100", 8), ("a100", 64), ("v100", 8)]
    assert len(groups["a100", 64]) == 2


def test_errors_of_laws_are_of_logs_and_of_those_that_have_any():
    points = [POINT, replace(POINT, held_out_error=1 / 1.2 - 1), replace(POINT, held_out_error=None)]
    assert _rms(points) == pytest.approx(math.log(1.2))


def test_what_the_covariance_explains_is_taken_off():
    points = [POINT, replace(POINT, id="b"), replace(POINT, held_out_error=None)]
    square = math.log(1.2) ** 2
    bench = SimpleNamespace(variances={"a": 0.5 * square, "b": 0.0})
    assert _unexplained_error(bench, points) == pytest.approx(math.sqrt(0.75 * square))
    assert _unexplained_error(SimpleNamespace(variances={"a": 9.0, "b": 9.0}), points) == 0.0


def test_summaries_are_by_chip_and_workload():
    points = [POINT, replace(POINT, error=-0.3, held_out_error=None), replace(POINT, workload="a", held_out_error=None)]
    first, second = _summaries(points)
    assert (first.workload, second.workload) == ("a", "bert")
    assert (first.held_out, second.predicted_samples) == (None, None)
    assert second.in_sample.count == 2
    assert second.in_sample.mean_abs == pytest.approx(0.2)
    assert (second.in_sample.worst, second.held_out.count) == (-0.3, 1)
