"""How the throughput of a run whose length is not stated scales: what stands in place of its time to train."""

from podsim.report import numbers
from podsim.report.doc import Column, DocTable, Note
from podsim.report.views import unknown_length_view
from podsim.report.views.grades_view import short_grade
from podsim.studies.scale import step_shares
from podsim.studies.scale.result import ScaleReport, ScaleRow

EFFICIENCY = "Efficiency: throughput per IPU vs the first machine."


def answer(report: ScaleReport) -> str:
    """The answer in one line: "878 samples/s on 16 IPUs to 3,400 on 64: 3.9 × for 4 × the IPUs"."""
    first, last = report.predictions[0], report.predictions[-1]
    rates = [prediction.throughput_samples_per_s.value for prediction in (first, last)]
    small = f"{numbers.significant(rates[0])} samples/s on {first.ipus:,} IPUs"
    if first is last:
        return small
    large = f"{numbers.significant(rates[1])} on {last.ipus:,}"
    gain, times = numbers.short(rates[1] / rates[0]), numbers.short(last.ipus / first.ipus)
    return f"{small} to {large}: {gain}× for {times}× the IPUs"


def machines(report: ScaleReport) -> DocTable:
    """A row a machine: throughput and efficiency in place of time."""
    step = numbers.scale([prediction.step_s.value for prediction in report.predictions], numbers.STEP_TIME)
    columns = (
        Column("Machine"),
        Column("IPUs", number=True, priority=10),
        Column("Samples/s", number=True),
        Column(numbers.level(report.interval), number=True, priority=4),
        Column("Per IPU", number=True, priority=9),
        Column("Efficiency", number=True, priority=1, note=EFFICIENCY),
        Column("Bubble", number=True, priority=7, note=step_shares.NOTE),
        Column("All-reduces", number=True, priority=5, note=step_shares.NOTE),
        Column("Cross-rack overhead", number=True, priority=6, note=step_shares.NOTE),
        Column(f"Step, {step.unit}", number=True, priority=3),
        Column("Global batch", number=True, priority=8),
        Column("SRAM", number=True, priority=6),
        Column("Evidence", priority=1),
    )
    return DocTable(columns, tuple(_cells(row, step) for row in report.rows))


def _cells(row: ScaleRow, step: numbers.Scale) -> tuple[str, ...]:
    p = row.prediction
    if p is None:
        return row.topology, f"{row.ipus:,}", "no", *([""] * 10)
    rate = p.throughput_samples_per_s
    figures = 2 if numbers.is_coarse(rate) else 3
    return (
        row.topology,
        f"{row.ipus:,}",
        numbers.significant(rate.value, figures),
        f"{numbers.significant(rate.low, figures)} – {numbers.significant(rate.high, figures)}",
        numbers.significant(rate.value / p.ipus, figures),
        numbers.percent(row.efficiency or 0.0),
        *step_shares.cells(p),
        step.number(p.step_s.value, figures),
        f"{p.mapping.global_batch:,}",
        numbers.percent(p.memory.fraction),
        short_grade(rate),
    )


def legend(report: ScaleReport) -> tuple[Note, ...]:
    """Which flags would give a time to train."""
    return (Note(unknown_length_view.missing(report.predictions[0].length_flags), "Time to train"),)
