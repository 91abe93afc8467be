"""How often intervals hold what was measured at machine sizes that they have not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from podsim.calibration.fit_cases import GROUP_OF, OtherCase
from podsim.calibration.residual_spread import left_out
from podsim.model.calibration import ParameterSet
from podsim.model.parameters import FreeParameters
from podsim.model.quantity import Estimate
from podsim.model.sums import sum_in_order
from podsim.model.validation import (
    STEP,
    TIME,
    TIME_PREDICTED_SAMPLES,
    Coverage,
    CoverageReport,
    CoveredPoint,
    DistanceFound,
)
from podsim.predicting import intervals
from podsim.predicting.training_case import question_pace, samples, step, step_doubt

LEVELS = (0.5, 0.8, 0.9)


def coverage(
    cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters, *, without: Mapping[str, ParameterSet]
) -> CoverageReport:
    """Intervals of every case from parameters `without` its machine size, against what was measured."""
    points = tuple(point for case in cases for point in _points(case, without[GROUP_OF["machine"](case)]))
    rows = tuple(
        _row(quantity, level, [p for p in points if p.quantity == quantity and p.level == level])
        for quantity in (STEP, TIME, TIME_PREDICTED_SAMPLES)
        for level in LEVELS
    )
    return CoverageReport(rows=rows, points=points, distance=_distance(cases, parameters, free))


def _points(case: OtherCase, parameters: ParameterSet) -> Iterator[CoveredPoint]:
    point, published_times_s = case.point, published_s(case)
    largest, smallest = parameters.largest[point.workload], parameters.smallest[point.workload]
    for quantity, level, estimate in estimates(case, parameters):
        yield CoveredPoint(
            id=point.id,
            quantity=quantity,
            level=level,
            published=published_times_s[quantity],
            predicted=estimate.value,
            low=estimate.low,
            high=estimate.high,
            between_sizes=smallest <= case.topology.ipus <= largest,
        )


def published_s(case: OtherCase) -> dict[str, float]:
    """What was measured, by quantity: the score with predicted samples is the official one [s]."""
    point = case.point
    return {STEP: point.step_s, TIME: point.minutes * 60, TIME_PREDICTED_SAMPLES: point.score_minutes * 60}


def estimates(
    case: OtherCase, parameters: ParameterSet, levels: Sequence[float] = LEVELS
) -> Iterator[tuple[str, float, Estimate]]:
    """Quantity, level and interval: the same functions as for a prediction."""
    question = case.question(parameters)
    timeline = step(question, case.mapping)
    beat = question_pace(question, case.mapping, timeline.step_s)
    need = samples(question, case.mapping.global_batch)
    doubt = step_doubt(question, case.mapping, timeline)
    own, outside = case.point.samples_to_converge, question.outside_error
    for level in levels:
        yield STEP, level, intervals.lognormal(timeline.step_s, doubt.variances, doubt.grade, doubt.beyond, level=level)
        yield TIME, level, intervals.given_samples(beat, own, doubt, outside_error=outside, level=level)
        yield (
            TIME_PREDICTED_SAMPLES,
            level,
            intervals.time_to_train(beat, need, doubt, question.seed, outside_error=outside, level=level),
        )


def _row(quantity: str, level: float, points: Sequence[CoveredPoint]) -> Coverage:
    widths = [point.high / point.low for point in points]
    return Coverage(
        quantity=quantity,
        level=level,
        count=len(points),
        held=sum(point.is_covered for point in points),
        mean_width=math.exp(sum_in_order(math.log(width) for width in widths) / len(widths)),
        widest_between_sizes=max((p.high / p.low for p in points if p.between_sizes), default=None),
    )


def _distance(cases: Sequence[OtherCase], parameters: ParameterSet, free: FreeParameters) -> DistanceFound:
    """Error a doubling beyond the other sizes, of what parameters and model leave unexplained (Eq. 31)."""
    unexplained_variance, doublings, count = 0.0, 0.0, 0
    for case, error in zip(cases, left_out(cases, parameters, free), strict=True):
        sizes = {c.topology.ipus for c in cases if c.point.workload == case.point.workload} - {case.topology.ipus}
        beyond = max(case.topology.ipus / max(sizes), min(sizes) / case.topology.ipus)
        if beyond > 1:
            unexplained_variance += error.error**2 - error.variance - parameters.model_error**2
            doublings += math.log2(beyond) ** 2
            count += 1
    variance = unexplained_variance / doublings if doublings else 0.0
    return DistanceFound(count=count, per_doubling=math.sqrt(max(0.0, variance)), variance_per_doubling=variance)
