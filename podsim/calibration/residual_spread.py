"""What of the errors of held-out step times the errors of fitted parameters leave unexplained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from podsim.calibration.fit import error as case_error
from podsim.calibration.fit_cases import OtherCase
from podsim.model.sums import sum_in_order
from podsim.predicting.training_case import step
from podsim.predicting.uncertainty import sensitivity

if TYPE_CHECKING:
    from podsim.model.calibration import ParameterSet
    from podsim.model.parameters import FreeParameters


class HoldOutError(NamedTuple):
    """Log error of a step time whose machine size was left out, and the variance its parameters then have in it."""

    error: float
    variance: float


def model_error(cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters) -> float:
    """Log error of the model itself, rms over points of machine sizes left out (Eq. 31)."""
    errors = left_out(cases, parameters, free)
    return math.sqrt(max(0.0, sum_in_order(error.error**2 - error.variance for error in errors) / len(errors)))


def left_out(cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters) -> tuple[HoldOutError, ...]:
    """Every case as its size left out of the fit would have it, by one linear step from the fit to all (Eq. 31).

    With H = J C J' W of a group, W one over the variances of its points, its residuals become (1 - H)^-1 r; no fit is
    made again.
    """
    import numpy as np

    names = list(parameters.fitted)
    residual, slopes = linear_residuals(cases, parameters, names)
    error = np.array([parameters.fitted[name].error for name in names])
    correlations = [[1.0 if a == b else parameters.correlation.get(a, {}).get(b, 0.0) for b in names] for a in names]
    information = np.linalg.inv(np.array(correlations) * np.outer(error, error))
    weight = np.array([case_error(case, free) ** -2 for case in cases])
    sizes = np.array([case.topology.ipus for case in cases])
    result: dict[int, HoldOutError] = {}
    for size in sorted(set(sizes.tolist())):
        group = np.flatnonzero(sizes == size)
        mine = np.array(slopes)[group]
        covariance = np.linalg.inv(information - mine.T @ (weight[group, None] * mine))
        details = mine @ covariance @ mine.T
        errors = np.array(residual)[group] @ (np.eye(len(group)) + weight[group, None] * details)
        pairs = zip(errors.tolist(), np.diag(details).tolist(), strict=True)
        result |= {int(at): HoldOutError(*pair) for at, pair in zip(group, pairs, strict=True)}
    return tuple(result[at] for at in range(len(cases)))


def linear_residuals(
    cases: Sequence[OtherCase], parameters: ParameterSet, names: Sequence[str]
) -> tuple[list[float], list[list[float]]]:
    """Logs of predicted over measured steps, and their change with the log of each parameter in `names`."""
    results_by_shape: dict[tuple[str | int, ...], tuple[float, list[float]]] = {}
    for case in cases:
        if case.shape not in results_by_shape:
            question = case.question(parameters)
            timeline = step(question, case.mapping)
            slopes = sensitivity(question, timeline)
            results_by_shape[case.shape] = timeline.step_s, [slopes.get(name, 0.0) for name in names]
    residual = [math.log(results_by_shape[case.shape][0] / case.point.step_s) for case in cases]
    return residual, [results_by_shape[case.shape][1] for case in cases]
