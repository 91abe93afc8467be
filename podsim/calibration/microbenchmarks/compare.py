"""Every measurement compared with its prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.calibration.microbenchmarks import (
    exchange_measurements,
    host_measurements,
    link_measurements,
    product_measurements,
    stencil_measurements,
    training_measurements,
    vector_measurements,
)
from podsim.calibration.microbenchmarks.fitted_measurements import constant_of
from podsim.calibration.microbenchmarks.measurement_families import FAMILIES, POOLED_FAMILIES
from podsim.calibration.microbenchmarks.rules import Rule
from podsim.errors import Infeasible
from podsim.model.microbenchmark import (
    BenchmarkFamily,
    ComparedMeasurement,
    ExcludedMeasurement,
    MicrobenchmarkReport,
    summary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import FamilySummary, Microbenchmark

RULES: tuple[Rule, ...] = (
    *exchange_measurements.RULES,
    *link_measurements.RULES,
    *host_measurements.RULES,
    *product_measurements.RULES,
    *vector_measurements.RULES,
    *stencil_measurements.RULES,
    *training_measurements.RULES,
)
ZERO = "measured as zero: an error has no size"
NO_RULE = "no rule says how it is predicted"
SAME = "duplicate of an earlier row"
AS_RELEASED = ", library as released"
LAYER = "forward convolution, "  # the same layer is printed under the name of every network that has it


def compare(
    rows: Sequence[Microbenchmark], bench: Bench, on_progress: Callable[[int, int], None] | None = None
) -> MicrobenchmarkReport:
    """Predict every row that a rule covers; the others are listed with the reason."""
    comparisons: list[ComparedMeasurement | ExcludedMeasurement] = []
    earlier_keys: set[tuple[object, ...]] = set()
    for number, row in enumerate(rows, 1):
        what = LAYER if row.what.startswith(LAYER) else (row.what, row.note)
        same = (row.chip, row.category, what, row.shape_text, row.precision, row.value, row.unit)
        comparisons.append(ExcludedMeasurement(row=row, reason=SAME) if same in earlier_keys else _judge(row, bench))
        earlier_keys.add(same)
        if on_progress:
            on_progress(number, len(rows))
    compared_rows = tuple(item for item in comparisons if isinstance(item, ComparedMeasurement))
    left_out = tuple(item for item in comparisons if isinstance(item, ExcludedMeasurement))
    return MicrobenchmarkReport(compared=compared_rows, left_out=left_out, summaries=_summaries(compared_rows))


def rule_of(row: Microbenchmark) -> Rule | None:
    """The first rule that covers `row`."""
    return next((rule for rule in RULES if rule.matches(row)), None)


def _judge(row: Microbenchmark, bench: Bench) -> ComparedMeasurement | ExcludedMeasurement:
    rule = rule_of(row)
    if rule is None or rule.predict is None:
        return ExcludedMeasurement(row=row, reason=rule.reason if rule else NO_RULE)
    if not row.value:
        return ExcludedMeasurement(row=row, reason=ZERO)
    try:
        other = rule.otherwise(row, bench) if rule.otherwise else None
        return ComparedMeasurement(
            row=row,
            family=rule.family,
            predicted=rule.predict(row, bench),
            otherwise=other,
            fitted=constant_of(row, rule.family),
        )
    except Infeasible as no:
        return ExcludedMeasurement(row=row, reason=f"podsim says it does not fit: {no.message}")


def _summary(family: BenchmarkFamily, rows: Sequence[ComparedMeasurement]) -> FamilySummary:
    return summary(family, tuple(item.error for item in rows), tuple(bool(item.fitted) for item in rows))


def _summaries(compared_rows: Sequence[ComparedMeasurement]) -> tuple[FamilySummary, ...]:
    """Of every family, behind it of the same rows under the other reading of the chip's library, and pooled."""
    summaries = []
    for key, family in FAMILIES.items():
        mine = [item for item in compared_rows if item.family == key]
        if mine:
            summaries.append(_summary(family, mine))
        if others := tuple(item.error_otherwise for item in mine if item.error_otherwise is not None):
            released_family = BenchmarkFamily(key=f"{key}{AS_RELEASED}", title=f"the same{AS_RELEASED}")
            summaries.append(summary(released_family, others))
        if pooled_family := POOLED_FAMILIES.get(key):
            both = [item for item in compared_rows if item.family in pooled_family.pools]
            summaries += [_summary(pooled_family, both)] if both else []
    return tuple(summaries)
