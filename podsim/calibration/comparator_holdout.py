"""Scaling laws of other chips against their published results, with every chip count held out in turn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, pstdev

from podsim.calibration.comparator_arrays import Priors
from podsim.calibration.comparator_fit import LawFit, fit, time_s
from podsim.calibration.comparator_larger import FEW, error_summary, judged_larger, per_doubling
from podsim.calibration.convergence_factors import LEAST_SPREAD
from podsim.convergence.samples import reference, to_converge
from podsim.model.calibration import SamplesFactor
from podsim.model.comparator import (
    CHIP_OF_BARS,
    ComparatorChip,
    ComparatorPoint,
    ComparatorReport,
    ComparatorResult,
    ComparatorSummary,
    ExcludedResult,
    Laws,
    ScalingLaw,
    WorkloadLaws,
)
from podsim.model.training import Division
from podsim.model.workload import Workload
from podsim.predicting.comparator_law import evaluations, fit_variance

LEAST_HELD_OUT = 3  # chip counts from which the error of a law is its own
Progress = Callable[[int, int], None]
Factors = Mapping[str, Mapping[str, SamplesFactor]]


def calibrate(
    rows: Sequence[ComparatorResult],
    left_out: Sequence[ExcludedResult],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, ComparatorChip],
    on_progress: Progress | None = None,
) -> tuple[Laws, ComparatorReport]:
    """The laws of every workload, and how well they predict what they have not seen.

    `workloads` are those that podsim knows by name; samples are predicted for them alone.
    """
    machines = {name: min(machine.multiple for machine in chip.machines) for name, chip in chips.items()}
    laws, points = fit_laws(rows, workloads, machines, on_progress)
    summaries = tuple(_summaries(points))
    judged_errors = error_summary([point.held_out_error for point in points if point.chip == CHIP_OF_BARS])
    assert judged_errors, "the judged chip has several sizes"
    small, _ = fit_laws([row for row in rows if row.chips <= FEW], workloads, machines)
    larger = judged_larger(rows, small, workloads, chips)
    report = ComparatorReport(
        points=tuple(points), left_out=tuple(left_out), summaries=summaries, judged=judged_errors, larger=larger
    )
    return laws, report


def fit_laws(
    rows: Sequence[ComparatorResult],
    workloads: Mapping[str, Workload],
    machines: Mapping[str, int],
    on_progress: Progress | None = None,
) -> tuple[Laws, list[ComparatorPoint]]:
    """The laws of every workload, and every result beside the law with and without its chip count."""
    counts = {(row.workload, row.chip, row.chips) for row in rows}
    group_count = 0
    laws, points = {}, []
    for name in sorted({row.workload for row in rows}):
        mine = [row for row in rows if row.workload == name]
        workload = workloads.get(name)
        bench = _Bench(mine, workload, Priors(weights=workload.parameters if workload else 0.0, machines=machines))
        result = []
        for group in _by_group(mine, lambda row: (row.chip, row.chips)).values():
            result += bench.points(group)
            group_count += 1
            if on_progress:
                on_progress(group_count, len(counts))
        laws[name] = WorkloadLaws(
            chip=dict(_laws(bench, result)), per_doubling=per_doubling(mine, bench.priors), samples=bench.factors
        )
        points += result
    return Laws(workload=laws, results=len(rows)), points


def _by_group(
    rows: Iterable[ComparatorResult], key: Callable[[ComparatorResult], tuple[str, int]]
) -> dict[tuple[str, int], list[ComparatorResult]]:
    results = defaultdict(list)
    for row in rows:
        results[key(row)].append(row)
    return dict(sorted(results.items()))


class _Bench:
    """One workload's results, fitted whole, and again without each chip count."""

    def __init__(self, rows: Sequence[ComparatorResult], workload: Workload | None, priors: Priors) -> None:
        self.rows = rows
        self.workload = workload
        self.priors = priors
        self.variances: dict[str, float] = {}  # of what was held out, by result: what the fit explains
        self.whole = fit(rows, priors)
        self.factors = factors(rows, workload) if workload else {}

    def law(self, chip: str) -> ScalingLaw:
        """The law of a chip, fitted to everything."""
        return self.whole.law(chip, [row for row in self.rows if row.chip == chip])

    def points(self, group: Sequence[ComparatorResult]) -> list[ComparatorPoint]:
        """Every result of one chip count beside the law with and without them."""
        rest = [row for row in self.rows if row not in group]
        chip = group[0].chip
        mine = [row for row in rest if row.chip == chip]
        without = fit(rest, self.priors, self.whole) if mine else None
        samples_factors = factors(rest, self.workload) if self.workload else {}
        return [self._point(row, without, mine, samples_factors) for row in group]

    def _point(
        self, row: ComparatorResult, without: LawFit | None, mine: Sequence[ComparatorResult], samples_factors: Factors
    ) -> ComparatorPoint:
        measured_s = 60.0 * row.measured_minutes
        samples, count = row.samples_to_converge or 0.0, row.evaluations or 0.0
        own_s = time_s(self.whole, self.law(row.chip), row, samples, count)
        footprint = predicted = None
        if without:
            law = without.law(row.chip, mine)
            footprint = time_s(without, law, row, samples, count) / measured_s - 1
            self.variances[row.id] = fit_variance(law, row.chips, row.global_batch)
            if self.workload and row.optimizer in samples_factors:
                need = to_converge(self.workload.curve, row.global_batch, samples_factors, row.optimizer, row.division)
                many = evaluations(self.workload.benchmark, need.mean, row.global_batch)
                predicted = time_s(without, law, row, need.mean, many) / measured_s - 1
        return ComparatorPoint(
            id=row.id,
            chip=row.chip,
            workload=row.workload,
            chips=row.chips,
            measured_s=measured_s,
            predicted_s=own_s,
            error=own_s / measured_s - 1,
            held_out_error=footprint,
            predicted_samples_error=predicted,
        )


def factors(rows: Iterable[ComparatorResult], workload: Workload) -> dict[str, dict[str, SamplesFactor]]:
    """Samples of results over the reference's at their batch, by optimizer and division: mean and spread (Eq. 25)."""
    ratios: dict[str, dict[Division, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        samples = row.samples_to_converge or 0.0
        base = reference(workload.curve, row.global_batch).mean
        ratios[row.optimizer][row.division].append(math.log(samples / base))
    return {
        optimizer: {
            division.value: SamplesFactor(
                factor=math.exp(fmean(logs)), spread=max(pstdev(logs), LEAST_SPREAD), points=len(logs)
            )
            for division, logs in sorted(by.items())
        }
        for optimizer, by in sorted(ratios.items())
    }


def _laws(bench: _Bench, points: Sequence[ComparatorPoint]) -> Iterable[tuple[str, ScalingLaw]]:
    """The law of every chip with its held-out error; that of all chips where it has too few sizes."""
    everyone, beyond = _rms(points), _unexplained_error(bench, points)
    for chip in sorted({row.chip for row in bench.rows}):
        mine = [point for point in points if point.chip == chip and point.held_out_error is not None]
        sizes = len({point.chips for point in mine})
        own = sizes >= LEAST_HELD_OUT
        error, model = (_rms(mine), _unexplained_error(bench, mine)) if own else (everyone, beyond)
        yield chip, replace(bench.law(chip), error=error, model_error=model, held_out=sizes if own else 0)


def _unexplained_error(bench: _Bench, points: Iterable[ComparatorPoint]) -> float:
    """The part of held-out errors that the covariance of the fit does not explain, as the root of a mean square."""
    squares = [
        math.log1p(point.held_out_error) ** 2 - bench.variances[point.id]
        for point in points
        if point.held_out_error is not None
    ]
    return math.sqrt(max(0.0, fmean(squares)))


def _rms(points: Iterable[ComparatorPoint]) -> float:
    squares = [math.log1p(point.held_out_error) ** 2 for point in points if point.held_out_error is not None]
    return math.sqrt(fmean(squares))


def _summaries(points: Sequence[ComparatorPoint]) -> Iterable[ComparatorSummary]:
    for chip, workload in sorted({(point.chip, point.workload) for point in points}):
        mine = [point for point in points if (point.chip, point.workload) == (chip, workload)]
        in_sample = error_summary([point.error for point in mine])
        assert in_sample
        yield ComparatorSummary(
            chip=chip,
            workload=workload,
            in_sample=in_sample,
            held_out=error_summary([point.held_out_error for point in mine]),
            predicted_samples=error_summary([point.predicted_samples_error for point in mine]),
        )
