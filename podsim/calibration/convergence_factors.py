"""Samples to converge as the logs have them, against the reference."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from podsim.calibration.fit_cases import OtherCase
from podsim.convergence.curve import LAW_ERROR
from podsim.convergence.samples import reference
from podsim.model.calibration import SamplesFactor

LEAST_SPREAD = 0.03  # log error of a samples factor known from one or two submissions; the logs spread 3 to 14 %


Factors = dict[str, dict[str, dict[str, SamplesFactor]]]


def run_spread(cases: Sequence[OtherCase]) -> float:
    """How much runs of a submission differ in pace, rms over submissions of the relative standard deviation."""
    return math.sqrt(fmean(case.point.step_spread**2 for case in cases))


def samples_factors(cases: Sequence[OtherCase]) -> Factors:
    """Geometric means of scored over reference samples by workload, optimizer and division (Eq. 25).

    Scored samples are those of the runs times the normalisation of the log, by which the score counts a run longer that
    converged sooner than the rules allow.
    """
    logs: dict[tuple[str, str, str], list[float]] = {}
    for case in cases:
        point = case.point
        expected = reference(case.workload.curve, point.global_batch).mean
        key = (point.workload, point.optimizer, str(point.division))
        logs.setdefault(key, []).append(math.log(point.samples_to_converge * point.normalisation / expected))
    result: Factors = {}
    for (workload, optimizer, division), log in sorted(logs.items()):
        spread = stdev(log) if len(log) > 1 else LEAST_SPREAD
        factor = SamplesFactor(
            factor=round(math.exp(fmean(log)), 5), spread=round(max(spread, LEAST_SPREAD), 5), points=len(log)
        )
        result.setdefault(workload, {}).setdefault(optimizer, {})[division] = factor
    return result


def own_factors(submitted_factors: Factors, own: Sequence[OtherCase]) -> Factors:
    """The factors of submissions, narrowed by own runs to what the own code and data need (Eq. 105).

    Submissions of an optimizer and division scatter about their mean, and own runs are one more draw of that scatter,
    which the runs show but for their seeds. Where no submission is known, the law of samples by itself is the prior.
    """
    result = {
        name: {optimizer: dict(by) for optimizer, by in table.items()} for name, table in submitted_factors.items()
    }
    for case in own:
        point, curve = case.point, reference(case.workload.curve, case.point.global_batch)
        by_division = result.setdefault(point.workload, {}).setdefault(point.optimizer, {})
        measured = point.samples_to_converge * point.normalisation / curve.mean
        prior = by_division.get(str(point.division))
        by_division[str(point.division)] = narrow(prior, measured, curve.seed_spread, point.runs)
    return result


def narrow(prior: SamplesFactor | None, measured: float, seed_spread: float, runs: int) -> SamplesFactor:
    """A factor after so many runs that measured one: the product of two lognormal densities (Eq. 105).

    A run-to-run spread of 0 leaves the spread of the prior: nothing says how far the mean of such runs may be off.
    """
    prior = prior or SamplesFactor(factor=1.0, spread=LAW_ERROR, points=0)
    error = seed_spread / math.sqrt(runs)
    if not error or not prior.spread:
        return prior
    weight = prior.spread**2 / (prior.spread**2 + error**2)
    log = (1 - weight) * math.log(prior.factor) + weight * math.log(measured)
    spread = math.sqrt(1 - weight) * prior.spread
    return SamplesFactor(factor=round(math.exp(log), 5), spread=round(spread, 5), points=prior.points + 1)
