"""Least squares on log step time for the free parameters, each with a prior."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podsim.calibrate.cases import Case, steps_s
from podsim.model.calibration import FittedParameter, ParameterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """One free parameter: where it starts, how far (log) it may plausibly lie from there, what it means."""

    name: str
    prior: float
    prior_error: float
    least: float
    most: float
    meaning: str


FREE = (
    Free(
        name="program.stretch", prior=1.05, prior_error=0.1, least=0.5, most=3.0,
        meaning="time of a whole program over its operators' plans; prior: GEMM phases measure 1.02 of their schedule",
    ),
    Free(
        name="sdk-2.1.program", prior=1.05, prior_error=0.1, least=0.5, most=3.0,
        meaning="program.stretch under SDK 2.1, relative to 2.3; prior: a release gains a few per cent",
    ),
    Free(
        name="collective.efficiency", prior=0.5, prior_error=0.5, least=0.02, most=1.0,
        meaning="share of the links' effective bandwidth that collectives reach; no Mk2 collective is published",
    ),
    Free(
        name="collective.start", prior=200e-6, prior_error=1.5, least=1e-6, most=0.05,
        meaning="software cost of one phase of one collective [s]; wide prior, nothing is published",
    ),
    Free(
        name="step.host", prior=50e-3, prior_error=1.5, least=1e-4, most=1.0,
        meaning="time of the host program a weight update where a framework returns to it [s]; wide prior",
    ),
)  # fmt: skip
STEP_NOISE = 0.03  # log error expected of a step time: what the model leaves out, far above the logs' own 0.1 to 2 %
STRONG = 0.85  # correlation above which two parameters are said to be hard to tell apart
UNINFORMED = 0.8  # share of its prior error above which a parameter has learned little


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Fitted parameters, how they hang together, and what the solver needed."""

    fitted: Mapping[str, FittedParameter]
    correlation: Mapping[str, Mapping[str, float]]
    evaluations: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the fit should not be trusted."""
        names = list(self.fitted)
        weak = [
            f"{free.name}: barely informed by these points, its error is {100 * self.fitted[free.name].error:.0f} %"
            for free in FREE
            if self.fitted[free.name].error > UNINFORMED * free.prior_error
        ]
        bound = [
            f"{free.name}: at its bound"
            for free in FREE
            if not 1.001 * free.least < self.fitted[free.name].value < 0.999 * free.most
        ]
        paired = [
            f"{a} and {b} correlate {self.correlation[a][b]:+.2f} and are hard to tell apart"
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if abs(self.correlation[a][b]) > STRONG
        ]
        return (*weak, *bound, *paired)


def blank(fitted: Mapping[str, FittedParameter]) -> ParameterSet:
    """Fitted parameters with nothing else learned yet."""
    return ParameterSet(
        fitted=fitted, correlation={}, overhead={}, samples={}, step_error=0.0, largest={}, smallest={},
        chips=(), sdks=(), points=0,
    )  # fmt: skip


def fit(cases: Sequence[Case]) -> Fit:
    """The parameters that best explain the cases' step times (Eq. 35)."""
    import numpy as np
    from scipy.optimize import least_squares

    start = np.log([free.prior for free in FREE])
    doubt = np.array([free.prior_error for free in FREE])
    measured = np.log([case.point.step_s for case in cases])

    def residuals(logs: np.ndarray) -> np.ndarray:
        predicted = np.log(steps_s(cases, blank(_values(np.exp(logs).tolist()))))
        return np.concatenate([(predicted - measured) / STEP_NOISE, (logs - start) / doubt])

    bounds = np.log([free.least for free in FREE]), np.log([free.most for free in FREE])
    found = least_squares(residuals, start, bounds=bounds, xtol=1e-10, ftol=1e-10, gtol=1e-10)
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    errors = np.sqrt(np.diag(covariance))
    related = covariance / np.outer(errors, errors)
    fitted = _values(np.exp(found.x).tolist(), errors.tolist())
    names = [free.name for free in FREE]
    correlation = {a: {b: float(related[i, j]) for j, b in enumerate(names) if j != i} for i, a in enumerate(names)}
    return Fit(fitted=fitted, correlation=correlation, evaluations=int(found.nfev))


def _values(values: Sequence[float], errors: Sequence[float] | None = None) -> dict[str, FittedParameter]:
    errors = errors or [0.0] * len(values)
    return {
        free.name: FittedParameter(
            value=value,
            error=error,
            prior=free.prior,
            prior_error=free.prior_error,
            pull=math.log(value / free.prior) / free.prior_error,
            meaning=free.meaning,
        )
        for free, value, error in zip(FREE, values, errors, strict=True)
    }


def rounded(parameters: ParameterSet, digits: int = 6) -> ParameterSet:
    """Fitted values to so many digits, as they are written."""

    def short(value: float) -> float:
        return float(f"{value:.{digits}g}")

    fitted = {
        name: replace(
            item, value=short(item.value), error=short(item.error), prior=short(item.prior), pull=short(item.pull)
        )
        for name, item in parameters.fitted.items()
    }
    return replace(parameters, fitted=fitted)
