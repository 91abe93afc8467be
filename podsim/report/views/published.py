"""Published results of whole programs beside predictions, as a document."""

from collections.abc import Iterator

from podsim.model.microbenchmark import Microbenchmark
from podsim.model.readings import LEAST_NEAR, MOST_MEDIAN, NEAR, PublishedReport, ReadRow
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, Heading, Note, Table, Tone


def answer(report: PublishedReport) -> str:
    """The answer in one line: "PASS, median 9.1 %, 93 % of 14 rows within 40 %, 33 left out"."""
    said = "MISS" if report.misses else "PASS"
    if not report.compared:
        return f"{said}, no row can be modelled, {len(report.left_out)} left out"
    return (
        f"{said}, median {numbers.percent(report.median_abs, 1)}, {numbers.percent(report.share_near)} of "
        f"{len(report.compared)} rows within {numbers.percent(NEAR)}, {len(report.left_out)} left out"
    )


def document(report: PublishedReport, *, verbose: bool = False) -> Doc:
    """Every row with its error, or why it is left out; `verbose` adds what was asked and assumed."""
    groups: list[tuple[Block, ...]] = [
        (Heading("published results beside predictions, none of them fitted"), table(report)),
        tuple(_why(report)),
        (Heading("left out"), left_out(report)),
        tuple(_assumed(report)) if verbose else (),
        tuple(_verdict(report, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def table(report: PublishedReport) -> Table:
    """One row a published row that can be modelled."""
    columns = (
        Column("row"),
        Column("what", wraps=True),
        Column("where", priority=3, wraps=True),
        Column("precision", priority=2),
        Column("measured", number=True),
        Column("predicted", number=True),
        Column("unit", priority=1),
        Column("error", number=True),
    )
    return Table(columns, tuple(
        (number(one.row), one.row.what, where(one.row), one.row.precision, as_published(one.row),
         numbers.significant(one.predicted, 4), one.row.unit, numbers.signed_percent(one.error))
        for one in report.compared
    ))  # fmt: skip


def left_out(report: PublishedReport) -> Table:
    """One row a published row that cannot be modelled."""
    columns = (Column("row", priority=1), Column("what", wraps=True), Column("published", number=True, priority=2),
               Column("unit", priority=2), Column("why not", wraps=True))  # fmt: skip
    return Table(columns, tuple(
        (number(one.row), one.row.what, as_published(one.row), one.row.unit, one.reason)
        for one in report.left_out
    ))  # fmt: skip


def number(row: Microbenchmark) -> str:
    """Which line of the file: "12" of published-0012."""
    return str(int(row.id.rpartition("-")[2])) if row.id.rpartition("-")[2].isdigit() else row.id


def as_published(row: Microbenchmark) -> str:
    """The measured value with the digits of its source."""
    return f"{row.value:,.12g}"


def where(row: Microbenchmark) -> str:
    """Machine, chips and grid as published: "pod16", "2 × gc200, 10000x10000"."""
    ipus = row.shape.get("ipus", "")
    chips = f"{ipus} × {row.chip}" if ipus and row.chip else row.chip
    return ", ".join(part for part in (row.shape.get("machine", "") or chips, row.shape.get("grid", "")) if part)


def _why(report: PublishedReport) -> Iterator[Block]:
    """What is suspected where a row is far off, and what speaks against other rows."""
    told = [one for one in report.compared if one.conflict or (one.reading.why and not one.near)]
    if told:
        yield Heading("why")
    for one in told:
        if one.reading.why and not one.near:
            yield Note(one.reading.why, number(one.row))
        if one.conflict:
            yield Note(one.conflict, number(one.row))


def _assumed(report: PublishedReport) -> Iterator[Block]:
    yield Heading("asked and assumed")
    for one in report.compared:
        if one.reading.workload:
            yield Note("; ".join([asked(one), *(f"assumed: {text}" for text in one.reading.assumed)]), number(one.row))


def asked(one: ReadRow) -> str:
    """The question in flags: "train conformer --topology pod16 --preset published"."""
    reading = one.reading
    named = (
        ("topology", reading.machine), ("chip", reading.chip), ("preset", reading.preset),
        ("replicas", reading.replicas), ("ipus-per-replica", reading.ipus_per_replica),
        ("micro-batch", reading.micro_batch), ("accumulation", reading.accumulation), ("batch", reading.batch),
        ("precision", reading.precision), ("sdk", reading.sdk), *(("set", change) for change in reading.changes),
    )  # fmt: skip
    flags = [f"--{name} {value}" for name, value in named if value]
    return " ".join([str(reading.mode), reading.workload, *flags])


def _verdict(report: PublishedReport, *, verbose: bool) -> Iterator[Block]:
    for name in report.misses:
        if name == "median":
            size, bar = numbers.percent(report.median_abs, 1), f"≤ {numbers.percent(MOST_MEDIAN)}"
            yield Note(f"median absolute error {size}, bar {bar}", "outside", Tone.WARNING)
        else:
            size, bar = numbers.percent(report.share_near), f"≥ {numbers.percent(LEAST_NEAR)}"
            yield Note(f"{size} of rows within {numbers.percent(NEAR)}, bar {bar}", "outside", Tone.WARNING)
    more = "" if verbose else " · -v says what was asked and assumed"
    yield Note(
        f"{answer(report)} · bars: median ≤ {numbers.percent(MOST_MEDIAN)}, {numbers.percent(LEAST_NEAR)} within "
        f"{numbers.percent(NEAR)} · an error is predicted over measured, less one{more} · {NOT_MLPERF}",
        "", Tone.QUIET,
    )  # fmt: skip
