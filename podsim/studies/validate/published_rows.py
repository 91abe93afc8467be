"""Rows of published results one by one: what was asked, read and assumed of each, as tables and notes."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from podsim.model.microbenchmark import Microbenchmark
from podsim.model.published import (
    MOST_SPREAD,
    OtherReading,
    PublishedReport,
    ReadRow,
    Sample,
)
from podsim.model.readings import Option, RowReading
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone

NONE: Final = "–"
APPLICATION: Final = "application"


def every_row(report: PublishedReport) -> Iterator[Block]:
    """Every row: of those that may be read in several ways the range of answers."""
    alone = [row for row in report.compared if not row.others]
    several = [row for row in report.compared if row.others]
    yield Heading("Rows that are read in one way")
    yield table(alone)
    if several:
        yield Heading("Rows that leave something unsaid")
        yield ranges(several)
        yield from _interpretation_blocks(several)


def table(rows: Sequence[ReadRow]) -> DocTable:
    """One row a published row that says enough."""
    columns = (
        Column("Row"),
        Column("What", wraps=True),
        Column("Where", priority=5, wraps=True),
        Column("Framework", priority=4),
        Column("Precision", priority=3),
        Column("Fit"),
        Column("Measured", number=True),
        Column("Predicted", number=True),
        Column("90 %", number=True, priority=2),
        Column("Unit", priority=1),
        Column("Error", number=True),
        Column("Held out", number=True, priority=1),
    )
    return DocTable(
        columns,
        tuple(
            (
                number(row.row),
                row.family,
                where(row.row),
                row.framework,
                row.row.precision,
                sample(row),
                as_published(row.row),
                numbers.significant(row.predicted, 4),
                interval(row),
                row.row.unit,
                numbers.signed_percent(row.error),
                _error_held_out(row),
            )
            for row in rows
        ),
    )


def sample(row: ReadRow) -> str:
    """Whether a constant is fitted to a row: "yes" in sample, "ref." where it does not enter; a dash in no fit."""
    return {Sample.IN_SAMPLE: "yes", Sample.REFERENCE: "ref."}.get(row.sample, NONE)


def _error_held_out(row: ReadRow) -> str:
    return NONE if math.isnan(row.fit.held_out) else numbers.signed_percent(row.fit.held_out)


def interval(row: ReadRow) -> str:
    """The 90 % interval in the unit of the row; a dash where podsim gives none."""
    if not row.has_interval:
        return NONE
    return f"{numbers.significant(row.low_90, 3)} – {numbers.significant(row.high_90, 3)}"


def ranges(rows: Sequence[ReadRow]) -> DocTable:
    """One row a published row that may be read in several ways, with the least and the most that podsim answers."""
    columns = (
        Column("Row"),
        Column("What", wraps=True),
        Column("Where", priority=5, wraps=True),
        Column("Precision", priority=4),
        Column("Fit"),
        Column("Measured", number=True),
        Column("Predicted", number=True),
        Column("Error", number=True),
        Column("Least – most", number=True, priority=1),
        Column("In range", priority=2),
        Column("Unit", priority=3),
    )
    return DocTable(
        columns,
        tuple(
            (
                number(row.row),
                row.family,
                where(row.row),
                row.row.precision,
                sample(row),
                as_published(row.row),
                numbers.significant(row.predicted, 4),
                numbers.signed_percent(row.error),
                f"{numbers.significant(row.low, 3)} – {numbers.significant(row.high, 3)}",
                "yes" if row.in_range else "no",
                row.row.unit,
            )
            for row in rows
        ),
    )


def _interpretation_blocks(rows: Sequence[ReadRow]) -> Iterator[Block]:
    moved_rows = [row for row in rows if not row.is_determined]
    yield Note(
        f"predicted and error are of the stated choice, least and most of all readings that fit; they move the answer "
        f"to {len(moved_rows)} of {len(rows)} rows by {numbers.percent(MOST_SPREAD - 1)} or more",
        "",
        Tone.QUIET,
    )
    yield Note(f"the range holds {sum(row.in_range for row in rows)} of {len(rows)} measured values")


def number(row: Microbenchmark) -> str:
    """Which line of its file: "12" of published-0012, "A12" of application-0012."""
    file, _, line = row.id.rpartition("-")
    if not line.isdecimal():
        return row.id
    return f"{'A' if file == APPLICATION else ''}{int(line)}"


def as_published(row: Microbenchmark) -> str:
    """The measured value with the digits of its source."""
    return f"{row.value:,.12g}"


def where(row: Microbenchmark) -> str:
    """Machine, chips and grid as published: "pod16", "2 × gc200, 10000x10000"."""
    ipus = row.shape.get("ipus", "")
    chips = f"{ipus} × {row.chip}" if ipus and row.chip else row.chip
    return ", ".join(part for part in (row.shape.get("machine", "") or chips, row.shape.get("grid", "")) if part)


def why(report: PublishedReport) -> Iterator[Block]:
    """What is suspected where a row is far off, and what speaks against other rows."""
    rows = [item for item in report.compared if item.conflict or (item.reading.why and not item.near)]
    if rows:
        yield Heading("Why")
    for row in rows:
        if row.reading.why and not row.near:
            yield Note(row.reading.why, number(row.row))
        if row.conflict:
            yield Note(row.conflict, number(row.row))


def assumptions(report: PublishedReport) -> Iterator[Block]:
    """The question that stands for each row, what it assumes, and other readings of it."""
    yield Heading("Asked and assumed")
    for row in report.compared:
        if row.reading.workload or row.reading.operator:
            yield Note(
                "; ".join([question_text(row.reading), *(f"assumed: {text}" for text in row.reading.assumed)]),
                number(row.row),
            )
    several = [item for item in report.compared if item.others]
    if several:
        yield Heading("Every reading of rows that leave something unsaid")
        yield readings(several)
        yield Heading("Why each is plausible")
        options = dict.fromkeys(option for item in several for option in _options(item))
        for option in options:
            yield Note(option.reason, option.name)


def _options(row: ReadRow) -> Iterator[Option]:
    for options in (row.options, *(other.options for other in row.others)):
        yield from options


def readings(rows: Sequence[ReadRow]) -> DocTable:
    """One row a reading; the stated choice of a published row comes first."""
    columns = (
        Column("Row"),
        Column("Read as", wraps=True),
        Column("Batch", number=True, priority=1),
        Column("Predicted", number=True),
        Column("Unit", priority=2),
        Column("Error", number=True),
    )
    texts: list[tuple[str, ...]] = []
    for row in rows:
        stated_reading = OtherReading(reading=row.reading, options=row.options, predicted=row.predicted)
        for other in (stated_reading, *row.others):
            error = "does not fit" if other.refused else numbers.signed_percent(other.predicted / row.row.value - 1)
            texts.append(
                (
                    number(row.row),
                    " · ".join(option.name for option in other.options),
                    str(other.reading.batch or ""),
                    "" if other.refused else numbers.significant(other.predicted, 4),
                    row.row.unit,
                    error,
                )
            )
    return DocTable(columns, tuple(texts))


def question_text(reading: RowReading) -> str:
    """The question in flags: "train conformer --topology pod16 --preset published"."""
    flag_values = (
        ("topology", reading.machine),
        ("preset", reading.preset),
        ("replicas", reading.replicas),
        ("ipus-per-replica", reading.ipus_per_replica),
        ("micro-batch", reading.micro_batch),
        ("accumulation", reading.accumulation),
        ("batch", reading.batch),
        ("clients", reading.clients),
        ("samples", reading.samples),
        ("precision", reading.precision),
        ("sdk", reading.sdk),
        *(("set", change) for change in reading.changes),
    )
    flags = [f"--{name} {value}" for name, value in flag_values if value]
    sizes = [f"--{size.replace('=', ' ')}" for size in reading.sizes]
    return " ".join([str(reading.mode), reading.workload or reading.operator, *sizes, *flags])
