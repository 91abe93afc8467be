"""What own logs hold and what a fit made of them, as a document."""

import math
import shlex
from collections.abc import Iterator

from podsim.model.checks import verdict
from podsim.model.mllog import Remark
from podsim.model.own_logs import OwnLogsReport, OwnPoint
from podsim.model.quantity import Estimate
from podsim.model.training import Division
from podsim.model.validation import STEP, TIME, TIME_PREDICTED_SAMPLES
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.studies.calibrate import own_verdict
from podsim.studies.calibrate import report as fit

MOST_REMARKS = 20
QUANTITIES = {STEP: "step", TIME: "time to train, own samples"}
INTERVALS = {STEP: "step", TIME_PREDICTED_SAMPLES: "time to train"}


def answer(report: OwnLogsReport) -> str:
    """The answer in one line: "PASS, 2 points of 10 runs, step time mean 4.1 % before, 0.9 % after"."""
    steps = [item for item in report.errors if item.quantity == STEP]
    before, after = (sum(abs(error) for error in column) / len(steps) for column in columns(report, STEP))
    points, runs = numbers.count_of(len(report.points), "point"), numbers.count_of(report.runs, "run")
    errors = f"step time mean {numbers.percent(before, 1)} before, {numbers.percent(after, 1)} after"
    return f"{verdict(passed=not own_verdict.warnings(report))}, {points} of {runs}, {errors}"


def columns(report: OwnLogsReport, quantity: str) -> tuple[list[float], list[float]]:
    """Errors of a quantity before and after the fit, a point each, as fractions."""
    errors = [item for item in report.errors if item.quantity == quantity]
    return [item.before for item in errors], [item.after for item in errors]


def document(report: OwnLogsReport, *, verbose: bool = False) -> Doc:
    """What was read, the points, how they err before and after the fit, and the fit."""
    make = "makes" if report.runs == 1 else "make"
    summary = (
        f"{numbers.count_of(report.runs, 'run')} {make} {numbers.count_of(len(report.points), 'calibration point')}"
    )
    head = f"{numbers.count_of(report.files, 'file')} read, {summary}" if report.files else summary
    beside = f"fitted beside {report.published} published points" if report.published else "fitted alone"
    groups: list[tuple[Block, ...]] = [
        (Heading(head), _points(report), *_notes(report)),
        (Heading(f"Errors of these points, {beside}"), _errors(report), *_verdict(report)),
        tuple(narrowing(report)),
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


def narrowing(report: OwnLogsReport) -> Iterator[Block]:
    """How much narrower the intervals of these configurations are with the fit, and what it does for others."""
    if not report.intervals:
        return
    yield Heading("90 % intervals of these configurations, for a new run")
    columns = (
        Column("Quantity"),
        Column("Point"),
        Column("Shipped", number=True),
        Column("Fitted", number=True),
        Column("Width", number=True),
    )
    rows = [
        (
            INTERVALS[quantity],
            item.id,
            _interval(item.before),
            _interval(item.after),
            f"× {numbers.with_decimals(_width(item.after) / _width(item.before), 2)}",
        )
        for quantity in INTERVALS
        for item in report.intervals
        if item.quantity == quantity
    ]
    yield DocTable(columns, tuple(rows))
    yield Note(
        "Only these configurations gain so much: published results of one machine share no error beyond the fitted "
        "parameters, so runs of one workload, release and mapping tell little of another.",
        "",
        Tone.QUIET,
    )
    for item in report.points:
        yield Note(f"{item.point.id} with its mapping", "Predict", hint=_command(item, report.path))


def _command(item: OwnPoint, path: str) -> str:
    """The command that predicts an own point as it was run."""
    point, mapping = item.point, item.mapping
    split = (
        f"--preset {mapping.name}"
        if item.published
        else f"--sdk {point.sdk} --hosts {mapping.hosts} --replicas {mapping.replicas} --ipus-per-replica "
        f"{mapping.ipus_per_replica} --micro-batch {mapping.micro_batch} --accumulation {mapping.accumulation}"
    )
    division = f" --division {point.division}" if point.division is Division.OPEN else ""
    file = shlex.quote(path) if path else "FILE"
    return f"podsim predict {point.workload} --topology {point.topology} {split}{division} --parameters {file}"


def _interval(estimate: Estimate) -> str:
    unit = numbers.scale([estimate.low, estimate.high], numbers.TIME)
    spread = numbers.spread(estimate.value, estimate.low, estimate.high, unit)
    return f"{spread.low} – {spread.high} {spread.unit}"


def _width(estimate: Estimate) -> float:
    return math.log(estimate.high / estimate.low)


def _points(report: OwnLogsReport) -> DocTable:
    columns = (
        Column("Point"),
        Column("Runs", number=True),
        Column("Step, ms", number=True),
        Column("Spread", number=True, priority=2),
        Column("Samples", number=True, priority=1),
        Column("Minutes", number=True),
        Column("Start-up", number=True, priority=3),
        Column("Evals/run", number=True, priority=3),
        Column("Mapping", priority=4),
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
        numbers.with_decimals(point.minutes, 2),
        numbers.time(point.startup_s),
        numbers.significant(point.evaluations),
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
    yield Heading(f"{numbers.count_of(len(remarks), 'remark')} on the logs")
    visible_remarks = remarks if verbose else remarks[:MOST_REMARKS]
    yield from (Note(remark.text, remark.where, Tone.PLAIN) for remark in visible_remarks)
    if len(visible_remarks) < len(remarks):
        yield Note(f"and {len(remarks) - len(visible_remarks)} more: -v", "", Tone.QUIET)


def _errors(report: OwnLogsReport) -> DocTable:
    columns = (
        Column("Quantity"),
        Column("Point"),
        Column("Measured", number=True, priority=1),
        Column("Shipped", number=True),
        Column("Fitted", number=True),
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
