"""Failures inside the deadline of long runs: what they make of the times of a machine that would meet it without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.files import failures
from podsim.model.sums import sum_in_order
from podsim.predicting import goodput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.goodput import GoodputReport
    from podsim.model.prediction import Prediction
    from podsim.predicting.assemble import TrainingCase

POINTS: Final = (("p5", 3), ("p50", 10), ("p95", 3))
"""Quantiles that stand for all histories, and how much each counts: 0.19, 0.62, 0.19 (Eq. 103)."""
WEIGHTS: Final = sum(weight for _, weight in POINTS)


def interrupted(question: TrainingCase, prediction: Prediction) -> GoodputReport | None:
    """The run with failures, as `podsim goodput` has it; None for one too short to see any.

    Raises Infeasible where failures leave hardly any progress.
    """
    return goodput.where_likely(prediction, question, failures.failures().value)


def stretched(scores: Sequence[float], report: GoodputReport | None) -> list[float]:
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
