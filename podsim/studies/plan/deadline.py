"""What a deadline includes in addition to training: failures, and the start of a job under a wall clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.files import failures_file, start_times_file
from podsim.model.sums import sum_in_order
from podsim.predicting import job_wall_clock, run_with_failures, start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.goodput import GoodputReport
    from podsim.model.prediction import Prediction
    from podsim.model.wall_clock import ProgramStart, WallClock
    from podsim.predicting.training_case import TrainingCase

POINTS: Final = (("p5", 3), ("p50", 10), ("p95", 3))
"""Quantiles that stand for all histories, and how much each counts: 0.19, 0.62, 0.19 (Eq. 103)."""
WEIGHTS: Final = sum(weight for _, weight in POINTS)
COMPILES: Final = tuple((at + 0.5) / 20 for at in range(20))
LOADS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of compile times and of the way of weights that stand for all of them, each as likely as the others."""


def goodput_of(question: TrainingCase, prediction: Prediction) -> GoodputReport | None:
    """The run with failures, as `podsim goodput` has it; None for one too short to see any.

    Raises Infeasible where failures leave hardly any progress.
    """
    return run_with_failures.where_likely(prediction, question, failures_file.failures().value)


def with_failures(scores: Sequence[float], report: GoodputReport | None) -> list[float]:
    """Ascending times of runs [s] with what failures add to each, three quantiles of it for every run (Eq. 103).

    Each run counts as often as every other, so that of runs with and without failures the same quantiles are taken.
    """
    if report is None:
        return [score for score in scores for _ in range(WEIGHTS)]
    longer = [getattr(report.finish_s, name) / report.run.work_s for name, weight in POINTS for _ in range(weight)]
    return sorted(score * factor for score in scores for factor in longer)


def finish_s(predictions: Sequence[Prediction], reports: Sequence[GoodputReport | None]) -> float:
    """Mean time to the end of runs one after the other, failures included [s]."""
    return sum_in_order(
        prediction.time_to_train_s.value if report is None else report.finish_s.mean
        for prediction, report in zip(predictions, reports, strict=True)
    )


def clock(prediction: Prediction, question: TrainingCase, program: ProgramStart) -> WallClock:
    """The wall clock of a run as `podsim predict` has it, failures included where it is long enough to see any."""
    return job_wall_clock.wall_clock(
        prediction, question, start_times_file.times(), failures_file.failures().value, program
    )


def clock_with(
    prediction: Prediction, question: TrainingCase, program: ProgramStart, report: GoodputReport | None
) -> WallClock:
    """The wall clock of a run with failures that are simulated already, or without any."""
    reports = () if report is None else (report,)
    rates = failures_file.failures().value
    return job_wall_clock.with_failures(prediction, question, start_times_file.times(), rates, program, reports)


def starts_s(clocks: Sequence[WallClock]) -> list[float]:
    """What lies around the training of runs one after the other, ascending, each as likely as the others [s] (Eq. 106).

    Compile times of several programs are short or long together, as their errors are shared; so are loads of weights.
    """
    times = start_times_file.times()
    compiles = [start.quantiles(each.compile_s, times.operator, COMPILES) for each in clocks]
    loads = [start.quantiles(each.weights_s, times.weights, LOADS) for each in clocks]
    fixed_s = sum_in_order(each.checkpoint_s for each in clocks)
    programs = [sum_in_order(compiles_s) for compiles_s in zip(*compiles, strict=True)]
    weights = [sum_in_order(loads_s) for loads_s in zip(*loads, strict=True)]
    return sorted(fixed_s + program + load for program in programs for load in weights)


def with_starts(scores: Sequence[float], starts: Sequence[float]) -> list[float]:
    """Ascending wall clocks [s]: every time of a run with every time around it, as they are independent (Eq. 106)."""
    return sorted(score + around for score in scores for around in starts)
