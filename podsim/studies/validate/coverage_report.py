"""How often intervals hold what was measured, as a document."""

from collections.abc import Iterator

from podsim.model.checks import verdict
from podsim.model.validation import (
    LEAST_COVERAGE,
    MOST_COVERAGE,
    MOST_WIDTH,
    STEP,
    TIME,
    TIME_PREDICTED_SAMPLES,
    Coverage,
    CoverageReport,
    CoveredPoint,
)
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.report.views.validation_view import TITLES

SHORT = {STEP: "step", TIME: "time, own samples", TIME_PREDICTED_SAMPLES: "time, predicted samples"}


def answer(report: CoverageReport) -> str:
    """The answer in one line: "PASS, 90 % intervals hold 15 of 16 step times, …"."""
    coverages = {row.quantity: row for row in report.rows if row.level == max(each.level for each in report.rows)}
    level = numbers.percent(next(iter(coverages.values())).level)
    parts = (f"{row.held} of {row.count} ({SHORT[name]})" for name, row in coverages.items())
    return f"{verdict(passed=not report.misses)}, {level} intervals hold {', '.join(parts)}"


def document(report: CoverageReport, *, verbose: bool = False) -> Doc:
    """Shares held by quantity and level, and widths; `verbose` adds every 90 % interval."""
    groups: list[tuple[Block, ...]] = [
        (Heading("Measurements inside their intervals, machine size held out"), _bars(report)),
        (Heading("Widths, high over low"), _widths(report)),
    ]
    if verbose:
        highest = max(row.level for row in report.rows)
        for quantity, title in TITLES.items():
            points = [point for point in report.points if (point.quantity, point.level) == (quantity, highest)]
            if points:
                groups.append((Heading(f"{title}, {numbers.percent(highest)} intervals"), _points(points)))
    groups.append(tuple(_notes(report, verbose=verbose)))
    return Doc(tuple(groups))


def _bars(report: CoverageReport) -> Bars:
    def bar(row: Coverage) -> Bar:
        label = f"{SHORT[row.quantity]}, {numbers.percent(row.level)}"
        return Bar(label, row.share, numbers.percent(row.share), f"{row.held} of {row.count}")

    return Bars(tuple(bar(row) for row in report.rows))


def _widths(report: CoverageReport) -> DocTable:
    columns = (
        Column("Interval of"),
        Column("Level", number=True),
        Column("Mean", number=True),
        Column("Widest between sizes", number=True, priority=1),
    )
    rows = tuple(
        (SHORT[row.quantity], numbers.percent(row.level), f"×{numbers.with_decimals(row.mean_width, 2)}", _times(row))
        for row in report.rows
    )
    return DocTable(columns, rows)


def _times(row: Coverage) -> str:
    widest = row.widest_between_sizes
    return numbers.NO_VALUE if widest is None else f"×{numbers.with_decimals(widest, 2)}"


def _points(points: list[CoveredPoint]) -> DocTable:
    ladder = numbers.STEP_TIME if points[0].quantity == STEP else numbers.TIME
    unit = numbers.scale([point.published for point in points], ladder)
    columns = (
        Column("Published result"),
        Column(f"Published, {unit.unit}", number=True),
        Column("Low", number=True),
        Column("High", number=True),
        Column("Held"),
    )
    rows = tuple(
        (point.id, *(unit.number(size) for size in (point.published, point.low, point.high)), _coverage_text(point))
        for point in points
    )
    return DocTable(columns, rows)


def _coverage_text(point: CoveredPoint) -> str:
    if point.is_covered:
        return "yes"
    return "no, above" if point.published > point.high else "no, below"


def _notes(report: CoverageReport, *, verbose: bool) -> Iterator[Block]:
    for quantity, which, size, limit in report.misses:
        texts = [
            numbers.percent(x) if which == "coverage" else f"×{numbers.with_decimals(x, 2)}" for x in (size, limit)
        ]
        yield Note(f"{SHORT[quantity]}: {which} {texts[0]}, limit {texts[1]}", "outside", Tone.WARNING)
    distance = report.distance
    trend = (
        f"misses grow by {numbers.percent(distance.per_doubling, 1)} per doubling of the size"
        if distance.variance_per_doubling > 0
        else "misses do not grow with the size: the uncertainty of the parameters alone is larger than they are"
    )
    yield Note(f"{distance.count} points beyond the sizes that were fitted: {trend}", "distance")
    bar = f"90 %: {numbers.percent(LEAST_COVERAGE)} to {numbers.percent(MOST_COVERAGE)} held, "
    bar += f"none between sizes wider than ×{numbers.short(MOST_WIDTH)}"
    more = "" if verbose else "-v lists every interval"
    yield Note(f"{verdict(passed=not report.misses)} · limit for {bar} · {NOT_MLPERF}", "", Tone.QUIET, hint=more)
