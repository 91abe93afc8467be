"""Laws that are put in come out; knee and peak are where the curve says."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import nnls

from podsim.studies.scale import law as scaling_law
from podsim.studies.scale.law import AMDAHL, UNIVERSAL

SIZES = [16, 32, 64, 128, 256, 512, 1024]
SHARES = st.floats(0.0, 0.5)
PAIRS = st.floats(0.0, 0.01)


def curve(contention, coherency, sizes=SIZES, first=1000.0):
    """(IPUs, samples/s) by the law itself, written out."""
    units = [ipus / sizes[0] for ipus in sizes]
    return [
        (ipus, first * n / (1 + contention * (n - 1) + coherency * n * (n - 1)))
        for ipus, n in zip(sizes, units, strict=True)
    ]


@given(SHARES, PAIRS)
def test_the_universal_law_is_recovered(contention, coherency):
    fit = scaling_law.fit(curve(contention, coherency), UNIVERSAL)
    assert fit.unit_ipus == 16
    assert fit.unit_samples_per_s == pytest.approx(1000, rel=1e-6)
    assert fit.contention == pytest.approx(contention, abs=1e-6)
    assert fit.coherency == pytest.approx(coherency, abs=1e-7)
    assert fit.error < 1e-6


@given(SHARES)
def test_amdahls_law_is_recovered_and_has_no_coherency(contention):
    fit = scaling_law.fit(curve(contention, 0), AMDAHL)
    assert fit.contention == pytest.approx(contention, abs=1e-6)
    assert fit.coherency == 0


@given(st.lists(st.floats(10, 1e5), min_size=7, max_size=7), st.sampled_from([AMDAHL, UNIVERSAL]))
@example([10.0, 10.0, 10.0, 10.0, 10.0, 69275.0, 404.0], AMDAHL)
def test_the_answer_is_that_of_non_negative_least_squares(rates, parameters):
    """Whatever the rates: no bound is broken and none but scipy's answer is nearer.

    Left out are rates whose nearest answer has coherency alone: such a law has no throughput on one unit.
    """
    size = np.array(SIZES) / 16
    terms = np.stack([np.ones(7), size, size * (size - 1)], axis=1)[:, :parameters] * (np.array(rates) / size)[:, None]
    curve = scaling_law.fit(list(zip(SIZES, rates, strict=True)), parameters)
    whole = 1 / curve.unit_samples_per_s
    mine = np.array([1 - curve.contention, curve.contention, curve.coherency])[:parameters] * whole
    nearest, left = nnls(terms, np.ones(7))
    assume(nearest[:2].any())
    assert 0 <= curve.contention <= 1
    assert curve.coherency >= 0
    assert np.linalg.norm(terms @ mine - 1) == pytest.approx(left, rel=1e-6, abs=1e-9)


def test_the_error_is_that_of_logs():
    measured = curve(0.05, 0.0)
    measured[3] = measured[3][0], measured[3][1] * 1.2
    fit = scaling_law.fit(measured, UNIVERSAL)
    logs = [math.log(fit.at(ipus) / rate) for ipus, rate in measured]
    assert fit.error == pytest.approx(math.sqrt(sum(x * x for x in logs) / 7), rel=1e-12)
    assert fit.error > 0.01


@pytest.mark.parametrize(("parameters", "machines"), [(AMDAHL, 2), (UNIVERSAL, 3)])
def test_no_law_is_fitted_to_as_many_machines_as_it_has_parameters(parameters, machines):
    assert scaling_law.fit(curve(0.1, 0.001)[:machines], parameters) is None
    assert scaling_law.fit(curve(0.1, 0.001)[:machines] + curve(0.1, 0.001)[:1], parameters) is None
    assert scaling_law.fit(curve(0.1, 0.001)[: machines + 1], parameters) is not None
    assert scaling_law.fit([], parameters) is None


@given(st.floats(0.01, 0.5), st.floats(1e-6, 0.01), st.floats(0.05, 0.95))
def test_at_the_knee_a_doubling_gains_what_was_said(contention, coherency, gain):
    law = scaling_law.fit(curve(contention, coherency), UNIVERSAL)
    knee = scaling_law.knee(law, gain)
    assert law.at(2 * knee) / law.at(knee) == pytest.approx(1 + gain, rel=1e-6)


def test_the_peak_is_beaten_by_neither_neighbour():
    law = scaling_law.fit(curve(0.03, 0.0005), UNIVERSAL)
    peak = scaling_law.peak(law)
    assert peak == pytest.approx(16 * math.sqrt(0.97 / 0.0005), rel=1e-6)
    assert law.at(peak) > max(law.at(0.99 * peak), law.at(1.01 * peak))


def test_a_law_without_loss_has_neither_knee_nor_peak():
    law = scaling_law.fit(curve(0, 0), AMDAHL)
    assert scaling_law.knee(law, 0.5) is None
    assert scaling_law.peak(law) is None


def test_amdahls_knee_needs_no_coherency():
    law = scaling_law.fit(curve(0.1, 0), AMDAHL)
    knee = scaling_law.knee(law, 0.5)
    assert law.at(2 * knee) / law.at(knee) == pytest.approx(1.5, rel=1e-9)
