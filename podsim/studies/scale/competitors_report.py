"""Competitors beside machines of growing size, as lines, a table and series of the chart."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from podsim.planning.competitors import Competitor
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocSeries, DocTable, Heading, Note
from podsim.report.views.grades_view import short_grade
from podsim.report.views.published_runs_view import best_published
from podsim.studies.scale.result import ScaleReport

MOST_ROUNDS = 2  # of MLPerf, each named


def _machines(report: ScaleReport) -> Iterator[tuple[str, tuple[Competitor, ...]]]:
    """Sizes of each competitor."""
    for name, sizes in groupby(report.against, key=lambda item: item.machine):
        yield name, tuple(sizes)


def line(report: ScaleReport, *, verbose: bool) -> Iterator[Note]:
    """One size of each competitor with its interval, its newest published run, and its cost."""
    if not report.against:
        return
    texts = [_short(sizes) for _, sizes in _machines(report)]
    without = [name for name, sizes in _machines(report) if _cost(sizes[0]) is None]
    if without:
        texts.append(f"price of {', '.join(without)} not published: compared by time only")
    yield Note("; ".join(texts), "Against", hint="" if verbose else "-v lists every size")


def _cost(item: Competitor) -> str | None:
    """Cost of a run on a competitor; None where it is not known."""
    money = item.prediction.money
    return numbers.money(money.run_usd.value, money.currency) if money and money.run_usd else None


def _short(sizes: Sequence[Competitor]) -> str:
    """The size with a run of the newest round, of several the largest."""
    item = max(sizes, key=lambda item: (max((run.round for run in item.published), default=""), item.prediction.chips))
    time = numbers.format_estimate(item.prediction.time_to_train_s, numbers.TIME)
    best_time, cost = best_published(item.published), _cost(item)
    also = f", published {best_time}" if best_time else ""
    return f"{item.name} {time.text} ({time.interval}){also}{f', {cost} to train' if cost else ''}"


def table(report: ScaleReport) -> Iterator[Block]:
    """Every size of every competitor with its published runs."""
    if not report.against:
        return
    unit = numbers.scale([item.prediction.time_to_train_s.value for item in report.against], numbers.TIME)
    yield Heading("Competitors, by scaling laws of their own published results")
    columns = (
        Column("Machine"),
        Column(f"Time, {unit.unit}", number=True),
        Column("90 %", number=True, priority=1),
        Column("Published", wraps=True),
        Column("Samples/s", number=True, priority=3),
        Column("Training cost", number=True, priority=2),
        Column("Evidence", priority=1),
    )
    yield DocTable(columns, tuple(_row(item, unit) for item in report.against))


def _row(item: Competitor, unit: numbers.Scale) -> tuple[str, ...]:
    p = item.prediction
    time = p.time_to_train_s
    return (
        item.name,
        unit.number(time.value),
        f"{unit.number(time.low)} – {unit.number(time.high)}",
        ", ".join(f"{unit.number(run.time_to_train_s)} ({run.round})" for run in item.published),
        numbers.significant(p.throughput_samples_per_s.value),
        _cost(item) or numbers.NO_VALUE,
        short_grade(time),
    )


def series(report: ScaleReport, unit: numbers.Scale) -> Iterator[DocSeries]:
    """A curve of each competitor over its chips, with its interval."""
    for name, sizes in _machines(report):
        times = [(item.prediction.chips, item.prediction.time_to_train_s) for item in sizes]
        yield DocSeries(
            name,
            tuple((float(chips), time.value / unit.factor) for chips, time in times),
            band=tuple((time.low / unit.factor, time.high / unit.factor) for _, time in times),
        )


def published_points(report: ScaleReport, unit: numbers.Scale) -> tuple[tuple[float, float], ...]:
    """Published runs of competitors as points of the chart."""
    return tuple(
        (float(item.prediction.chips), run.time_to_train_s / unit.factor)
        for item in report.against
        for run in item.published
    )


def published_label(report: ScaleReport) -> str:
    """The label of published runs in the chart: that they used other global batches, else of which rounds they are."""
    if not report.against and any(
        row.prediction and time.global_batch != row.prediction.mapping.global_batch
        for row in report.rows
        for time in row.published
    ):
        return "published, other batches"
    runs = [time.round for row in report.rows for time in row.published]
    rounds = sorted({*runs, *(run.round for item in report.against for run in item.published)})
    return f"published, {' and '.join(rounds) if len(rounds) <= MOST_ROUNDS else f'{rounds[0]} to {rounds[-1]}'}"
