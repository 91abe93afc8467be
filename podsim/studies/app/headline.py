"""The figures of an answer in large type, each with its interval, and intervals to compare on one scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from podsim.model.comparator import ComparatorPrediction
from podsim.model.prediction import Prediction
from podsim.model.quantity import NINETY_PERCENT
from podsim.report import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from podsim.model.quantity import Estimate
    from podsim.studies.compare.result import Comparison
    from podsim.studies.explain.result import Explanation
    from podsim.studies.plan.result import Candidate, Plan
    from podsim.studies.scale.result import ScaleReport

MOST_ROWS = 8


class KeyFigure(NamedTuple):
    """One number in large type: what it is, its text and unit, and its interval in words."""

    label: str
    number: str
    unit: str = ""
    interval: str = ""
    remark: str = ""


class IntervalRow(NamedTuple):
    """One interval on a scale from 0 to 1 that several share, with the value inside it."""

    label: str
    low: float
    value: float
    high: float
    text: str
    marked: bool = False


class AnswerFigures(NamedTuple):
    """What an answer shows first: figures, and intervals under one title, compared with a limit where there is one."""

    figures: tuple[KeyFigure, ...]
    title: str = ""
    rows: tuple[IntervalRow, ...] = ()
    limit: float | None = None
    limit_text: str = ""


def headline(answer: object, before: object | None = None) -> AnswerFigures:
    """What an answer of any verb shows first; `before` is the answer without changes, to compare with."""
    figures_of = _HEADLINES.get(type(answer).__name__)
    if isinstance(answer, Prediction | ComparatorPrediction):
        return _of_prediction(answer, before)
    return figures_of(answer) if figures_of else AnswerFigures(())


def _estimate(label: str, estimate: Estimate, ladder: numbers.Ladder, level: float, remark: str = "") -> KeyFigure:
    text = numbers.format_estimate(estimate, ladder)
    return KeyFigure(label, text.number, text.unit, f"{numbers.level(level)}: {text.interval}", remark)


def _level(answer: Prediction | ComparatorPrediction) -> float:
    """The confidence level of its intervals; scaling laws have one alone."""
    return answer.interval if isinstance(answer, Prediction) else NINETY_PERCENT


def _time(label: str, answer: Prediction | ComparatorPrediction) -> KeyFigure:
    return _estimate(label, answer.time_to_train_s, numbers.TIME, _level(answer))


def _throughput(answer: Prediction | ComparatorPrediction) -> KeyFigure:
    rate = _estimate("Throughput", answer.throughput_samples_per_s, numbers.COUNT, _level(answer))
    return rate._replace(unit=f"{rate.unit} samples/s".strip())


def _of_prediction(answer: Prediction | ComparatorPrediction, before: object | None) -> AnswerFigures:
    has_time = not math.isnan(answer.time_to_train_s.value)
    figures = [_time("Time to train", answer)] if has_time else []
    figures.append(_throughput(answer))
    figures += _costs(answer) if answer.money else _step(answer)
    if not isinstance(before, Prediction) or not isinstance(answer, Prediction):
        return AnswerFigures(tuple(figures))
    title, pairs = _pairs(before, answer, timed=has_time)
    return AnswerFigures(tuple(figures), title, _rows(pairs, numbers.TIME if has_time else numbers.STEP_TIME))


def _costs(answer: Prediction | ComparatorPrediction) -> list[KeyFigure]:
    """Price of the machine and cost of the run, at the usual terms."""
    money = answer.money
    assert money is not None, "looked at before"
    capital, run = money.owned.capital, money.run_usd
    price = numbers.money(capital.usd.value if capital else None, money.currency)
    return [
        KeyFigure("Machine price", price, "", f"with {numbers.count_of(money.owned.hosts, 'host')}"),
        KeyFigure("Training cost", numbers.money(run.value if run else None, money.currency), "", "at usual prices"),
    ]


def _step(answer: Prediction | ComparatorPrediction) -> list[KeyFigure]:
    """Time of a step and its global batch."""
    batch = answer.mapping.global_batch if isinstance(answer, Prediction) else answer.global_batch
    step = _estimate("Step time", answer.step_s, numbers.STEP_TIME, _level(answer))
    return [step, KeyFigure("Global batch", f"{batch:,}", "samples")]


def _pairs(before: Prediction, answer: Prediction, *, timed: bool) -> tuple[str, list[tuple[str, Estimate]]]:
    name = "time_to_train_s" if timed and before.has_length else "step_s"
    first, second = getattr(before, name), getattr(answer, name)
    change = numbers.signed_percent(second.value / first.value - 1)
    what = "Time to train" if name == "time_to_train_s" else "Step time"
    return f"{what} with the changes: {change}", [("As published", first), ("With changes", second)]


def _rows(
    pairs: Sequence[tuple[str, Estimate]], ladder: numbers.Ladder, marked_row: int = -1
) -> tuple[IntervalRow, ...]:
    """Intervals on one scale that begins at 0."""
    most = max((max(each.high, each.value) for _, each in pairs), default=0.0) or 1.0
    result = []
    for at, (label, each) in enumerate(pairs):
        text = numbers.format_estimate(each, ladder)
        result.append(
            IntervalRow(
                label,
                each.low / most,
                each.value / most,
                each.high / most,
                f"{text.text} ({text.interval})",
                at == marked_row,
            )
        )
    return tuple(result)


def _of_plan(plan: Plan) -> AnswerFigures:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return AnswerFigures((KeyFigure("Recommended", "none"),))
    label = "Recommended" if plan.chosen else "Nearest, meets not all"
    figures = (
        KeyFigure(label, candidate.title, "", f"{candidate.chips:,} × {candidate.chip}"),
        _estimate("Time to train", candidate.time_to_train_s, numbers.TIME, NINETY_PERCENT),
        KeyFigure(
            "Purchase price", numbers.money(candidate.capital_usd, plan.currency), "", f"{candidate.hosts:,} hosts"
        ),
        KeyFigure("Training cost", numbers.money(candidate.cost_usd, plan.currency)),
    )
    others = _near(plan.candidates, candidate)
    rows = _rows([(each.title, each.time_to_train_s) for each in others], numbers.TIME, others.index(candidate))
    title = "Time to train of the candidates near it"
    limit = plan.demand.within_s
    most = max(max(each.time_to_train_s.high, each.time_to_train_s.value) for each in others)
    if limit is None or limit > most:
        return AnswerFigures(figures, title, rows)
    return AnswerFigures(figures, title, rows, limit / most, f"limit {numbers.time(limit)}")


def _near(candidates: Iterable[Candidate], candidate: Candidate) -> list[Candidate]:
    """The candidates around one by their time, which differ from it by less than ten times."""
    neighbours = sorted(candidates, key=lambda each: each.time_to_train_s.value)
    neighbours = (
        neighbours
        if candidate in neighbours
        else sorted([*neighbours, candidate], key=lambda each: each.time_to_train_s.value)
    )
    neighbours = [each for each in neighbours if each.time_to_train_s.value < 10 * candidate.time_to_train_s.value]
    at = neighbours.index(candidate)
    start = max(0, min(at - MOST_ROWS // 2, len(neighbours) - MOST_ROWS))
    return neighbours[start : start + MOST_ROWS]


def _of_scale(report: ScaleReport) -> AnswerFigures:
    predictions = report.predictions
    first, last = predictions[0], predictions[-1]
    figures = [_time(f"On {each.ipus:,} IPUs", each) for each in (first, last) if each.has_length]
    figures = figures or [_throughput(first), _throughput(last)]
    if report.has_length and first is not last:
        gain = first.time_to_train_s.value / last.time_to_train_s.value
        figures.append(
            KeyFigure("Speed-up", f"{numbers.short(gain)}×", "", f"{numbers.times(last.ipus / first.ipus)} the IPUs")
        )
    if report.knee_ipus:
        figures.append(KeyFigure("Knee", f"{numbers.count(report.knee_ipus)}", "IPUs", "by the fitted law"))
    return AnswerFigures(tuple(figures))


def _of_comparison(comparison: Comparison) -> AnswerFigures:
    return side_by_side([(side.label, side.answer) for side in comparison.sides])


def side_by_side(sides: Sequence[tuple[str, Prediction | ComparatorPrediction]]) -> AnswerFigures:
    """The times of several answers by their labels, or what they train a second where one has no time."""
    has_times = all(not math.isnan(answer.time_to_train_s.value) for _, answer in sides)
    figures = [
        _time(label, answer) if has_times else _throughput(answer)._replace(label=label) for label, answer in sides
    ]
    if not has_times:
        return AnswerFigures(tuple(figures))
    rows = _rows([(label, answer.time_to_train_s) for label, answer in sides], numbers.TIME)
    return AnswerFigures(tuple(figures), "Time to train", rows)


def _of_explanation(explanation: Explanation) -> AnswerFigures:
    return _of_prediction(explanation.prediction, None)


_HEADLINES: dict[str, Any] = {
    "Plan": _of_plan,
    "ScaleReport": _of_scale,
    "Comparison": _of_comparison,
    "Explanation": _of_explanation,
}
