"""Residuals and slopes of the scaling laws of one workload, as arrays, so that a fit costs milliseconds (Eq. 55)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podsim.model.comparator import ComparatorResult

NOISE = 0.07  # log error of a time to train that a law of four numbers is allowed
MATURITY = 0.15  # prior of the log of what one round gained on work
GAIN, GAIN_ERROR = 0.25, 0.5  # prior of the log of what one round gained on all else of a step
ALIKE = 1.0  # log spread of what steps cost between chips
LAUNCH_S = 1e-3  # prior of launching the kernels of a step
PASS_S = 20e-12  # prior of a pass over one weight: optimizer state in memory, its gradient over links
DOUBLING_S = 1e-4  # prior of a doubling of the chips: ten collectives, ten microseconds each
PRIOR_ERROR = 0.7  # log error of what is fixed and of the network, a factor of two
DOUBLING_ERROR = 1.0
PRIOR_EVALUATION_S = 0.03  # prior of an evaluation's fixed part
PRIOR_EVALUATION_ERROR = 1.5
EVALUATED_ERROR = 3.0  # log error of the samples that an evaluation is worth
EVALUATION_NOISE = 0.5  # log error of a logged evaluation
COSTS = ("fixed", "network", "doubling")
PARTS = ("rate", *COSTS)
SHARED_TERMS = ("evaluation", "evaluated")
OVERHEADS = "overheads of "  # before the name of a round: the factor on everything but work


@dataclass(frozen=True, slots=True)
class Priors:
    """What a fit is told beforehand: weights of the model, chips of one machine by chip."""

    weights: float
    machines: Mapping[str, int]

    @property
    def costs_s(self) -> tuple[float, ...]:
        """Prior seconds of COSTS."""
        each_s = PASS_S * self.weights
        return LAUNCH_S + each_s, DOUBLING_S + each_s, DOUBLING_S


@dataclass(frozen=True, slots=True)
class Arrays:
    """The rows of one workload as arrays."""

    columns: Mapping[str, NDArray[np.int64]]
    work_rounds: NDArray[np.float64]
    cost_rounds: NDArray[np.float64]
    alike: tuple[NDArray[np.int64], NDArray[np.int64]]
    rounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    shared: NDArray[np.int64]
    priors: NDArray[np.float64]
    chips: NDArray[np.float64]
    crossed: NDArray[np.float64]
    batch: NDArray[np.float64]
    samples: NDArray[np.float64]
    evaluations: NDArray[np.float64]
    each_s: NDArray[np.float64]
    startup_s: NDArray[np.float64]
    measured_s: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        rows: Sequence[ComparatorResult],
        names: Sequence[tuple[str, str]],
        start_s: Mapping[str, float],
        priors: Priors,
    ) -> Arrays:
        """The arrays of these rows, for parameters of these names."""
        at = {name: index for index, name in enumerate(names)}
        chips = [name[0] for name in names if name[1] == "rate"]
        order = {row.round for row in rows}
        evaluation_columns = np.array([[row.evaluations or 0.0, row.evaluation_s or 0.0] for row in rows])
        median_global_batch = float(np.median([row.global_batch for row in rows]))
        expected = (*priors.costs_s, PRIOR_EVALUATION_S, median_global_batch)
        return cls(
            columns={kind: np.array([at[row.chip, kind] for row in rows]) for kind in PARTS},
            work_rounds=_gains(rows, names, order, ""),
            cost_rounds=_gains(rows, names, order, OVERHEADS),
            alike=(
                np.array([at[chip, kind] for kind in COSTS for chip in chips]),
                np.array([at["", kind] for kind in COSTS for _ in chips]),
            ),
            rounds=(
                np.array([index for (_, kind), index in at.items() if kind in order], int),
                np.array([index for (_, kind), index in at.items() if kind.startswith(OVERHEADS)], int),
            ),
            shared=np.array([at["", kind] for kind in (*COSTS, *SHARED_TERMS)]),
            priors=np.log(expected),
            chips=np.array([row.chips for row in rows], float),
            crossed=np.array([row.chips > priors.machines[row.chip] for row in rows], float),
            batch=np.array([row.global_batch for row in rows], float),
            samples=np.array([row.samples_to_converge for row in rows], float),
            evaluations=evaluation_columns[:, 0],
            each_s=evaluation_columns[:, 1] / np.maximum(evaluation_columns[:, 0], 1.0),
            startup_s=np.array([start_s[row.chip] for row in rows]),
            measured_s=np.array([60.0 * row.measured_minutes for row in rows]),
        )

    def first(self) -> NDArray[np.float64]:
        """Where a search begins: the best rate of each chip, the priors."""
        x = np.zeros(self.work_rounds.shape[1])
        x[self.shared] = self.priors
        x[self.alike[0]] = x[self.alike[1]]
        for column in set(self.columns["rate"].tolist()):
            mine = self.columns["rate"] == column
            x[column] = math.log(np.max(self.samples[mine] / self.measured_s[mine] / self.chips[mine]))
        return x

    def residuals(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log errors of times and logged evaluations, and pulls on priors, each over what is allowed."""
        work_s, costs_s, evaluation_s, evaluated_s = self._parts(x)
        each_s = evaluation_s + evaluated_s
        total_s = self.startup_s + work_s + np.sum([*costs_s.values()], axis=0) + self.evaluations * each_s
        is_logged = self.each_s > 0
        work, costs = self.rounds
        return np.concatenate(
            (
                np.log(total_s / self.measured_s) / NOISE,
                np.log(each_s[is_logged] / self.each_s[is_logged]) / EVALUATION_NOISE,
                (x[self.alike[0]] - x[self.alike[1]]) / ALIKE,
                x[work] / MATURITY,
                (x[costs] - GAIN) / GAIN_ERROR,
                (x[self.shared] - self.priors) / ERRORS,
            )
        )

    def _parts(
        self, x: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], float, NDArray[np.float64]]:
        """Time that follows the work, what steps cost beside by kind, both parts of an evaluation [s] (Eq. 52)."""
        steps = self.samples / self.batch
        costs = np.exp(self.cost_rounds @ x) * steps
        often = {"fixed": np.ones(len(self.chips)), "network": self.crossed, "doubling": np.log2(self.chips)}
        each_s = 1 / (np.exp(x[self.columns["rate"]]) * self.chips)
        # where no log times an evaluation, its share that follows the samples is part of the step
        evaluation, evaluation_samples = (float(size) for size in np.exp(x[self.shared[-2:]]))
        return (
            np.exp(self.work_rounds @ x) * self.samples * each_s,
            {kind: costs * np.exp(x[self.columns[kind]]) * often[kind] for kind in COSTS},
            evaluation,
            (evaluation_samples if (self.each_s > 0).any() else 0.0) * each_s,
        )

    def slopes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of the residuals by every parameter: all but the priors are shares of the time."""
        work_s, costs_s, evaluation_s, evaluated_s = self._parts(x)
        beside_s = np.sum([*costs_s.values()], axis=0)
        total_s = self.startup_s + work_s + beside_s + self.evaluations * (evaluation_s + evaluated_s)
        row = np.arange(len(total_s))
        of_time = self.work_rounds * (work_s / total_s)[:, None] + self.cost_rounds * (beside_s / total_s)[:, None]
        of_time[row, self.columns["rate"]] = -(work_s + self.evaluations * evaluated_s) / total_s
        for kind, seconds in costs_s.items():
            of_time[row, self.columns[kind]] = seconds / total_s
        evaluation_column, samples_column = self.shared[-2:]
        of_time[:, evaluation_column] = self.evaluations * evaluation_s / total_s
        of_time[:, samples_column] = self.evaluations * evaluated_s / total_s
        share = evaluated_s / (evaluation_s + evaluated_s)
        of_each = np.zeros_like(of_time)
        of_each[row, self.columns["rate"]] = -share
        of_each[:, evaluation_column], of_each[:, samples_column] = 1 - share, share
        unit = np.eye(len(x))
        work, costs = self.rounds
        return np.concatenate(
            (
                of_time / NOISE,
                of_each[self.each_s > 0] / EVALUATION_NOISE,
                (unit[self.alike[0]] - unit[self.alike[1]]) / ALIKE,
                unit[work] / MATURITY,
                unit[costs] / GAIN_ERROR,
                unit[self.shared] / ERRORS[:, None],
            )
        )


ERRORS = np.array([PRIOR_ERROR, PRIOR_ERROR, DOUBLING_ERROR, PRIOR_EVALUATION_ERROR, EVALUATED_ERROR])


def _gains(
    rows: Sequence[ComparatorResult], names: Sequence[tuple[str, str]], order: set[str], of: str
) -> NDArray[np.float64]:
    """Which gains of rounds separate each row from the newest: the sum of their logs is its factor."""
    later = [
        [c == row.chip and r in {of + name for name in order if name >= row.round} for c, r in names] for row in rows
    ]
    return np.array(later, float)
