"""Own calibration as a page: each run against its prediction, what the fit is worth, what to measure next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from podsim.model.own_logs import OwnLogsReport, RunPrediction
from podsim.model.quantity import Estimate
from podsim.model.sums import sum_in_order
from podsim.model.validation import STEP, TIME
from podsim.report import numbers
from podsim.report.doc import Block, Chart, ChartAxis, Column, Doc, DocSeries, DocTable, Heading, Note, Tone, label
from podsim.report.handout import Handout, arrange
from podsim.studies.calibrate import own_logs_report, own_verdict

TITLES: Final = {STEP: "Step time", TIME: "Time to train, for the samples of each run"}
LADDERS: Final[Mapping[str, numbers.Ladder]] = {STEP: numbers.STEP_TIME, TIME: numbers.TIME}
ASIDE: Final = 0.12
"""How far predictions before and after the fit stand beside the number of their run."""
MOST_NUMBERS: Final = 20
MISSED_TARGET: Final = "missed its target"


def page(report: OwnLogsReport, _question: Mapping[str, Any] | None) -> Handout:
    """Verdict, charts and tables of runs, errors before and after, bounds, what to measure next; then the fit."""
    runs = numbers.count_of(report.runs, "run")
    machines = ", ".join(dict.fromkeys(f"{item.point.workload} on {item.point.topology}" for item in report.points))
    groups: list[tuple[Block, ...]] = [
        (Heading(f"Own calibration: {runs} of {machines}"), *_verdict(report)),
        *(_each_run(report, quantity) for quantity in TITLES),
        (Heading("Error of step times"), _errors(report)),
        (Heading("Parameters at a bound"), _bounds(report)),
        (Heading("Measure next"), Note(f"{label(own_verdict.measure_next(report))}.")),
    ]
    fit = own_logs_report.document(report, verbose=True).groups
    return arrange(Doc(tuple(groups)), f"{label(own_logs_report.answer(report))}.", fit)


def _verdict(report: OwnLogsReport) -> Iterator[Note]:
    warnings = own_verdict.warnings(report)
    if not warnings:
        worst = max((item.after for item in report.errors if item.quantity == STEP), key=abs)
        text = f"The fit meets these runs: the step time of the point furthest off is {numbers.signed_percent(worst)}."
        yield Note(text, "", Tone.STRONG)
    yield from (Note(text, "", Tone.WARNING) for text in warnings)


def _each_run(report: OwnLogsReport, quantity: str) -> tuple[Block, ...]:
    """A chart of predicted against measured, and a table of the runs."""
    rows = [item for item in report.predictions if item.quantity == quantity]
    if not rows:
        return ()
    unit = numbers.scale([item.measured_s for item in rows], LADDERS[quantity])
    return (
        Heading(f"{TITLES[quantity]}: {_inside(report, quantity)}"),
        _chart(rows, f"{TITLES[quantity].partition(',')[0]}: predicted over measured, each run"),
        _table(rows, unit),
    )


def _inside(report: OwnLogsReport, quantity: str) -> str:
    inside, total = own_verdict.runs_inside(report, quantity)
    return f"{inside:,} of {total:,} inside the 90 % interval of the fit"


def _chart(rows: Sequence[RunPrediction], title: str) -> Chart:
    """How far predictions of each run lie from what was measured, before and after the fit, with their intervals."""

    def series(name: str, aside: float, estimates: Sequence[Estimate]) -> DocSeries:
        errors = [
            tuple(100 * (seconds / item.measured_s - 1) for seconds in (estimate.value, estimate.low, estimate.high))
            for item, estimate in zip(rows, estimates, strict=True)
        ]
        return DocSeries(
            name,
            tuple((number + aside, value) for number, (value, _, _) in enumerate(errors, 1)),
            joined=False,
            band=tuple((low, high) for _, low, high in errors),
        )

    return Chart(
        title,
        ChartAxis("run, as numbered below", ticks=_numbers(len(rows))),
        ChartAxis("predicted over measured, %"),
        (
            series("shipped parameters, 90 % interval", -ASIDE, [item.shipped for item in rows]),
            series("fitted to these runs, 90 % interval", ASIDE, [item.fitted for item in rows]),
            DocSeries("measured", ((0.5, 0.0), (len(rows) + 0.5, 0.0))),
        ),
    )


def _numbers(count: int) -> tuple[float, ...]:
    """Numbers of runs that stand below the chart."""
    every = math.ceil(count / MOST_NUMBERS)
    return tuple(float(number) for number in range(1, count + 1, every))


def _table(rows: Sequence[RunPrediction], unit: numbers.Scale) -> DocTable:
    columns = (
        Column("", number=True),
        Column("Point"),
        Column("Run"),
        Column("Seed", number=True, priority=3),
        Column(f"Measured, {unit.unit}", number=True),
        Column("Shipped", number=True, priority=1),
        Column("Fitted", number=True),
        Column("90 %", number=True),
        Column("Error", number=True),
        Column("Inside"),
    )
    return DocTable(columns, tuple((str(number), *_row(item, unit)) for number, item in enumerate(rows, 1)))


def _row(item: RunPrediction, unit: numbers.Scale) -> tuple[str, ...]:
    fitted_time = numbers.spread(item.fitted.value, item.fitted.low, item.fitted.high, unit)
    inside = "yes" if item.inside else "no"
    return (
        item.point,
        item.run,
        numbers.NO_VALUE if item.seed is None else str(item.seed),
        unit.number(item.measured_s, 4),
        unit.number(item.shipped.value),
        fitted_time.number,
        fitted_time.interval,
        numbers.signed_percent(item.fitted.value / item.measured_s - 1),
        inside if item.reached else f"{inside}, {MISSED_TARGET}",
    )


def _errors(report: OwnLogsReport) -> DocTable:
    """In sample and held out, before and after the fit."""
    steps = [item for item in report.errors if item.quantity == STEP]
    own_before, own_after = (
        sum_in_order(map(abs, column)) / len(steps) for column in own_logs_report.columns(report, STEP)
    )
    beside = f"these and {report.published} published" if report.published else "these alone"
    rows = (
        ("your points, mean", own_before, own_after),
        (f"in sample, mean ({beside})", report.in_sample_before, report.in_sample_after),
        ("each machine size held out, rms", report.held_out_before, report.held_out_after),
    )
    columns = (Column("Step time"), Column("Shipped parameters", number=True), Column("Fitted", number=True))
    percent = partial(numbers.percent, decimals=1)
    return DocTable(columns, tuple((name, percent(before), percent(after)) for name, before, after in rows))


def _bounds(report: OwnLogsReport) -> Block:
    if not report.bounds:
        return Note("None: every fitted parameter lies inside its plausible range.")
    columns = (
        Column("Parameter"),
        Column("Value", number=True),
        Column("Plausible range", number=True),
        Column("Meaning", wraps=True),
    )
    rows = tuple(
        (
            item.name,
            numbers.file_quantity(item.value, item.unit),
            f"{numbers.file_quantity(item.least, item.unit)} – {numbers.file_quantity(item.most, item.unit)}",
            item.meaning,
        )
        for item in report.bounds
    )
    return DocTable(columns, rows)
