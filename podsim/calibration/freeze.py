"""Predictions that are meant to stay, predicted again."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from podsim.model.prediction import Prediction
from podsim.model.validation import FrozenPrediction

DIGITS = 4
Progress = Callable[[int, int], None]


def again(
    rows: Sequence[FrozenPrediction],
    predict: Callable[[FrozenPrediction], Prediction],
    on_progress: Progress | None = None,
) -> tuple[FrozenPrediction, ...]:
    """The same questions with the answers of now."""
    predictions = []
    for number, row in enumerate(rows, start=1):
        predictions.append(freeze(row, predict(row)))
        if on_progress:
            on_progress(number, len(rows))
    return tuple(predictions)


def freeze(row: FrozenPrediction, answer: Prediction) -> FrozenPrediction:
    """The row with what is predicted, to four digits."""
    mapping = answer.mapping
    return replace(
        row,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        step_s=_short(answer.step_s.value),
        time_to_train_s=_short(answer.time_to_train_s.value),
    )


def _short(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")
