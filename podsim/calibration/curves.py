"""Reference points left out of their curves: how far the others miss them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from podsim.calibration.holdout import summary
from podsim.convergence.curve import LeftOutPoint, above, below, interior
from podsim.model.training import Convergence
from podsim.model.validation import CurveSummary

LEAST_POINTS = 3  # of a curve that one is left out of
PLACES: tuple[tuple[str, Callable[[Convergence], Iterator[LeftOutPoint]]], ...] = (
    ("between", interior),
    ("above", above),
    ("below", below),
)


def summaries(curves: Mapping[str, Convergence]) -> tuple[CurveSummary, ...]:
    """The curves that predictions use, by workload."""
    return tuple(row for name, curve in sorted(curves.items()) for row in _rows(name, "as used", [curve]))


def of_rounds(curves: Mapping[tuple[str, str], Convergence]) -> tuple[CurveSummary, ...]:
    """All rounds of each benchmark; a round that repeats another counts once."""
    by_benchmark: dict[str, dict[tuple[tuple[int, float], ...], Convergence]] = {}
    for (benchmark, _), curve in curves.items():
        key = tuple((point.batch, point.samples) for point in curve.points)
        by_benchmark.setdefault(benchmark, {}).setdefault(key, curve)
    return tuple(
        row
        for name, convergences in sorted(by_benchmark.items())
        for row in _rows(name, "all rounds", list(convergences.values()))
    )


def _rows(name: str, which: str, curves: Sequence[Convergence]) -> Iterator[CurveSummary]:
    long = [curve for curve in curves if len(curve.points) >= LEAST_POINTS]
    for where, hold_out in PLACES:
        errors = [math.expm1(miss.error) for curve in long for miss in hold_out(curve)]
        if errors:
            yield CurveSummary(benchmark=name, which=which, where=where, curves=len(long), errors=summary(errors))
