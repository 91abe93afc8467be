"""Whether a fit meets one's own runs, and what to measure next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from podsim.calibration.fit import LEAST_MAPPINGS
from podsim.calibration.fit_cases import shape
from podsim.model.validation import LEAST_COVERAGE, STEP
from podsim.report import numbers

if TYPE_CHECKING:
    from podsim.model.own_logs import OwnLogsReport

MISS_TOLERANCE: Final = 0.05
"""Error of a step time after the fit from which on it counts as missed."""
WORSE: Final = 1.2
"""Times the held-out error of the shipped fit from which on that of the new fit counts as worse."""
BARS: Final = (
    f"step times within {numbers.percent(MISS_TOLERANCE)}, {numbers.percent(LEAST_COVERAGE)} of runs inside their "
    f"intervals, no parameter at a bound, held-out error at most {WORSE:g}× that of the shipped fit"
)
"""What a fit has to meet, in words."""


def warnings(report: OwnLogsReport) -> tuple[str, ...]:
    """What speaks against the fit, a sentence or two each; none where it meets the runs."""
    return (*_missed_points(report), *_runs_outside(report), *_at_bounds(report), *_held_out(report))


def _missed_points(report: OwnLogsReport) -> Iterator[str]:
    late = {item.id: item.after for item in report.errors if item.quantity == STEP and abs(item.after) > MISS_TOLERANCE}
    for name, error in late.items():
        yield (
            f"The fit still misses {name}: step time {numbers.signed_percent(error)}. Its predictions carry this "
            "error; do not quote them as calibrated."
        )


def _runs_outside(report: OwnLogsReport) -> Iterator[str]:
    inside, total = runs_inside(report, STEP)
    if total and inside < LEAST_COVERAGE * total:
        yield f"{total - inside:,} of {total:,} measured step times lie outside the 90 % intervals of the fit."


def _at_bounds(report: OwnLogsReport) -> Iterator[str]:
    for name in report.at_bounds:
        yield f"{name} ran to a bound of its plausible range: these runs contain a cost that the model lacks."


def _held_out(report: OwnLogsReport) -> Iterator[str]:
    if report.held_out_after > WORSE * report.held_out_before > 0:
        before, after = (numbers.percent(error, 1) for error in (report.held_out_before, report.held_out_after))
        several = len({shape(item.point, item.mapping) for item in report.points}) >= LEAST_MAPPINGS
        advice = (
            "Use --alone for predictions of this machine only."
            if several
            else "Predict the mapping measured, with its --preset or flags; --alone needs runs of a second one."
        )
        yield (
            f"The held-out error of step times rises from {before} to {after}: these runs and the published ones do "
            f"not agree. {advice}"
        )


def runs_inside(report: OwnLogsReport, quantity: str) -> tuple[int, int]:
    """Runs whose measured quantity lies inside the 90 % interval of the fit, and all runs."""
    each = [item.inside for item in report.predictions if item.quantity == quantity]
    return sum(each), len(each)


def measure_next(report: OwnLogsReport) -> str:
    """Which further runs would tell the causes of an error apart."""
    points = [item.point for item in report.points]
    if len({point.topology for point in points}) == 1:
        return "the same workload on another number of IPUs: it tells program overhead from collectives"
    if len({point.workload for point in points}) == 1:
        return "another workload on one of these machines: it tells the machine from the workload"
    return "one of these runs with another micro-batch: it tells compute from what each micro-batch adds"
