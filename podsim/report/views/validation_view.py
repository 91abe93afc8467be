"""Published results beside predictions, as a document."""

from collections.abc import Iterator

from podsim.model.checks import verdict
from podsim.model.error_summary import ErrorSummary
from podsim.model.validation import (
    HELD_OUT_BARS,
    STEP,
    TIME,
    TIME_PREDICTED_SAMPLES,
    Validation,
    ValidationPoint,
)
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Heading,
    Note,
    ReferenceLine,
    Tone,
)

TITLES = {
    STEP: "Step time",
    TIME: "Time to train, with the runs' own samples",
    TIME_PREDICTED_SAMPLES: "Time to train, with predicted samples",
}

MOST_NAMED = 3  # points with the largest errors
DIGITS = 4  # that tell predictions of a per cent apart

USUAL = "as used"  # the reference points that predictions take
WHERE = {"between": "one inner point", "above": "all larger batches", "below": "all smaller batches"}


def answer(result: Validation) -> str:
    """The answer in one line: "PASS: mean step-time error 2.4 % in sample, 3.6 % held out"."""
    step = result.summary.get(STEP)
    if step is None:
        return verdict(passed=not result.misses)
    errors = f"mean step-time error {three(step)[0]} in sample, {three(step.held_out)[0]} held out"
    return f"{verdict(passed=not result.misses)}: {errors}"


def document(result: Validation, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The verdict, every point by quantity, then the errors; `verbose` adds time to train with predicted samples.

    `charts` adds errors of step times by their size.
    """
    groups: list[tuple[Block, ...]] = [tuple(_verdict(result)), tuple(_chart(result)) if charts else ()]
    for quantity in dict.fromkeys(point.quantity for point in result.points):
        if verbose or quantity != TIME_PREDICTED_SAMPLES:
            points = [point for point in result.points if point.quantity == quantity]
            groups.append((Heading(TITLES.get(quantity, quantity)), _points(points, verbose=verbose)))
    groups.append((Heading("Errors"), _summary(result)))
    if result.held_out:
        groups.append((Heading("Step time, held out"), _held_out(result, verbose=verbose)))
    if result.convergence:
        groups.append(
            (
                Heading("Samples to converge, reference points left out (no limit)"),
                _curves(result, verbose=verbose),
            )
        )
    groups.append((_footer(verbose=verbose),))
    return Doc(tuple(group for group in groups if group))


def _chart(result: Validation) -> Iterator[Block]:
    """Errors of step times, in sample and with the machine size held out; the worst have their names."""
    points = [point for point in result.points if point.quantity == STEP]
    if not points:
        return
    unit = numbers.scale([point.published for point in points], numbers.STEP_TIMES)
    held_out = [point for point in points if point.held_out_error is not None]
    worst = sorted(held_out, key=lambda point: -abs(point.held_out_error or 0.0))[:MOST_NAMED]
    title = f"Error of step time, %, by published step time, {unit.unit}"
    yield Heading(title)
    yield Chart(
        title,
        ChartAxis(f"published step time, {unit.unit}", log=True),
        ChartAxis("predicted over published, %"),
        (
            DocSeries(
                "in sample",
                tuple((point.published / unit.factor, 100 * point.error) for point in points),
                joined=False,
            ),
            DocSeries(
                "machine size held out",
                tuple((point.published / unit.factor, 100 * (point.held_out_error or 0.0)) for point in held_out),
                joined=False,
                names=tuple(point.id if point in worst else "" for point in held_out),
            ),
        ),
        (ReferenceLine(0.0, "as published"),),
    )


def _points(points: list[ValidationPoint], *, verbose: bool) -> DocTable:
    ladder = numbers.STEP_TIMES if points[0].quantity == STEP else numbers.TIME
    unit = numbers.scale([point.published for point in points], ladder)
    columns = [
        Column("Published result"),
        Column(f"Published, {unit.unit}", number=True, priority=1),
        Column(f"Predicted, {unit.unit}", number=True, priority=2),
        Column("Error", number=True),
        Column("Held out", number=True),
    ]
    if verbose:
        columns.append(Column("Note", priority=3, wraps=True))

    def row(point: ValidationPoint) -> tuple[str, ...]:
        cells = (
            point.id,
            unit.number(point.published, DIGITS),
            unit.number(point.predicted, DIGITS),
            numbers.signed_percent(point.error),
            numbers.signed_percent(point.held_out_error),
        )
        return (*cells, point.note) if verbose else cells

    return DocTable(tuple(columns), tuple(row(point) for point in points))


def _summary(result: Validation) -> DocTable:
    columns = (
        Column("Quantity", wraps=True),
        Column("Points", number=True, priority=2),
        Column("Mean", number=True),
        Column("Signed", number=True, priority=1),
        Column("Worst", number=True),
        Column("Held-out mean", number=True),
        Column("Held-out worst", number=True, priority=1),
    )
    rows = tuple(
        (TITLES.get(quantity, quantity), f"{summary.count}", *three(summary), *three(summary.held_out)[::2])
        for quantity, summary in result.summary.items()
    )
    return DocTable(columns, rows)


def _held_out(result: Validation, *, verbose: bool) -> DocTable:
    """Errors by what was left out of the fit; `verbose` adds each group."""
    columns = (
        Column("Left out of the fit"),
        Column("Points", number=True, priority=1),
        *(Column(name, number=True) for name in ("Mean", "Signed", "Worst")),
        Column("Limit", number=True),
    )
    rows = []
    for by, out in result.held_out.items():
        bar = numbers.percent(HELD_OUT_BARS[by])
        rows.append((f"each {by}", f"{out.overall.count}", *three(out.overall), bar))
        if verbose:
            rows += [(f"  {name}", f"{group.count}", *three(group), "") for name, group in out.groups.items()]
    return DocTable(columns, tuple(rows))


def _curves(result: Validation, *, verbose: bool) -> DocTable:
    """Where a left-out point lies decides how it is found: by its neighbours, by the law, or held."""
    columns = (
        Column("Reference points", wraps=True),
        Column("Left out", priority=1),
        Column("Points", number=True, priority=2),
        Column("Mean", number=True),
        Column("Signed", number=True, priority=3),
        Column("Worst", number=True),
    )
    rows = tuple(
        (
            summary.benchmark if summary.which == USUAL else f"{summary.benchmark}, {summary.which}",
            WHERE[summary.where],
            f"{summary.errors.count}",
            *three(summary.errors),
        )
        for summary in result.convergence
        if verbose or summary.which == USUAL
    )
    return DocTable(columns, rows)


def three(summary: ErrorSummary | None) -> tuple[str, str, str]:
    """Mean, signed mean and worst error, as printed."""
    if summary is None:
        return numbers.NO_VALUE, numbers.NO_VALUE, numbers.NO_VALUE
    return (
        numbers.percent(summary.mean_abs, 1),
        numbers.signed_percent(summary.mean_signed),
        numbers.signed_percent(summary.worst),
    )


def _verdict(result: Validation) -> Iterator[Block]:
    yield Note(answer(result), "", Tone.STRONG)
    for quantity, which, size, limit in result.misses:
        value, tolerance = numbers.percent(size, 1), numbers.percent(limit, 1)
        text = f"{TITLES.get(quantity, quantity)}: {which} {value}, tolerance {tolerance}"
        yield Note(text, "outside", Tone.WARNING)


def _footer(*, verbose: bool) -> Note:
    more = "" if verbose else " · -v adds time to train with predicted samples"
    return Note(f"held out: fitted without any machine of that size{more} · {NOT_MLPERF}", "", Tone.QUIET)
