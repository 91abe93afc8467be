"""Published results beside predictions, as a document."""

from collections.abc import Iterator

from podsim.model.validation import (
    HELD_OUT_BARS,
    STEP,
    TIME,
    TIME_PREDICTED_SAMPLES,
    ErrorSummary,
    Validation,
    ValidationPoint,
)
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, Heading, Note, Table, Tone

TITLES = {
    STEP: "step time",
    TIME: "time to train, with the runs' own samples",
    TIME_PREDICTED_SAMPLES: "time to train, with predicted samples",
}

WHERE = {"between": "one between", "above": "those above", "below": "those below"}


def answer(result: Validation) -> str:
    """The answer in one line: "PASS, step time mean 2.4 %, held out 3.6 %"."""
    step = result.summary.get(STEP)
    errors = f", step time mean {three(step)[0]}, held out {three(step.held_out)[0]}" if step else ""
    return f"{'FAIL' if result.misses else 'PASS'}{errors}"


def document(result: Validation, *, verbose: bool = False) -> Doc:
    """Every point by quantity, then the errors; `verbose` adds time to train with predicted samples and notes."""
    groups: list[tuple[Block, ...]] = []
    for quantity in dict.fromkeys(point.quantity for point in result.points):
        if verbose or quantity != TIME_PREDICTED_SAMPLES:
            points = [point for point in result.points if point.quantity == quantity]
            groups.append((Heading(TITLES.get(quantity, quantity)), _points(points, verbose=verbose)))
    groups.append((Heading("errors"), _summary(result)))
    if result.held_out:
        groups.append((Heading("step time, held out"), _held_out(result, verbose=verbose)))
    if result.convergence:
        groups.append((Heading("convergence, reference points left out"), _curves(result, verbose=verbose)))
    groups.append(tuple(_verdict(result, verbose=verbose)))
    return Doc(tuple(groups))


def _points(points: list[ValidationPoint], *, verbose: bool) -> Table:
    ladder = numbers.STEP_TIME if points[0].quantity == STEP else numbers.TIME
    unit = numbers.scale([point.published for point in points], ladder)
    columns = [
        Column("published result"),
        Column(f"published {unit.unit}", number=True, priority=1),
        Column(f"predicted {unit.unit}", number=True, priority=2),
        Column("error", number=True),
        Column("held out", number=True),
    ]
    if verbose:
        columns.append(Column("note", priority=3, wraps=True))

    def row(point: ValidationPoint) -> tuple[str, ...]:
        shown = (
            point.id,
            unit.number(point.published),
            unit.number(point.predicted),
            numbers.signed_percent(point.error),
            numbers.signed_percent(point.held_out_error),
        )
        return (*shown, point.note) if verbose else shown

    return Table(tuple(columns), tuple(row(point) for point in points))


def _summary(result: Validation) -> Table:
    columns = (
        Column("quantity", wraps=True),
        Column("points", number=True, priority=2),
        Column("mean", number=True),
        Column("signed", number=True, priority=1),
        Column("worst", number=True),
        Column("held-out mean", number=True),
        Column("held-out worst", number=True, priority=1),
    )
    rows = tuple(
        (TITLES.get(quantity, quantity), f"{found.count}", *three(found), *three(found.held_out)[::2])
        for quantity, found in result.summary.items()
    )
    return Table(columns, rows)


def _held_out(result: Validation, *, verbose: bool) -> Table:
    """Errors by what was left out of the fit; `verbose` adds each group."""
    columns = (
        Column("left out of the fit"),
        Column("points", number=True, priority=1),
        *(Column(name, number=True) for name in ("mean", "signed", "worst")),
        Column("bar", number=True),
    )
    rows = []
    for by, found in result.held_out.items():
        bar = numbers.percent(HELD_OUT_BARS[by])
        rows.append((f"each {by}", f"{found.overall.count}", *three(found.overall), bar))
        if verbose:
            rows += [(f"  {name}", f"{one.count}", *three(one), "") for name, one in found.groups.items()]
    return Table(columns, tuple(rows))


def _curves(result: Validation, *, verbose: bool) -> Table:
    """Where a left-out point lies decides how it is found: by its neighbours, by the law, or held."""
    columns = (
        Column("reference points", wraps=True),
        Column("left out", priority=1),
        Column("points", number=True, priority=2),
        Column("mean", number=True),
        Column("signed", number=True, priority=3),
        Column("worst", number=True),
    )
    rows = tuple(
        (f"{one.benchmark}, {one.which}", WHERE[one.where], f"{one.errors.count}", *three(one.errors))
        for one in result.convergence
        if verbose or one.which == "as used"
    )
    return Table(columns, rows)


def three(found: ErrorSummary | None) -> tuple[str, str, str]:
    """Mean, signed mean and worst error, as printed."""
    if found is None:
        return numbers.UNKNOWN, numbers.UNKNOWN, numbers.UNKNOWN
    return (
        numbers.percent(found.mean_abs, 1),
        numbers.signed_percent(found.mean_signed),
        numbers.signed_percent(found.worst),
    )


def _verdict(result: Validation, *, verbose: bool) -> Iterator[Block]:
    for quantity, which, size, limit in result.misses:
        found, allowed = numbers.percent(size, 1), numbers.percent(limit, 1)
        text = f"{TITLES.get(quantity, quantity)}: {which} {found}, tolerance {allowed}"
        yield Note(text, "outside", Tone.WARNING)
    said = "FAIL" if result.misses else "PASS"
    more = "" if verbose else " · -v adds time to train with predicted samples"
    yield Note(f"{said} · held out: fitted without any machine of that size{more} · {NOT_MLPERF}", "", Tone.QUIET)
