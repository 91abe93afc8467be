"""Samples to converge as the logs have them, against the reference."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from podsim.calibration.fit_cases import OtherCase
from podsim.convergence.samples import reference
from podsim.model.calibration import SamplesFactor

LEAST_SPREAD = 0.03  # log error of a samples factor known from one or two submissions; the logs spread 3 to 14 %


def run_spread(cases: Sequence[OtherCase]) -> float:
    """How much runs of a submission differ in pace, rms over submissions of the relative standard deviation."""
    return math.sqrt(fmean(case.point.step_spread**2 for case in cases))


def samples_factors(cases: Sequence[OtherCase]) -> dict[str, dict[str, dict[str, SamplesFactor]]]:
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
    result: dict[str, dict[str, dict[str, SamplesFactor]]] = {}
    for (workload, optimizer, division), log in sorted(logs.items()):
        spread = stdev(log) if len(log) > 1 else LEAST_SPREAD
        factor = SamplesFactor(
            factor=round(math.exp(fmean(log)), 5), spread=round(max(spread, LEAST_SPREAD), 5), points=len(log)
        )
        result.setdefault(workload, {}).setdefault(optimizer, {})[division] = factor
    return result
