"""Least squares on log step time for the free parameters, each with a prior."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from podsim.calibration.fit_cases import OtherCase, StepTimes
from podsim.errors import MissingParameter
from podsim.model.calibration import FittedParameter, Form, ParameterSet
from podsim.model.parameters import FreeParameters

if TYPE_CHECKING:
    import numpy as np

STRONG = 0.85  # correlation above which two parameters are said to be hard to tell apart
UNINFORMED_SHARE = 0.8  # share of its prior error above which a parameter has learned little
LEAST_MAPPINGS = 2  # one step time can be met in any number of ways
PRECISE = 1e-6  # relative change of parameters at which the solver stops
DECIMALS = 7  # of a fitted log: below them the libraries of linear algebra differ
NUDGE = 1e-4  # of a log, to either side: what slopes are read from


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Fitted parameters, how they hang together, what they were fitted to, and what the solver needed."""

    free: FreeParameters
    fitted: Mapping[str, FittedParameter]
    correlation: Mapping[str, Mapping[str, float]]
    mappings: int
    evaluations: int
    chi_square: float = 0.0
    forms: Mapping[str, Form] = field(default_factory=dict)  # every form that was tried, this one too

    @property
    def values(self) -> dict[str, float]:
        """Values by name."""
        return {name: item.value for name, item in self.fitted.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the fit should not be trusted."""
        names, number = list(self.fitted), len(self.fitted)
        few = f"{self.mappings} different mappings for {number} parameters: what they cannot tell is left to the priors"
        weak = [
            f"{free.name}: barely informed by these points, its error is {100 * self.fitted[free.name].error:.0f} %"
            for free in self.free.parameters
            if self.fitted[free.name].error > UNINFORMED_SHARE * free.prior_error
        ]
        bound = [
            f"{free.name}: at its bound"
            for free in self.free.parameters
            if not 1.001 * free.least < self.fitted[free.name].value < 0.999 * free.most
        ]
        pairs = [
            f"{a} and {b} correlate {self.correlation[a][b]:+.2f} and are hard to tell apart"
            for i, a in enumerate(names)
            for b in names[i + 1 :]
            if abs(self.correlation[a][b]) > STRONG
        ]
        return (*([few] if self.mappings < number else []), *weak, *bound, *pairs)


def blank(parameters: Mapping[str, FittedParameter]) -> ParameterSet:
    """Fitted parameters with nothing else learned yet."""
    return ParameterSet(
        fitted=parameters,
        correlation={},
        samples={},
        step_error=0.0,
        largest={},
        smallest={},
        chips=(),
        sdks=(),
        points=0,
    )


def best(
    cases: Sequence[OtherCase],
    free: FreeParameters,
    start: Mapping[str, float] | None = None,
    times: StepTimes | None = None,
) -> Fit:
    """The fit of the form with the least chi-square, the first of equals; raises as `fit` (Eq. 35)."""
    step_times = times or StepTimes()
    fits = [fit(cases, form, start, step_times) for form in free.forms]
    least = min(fits, key=lambda fit: fit.chi_square)
    return replace(least, forms={fit.free.form: Form(chi_square=fit.chi_square, values=fit.values) for fit in fits})


def fit(
    cases: Sequence[OtherCase],
    free: FreeParameters,
    start: Mapping[str, float] | None = None,
    times: StepTimes | None = None,
) -> Fit:
    """The parameters that best explain the cases' step times (Eq. 35).

    `start` is where the search begins, the priors if absent; `times` remembers step times from fit to fit. Raises
    MissingParameter where the cases are too few.
    """
    import numpy as np
    from scipy.optimize import least_squares

    mappings = _mappings(cases, free)
    step_times = times or StepTimes()
    prior = np.array([math.log(parameter.prior) for parameter in free.parameters])
    doubt = np.array([parameter.prior_error for parameter in free.parameters])
    measured, errors = np.array([(math.log(case.point.step_s), error(case, free)) for case in cases]).T

    def residuals(logs: "np.ndarray") -> "np.ndarray":
        values = [math.exp(log) for log in logs.tolist()]  # np.exp and np.log differ between processors and versions
        predicted = np.array(
            [math.log(step_s) for step_s in step_times.of(cases, blank(free_parameters(free, values)))]
        )
        return np.concatenate([(predicted - measured) / errors, (logs - prior) / doubt])

    bounds = (
        np.log([parameter.least for parameter in free.parameters]),
        np.log([parameter.most for parameter in free.parameters]),
    )
    begin = np.array([math.log((start or {}).get(parameter.name, parameter.prior)) for parameter in free.parameters])
    begin = np.clip(begin, bounds[0] + NUDGE, bounds[1] - NUDGE)
    result = least_squares(
        residuals, begin, partial(_slopes, residuals), bounds, xtol=PRECISE, ftol=PRECISE, gtol=PRECISE
    )
    logs = np.round(result.x, DECIMALS)
    steepness = _slopes(residuals, logs)
    solution = _solution(free, logs, np.linalg.inv(steepness.T @ steepness), mappings, int(result.nfev))
    return replace(solution, chi_square=float(np.sum(residuals(logs) ** 2)))


def _mappings(cases: Sequence[OtherCase], free: FreeParameters) -> int:
    """How many different mappings the cases have; MissingParameter where they are too few."""
    count = len({case.shape for case in cases})
    if count < LEAST_MAPPINGS:
        raise MissingParameter(
            f"{count} mapping{' is' if count == 1 else 's are'} too few to fit {len(free.names)} parameters",
            code="too-few-points",
            hint="add points on other machines or with other mappings: calibration/README.md",
        )
    return count


def _slopes(residuals: "Callable[[np.ndarray], np.ndarray]", at: "np.ndarray") -> "np.ndarray":
    """Change of each residual with each log, a column a log, from a nudge to either side."""
    import numpy as np

    nudges = NUDGE * np.eye(len(at))
    return np.stack([(residuals(at + nudge) - residuals(at - nudge)) / (2 * NUDGE) for nudge in nudges], axis=1)


def error(case: OtherCase, free: FreeParameters) -> float:
    """Log error of a case's step time: the model's, and that of the mean of its runs (Eq. 35)."""
    return math.hypot(free.model_error, case.point.step_spread / math.sqrt(case.point.runs))


def _solution(
    free: FreeParameters, logs: "np.ndarray", covariance: "np.ndarray", mappings: int, evaluations: int
) -> Fit:
    import numpy as np

    errors = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(errors, errors)
    names = free.names
    return Fit(
        free=free,
        fitted=free_parameters(free, [math.exp(log) for log in logs.tolist()], errors.tolist()),
        correlation={
            a: {b: float(correlations[i, j]) for j, b in enumerate(names) if j != i} for i, a in enumerate(names)
        },
        mappings=mappings,
        evaluations=evaluations,
    )


def free_parameters(
    free: FreeParameters, values: Sequence[float], errors: Sequence[float] | None = None
) -> dict[str, FittedParameter]:
    """The free parameters with these values, in their order; certain where no errors are given."""
    errors = errors or [0.0] * len(values)
    return {
        parameter.name: FittedParameter(
            value=value,
            error=error,
            prior=parameter.prior,
            prior_error=parameter.prior_error,
            pull=math.log(value / parameter.prior) / parameter.prior_error,
            meaning=parameter.meaning,
            unit=parameter.unit,
        )
        for parameter, value, error in zip(free.parameters, values, errors, strict=True)
    }


def round_values(parameters: ParameterSet, digits: int = 6) -> ParameterSet:
    """Fitted values to so many digits, as they are written."""

    def short(value: float) -> float:
        return float(f"{value:.{digits}g}")

    fitted_parameters = {
        name: replace(
            item, value=short(item.value), error=short(item.error), prior=short(item.prior), pull=short(item.pull)
        )
        for name, item in parameters.fitted.items()
    }
    forms = {
        name: Form(
            chi_square=short(form.chi_square), values={text: short(value) for text, value in form.values.items()}
        )
        for name, form in parameters.forms.items()
    }
    return replace(parameters, fitted=fitted_parameters, forms=forms)
