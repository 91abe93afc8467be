"""What own logs hold and what a fit made of them, as a document."""

from collections.abc import Iterator

from podsim.model.checks import verdict
from podsim.model.mllog import Remark
from podsim.model.own_logs import OwnLogsReport, OwnPoint
from podsim.model.validation import STEP, TIME
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.studies.calibrate import own_verdict
from podsim.studies.calibrate import report as fit

MOST_REMARKS = 20
QUANTITIES = {STEP: "step", TIME: "time to train, own samples"}


def answer(report: OwnLogsReport) -> str:
    """The answer in one line: "PASS, 2 points of 10 runs, step time mean 4.1 % before, 0.9 % after"."""
    steps = [item for item in report.errors if item.quantity == STEP]
    before, after = (sum(abs(error) for error in column) / len(steps) for column in columns(report, STEP))
    points, runs = numbers.counted(len(report.points), "point"), numbers.counted(report.runs, "run")
    errors = f"step time mean {numbers.percent(before, 1)} before, {numbers.percent(after, 1)} after"
    return f"{verdict(passed=not own_verdict.warnings(report))}, {points} of {runs}, {errors}"


def columns(report: OwnLogsReport, quantity: str) -> tuple[list[float], list[float]]:
    """Errors of a quantity before and after the fit, a point each, as fractions."""
    errors = [item for item in report.errors if item.quantity == quantity]
    return [item.before for item in errors], [item.after for item in errors]


def document(report: OwnLogsReport, *, verbose: bool = False) -> Doc:
    """What was read, the points, how they err before and after the fit, and the fit."""
    make = "makes" if report.runs == 1 else "make"
    made = f"{numbers.counted(report.runs, 'run')} {make} {numbers.counted(len(report.points), 'calibration point')}"
    head = f"{numbers.counted(report.files, 'file')} read, {made}" if report.files else made
    beside = f"fitted beside {report.published} published points" if report.published else "fitted alone"
    groups: list[tuple[Block, ...]] = [
        (Heading(head), _points(report), *_notes(report)),
        (Heading(f"errors of these points, {beside}"), _errors(report), *_verdict(report)),
        *fit.document(report.fit).groups,
    ]
    if report.points_path:
        groups.append((Note(f"wrote {report.points_path}", "", Tone.QUIET),))
    remarks = tuple(_remarks(report.remarks, verbose))
    return Doc((*groups[:1], *([remarks] if remarks else []), *groups[1:]))


def _verdict(report: OwnLogsReport) -> Iterator[Note]:
    """Whether the fit meets these runs, and what else to measure where it does not."""
    warnings = own_verdict.warnings(report)
    yield Note(f"{verdict(passed=not warnings)} · criteria: {own_verdict.BARS}", "", Tone.PLAIN)
    yield from (Note(text, "", Tone.WARNING) for text in warnings)
    if warnings:
        yield Note(own_verdict.measure_next(report), "Measure next", Tone.PLAIN)


def _points(report: OwnLogsReport) -> DocTable:
    columns = (
        Column("point"),
        Column("runs", number=True),
        Column("step ms", number=True),
        Column("±", number=True, priority=2),
        Column("samples", number=True, priority=1),
        Column("minutes", number=True),
        Column("start-up", number=True, priority=3),
        Column("evaluations", number=True, priority=3),
        Column("mapping", priority=4),
    )
    return DocTable(columns, tuple(_row(item) for item in report.points))


def _row(item: OwnPoint) -> tuple[str, ...]:
    point, mapping = item.point, item.mapping
    split = f"{mapping.replicas:,} × {mapping.ipus_per_replica} IPUs, {mapping.micro_batch} × {mapping.accumulation:,}"
    runs = f"{point.runs}" if item.reached == point.runs else f"{item.reached} of {point.runs}"
    return (
        point.id,
        runs,
        numbers.significant(1e3 * point.step_s, 4),
        numbers.percent(point.step_spread, 2),
        numbers.count(point.samples_to_converge),
        numbers.fixed(point.minutes, 2),
        numbers.time(point.startup_s),
        f"{point.evaluations:g}",
        f"{split}, {mapping.name}",
    )


def _notes(report: OwnLogsReport) -> Iterator[Block]:
    for item in report.points:
        if not item.published:
            name = item.mapping.name
            yield Note(
                f"{item.point.id}: this mapping is not published; stored and ordered as in {name}", "!", Tone.WARNING
            )


def _remarks(remarks: tuple[Remark, ...], verbose: bool) -> Iterator[Block]:
    if not remarks:
        return
    yield Heading(f"{numbers.counted(len(remarks), 'remark')} on the logs")
    shown = remarks if verbose else remarks[:MOST_REMARKS]
    yield from (Note(remark.text, remark.where, Tone.PLAIN) for remark in shown)
    if len(shown) < len(remarks):
        yield Note(f"and {len(remarks) - len(shown)} more: -v", "", Tone.QUIET)


def _errors(report: OwnLogsReport) -> DocTable:
    columns = (
        Column("quantity"),
        Column("point"),
        Column("measured", number=True, priority=1),
        Column("shipped", number=True),
        Column("fitted", number=True),
    )
    rows = [
        (
            QUANTITIES[item.quantity],
            item.id,
            numbers.time(item.measured_s, 4),
            numbers.signed_percent(item.before),
            numbers.signed_percent(item.after),
        )
        for quantity in QUANTITIES
        for item in report.errors
        if item.quantity == quantity
    ]
    return DocTable(columns, tuple(rows))
