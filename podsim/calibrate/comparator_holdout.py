"""Scaling laws of other chips against their published results, with every chip count held out in turn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, pstdev

from podsim.calibrate.comparators import Fit, fit
from podsim.calibrate.learn import LEAST_SPREAD
from podsim.convergence.samples import reference, to_converge
from podsim.model.calibration import SamplesFactor
from podsim.model.comparator import (
    JUDGED,
    ComparatorPoint,
    ComparatorReport,
    ComparatorResult,
    ComparatorSummary,
    Laws,
    LeftOut,
    ScalingLaw,
    WorkloadLaws,
)
from podsim.model.training import Division
from podsim.model.validation import ErrorSummary
from podsim.model.workload import Workload
from podsim.predicting.comparators import evaluation_s, evaluations, step_s

LEAST_HELD_OUT = 3  # chip counts from which the error of a law is its own
Progress = Callable[[int, int], None]
Factors = Mapping[str, Mapping[str, SamplesFactor]]


def calibrate(
    rows: Sequence[ComparatorResult],
    left_out: Sequence[LeftOut],
    workloads: Mapping[str, Workload],
    on_progress: Progress | None = None,
) -> tuple[Laws, ComparatorReport]:
    """The laws of every workload, and how well they predict what they have not seen.

    `workloads` are those that podsim knows by name; samples are predicted for them alone.
    """
    counts = {(row.workload, row.chip, row.chips) for row in rows}
    done = 0
    laws, points = {}, []
    for name in sorted({row.workload for row in rows}):
        mine = [row for row in rows if row.workload == name]
        bench = _Bench(mine, workloads.get(name))
        found = []
        for group in _grouped(mine, lambda row: (row.chip, row.chips)).values():
            found += bench.points(group)
            done += 1
            if on_progress:
                on_progress(done, len(counts))
        laws[name] = WorkloadLaws(chip=dict(_laws(bench, found)), samples=bench.factors)
        points += found
    summaries = tuple(_summaries(points))
    judged = _errors([point.held_out_error for point in points if point.chip == JUDGED])
    assert judged, "the judged chip has several sizes"
    report = ComparatorReport(points=tuple(points), left_out=tuple(left_out), summaries=summaries, judged=judged)
    return Laws(workload=laws, results=len(rows)), report


def _grouped(
    rows: Iterable[ComparatorResult], key: Callable[[ComparatorResult], tuple[str, int]]
) -> dict[tuple[str, int], list[ComparatorResult]]:
    found = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(sorted(found.items()))


class _Bench:
    """One workload's results, fitted whole, and again without each chip count."""

    def __init__(self, rows: Sequence[ComparatorResult], workload: Workload | None) -> None:
        self.rows = rows
        self.workload = workload
        self.whole = fit(rows)
        self.factors = factors(rows, workload) if workload else {}

    def law(self, chip: str) -> ScalingLaw:
        """The law of a chip, fitted to everything."""
        return self.whole.law(chip, [row for row in self.rows if row.chip == chip])

    def points(self, group: Sequence[ComparatorResult]) -> list[ComparatorPoint]:
        """Every result of one chip count beside the law with and without them."""
        rest = [row for row in self.rows if row not in group]
        chip = group[0].chip
        mine = [row for row in rest if row.chip == chip]
        without = fit(rest, self.whole) if mine else None
        learned = factors(rest, self.workload) if self.workload else {}
        return [self._point(row, without, mine, learned) for row in group]

    def _point(
        self, row: ComparatorResult, without: Fit | None, mine: Sequence[ComparatorResult], learned: Factors
    ) -> ComparatorPoint:
        measured_s = 60.0 * row.measured_minutes
        samples, count = row.samples_to_converge or 0.0, row.evaluations or 0.0
        own_s = time_s(self.whole, self.law(row.chip), row, samples, count)
        held = predicted = None
        if without:
            law = without.law(row.chip, mine)
            held = time_s(without, law, row, samples, count) / measured_s - 1
            if self.workload and row.optimizer in learned:
                need = to_converge(self.workload.curve, row.global_batch, learned, row.optimizer, row.division)
                many = evaluations(self.workload.benchmark, need.mean, row.global_batch)
                predicted = time_s(without, law, row, need.mean, many) / measured_s - 1
        return ComparatorPoint(
            id=row.id, chip=row.chip, workload=row.workload, chips=row.chips, measured_s=measured_s,
            predicted_s=own_s, error=own_s / measured_s - 1, held_out_error=held, predicted_samples_error=predicted,
        )  # fmt: skip


def time_s(found: Fit, law: ScalingLaw, row: ComparatorResult, samples: float, count: float) -> float:
    """Time to train of so many samples with so many evaluations on the machine of a result, in its round [s]."""
    each_s = math.exp(found.maturity(row.chip, row.round)) * step_s(law, row.chips, row.global_batch)
    return law.startup_s + count * evaluation_s(law, row.chips) + samples / row.global_batch * each_s


def factors(rows: Iterable[ComparatorResult], workload: Workload) -> dict[str, dict[str, SamplesFactor]]:
    """Samples of results over the reference's at their batch, by optimizer and division: mean and spread (Eq. 25)."""
    ratios: dict[str, dict[Division, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        needed = row.samples_to_converge or 0.0
        base = reference(workload.curve, row.global_batch).mean
        ratios[row.optimizer][row.division].append(math.log(needed / base))
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
    everyone = _rms(points)
    for chip in sorted({row.chip for row in bench.rows}):
        mine = [point for point in points if point.chip == chip and point.held_out_error is not None]
        sizes = len({point.chips for point in mine})
        own = sizes >= LEAST_HELD_OUT
        yield chip, replace(bench.law(chip), error=_rms(mine) if own else everyone, held_out=sizes if own else 0)


def _rms(points: Iterable[ComparatorPoint]) -> float:
    squares = [math.log1p(point.held_out_error) ** 2 for point in points if point.held_out_error is not None]
    return math.sqrt(fmean(squares))


def _summaries(points: Sequence[ComparatorPoint]) -> Iterable[ComparatorSummary]:
    for chip, workload in sorted({(point.chip, point.workload) for point in points}):
        mine = [point for point in points if (point.chip, point.workload) == (chip, workload)]
        in_sample = _errors([point.error for point in mine])
        assert in_sample
        yield ComparatorSummary(
            chip=chip,
            workload=workload,
            in_sample=in_sample,
            held_out=_errors([point.held_out_error for point in mine]),
            predicted_samples=_errors([point.predicted_samples_error for point in mine]),
        )


def _errors(found: Iterable[float | None]) -> ErrorSummary | None:
    errors = [error for error in found if error is not None]
    if not errors:
        return None
    return ErrorSummary(
        count=len(errors), mean_abs=fmean(map(abs, errors)), mean_signed=fmean(errors), worst=max(errors, key=abs)
    )
