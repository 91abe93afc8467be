"""Published results of whole programs beside predictions, as a document."""

from collections.abc import Iterator, Sequence
from typing import Final

from podsim.model.microbenchmark import Microbenchmark
from podsim.model.readings import (
    LEAST_NEAR,
    MOST_MEDIAN,
    MOST_SPREAD,
    NEAR,
    Option,
    OtherReading,
    PublishedReport,
    ReadRow,
    RowReading,
    Summary,
)
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, Heading, Note, Table, Tone

HANGING: Final = "undetermined"
JUDGED: Final = ("determined", "all")


def answer(report: PublishedReport) -> str:
    """The answer in one line, of all rows and of those that say enough; both have to clear the bars."""
    said = "MISS" if report.missed else "PASS"
    if not report.compared:
        return f"{said}, no row can be modelled, {len(report.left_out)} left out"
    every = report.all_rows
    return (
        f"{said}, all {len(every.rows)} rows: {_figures(every)}; {len(report.determined.rows)} determined: "
        f"{_figures(report.determined)}; {len(report.left_out)} left out"
    )


def _figures(found: Summary) -> str:
    """Figures beside the bars: "median 9.1 %, 93 % within 40 %, PASS"."""
    verdict = "MISS" if found.misses else "PASS"
    if not found.rows:
        return verdict
    near = f"{numbers.percent(found.share_near)} within {numbers.percent(NEAR)}"
    return f"median {numbers.percent(found.median_abs, 1)}, {near}, {verdict}"


def document(report: PublishedReport, *, verbose: bool = False) -> Doc:
    """Every row with its error, or why it is left out; `verbose` adds what was asked and assumed."""
    hanging = report.undetermined.rows
    groups: list[tuple[Block, ...]] = [
        (Heading("published results beside predictions, none of them fitted"), table(report.determined.rows)),
        (Heading("rows whose answer hangs on what they leave unsaid"), ranges(hanging), *_unsaid(hanging))
        if hanging else (),
        (Heading("in sum, at the stated choices"), summaries(report)),
        tuple(_why(report)),
        (Heading("left out"), left_out(report)),
        tuple(_assumed(report)) if verbose else (),
        tuple(_verdict(report, verbose=verbose)),
    ]  # fmt: skip
    return Doc(tuple(group for group in groups if group))


def table(rows: Sequence[ReadRow]) -> Table:
    """One row a published row that says enough."""
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
        for one in rows
    ))  # fmt: skip


def ranges(rows: Sequence[ReadRow]) -> Table:
    """One row a published row that may be read in several ways, with the least and the most that podsim answers."""
    columns = (
        Column("row"),
        Column("what", wraps=True),
        Column("where", priority=4, wraps=True),
        Column("precision", priority=3),
        Column("measured", number=True),
        Column("predicted", number=True),
        Column("error", number=True),
        Column("least – most", number=True),
        Column("inside", priority=1),
        Column("unit", priority=2),
    )
    return Table(columns, tuple(
        (number(one.row), one.row.what, where(one.row), one.row.precision, as_published(one.row),
         numbers.significant(one.predicted, 4), numbers.signed_percent(one.error),
         f"{numbers.significant(one.low, 3)} – {numbers.significant(one.high, 3)}",
         "yes" if one.inside else "no", one.row.unit)
        for one in rows
    ))  # fmt: skip


def _unsaid(rows: Sequence[ReadRow]) -> Iterator[Block]:
    yield Note(
        f"readings that are plausible before an answer is known move podsim's by {numbers.percent(MOST_SPREAD - 1)} or "
        "more; predicted and error are of the stated choice, least and most of all readings that fit",
        "", Tone.QUIET,
    )  # fmt: skip
    yield Note(f"the range holds {sum(one.inside for one in rows)} of {len(rows)} measured values")


def summaries(report: PublishedReport) -> Table:
    """Figures of the rows that say enough, of the others, of networks and of programs without one, and of all."""
    columns = (Column("rows"), Column("number", number=True), Column("median", number=True),
               Column("mean", number=True, priority=1), Column("worst", number=True),
               Column(f"within {numbers.percent(NEAR)}", number=True), Column("bars"))  # fmt: skip
    found = (("determined", report.determined), (HANGING, report.undetermined), ("networks", report.networks),
             ("other programs", report.programs), ("all", report.all_rows))  # fmt: skip
    return Table(columns, tuple(
        (name, str(len(one.rows)), numbers.percent(one.median_abs, 1), numbers.signed_percent(one.mean),
         numbers.signed_percent(one.worst), numbers.percent(one.share_near),
         "" if name not in JUDGED else "MISS" if one.misses else "PASS")
        for name, one in found if one.rows
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
    return str(int(row.id.rpartition("-")[2])) if row.id.rpartition("-")[2].isdecimal() else row.id


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
            yield Note(
                "; ".join([asked(one.reading), *(f"assumed: {text}" for text in one.reading.assumed)]), number(one.row)
            )
    several = [one for one in report.compared if one.others]
    if several:
        yield Heading("every reading of rows that leave something unsaid")
        yield readings(several)
        yield Heading("why each is plausible")
        known = dict.fromkeys(option for one in several for option in _options(one))
        for option in known:
            yield Note(option.reason, option.name)


def _options(one: ReadRow) -> Iterator[Option]:
    for options in (one.options, *(other.options for other in one.others)):
        yield from options


def readings(rows: Sequence[ReadRow]) -> Table:
    """One row a reading; the stated choice of a published row comes first."""
    columns = (Column("row"), Column("read as", wraps=True), Column("batch", number=True, priority=1),
               Column("predicted", number=True), Column("unit", priority=2), Column("error", number=True))  # fmt: skip
    found: list[tuple[str, ...]] = []
    for one in rows:
        stated = OtherReading(reading=one.reading, options=one.options, predicted=one.predicted)
        for other in (stated, *one.others):
            error = "does not fit" if other.refused else numbers.signed_percent(other.predicted / one.row.value - 1)
            found.append((
                number(one.row), " · ".join(option.name for option in other.options), str(other.reading.batch or ""),
                "" if other.refused else numbers.significant(other.predicted, 4), one.row.unit, error,
            ))  # fmt: skip
    return Table(columns, tuple(found))


def asked(reading: RowReading) -> str:
    """The question in flags: "train conformer --topology pod16 --preset published"."""
    named = (
        ("topology", reading.machine), ("preset", reading.preset),
        ("replicas", reading.replicas), ("ipus-per-replica", reading.ipus_per_replica),
        ("micro-batch", reading.micro_batch), ("accumulation", reading.accumulation), ("batch", reading.batch),
        ("precision", reading.precision), ("sdk", reading.sdk), *(("set", change) for change in reading.changes),
    )  # fmt: skip
    flags = [f"--{name} {value}" for name, value in named if value]
    return " ".join([str(reading.mode), reading.workload, *flags])


def _verdict(report: PublishedReport, *, verbose: bool) -> Iterator[Block]:
    for rows, found in (("of all rows", report.all_rows), ("of determined rows", report.determined)):
        for name in found.misses:
            if name == "median":
                size, bar = numbers.percent(found.median_abs, 1), f"≤ {numbers.percent(MOST_MEDIAN)}"
                yield Note(f"median absolute error {rows} {size}, bar {bar}", "outside", Tone.WARNING)
            else:
                size, bar = numbers.percent(found.share_near, 1), f"≥ {numbers.percent(LEAST_NEAR)}"
                yield Note(f"{size} {rows} within {numbers.percent(NEAR)}, bar {bar}", "outside", Tone.WARNING)
    more = "" if verbose else " · -v says what was asked and assumed, and every reading"
    yield Note(
        f"{answer(report)} · bars: median ≤ {numbers.percent(MOST_MEDIAN)}, {numbers.percent(LEAST_NEAR)} within "
        f"{numbers.percent(NEAR)} · an error is predicted over measured, less one{more} · {NOT_MLPERF}",
        "", Tone.QUIET,
    )  # fmt: skip
