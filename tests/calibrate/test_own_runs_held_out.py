"""Three runs of a published result, its machine left out of all that is learned, predict its other runs."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev

import numpy as np
import pytest
from scipy.optimize import minimize

from podsim.calibration import convergence_factors, own_residual
from podsim.calibration.coverage import estimates
from podsim.calibration.fit import best
from podsim.calibration.fit_cases import StepTimes
from podsim.calibration.fit_data import cases
from podsim.calibration.holdout import fit_all
from podsim.calibration.residual_spread import left_out, linear_residuals
from podsim.files import catalog
from podsim.model.parameters import FREE
from podsim.model.quantity import NINETY_PERCENT

RUNS = Path(__file__).parents[1] / "data/mlperf-ipu-runs.csv"
CASES = cases()
SHIPPED = catalog.parameters()
START = {name: item.value for name, item in SHIPPED.fitted.items()}


def runs_of(case):
    """Rows of the runs of a result that reached their target."""
    point, bow = case.point, "bow" in case.point.topology
    with RUNS.open(encoding="utf-8") as file:
        return [
            row
            for row in csv.DictReader(file)
            if row["source_path"].startswith(point.locator.partition("result_")[0])
            and f"v{row['round']}" == point.round
            and ("bow" in row["system"].lower()) == bow
            and row["target_reached"] == "True"
        ]


def three_runs(case):
    """A result as its first three runs have it, and step and score of the others [s]."""
    rows = runs_of(case)
    steps = [float(row["step_ms"]) / 1e3 for row in rows]
    samples = [float(row["samples_to_converge"]) for row in rows[:3]]
    scores = sorted(60 * float(row["minutes"]) for row in rows[3:])
    counted = scores[1:-1] if len(scores) > 2 else scores
    spread = stdev(steps[:3]) / fmean(steps[:3])
    point = replace(case.point, runs=3, step_s=fmean(steps[:3]), step_spread=spread, samples_to_converge=fmean(samples))
    return replace(case, point=point), {
        "step_s": fmean(steps[3:]),
        "time_to_train_predicted_samples_s": fmean(counted),
    }


def estimates_of(case, parameters):
    return {quantity: estimate for quantity, _, estimate in estimates(case, parameters, (NINETY_PERCENT,))}


def width(estimate):
    return math.log(estimate.high / estimate.low)


@pytest.mark.slow
def test_three_runs_halve_intervals_of_steps_and_nearly_of_scores_and_the_other_runs_lie_inside():
    """Three of the eight machines, five results; docs/decisions/045-own-runs.md has all 28."""
    times, ratios = StepTimes(), {}
    inside = {}
    for machine in ("bow-pod128", "bow-pod256", "pod256"):
        rest = [case for case in CASES if case.point.topology != machine]
        before = fit_all(rest, best(rest, FREE, START, times), 0.0)
        submitted = convergence_factors.samples_factors(rest)
        for case in (case for case in CASES if case.point.topology == machine):
            own, measured = three_runs(case)
            both = [*rest, own]
            fit = fit_all(both, best(both, FREE, START, times), 0.0)
            fit = replace(fit, samples=convergence_factors.own_factors(submitted, [own]))
            after = replace(fit, own=own_residual.own_configurations([own], fit, submitted))
            was, now = estimates_of(case, before), estimates_of(case, after)
            for quantity, seconds in measured.items():
                ratios.setdefault(quantity, []).append(width(now[quantity]) / width(was[quantity]))
                inside.setdefault(quantity, []).append(now[quantity].low <= seconds <= now[quantity].high)
    assert median(ratios["step_s"]) < 0.5
    assert median(ratios["time_to_train_predicted_samples_s"]) < 0.6
    assert all(inside["step_s"])
    assert sum(inside["time_to_train_predicted_samples_s"]) >= 4


def standard_deviations():
    """Of machine, machine and workload, configuration and submission, where the results are most likely.

    Parameters are integrated out with their priors, steps linear in their logs about the fit.
    """
    parameters, form = catalog.parameters(), next(each for each in FREE.forms if each.form == SHIPPED.form)
    names = list(form.names)
    residual, slopes = (np.array(each) for each in linear_residuals(CASES, parameters, names))
    prior = np.diag([each.prior_error**2 for each in form.parameters])
    pull = [math.log(parameters.value(each.name) / each.prior) for each in form.parameters]
    off = slopes @ pull - residual
    keys = (
        [case.point.topology for case in CASES],
        [(case.point.topology, case.point.workload) for case in CASES],
        [case.shape for case in CASES],
        [case.point.id for case in CASES],
    )
    shared = [np.array([[float(a == b) for b in key] for a in key]) for key in keys]
    noise = np.diag([case.point.step_spread**2 / case.point.runs for case in CASES])

    def unlikely(logs):
        parts = sum(math.exp(2 * log) * each for log, each in zip(logs, shared, strict=True))
        lower = np.linalg.cholesky(slopes @ prior @ slopes.T + noise + parts)
        return float(np.sum(np.linalg.solve(lower, off) ** 2) / 2 + np.log(np.diag(lower)).sum())

    starts = ([-4.0] * 4, [-6.0, -4.0, -4.0, -5.0], [-9.0, -9.0, -3.5, -5.0])
    fits = [minimize(unlikely, start, method="L-BFGS-B", bounds=[(-9, -1)] * 4) for start in starts]
    return np.exp(min(fits, key=lambda fit: fit.fun).x)


def test_a_machine_has_no_error_of_its_own_and_a_configuration_has_nearly_all():
    machine, machine_and_workload, configuration, submission = standard_deviations()
    assert max(machine, machine_and_workload) < 0.001
    assert configuration == pytest.approx(0.026, abs=0.002)
    assert submission == pytest.approx(0.0033, abs=0.0005)


def test_errors_of_a_configuration_are_shared_and_those_of_a_machine_are_not():
    """Products of errors that results have with their machine size left out: of one configuration, and of others."""
    errors = np.array([item.error for item in left_out(CASES, catalog.parameters(), FREE)])
    same, other = [], []
    for at, case in enumerate(CASES):
        for far in range(at):
            if case.point.topology == CASES[far].point.topology:
                (same if case.shape == CASES[far].shape else other).append(errors[at] * errors[far])
    assert (len(same), len(other)) == (11, 36)
    assert np.mean(same) > 0.5 * np.mean(errors**2)
    assert abs(np.mean(other)) < 0.35 * np.mean(errors**2)
