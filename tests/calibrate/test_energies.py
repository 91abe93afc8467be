"""Energies of a chip: fits recover them, those shipped are a fit to the published kernels, and machines agree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import podsim
from podsim.calibration.energies import MeasuredKernel, errors_held_out, fit, predicted_w
from podsim.calibration.fit_data import bench
from podsim.calibration.published import power_rows
from podsim.calibration.published.evaluate import EvaluationContext, predict
from podsim.calibration.published.fitted_rows import row_fits
from podsim.files import applications, catalog, readings_file
from podsim.files import microbenchmarks as measured
from podsim.model.activity import StepActivity
from podsim.model.chip import Precision
from podsim.model.published import Sample
from podsim.model.readings import Mode
from podsim.studies.validate.study import _world

CHIP = catalog.chip("gc200").value
ROWS = {row.id: row for row in applications.applications()}
FILE = readings_file.readings().value
SYSTEMS = [reading for reading in FILE.readings if reading.mode is Mode.POWER and reading.workload]


@pytest.fixture(scope="module")
def context() -> EvaluationContext:
    verbs = {"op": cache(podsim.op), "predict": cache(podsim.predict)}
    return EvaluationContext(verbs=verbs, environment=_world(), bench=bench(measured.all_measurements()), rows=ROWS)


@pytest.fixture(scope="module")
def kernels(context: EvaluationContext) -> tuple[MeasuredKernel, ...]:
    return power_rows.kernels(FILE, context)["gc200"]


def kernel(name: str, precision: Precision, tera: float, vector: float) -> MeasuredKernel:
    activity = StepActivity(precision=precision, flop_per_s=tera * 1e12, matrix=0.0, vector=vector, exchange=0.0)
    return MeasuredKernel(id=name, measured_w=1.0, activity=activity)


MADE = (
    kernel("idle", Precision.FP32, 0.0, 0.0),
    kernel("sum", Precision.FP32, 0.0, 0.7),
    kernel("half", Precision.FP16_32, 80.0, 0.2),
    kernel("float", Precision.FP32, 40.0, 0.3),
)


def test_a_fit_recovers_the_energies_that_kernels_were_made_with() -> None:
    exact = [replace(each, measured_w=predicted_w(each, CHIP)) for each in MADE]
    known, again = CHIP.activity_power, fit(exact, CHIP)
    assert known is not None
    assert (again.idle_w, again.pj_per_cycle) == pytest.approx((known.idle_w, known.pj_per_cycle))
    for precision in (Precision.FP16_32, Precision.FP32):
        assert again.pj_per_flop[precision] == pytest.approx(known.pj_per_flop[precision])
    published = known.published_pj_per_flop
    ratio = published[Precision.FP16_16] / published[Precision.FP16_32]
    assert again.pj_per_flop[Precision.FP16_16] == pytest.approx(ratio * again.pj_per_flop[Precision.FP16_32])


def test_without_its_kernel_a_precision_follows_from_the_other_by_the_published_energies() -> None:
    exact = [replace(each, measured_w=predicted_w(each, CHIP)) for each in MADE]
    assert CHIP.activity_power is not None
    published = CHIP.activity_power.published_pj_per_flop
    without = fit(exact[:3], CHIP)
    ratio = published[Precision.FP32] / published[Precision.FP16_32]
    assert without.pj_per_flop[Precision.FP32] == pytest.approx(ratio * without.pj_per_flop[Precision.FP16_32])


def test_a_chip_without_energies_is_refused() -> None:
    with pytest.raises(ValueError, match="has no activity_power"):
        fit(MADE, replace(CHIP, activity_power=None))


def test_the_shipped_energies_are_the_fit_to_the_published_kernels(kernels: tuple[MeasuredKernel, ...]) -> None:
    known, again = CHIP.activity_power, fit(kernels, CHIP)
    assert known is not None
    assert (known.idle_w, known.pj_per_cycle) == pytest.approx((again.idle_w, again.pj_per_cycle), rel=2e-3)
    assert known.pj_per_flop == {each: pytest.approx(value, rel=3e-3) for each, value in again.pj_per_flop.items()}


def test_kernels_in_sample_agree_within_a_tenth(kernels: tuple[MeasuredKernel, ...]) -> None:
    assert len(kernels) == 5
    assert {each.id for each in kernels} == {f"application-{at:04}" for at in (9, 11, 13, 15, 32)}
    for each in kernels:
        assert predicted_w(each, CHIP) == pytest.approx(each.measured_w, rel=0.1), each.id


def test_a_kernel_left_out_is_further_off_where_no_other_has_its_precision(kernels: tuple[MeasuredKernel, ...]) -> None:
    errors = errors_held_out(kernels, CHIP)
    triads, products = ("application-0009", "application-0011"), ("application-0013", "application-0015")
    assert all(abs(errors[name]) < 0.05 for name in triads)
    assert all(0.2 < abs(errors[name]) < 0.4 for name in products)
    fits = row_fits((), None, errors)
    assert {fits[name].sample for name in errors} == {Sample.IN_SAMPLE}
    assert fits["application-0013"].held_out == errors["application-0013"]


@pytest.mark.parametrize("reading", SYSTEMS, ids=lambda reading: reading.machine)
def test_machines_agree_with_what_is_published_of_them(context: EvaluationContext, reading) -> None:  # type: ignore[no-untyped-def]
    answer = predict(ROWS[reading.row], reading, context)
    assert answer.value == pytest.approx(ROWS[reading.row].value, rel=0.15)
    assert answer.low < ROWS[reading.row].value < answer.high
