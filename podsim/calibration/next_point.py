"""What one more measured point would make of fitted parameters, without its value: errors shrink whatever it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.calibration.convergence_factors import narrow

if TYPE_CHECKING:
    from podsim.model.calibration import Outside, OwnConfiguration, ParameterSet, SamplesFactor
    from podsim.model.parameters import FreeParameters

NEXT: Final = "measured next"
"""Name of the configuration of a point that may be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPoint:
    """Runs that may be made: a workload on so many IPUs of a chip, `slopes` of the log of its step by parameter.

    `converged` is there where they go on to the target, `configuration` has what they tell of it by itself.
    """

    workload: str
    ipus: int
    chip: str
    runs: int
    slopes: Mapping[str, float]
    converged: ConvergedRuns | None = None
    configuration: OwnConfiguration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergedRuns:
    """What runs to the target show besides their steps: samples of an optimizer and division, and a release's times.

    `seed_spread` is the spread of the log of the samples from run to run.
    """

    optimizer: str
    division: str
    seed_spread: float
    sdk: str


def with_point(parameters: ParameterSet, point: NextPoint, free: FreeParameters) -> ParameterSet:
    """The parameters as a fit to that point too would have them if it measured what they predict (Eq. 104).

    The linear update of a Gaussian: C' = C − C h hᵀ C / (hᵀ C h + e²), with h the slopes and e the error that a fit
    gives the point. The sizes and chips that are calibrated include it. Source: C. E. Rasmussen, C. K. I. Williams,
    Gaussian Processes for Machine Learning, MIT Press 2006, section 2.1.
    """
    names = list(parameters.fitted)
    covariance = _covariance(parameters)
    slopes = np.array([point.slopes.get(name, 0.0) for name in names])
    cross_covariance = covariance @ slopes
    error = math.hypot(free.model_error, parameters.run_spread / math.sqrt(point.runs))
    after = covariance - np.outer(cross_covariance, cross_covariance) / (float(slopes @ cross_covariance) + error**2)
    errors = np.sqrt(np.maximum(np.diag(after), 0.0)).tolist()
    covariances = after.tolist()
    return replace(
        parameters,
        fitted={
            name: replace(item, error=own_error)
            for (name, item), own_error in zip(parameters.fitted.items(), errors, strict=True)
        },
        correlation={
            a: {
                b: covariances[i][j] / (errors[i] * errors[j])
                for j, b in enumerate(names)
                if j != i and errors[i] * errors[j] > 0
            }
            for i, a in enumerate(names)
        },
        largest=_with(parameters.largest, point, max),
        smallest=_with(parameters.smallest, point, min),
        chips=tuple(dict.fromkeys((*parameters.chips, point.chip))),
        samples=_samples(parameters, point),
        outside=_outside(parameters.outside, point),
        own=_own(parameters, point),
    )


def _samples(parameters: ParameterSet, point: NextPoint) -> Mapping[str, Mapping[str, Mapping[str, SamplesFactor]]]:
    """The factors of samples, that of runs to the target as much narrower as a calibration to them makes it."""
    runs, factors = point.converged, parameters.samples
    if runs is None:
        return factors
    by_optimizer = factors.get(point.workload, {})
    by_division = by_optimizer.get(runs.optimizer, {})
    prior = by_division.get(runs.division)
    after = narrow(prior, 1.0 if prior is None else prior.factor, runs.seed_spread, point.runs)
    return {**factors, point.workload: {**by_optimizer, runs.optimizer: {**by_division, runs.division: after}}}


def _own(parameters: ParameterSet, point: NextPoint) -> Mapping[str, OwnConfiguration] | None:
    """Configurations with own runs, that of the point among them."""
    if point.configuration is None:
        return parameters.own
    return {NEXT: point.configuration, **(parameters.own or {})}


def _outside(outside: Outside, point: NextPoint) -> Outside:
    """Start-up, evaluations and checkpoints, those of the release of runs to the target known from their logs."""
    runs = point.converged
    if runs is None or not outside.trend:
        return outside
    loads = outside.seconds.get("load", {})
    return replace(outside, seconds={**outside.seconds, "load": {runs.sdk: outside.at("load", runs.sdk), **loads}})


def _covariance(parameters: ParameterSet) -> np.ndarray:
    """Of the logs of the fitted parameters, in their order."""
    correlation = parameters.correlation
    return np.array(
        [
            [
                (1.0 if a == b else correlation.get(a, {}).get(b, 0.0)) * item.error * other.error
                for b, other in parameters.fitted.items()
            ]
            for a, item in parameters.fitted.items()
        ]
    )


def _with(sizes: Mapping[str, int], point: NextPoint, choose: Callable[[int, int], int]) -> dict[str, int]:
    return {**sizes, point.workload: choose(sizes.get(point.workload, point.ipus), point.ipus)}
