"""The table of machines of a scaling study: a row a machine, with what the next smaller one adds to it."""

from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate
from podsim.report import numbers
from podsim.report.doc import Column, DocTable
from podsim.report.views.grades_view import grade_of_run
from podsim.studies.predict.sequence_report import batches
from podsim.studies.scale import cost_report, step_shares
from podsim.studies.scale import unknown_length_report as untimed_scaling
from podsim.studies.scale.result import ScaleReport, ScaleRow

WORTH_A_DIGIT = 0.005  # of a time: a saving that is shown even if it is less than a digit of the time
EFFICIENCY = "Efficiency: speed-up over growth in IPUs."
OF_THROUGHPUT = "Throughput efficiency: throughput per IPU vs the first machine."
SAVED_NOTE = "Saved: against the machine before."
EXTRA_NOTE = "Extra cost: against the machine before."
MOST_NOTED = 8  # machines beyond which the short screen has no line left for what is saved against which
OVERHEAD = "Overhead: share of the run before, between and after steps."


def machines(report: ScaleReport, *, verbose: bool) -> DocTable:
    """A row a machine; `verbose` adds shares of a step."""
    if not report.has_length:
        return untimed_scaling.machines(report)
    unit = numbers.scale([prediction.time_to_train_s.value for prediction in report.predictions], numbers.TIME)
    level = numbers.level(report.interval)
    saved_note, extra_note = (SAVED_NOTE, EXTRA_NOTE) if verbose or len(report.rows) <= MOST_NOTED else ("", "")
    columns = (
        Column("Machine"),
        Column("IPUs", number=True, priority=10),
        Column(f"Time, {unit.unit}", number=True),
        Column(level, number=True, priority=1),
        Column(f"Saved, {unit.unit}", number=True, priority=4, note=saved_note),
        Column("Published", number=True, priority=3, note=_batches_published(report, verbose=verbose)),
        Column("Samples/s", number=True, priority=6),
        Column("Efficiency", number=True, priority=3, note=_efficiency(report)),
        Column("Cost/run", number=True, priority=2),
        Column("Extra cost", number=True, priority=5, note=extra_note),
        Column("Evidence", priority=1),
    )
    details = (
        Column("Per IPU", number=True, priority=9),
        Column("Throughput efficiency", number=True, priority=7, note=OF_THROUGHPUT),
        Column("Bubble", number=True, priority=7, note=step_shares.NOTE),
        Column("All-reduces", number=True, priority=6, note=step_shares.NOTE),
        Column("Cross-rack overhead", number=True, priority=6, note=step_shares.NOTE),
        Column("Overhead", number=True, priority=8, note=OVERHEAD),
        Column("Global batch", number=True, priority=8),
    )
    before: list[Prediction | None] = [None]
    for row in report.rows[:-1]:
        before.append(row.prediction or before[-1])
    rows = tuple(
        (
            *_cells(row, unit, smaller),
            *cost_report.rent_cells(report, row),
            *(_details(row) if verbose else ()),
            *_lasting(report, row, unit),
        )
        for row, smaller in zip(report.rows, before, strict=True)
    )
    rents = cost_report.rent_columns(report)
    return DocTable((*columns, *rents, *(details if verbose else ()), *_lasting_columns(report, unit)), rows)


def _efficiency(report: ScaleReport) -> str:
    """What the column means; of machines of several chips it compares these too."""
    several = len({prediction.chip for prediction in report.predictions}) > 1
    return f"{EFFICIENCY.removesuffix('.')}, whatever the chip." if several else EFFICIENCY


def _lasting_columns(report: ScaleReport, unit: numbers.Scale) -> tuple[Column, ...]:
    """What failures make of a run, where they are asked for."""
    if not any(prediction.goodput for prediction in report.predictions):
        return ()
    return Column("Goodput", number=True, priority=1), Column(f"Ends in, {unit.unit}", number=True, priority=1)


def _lasting(report: ScaleReport, row: ScaleRow, unit: numbers.Scale) -> tuple[str, ...]:
    if not _lasting_columns(report, unit):
        return ()
    result = row.prediction.goodput if row.prediction else None
    return (numbers.percent(result.goodput.mean, 1), unit.number(result.finish_s.mean)) if result else ("", "")


def _cells(row: ScaleRow, unit: numbers.Scale, smaller: Prediction | None) -> tuple[str, ...]:
    """The cells of a machine; minutes saved and money added are against the next smaller one that has an answer."""
    published_times = ", ".join(f"{unit.number(time.time_to_train_s)} ({time.round})" for time in row.published[-1:])
    p = row.prediction
    if p is None:
        return row.topology, f"{row.ipus:,}", "no", "", "", published_times, *([""] * 5)
    time = _in_unit(p.time_to_train_s, unit)
    saved_time = (
        "" if smaller is None else _time_saved(smaller.time_to_train_s.value, p.time_to_train_s.value, unit, time)
    )
    extra = None if smaller is None else cost_report.extra_usd(smaller, p)
    return (
        row.topology,
        f"{row.ipus:,}",
        time.number,
        time.interval,
        saved_time,
        published_times,
        numbers.significant(p.throughput_samples_per_s.value),
        numbers.percent(row.time_efficiency),
        cost_report.cell(p),
        "" if extra is None or p.money is None else cost_report.with_sign(extra, p.money.currency),
        grade_of_run(p),
    )


def _time_saved(before_s: float, after_s: float, unit: numbers.Scale, after: numbers.FormattedEstimate) -> str:
    """A difference of times [s] in the unit of its column, with no more decimals than the time `after` has.

    One that these would round to nothing has one digit, where it is worth a digit of a time of three.
    """
    shorter_s = before_s - after_s
    text = unit.number(shorter_s)
    most = len(after.number.partition(".")[2])
    if len(text.partition(".")[2]) <= most:
        return text
    rounded_text = numbers.with_decimals(shorter_s / unit.factor, most)
    is_lost = not rounded_text.strip("−0.") and abs(shorter_s) >= WORTH_A_DIGIT * after_s
    return numbers.significant(shorter_s / unit.factor, 1) if is_lost else rounded_text


def _in_unit(estimate: Estimate, unit: numbers.Scale) -> numbers.FormattedEstimate:
    return numbers.spread(estimate.value, estimate.low, estimate.high, unit, numbers.is_coarse(estimate))


def _details(row: ScaleRow) -> tuple[str, ...]:
    """Where a step goes, and at which batch."""
    p = row.prediction
    if p is None:
        return ("",) * 7
    outside_s = p.run.startup_s + p.run.evaluation_s + p.run.checkpoint_s
    return (
        numbers.significant(p.throughput_samples_per_s.value / p.ipus),
        numbers.percent(row.efficiency),
        *step_shares.cells(p),
        numbers.percent(outside_s / p.run.total_s),
        batches(p),
    )


def _batches_published(report: ScaleReport, *, verbose: bool) -> str:
    """That published runs used other batches; the verbose screen lists them."""
    return "Published runs used other batches." if other_batches(report) and not verbose else ""


def other_batches(report: ScaleReport) -> list[str]:
    """The published runs whose global batch is not that of the prediction, with both."""
    return [
        f"{row.topology} {time.global_batch:,} in {time.round}, here {row.prediction.mapping.global_batch:,}"
        for row in report.rows
        for time in row.published[-1:]
        if row.prediction and time.global_batch != row.prediction.mapping.global_batch
    ]
