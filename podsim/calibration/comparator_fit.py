"""Scaling laws of other chips, fitted together for each workload, with one chip count held out at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from podsim.calibration.comparator_arrays import COSTS, OVERHEADS, PARTS, SHARED_TERMS, Arrays, Priors
from podsim.model.comparator import ComparatorResult, ExcludedResult, ScalingLaw
from podsim.model.sums import sum_in_order
from podsim.model.training import Division
from podsim.predicting.comparator_law import breakdown_s, evaluation_s

OTHER_MODEL = 10.0  # so many times the usual samples are another model
TOLERANCE = 1e-11
POLISH = 60  # most Newton steps after a search, which ends where squares are flat and parameters still differ by 1e-7
CLOSE = 1e-12
DECIMALS = 8  # of a fitted log: below them the libraries of linear algebra differ


def sort_out(
    rows: Iterable[ComparatorResult], chips: Iterable[str]
) -> tuple[tuple[ComparatorResult, ...], tuple[ExcludedResult, ...]]:
    """Results that a law can be fitted to, and the others with the reason."""
    rows, chip_names = tuple(rows), set(chips)
    usable_rows: list[ComparatorResult] = []
    excluded_results: list[ExcludedResult] = []
    for row in rows:
        reason = _why_not(row, rows, usable_rows, chip_names)
        if reason:
            excluded_results.append(ExcludedResult(id=row.id, reason=reason))
        else:
            usable_rows.append(row)
    return tuple(usable_rows), tuple(excluded_results)


def _why_not(
    row: ComparatorResult,
    rows: Sequence[ComparatorResult],
    usable_rows: Sequence[ComparatorResult],
    chip_names: set[str],
) -> str:
    """Why a result informs no law; "" where it does."""
    if row.chip not in chip_names:
        return f'"{row.accelerator}" does not say which kind of the chip it is'
    if row.samples_to_converge is None:
        return "its logs do not say how many samples it took"
    alike = [other for other in rows if other.workload == row.workload and other.samples_to_converge]
    usual = median(other.samples_to_converge or 0.0 for other in alike)
    if row.samples_to_converge > OTHER_MODEL * usual:
        return f"another model: {row.samples_to_converge / usual:.0f} times the samples that others needed"
    closed_optimizers = {other.optimizer for other in alike if other.division is Division.CLOSED}
    if row.optimizer not in closed_optimizers:
        return f"{row.division} division with an optimizer that no closed run has: {row.optimizer}"
    for other in usable_rows:
        same = (other.chip, other.workload, other.chips, other.measured_minutes, other.samples_to_converge)
        if same == (row.chip, row.workload, row.chips, row.measured_minutes, row.samples_to_converge):
            return f"the runs of {other.round}, submitted again"
    return ""


@dataclass(frozen=True, slots=True)
class LawFit:
    """Logs of the parameters of one workload by chip and kind, their covariance, and what the fit was told."""

    values: Mapping[tuple[str, str], float]
    covariance: Mapping[tuple[str, str], Mapping[tuple[str, str], float]]
    priors: Priors
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
            network_s=_exp(self.values[chip, "network"]),
            doubling_s=_exp(self.values[chip, "doubling"]),
            machine=self.priors.machines[chip],
            covariance={a: {b: _digits(self.covariance[chip, a][chip, b]) for b in PARTS} for a in PARTS},
            startup_s=self.startup_s[chip],
            evaluation_s=_exp(self.values["", "evaluation"]),
            evaluation_samples=_exp(self.values["", "evaluated"]) if self.evaluated else 0.0,
            newest=rounds[-1],
            optimizer=max(rows, key=lambda row: row.round).optimizer,
            rounds={name: _exp(self.maturity(chip, name)) for name in rounds},
            overheads={name: _exp(self.maturity(chip, name, OVERHEADS)) for name in rounds},
            batches=usual_global_batches(rows),
            smallest=min(row.chips for row in rows),
            largest=max(row.chips for row in rows),
            least_each=min(each),
            most_each=max(each),
            results=len(rows),
            error=0.0,
            model_error=0.0,
            held_out=0,
        )

    def maturity(self, chip: str, name: str, of: str = "") -> float:
        """Log of work in that round over work in the newest, or `of` OVERHEADS; unfitted rounds are their next ones."""
        return sum_in_order(self.values.get((chip, of + later), 0.0) for later in self.order if later >= name)


def _exp(log: float) -> float:
    return _digits(math.exp(log))


def _digits(number: float) -> float:
    """A number to six digits: more are those of one processor."""
    return float(f"{number:.6g}")


def usual_global_batches(rows: Iterable[ComparatorResult]) -> dict[str, int]:
    """Global batches by number of chips that grow with it: of results that disagree the newest and fastest counts."""
    global_batches: dict[int, int] = {}
    newest_first = sorted(sorted(rows, key=lambda row: row.measured_minutes), key=lambda row: row.round, reverse=True)
    for row in newest_first:
        fewer = [batch for chips, batch in global_batches.items() if chips < row.chips]
        more = [batch for chips, batch in global_batches.items() if chips > row.chips]
        if row.chips not in global_batches and max(fewer, default=0) <= row.global_batch <= min(
            more, default=row.global_batch
        ):
            global_batches[row.chips] = row.global_batch
    return {str(chips): global_batches[chips] for chips in sorted(global_batches)}


def fit(rows: Sequence[ComparatorResult], priors: Priors, near: LawFit | None = None) -> LawFit:
    """Least squares on log time to train over all chips of one workload, with priors (Eq. 55).

    The search begins at `near`, the fit of almost the same rows, where there is one.
    """
    from scipy.optimize import least_squares

    order = tuple(sorted({row.round for row in rows}))
    names = _names(rows)
    start_s = {chip: _startup_s(row for row in rows if row.chip == chip) for chip in {row.chip for row in rows}}
    arrays = Arrays.of(rows, names, start_s, priors)
    begin = arrays.first()
    if near:
        begin = np.array([near.values.get(name, value) for name, value in zip(names, begin, strict=True)])
    result = least_squares(
        arrays.residuals, begin, jac=arrays.slopes, method="lm", ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE
    )
    best = result.x
    for _ in range(POLISH):
        step = np.linalg.lstsq(arrays.slopes(best), arrays.residuals(best), rcond=None)[0]
        best = best - step / 2  # whole ones overshoot where a residual is large
        if np.abs(step).max() < CLOSE:
            break
    slopes = arrays.slopes(best)
    covariance = np.linalg.inv(slopes.T @ slopes).tolist()
    return LawFit(
        values={name: round(float(log), DECIMALS) for name, log in zip(names, best, strict=True)},
        covariance={a: dict(zip(names, row, strict=True)) for a, row in zip(names, covariance, strict=True)},
        priors=priors,
        startup_s=start_s,
        evaluated=any(row.evaluation_s for row in rows),
        order=order,
    )


def _startup_s(rows: Iterable[ComparatorResult]) -> float:
    startup_times_s = [row.startup_s for row in rows if row.startup_s is not None]
    return median(startup_times_s) if startup_times_s else 0.0


def _names(rows: Sequence[ComparatorResult]) -> list[tuple[str, str]]:
    """Chip and kind of every free parameter; those without a chip are shared."""
    names = []
    for chip in sorted({row.chip for row in rows}):
        rounds = sorted({row.round for row in rows if row.chip == chip})[:-1]
        names += [(chip, kind) for kind in PARTS]
        names += [(chip, of + name) for of in ("", OVERHEADS) for name in rounds]
    return [*names, *(("", kind) for kind in (*COSTS, *SHARED_TERMS))]


def time_s(fit: LawFit, law: ScalingLaw, row: ComparatorResult, samples: float, count: float) -> float:
    """Time to train of so many samples with so many evaluations on the machine of a result, in its round [s]."""
    parts = breakdown_s(law, row.chips, row.global_batch)
    work_s = math.exp(fit.maturity(row.chip, row.round)) * parts.pop("work")
    each_s = work_s + math.exp(fit.maturity(row.chip, row.round, OVERHEADS)) * sum_in_order(parts.values())
    return law.startup_s + count * evaluation_s(law, row.chips) + samples / row.global_batch * each_s
