"""What frameworks add to a step, fitted to published training rates; each framework and family held out once (Eq. 13).

The error of a network is the same under every framework: each workload has an offset of its own, drawn to none, so that
the constants are what frameworks of one workload differ by. Offsets enter no prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from podsim.model.calibration import FittedParameter
from podsim.model.displayable import Displayable
from podsim.model.framework import INTERFACES, Framework
from podsim.model.framework_costs import MICRO_BATCH, NAMES, REPLICA, FrameworkCosts
from podsim.model.microbenchmark import quantile
from podsim.model.sums import sum_in_order

PRIOR_S: Final = {MICRO_BATCH: 3e-4, REPLICA: 4e-5}
"""A host call without its Python (two products of 4096 cubed leave 0.27 and 0.29 ms); four streams of 8.8 us each."""
PRIOR_ERROR: Final = 1.5
NETWORK: Final = 0.10  # log error of a network that nothing is fitted to
RUN: Final = 0.05  # log error of one row beside that
FAR: Final = 2.0  # deviations from where on a row counts less
DIGITS: Final = 4
MEANINGS: Final = {
    MICRO_BATCH: "time for which all IPUs wait for the input of a micro-batch where the framework fetches it in line, "
    "beyond its bytes (TensorFlow 2, PopTorch)",
    REPLICA: "time in which one process hands a replica the input of a micro-batch, one replica after the other "
    "(PopTorch)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkRow:
    """One published rate: its step as measured, and as predicted without its framework [s]."""

    id: str
    framework: Framework
    family: str
    workload: str
    replicas: int
    micro_batches: int
    in_line_bytes_s: float  # of all micro-batches, over one stream of the gateway
    without_s: float
    measured_s: float

    def step_s(self, costs: FrameworkCosts) -> float:
        """The step with what the framework adds [s]."""
        parts_s = costs.parts(self.framework, self.replicas)
        if not parts_s:
            return self.without_s
        return self.without_s + self.micro_batches * sum_in_order(parts_s.values()) + self.in_line_bytes_s

    def error(self, costs: FrameworkCosts) -> float:
        """Predicted rate over measured, less one."""
        return self.measured_s / self.step_s(costs) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkGroup:
    """Rows of one framework and family: errors without any framework, in sample and held out.

    Where no constant enters a prediction under the framework, all three are the same.
    """

    framework: Framework
    family: str
    rows: tuple[str, ...]
    before: tuple[float, ...]
    in_sample: tuple[float, ...]
    held_out: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FrameworkFit(Displayable):
    """The constants, and the errors of rates by framework and family; `path` is where they were written, or ""."""

    costs: FrameworkCosts
    groups: tuple[FrameworkGroup, ...]
    path: str = ""

    @property
    def by_framework(self) -> dict[Framework, FrameworkGroup]:
        """The groups of each framework as one."""
        names = dict.fromkeys(group.framework for group in self.groups)
        return {name: _join([group for group in self.groups if group.framework is name]) for name in names}


def _join(groups: Sequence[FrameworkGroup]) -> FrameworkGroup:
    def every(kind: str) -> tuple[Any, ...]:
        return tuple(item for group in groups for item in getattr(group, kind))

    return FrameworkGroup(
        framework=groups[0].framework,
        family="",
        rows=every("rows"),
        before=every("before"),
        in_sample=every("in_sample"),
        held_out=every("held_out"),
    )


def fit(rows: Sequence[FrameworkRow], on_progress: Callable[[int, int], None] | None = None) -> FrameworkFit:
    """Fit all rows; then leave out each framework and family in turn."""
    whole, _ = _solve(rows)
    keys = sorted({(row.framework, row.family) for row in rows})
    groups, logs = list[FrameworkGroup](), list[float]()
    for number, key in enumerate(keys, 1):
        own = [row for row in rows if (row.framework, row.family) == key]
        rest = [row for row in rows if (row.framework, row.family) != key]
        apart, offsets = _solve(rest) if INTERFACES[key[0]].fetches_in_line else (whole, {})
        groups.append(
            FrameworkGroup(
                framework=key[0],
                family=key[1],
                rows=tuple(row.id for row in own),
                before=tuple(row.measured_s / row.without_s - 1 for row in own),
                in_sample=tuple(row.error(whole) for row in own),
                held_out=tuple(row.error(apart) for row in own),
            )
        )
        if INTERFACES[key[0]].fetches_in_line:
            logs += [
                math.log(row.step_s(apart) / row.measured_s) + offsets[row.workload]
                for row in own
                if row.workload in offsets
            ]
        if on_progress:
            on_progress(number, len(keys))
    scatter = quantile(sorted(map(abs, logs)), 0.68) if logs else 0.0
    costs = FrameworkCosts(fitted=whole.fitted, correlation=whole.correlation, scatter=_digits(scatter), rows=len(rows))
    return FrameworkFit(costs=costs, groups=tuple(groups))


def _solve(rows: Sequence[FrameworkRow]) -> tuple[FrameworkCosts, dict[str, float]]:
    """Constants and the offset of each workload by least squares on log step times, far rows counting less."""
    from scipy.optimize import least_squares

    workloads = sorted({row.workload for row in rows})
    at = {name: number + len(NAMES) for number, name in enumerate(workloads)}
    prior = np.log([PRIOR_S[name] for name in NAMES])

    def residuals(guess: np.ndarray) -> np.ndarray:
        costs = _costs(guess[: len(NAMES)])
        own = [(math.log(row.step_s(costs) / row.measured_s) + guess[at[row.workload]]) / RUN for row in rows]
        return np.array([*own, *(guess[len(NAMES) :] / NETWORK), *((guess[: len(NAMES)] - prior) / PRIOR_ERROR)])

    begin = np.concatenate([prior, np.zeros(len(workloads))])
    result = least_squares(residuals, begin, loss="soft_l1", f_scale=FAR, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    covariance = np.linalg.inv(result.jac.T @ result.jac)[: len(NAMES), : len(NAMES)]
    errors = np.sqrt(np.diag(covariance))
    offsets = {name: float(result.x[number]) for name, number in at.items()}
    return _costs(result.x[: len(NAMES)], errors, float(covariance[0, 1] / errors[0] / errors[1])), offsets


def _costs(logs: np.ndarray, errors: np.ndarray | None = None, correlation: float = 0.0) -> FrameworkCosts:
    """The constants with these logs and errors of them."""
    each = [0.0] * len(NAMES) if errors is None else [_digits(float(error)) for error in errors]
    values = [math.exp(float(log)) for log in logs]
    if errors is not None:
        values = [_digits(value) for value in values]
    constants = {
        name: FittedParameter(
            value=value,
            error=error,
            prior=PRIOR_S[name],
            prior_error=PRIOR_ERROR,
            pull=_digits(math.log(value / PRIOR_S[name]) / PRIOR_ERROR),
            meaning=MEANINGS[name],
            unit="s",
        )
        for name, value, error in zip(NAMES, values, each, strict=True)
    }
    return FrameworkCosts(fitted=constants, correlation=_digits(correlation))


def _digits(number: float) -> float:
    """A number to four digits: more are those of one processor."""
    return float(f"{number:.{DIGITS}g}")
