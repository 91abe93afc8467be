"""Scaling laws of other chips, fitted together for each workload, with one chip count held out at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from podsim.model.comparator import ComparatorResult, LeftOut, ScalingLaw
from podsim.model.sums import sum_in_order
from podsim.model.training import Division

NOISE = 0.05  # log error of a time to train that a law of three numbers is allowed
MATURITY = 0.15  # prior of the log of what one round gained
ALIKE = 1.0  # log spread of what steps cost between chips
PRIOR_S = 1e-3  # prior of what a step costs beside its work, to a factor of 20
PRIOR_ERROR = 3.0
PRIOR_EVALUATION_S = 0.03  # prior of an evaluation's fixed part
PRIOR_EVALUATION_ERROR = 1.5
EVALUATION_NOISE = 0.5  # log error of a logged evaluation
OTHER_MODEL = 10.0  # so many times the usual samples are another model
TOLERANCE = 1e-12  # so that where a search begins does not show in what it finds
DECIMALS = 8  # of a fitted log: below them the libraries of linear algebra differ
STARTS = (0.1, 1.0, 10.0)  # what a doubling costs at first, over its prior: there is more than one valley
KINDS = ("rate", "fixed", "doubling")


def sort_out(
    rows: Iterable[ComparatorResult], chips: Iterable[str]
) -> tuple[tuple[ComparatorResult, ...], tuple[LeftOut, ...]]:
    """Results that a law can be fitted to, and the others with the reason."""
    rows, known = tuple(rows), set(chips)
    kept: list[ComparatorResult] = []
    left: list[LeftOut] = []
    for row in rows:
        reason = _why_not(row, rows, kept, known)
        if reason:
            left.append(LeftOut(id=row.id, reason=reason))
        else:
            kept.append(row)
    return tuple(kept), tuple(left)


def _why_not(
    row: ComparatorResult, rows: Sequence[ComparatorResult], kept: Sequence[ComparatorResult], known: set[str]
) -> str:
    """Why a result informs no law; "" where it does."""
    if row.chip not in known:
        return f'"{row.accelerator}" does not say which kind of the chip it is'
    if row.samples_to_converge is None:
        return "its logs do not say how many samples it took"
    alike = [other for other in rows if other.workload == row.workload and other.samples_to_converge]
    usual = median(other.samples_to_converge or 0.0 for other in alike)
    if row.samples_to_converge > OTHER_MODEL * usual:
        return f"another model: {row.samples_to_converge / usual:.0f} times the samples that others needed"
    closed = {other.optimizer for other in alike if other.division is Division.CLOSED}
    if row.optimizer not in closed:
        return f"{row.division} division with an optimizer that no closed run has: {row.optimizer}"
    for other in kept:
        same = (other.chip, other.workload, other.chips, other.measured_minutes, other.samples_to_converge)
        if same == (row.chip, row.workload, row.chips, row.measured_minutes, row.samples_to_converge):
            return f"the runs of {other.round}, submitted again"
    return ""


@dataclass(frozen=True, slots=True)
class Fit:
    """Logs of the parameters of one workload by chip and kind, and what a step of each round took over the newest."""

    values: Mapping[tuple[str, str], float]
    startup_s: Mapping[str, float]
    evaluated: bool
    order: tuple[str, ...]

    def law(self, chip: str, rows: Sequence[ComparatorResult]) -> ScalingLaw:
        """The law of one chip, its error not known yet; `rows` are its results."""
        rounds = sorted({row.round for row in rows})
        each = [row.global_batch / row.chips for row in rows]
        return ScalingLaw(
            samples_per_s=_exp(self.values[chip, "rate"]),
            fixed_s=_exp(self.values[chip, "fixed"]),
            doubling_s=_exp(self.values[chip, "doubling"]),
            startup_s=self.startup_s[chip],
            evaluation_s=_exp(self.values["", "evaluation"]),
            evaluation_samples=_exp(self.values["", "evaluated"]) if self.evaluated else 0.0,
            newest=rounds[-1],
            optimizer=max(rows, key=lambda row: row.round).optimizer,
            rounds={name: _exp(self.maturity(chip, name)) for name in rounds},
            batches=usual_global_batches(rows),
            smallest=min(row.chips for row in rows),
            largest=max(row.chips for row in rows),
            least_each=min(each),
            most_each=max(each),
            results=len(rows),
            error=0.0,
            held_out=0,
        )

    def maturity(self, chip: str, name: str) -> float:
        """Log of a step in that round over one in the newest; a round that was not fitted is its nearest later one."""
        return sum_in_order(self.values.get((chip, later), 0.0) for later in self.order if later >= name)


def _exp(log: float) -> float:
    """The number of a log, to six digits: more are those of one processor."""
    return float(f"{math.exp(log):.6g}")


def usual_global_batches(rows: Iterable[ComparatorResult]) -> dict[str, int]:
    """Global batches by number of chips that grow with it: of results that disagree the newest and fastest counts."""
    taken: dict[int, int] = {}
    newest_first = sorted(sorted(rows, key=lambda row: row.measured_minutes), key=lambda row: row.round, reverse=True)
    for row in newest_first:
        fewer = [batch for chips, batch in taken.items() if chips < row.chips]
        more = [batch for chips, batch in taken.items() if chips > row.chips]
        if row.chips not in taken and max(fewer, default=0) <= row.global_batch <= min(more, default=row.global_batch):
            taken[row.chips] = row.global_batch
    return {str(chips): taken[chips] for chips in sorted(taken)}


def fit(rows: Sequence[ComparatorResult], near: Fit | None = None) -> Fit:
    """Least squares on log time to train over all chips of one workload, with priors (Eq. 55).

    The search begins at `near`, the fit of almost the same rows, where there is one.
    """
    from scipy.optimize import least_squares

    order = tuple(sorted({row.round for row in rows}))
    names = _names(rows)
    start_s = {chip: _startup_s(row for row in rows if row.chip == chip) for chip in {row.chip for row in rows}}
    arrays = Arrays.of(rows, names, start_s, order)
    starts = [arrays.first(rows, math.log(scale)) for scale in STARTS]
    if near:
        known = zip(names, starts[0], strict=True)
        starts = [np.array([near.values.get(name, value) for name, value in known])]
    fits = [
        least_squares(arrays.residuals, start, jac=arrays.slopes, ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE)
        for start in starts
    ]
    found = min(fits, key=lambda one: float(one.cost))
    values = {name: round(float(log), DECIMALS) for name, log in zip(names, found.x, strict=True)}
    evaluated = any(row.evaluation_s for row in rows)
    return Fit(values=values, startup_s=start_s, evaluated=evaluated, order=order)


def _startup_s(rows: Iterable[ComparatorResult]) -> float:
    stated = [row.startup_s for row in rows if row.startup_s is not None]
    return median(stated) if stated else 0.0


def _names(rows: Sequence[ComparatorResult]) -> list[tuple[str, str]]:
    """Chip and kind of every free parameter; those without a chip are shared."""
    names = []
    for chip in sorted({row.chip for row in rows}):
        names += [(chip, kind) for kind in KINDS]
        names += [(chip, name) for name in sorted({row.round for row in rows if row.chip == chip})[:-1]]
    return [*names, ("", "fixed"), ("", "doubling"), ("", "evaluation"), ("", "evaluated")]


@dataclass(frozen=True, slots=True)
class Arrays:
    """The rows of one workload as arrays, so that residuals cost microseconds."""

    columns: Mapping[str, NDArray[np.int64]]
    maturity: NDArray[np.float64]
    priors: tuple[NDArray[np.int64], NDArray[np.int64]]
    steps: NDArray[np.int64]
    shared: tuple[int, int, int, int]
    chips: NDArray[np.float64]
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
        order: Sequence[str],
    ) -> Arrays:
        """The arrays of these rows, for parameters of these names."""
        at = {name: index for index, name in enumerate(names)}
        chips = [name[0] for name in names if name[1] == "rate"]
        pooled = ("fixed", "doubling")
        counted = np.array([[row.evaluations or 0.0, row.evaluation_s or 0.0] for row in rows])
        return cls(
            columns={kind: np.array([at[row.chip, kind] for row in rows]) for kind in KINDS},
            maturity=np.array(
                [[c == row.chip and r in order and r >= row.round for c, r in names] for row in rows], float
            ),
            priors=(
                np.array([at[chip, kind] for kind in pooled for chip in chips]),
                np.array([at["", kind] for kind in pooled for _ in chips]),
            ),
            steps=np.array([index for (_, kind), index in at.items() if kind in order], int),
            shared=(at["", "fixed"], at["", "doubling"], at["", "evaluation"], at["", "evaluated"]),
            chips=np.array([row.chips for row in rows], float),
            batch=np.array([row.global_batch for row in rows], float),
            samples=np.array([row.samples_to_converge for row in rows], float),
            evaluations=counted[:, 0],
            each_s=counted[:, 1] / np.maximum(counted[:, 0], 1.0),
            startup_s=np.array([start_s[row.chip] for row in rows]),
            measured_s=np.array([60.0 * row.measured_minutes for row in rows]),
        )

    def first(self, rows: Sequence[ComparatorResult], above: float = 0.0) -> NDArray[np.float64]:
        """Where a search begins: the best rate of each chip, the priors, doublings so far (log) above theirs."""
        x = np.zeros(self.maturity.shape[1])
        x[self.priors[0]] = x[self.priors[1]] = math.log(PRIOR_S)
        half = len(self.priors[0]) // 2  # fixed parts come first
        x[self.priors[0][half:]] += above
        x[self.shared[2]] = math.log(PRIOR_EVALUATION_S)
        x[self.shared[3]] = math.log(median(row.global_batch for row in rows))
        for column in set(self.columns["rate"].tolist()):
            mine = self.columns["rate"] == column
            x[column] = math.log(np.max(self.samples[mine] / self.measured_s[mine] / self.chips[mine]))
        return x

    def residuals(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log errors of times and logged evaluations, and pulls on priors, each over what is allowed."""
        work_s, fixed_s, growing_s, evaluation_s, evaluated_s = self._parts(x)
        each_s = evaluation_s + evaluated_s
        total_s = self.startup_s + work_s + fixed_s + growing_s + self.evaluations * each_s
        logged = self.each_s > 0
        evaluation, evaluated = x[self.shared[2]], x[self.shared[3]]
        return np.concatenate((
            np.log(total_s / self.measured_s) / NOISE,
            np.log(each_s[logged] / self.each_s[logged]) / EVALUATION_NOISE,
            (x[self.priors[0]] - x[self.priors[1]]) / ALIKE,
            x[self.steps] / MATURITY,
            (x[list(self.shared[:2])] - math.log(PRIOR_S)) / PRIOR_ERROR,
            np.array([
                (evaluation - math.log(PRIOR_EVALUATION_S)) / PRIOR_EVALUATION_ERROR,
                (evaluated - math.log(float(np.median(self.batch)))) / PRIOR_ERROR,
            ]),
        ))  # fmt: skip

    def _parts(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Time that follows the work, what steps cost beside, what grows, both parts of an evaluation [s] (Eq. 52)."""
        rate, fixed, doubling = (np.exp(x[self.columns[kind]]) for kind in KINDS)
        steps = np.exp(self.maturity @ x) * self.samples / self.batch
        # where no log times an evaluation, its share that follows the samples is part of the step
        evaluated = math.exp(x[self.shared[3]]) if (self.each_s > 0).any() else 0.0
        parts = steps * self.batch / (rate * self.chips), steps * fixed, steps * doubling * np.log2(self.chips)
        return (*parts, np.full(len(self.chips), math.exp(x[self.shared[2]])), evaluated / (rate * self.chips))

    def slopes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Derivatives of the residuals by every parameter: all but the priors are shares of the time."""
        work_s, fixed_s, growing_s, evaluation_s, evaluated_s = self._parts(x)
        training_s = work_s + fixed_s + growing_s
        total_s = self.startup_s + training_s + self.evaluations * (evaluation_s + evaluated_s)
        row = np.arange(len(total_s))
        of_time = self.maturity * (training_s / total_s)[:, None]
        of_time[row, self.columns["rate"]] = -(work_s + self.evaluations * evaluated_s) / total_s
        of_time[row, self.columns["fixed"]] = fixed_s / total_s
        of_time[row, self.columns["doubling"]] = growing_s / total_s
        of_time[:, self.shared[2]] = self.evaluations * evaluation_s / total_s
        of_time[:, self.shared[3]] = self.evaluations * evaluated_s / total_s
        share = evaluated_s / (evaluation_s + evaluated_s)
        of_each = np.zeros_like(of_time)
        of_each[row, self.columns["rate"]] = -share
        of_each[:, self.shared[2]], of_each[:, self.shared[3]] = 1 - share, share
        unit = np.eye(len(x))
        return np.concatenate((
            of_time / NOISE,
            of_each[self.each_s > 0] / EVALUATION_NOISE,
            (unit[self.priors[0]] - unit[self.priors[1]]) / ALIKE,
            unit[self.steps] / MATURITY,
            unit[list(self.shared[:2])] / PRIOR_ERROR,
            unit[[self.shared[2]]] / PRIOR_EVALUATION_ERROR,
            unit[[self.shared[3]]] / PRIOR_ERROR,
        ))  # fmt: skip
