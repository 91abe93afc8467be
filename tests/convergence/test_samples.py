"""Samples to converge: measured, between measurements, and beyond them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.convergence.curve import LAW_ERROR, critical_batch, errors, law, standard_error
from podsim.convergence.samples import reference, to_converge
from podsim.files import catalog
from podsim.model.calibration import SamplesFactor
from podsim.model.quantity import Grade
from podsim.model.training import Convergence, Division, ReferencePoint

BERT = catalog.convergence("bert").value
RESNET = catalog.convergence("resnet50").value


def points(*pairs):
    """A reference with 5 % spread."""
    points = tuple(ReferencePoint(batch=b, samples=s, std=s / 20, runs=10) for b, s in pairs)
    return Convergence(points=points, optimizer="lamb", source="test")


def on_a_law(least, critical, batches):
    return points(*((batch, least * (1 + batch / critical)) for batch in batches))


@pytest.mark.parametrize("convergence", [BERT, RESNET], ids=["bert", "resnet50"])
def test_reference_points_come_back_as_measured(convergence):
    for point in convergence.points:
        samples = reference(convergence, point.batch)
        assert (samples.mean, samples.grade, samples.beyond) == (point.samples, Grade.MEASURED, 1)
        assert samples.seed_spread == pytest.approx(point.std / point.samples)
        assert samples.doubt == pytest.approx(point.std / point.samples / math.sqrt(point.runs))


def test_between_points_samples_are_a_straight_line_in_log_batch():
    """Half way from 1,000 to 4,000 in log batch is 2,000."""
    samples = reference(points((1000, 2e6), (4000, 4e6)), 2000)
    assert samples.mean == pytest.approx(3e6)
    assert (samples.grade, samples.beyond) == (Grade.INTERPOLATED, 1)
    # two points tell nothing of what lies between: LAW_ERROR by the root of 2 doublings x 1/4, and the seeds of both
    assert samples.doubt == pytest.approx(math.hypot(LAW_ERROR * math.sqrt(0.5), 0.05 / math.sqrt(10) * math.sqrt(0.5)))


@given(st.floats(256, 16384))
def test_between_points_samples_stay_between_their_values(batch):
    samples = reference(BERT, batch)
    below = max((p for p in BERT.points if p.batch <= batch), key=lambda p: p.batch)
    above = min((p for p in BERT.points if p.batch >= batch), key=lambda p: p.batch)
    low, high = sorted((below.samples, above.samples))
    assert low * (1 - 1e-12) <= samples.mean <= high * (1 + 1e-12)


def test_beyond_the_points_the_law_goes_on_from_the_last():
    """On a law S = S_min (1 + B / B_crit) nothing is lost by going on: twice the batch costs what the law says."""
    convergence = on_a_law(2e6, 8000, (500, 1000, 4000))
    assert law(convergence) == pytest.approx((2e6, 250))
    assert critical_batch(convergence) == pytest.approx(8000)
    for batch in (8000, 64000, 1e7):
        assert reference(convergence, batch).mean == pytest.approx(2e6 * (1 + batch / 8000))


def test_the_law_is_flat_far_below_the_critical_batch_and_linear_far_above():
    convergence = on_a_law(2e6, 1e6, (100, 200, 400))
    assert reference(convergence, 800).mean == pytest.approx(2e6, rel=1e-3)
    assert reference(convergence, 2e9).mean / reference(convergence, 1e9).mean == pytest.approx(2, rel=2e-3)


def test_below_the_points_samples_are_held():
    samples = reference(BERT, 64)
    assert samples.mean == BERT.points[0].samples
    assert (samples.grade, samples.beyond) == (Grade.EXTRAPOLATED, 4)
    assert reference(BERT, 256).doubt < samples.doubt < reference(BERT, 16).doubt


def test_doubt_grows_with_each_doubling_beyond_the_points():
    last = BERT.points[-1].batch
    for doublings in (1, 2, 5):
        samples = reference(BERT, last * 2**doublings)
        seeds = standard_error(BERT.points[-1])
        assert samples.doubt == pytest.approx(math.hypot(errors(BERT).above * doublings, seeds))
        assert (samples.grade, samples.beyond) == (Grade.EXTRAPOLATED, 2**doublings)


@given(st.floats(1, 1e7), st.floats(1.0001, 1.5))
def test_a_larger_batch_beyond_the_points_never_needs_fewer_samples_nor_is_surer(batch, factor):
    last = RESNET.points[-1].batch
    samples, more = reference(RESNET, last + batch), reference(RESNET, (last + batch) * factor)
    assert more.mean > samples.mean
    assert more.doubt > samples.doubt


def test_samples_that_fall_with_the_batch_are_taken_as_flat():
    """A negative slope would promise a batch that needs nothing."""
    convergence = points((100, 4e6), (200, 3e6), (400, 2e6))
    assert law(convergence)[1] == 0
    assert critical_batch(convergence) == math.inf
    assert reference(convergence, 1e6).mean == 2e6


def test_bert_converges_at_its_law_within_the_stated_error():
    """LAW_ERROR is the root mean square by which the law misses the published points of BERT, rounded up."""
    least, slope = law(BERT)
    misses = [math.log((least + slope * point.batch) / point.samples) for point in BERT.points]
    assert math.sqrt(sum(miss**2 for miss in misses) / len(misses)) <= LAW_ERROR


FACTORS = {
    "lamb": {
        "closed": SamplesFactor(factor=0.9, spread=0.05, points=5),
        "open": SamplesFactor(factor=0.8, spread=0.04, points=3),
    }
}


@pytest.mark.parametrize(("division", "factor", "spread"), [("closed", 0.9, 0.05), ("open", 0.8, 0.04)])
def test_factors_of_submissions_multiply_the_reference(division, factor, spread):
    samples = to_converge(BERT, 3072, FACTORS, "lamb", Division(division))
    assert samples.mean == pytest.approx(factor * 2768215)
    assert samples.doubt == pytest.approx(math.hypot(spread, reference(BERT, 3072).doubt))
    assert samples.seed_spread == pytest.approx(170435 / 2768215)
    assert division in str(samples.basis)


def test_doubts_of_reference_and_factor_add_in_quadrature():
    batch = BERT.points[-1].batch * 2
    samples = to_converge(BERT, batch, FACTORS, "lamb", Division.CLOSED)
    assert samples.doubt == pytest.approx(math.hypot(reference(BERT, batch).doubt, 0.05))
    assert samples.grade is Grade.EXTRAPOLATED


@pytest.mark.parametrize(("optimizer", "division"), [("adam", "closed"), ("lamb", "open")])
def test_without_a_submission_to_learn_from_samples_are_assumed(optimizer, division):
    factors = {"lamb": {"closed": FACTORS["lamb"]["closed"]}}
    samples = to_converge(BERT, 3072, factors, optimizer, Division(division))
    assert samples.mean == 2768215
    assert samples.grade is Grade.ASSUMED
    assert samples.doubt == pytest.approx(math.hypot(LAW_ERROR, reference(BERT, 3072).doubt))
    assert f"no submission with {optimizer} in the {division} division" in str(samples.basis)
