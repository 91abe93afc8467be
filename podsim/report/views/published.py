"""Published results of whole programs beside predictions, as a document."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from podsim.model.microbenchmark import Microbenchmark
from podsim.model.published import (
    MOST_SPREAD,
    NEAR,
    FrameworkErrors,
    Group,
    LeftOutRow,
    OtherReading,
    PublishedReport,
    ReadRow,
    Sample,
    Stated,
    Summary,
)
from podsim.model.published_bars import FITTED_APART, FRAMEWORKS, LEAST_FAMILIES, BarResult, bars, has_bar, missed
from podsim.model.readings import Mode, Option, RowReading
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, Heading, Note, Table, Tone

MODES: Final = {
    Mode.TRAIN: "train", Mode.INFER: "infer", Mode.LATENCY: "latency", Mode.TILES: "program", Mode.KERNEL: "kernel",
    Mode.RATIO: "ratio", Mode.SOFTWARE: "ratio",
}  # fmt: skip
KINDS: Final = {
    "networks": "networks, configuration stated",
    "networks_not_fitted": "… of these not fitted",
    "networks_in_sample": "… of these in sample",
    "networks_not_stated": "networks, configuration not stated",
    "networks_chip_not_stated": "networks, chip not stated: once for each it could be",
    "latencies": "latencies of batches",
    "programs": "other programs",
    "kernels": "kernels, timed by the host",
    "ratios": "ratios",
}
CONFIGURATIONS: Final = {
    Stated.YES: "configuration stated", Stated.NOT: "configuration not stated",
    Stated.NO_CHIP: "chip not stated: once for each it could be",
}  # fmt: skip
NONE: Final = "–"
MOST_NUMBERS: Final = 2
APPLICATION: Final = "application"


def answer(report: PublishedReport) -> str:
    """The answer in one line: networks whose configuration is stated, bars, and how many rows there are."""
    results = bars(report)
    said = "MISS" if missed(report) else "PASS"
    if not report.compared:
        return f"{said}, no row can be modelled, {len(report.left_out)} left out"
    passed = sum(one.passed for one in results)
    apart = {name: report.networks.only(*samples) for name, samples in FITTED_APART.items()}
    figures = "; ".join(f"{len(one.rows)} {name}: {_figures(one)}" for name, one in apart.items() if one.rows)
    return (
        f"{said}, {passed} of {len(results)} bars; networks with their configuration stated: {figures or 'none'}; "
        f"{len(report.compared)} rows predicted, {len(report.left_out)} left out"
    )


def _figures(found: Summary) -> str:
    """Figures of rows: "median 9.1 %, 93 % within 25 %, 12 of 14 inside 90 %"."""
    near = f"{numbers.percent(found.share_near)} within {numbers.percent(NEAR)}"
    return f"median {numbers.percent(found.median_abs, 1)}, {near}, {inside(found)} inside 90 %"


def inside(found: Summary) -> str:
    """Rows inside their interval, of those that have one: "12 of 14"; a dash where none has."""
    return f"{found.inside} of {found.with_interval}" if found.with_interval else NONE


def document(report: PublishedReport, *, verbose: bool = False) -> Doc:
    """Groups of rows, sums, bars and reasons; `verbose` adds every row, what was asked and what was assumed."""
    groups: list[tuple[Block, ...]] = [
        tuple(_families(report)),
        (Heading("in sum, at the stated choices"), summaries(report)),
        tuple(_frameworks(report)),
        (Heading("bars"), judged(bars(report))),
        (*_rows(report),) if verbose else (),
        tuple(_why(report)),
        (Heading("left out"), left_out(report) if verbose else reasons(report)),
        tuple(_assumed(report)) if verbose else (),
        tuple(_verdict(report, verbose=verbose)),
    ]  # fmt: skip
    return Doc(tuple(group for group in groups if group))


def _families(report: PublishedReport) -> Iterator[Block]:
    yield Heading("published results beside predictions")
    yield Note(fits(report), "", Tone.QUIET)
    for (mode, stated), groups in groupby(report.groups, key=lambda one: (one.mode, one.stated)):
        yield Heading(f"{MODES[mode]}, {CONFIGURATIONS[stated]}")
        yield families(tuple(groups))


def families(groups: Sequence[Group]) -> Table:
    """One row a family and framework."""
    columns = (
        Column("family", wraps=True),
        Column("framework"),
        Column("rows", number=True),
        Column("fitted"),
        Column("median", number=True),
        Column("held out", number=True, priority=1),
        Column("mean", number=True, priority=4),
        Column("worst", number=True, priority=3),
        Column("inside 90 %", number=True, priority=2),
    )
    return Table(columns, tuple(
        (one.family, one.framework or NONE, str(len(one.summary.rows)), samples(one.summary),
         numbers.percent(one.summary.median_abs, 1), _held_out(one.summary), numbers.signed_percent(one.summary.mean),
         numbers.signed_percent(one.summary.worst), inside(one.summary))
        for one in groups
    ))  # fmt: skip


def samples(found: Summary) -> str:
    """Of what kind rows are: "in sample", or where they differ how many of each, "6 in sample, 1 not fitted"."""
    counts = found.samples
    if len(counts) == 1:
        return NONE if Sample.NOT_FITTED in counts else str(*counts)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _held_out(found: Summary) -> str:
    held_out = found.held_out
    return numbers.percent(held_out.median_abs, 1) if held_out.errors else NONE


def fits(report: PublishedReport) -> str:
    """Which rows constants are fitted to, counted."""
    rows = report.compared
    if not any(one.sample is not Sample.NOT_FITTED for one in rows):
        return "no constant is fitted to a row of these"
    count = {kind: sum(one.sample is kind for one in rows) for kind in Sample}
    constants = dict.fromkeys(name for one in rows for name in one.fit.constants)
    return (
        f"of {len(rows)} rows {count[Sample.IN_SAMPLE]} are in sample: constants fitted to them or read off them enter "
        f"their predictions ({', '.join(constants)}); {count[Sample.REFERENCE]} are the reference of the constants of "
        f"frameworks, which do not enter their predictions; {count[Sample.NOT_FITTED]} are in no fit · the five "
        "parameters of steps are fitted to results of MLPerf of BERT and ResNet-50, families of which rows here are too"
    )


def _frameworks(report: PublishedReport) -> Iterator[Block]:
    """Frameworks with each family left out, and what holds of those without a constant."""
    found = report.frameworks
    if not found:
        return
    yield Heading("frameworks, each family predicted without its own rows of that framework")
    yield by_framework(found)
    free = [one.framework for one in found if not one.constants]
    if free:
        yield Note(
            f"{', '.join(free)}: no constant of this framework is fitted, so no row of it is in sample and leaving a "
            "family out moves no prediction", "", Tone.QUIET,
        )  # fmt: skip
    if report.outdated:
        yield Note(
            f"{', '.join(report.outdated)}: calibration/frameworks.toml is not of a fit to these rows; "
            "podsim calibrate --frameworks writes it", "outdated", Tone.WARNING,
        )  # fmt: skip


def by_framework(found: Sequence[FrameworkErrors]) -> Table:
    """One row a framework: in sample, held out, or as predicted where no constant of it is fitted."""
    columns = (
        Column("framework"), Column("families", number=True, priority=1), Column("rows", number=True, priority=2),
        Column("in sample", number=True), Column("held out", number=True), Column("nothing fitted", number=True),
        Column("bar", number=True, priority=1), Column(""),
    )  # fmt: skip
    return Table(columns, tuple(map(_framework, found)))


def _framework(one: FrameworkErrors) -> tuple[str, ...]:
    as_predicted = numbers.percent(one.summary.median_abs, 1)
    limit = FRAMEWORKS.get(one.framework)
    told = ("PASS" if one.judged <= limit else "MISS") if limit and has_bar(one) else ""
    return (
        one.framework, str(one.families), str(len(one.summary.rows)), as_predicted if one.constants else NONE,
        _held_out(one.summary), NONE if one.constants else as_predicted,
        f"≤ {numbers.percent(limit)}" if limit and told else NONE, told,
    )  # fmt: skip


def summaries(report: PublishedReport) -> Table:
    """Figures of each kind of row, and of all."""
    columns = (
        Column("rows", wraps=True),
        Column("number", number=True),
        Column("in sample", number=True, priority=3),
        Column("median", number=True),
        Column("mean", number=True),
        Column("worst", number=True, priority=1),
        Column(f"within {numbers.percent(NEAR)}", number=True, priority=2),
        Column("inside 90 %", number=True),
    )
    found = {**{KINDS[name]: one for name, one in report.summaries.items()}, "all": report.all_rows}
    return Table(columns, tuple((name, *_sum(one)) for name, one in found.items() if one.rows))


def _sum(one: Summary) -> tuple[str, ...]:
    fitted = one.samples.get(Sample.IN_SAMPLE, 0)
    figures = numbers.percent(one.median_abs, 1), numbers.signed_percent(one.mean), numbers.signed_percent(one.worst)
    return str(len(one.rows)), str(fitted), *figures, numbers.percent(one.share_near), inside(one)


def judged(results: Sequence[BarResult]) -> Table:
    """One row a bar."""
    columns = (
        Column("what", wraps=True),
        Column("figure", wraps=True),
        Column("rows", number=True, priority=1),
        Column("in sample", number=True, priority=2),
        Column("podsim", number=True),
        Column("bar", number=True),
        Column(""),
    )
    return Table(
        columns,
        tuple(
            (
                *(one.name, one.statistic, str(one.rows), str(one.in_sample)),
                *(_size(one, one.value), _bar(one), one.verdict),
            )
            for one in results
        ),
    )


def _size(one: BarResult, value: float) -> str:
    if math.isnan(value):
        return NONE
    if one.counts:
        return f"{value:.0f}"
    return numbers.signed_percent(value) if one.least == -one.most else numbers.percent(value, 1)


def _bar(one: BarResult) -> str:
    if one.counts:
        return "none" if not one.most else f"≤ {one.most:.0f}"
    if one.least == -one.most:
        return f"± {numbers.percent(one.most)}"
    if math.isinf(one.most):
        return f"≥ {numbers.percent(one.least)}"
    return f"≤ {numbers.percent(one.most)}" if math.isinf(one.least) else (
        f"{numbers.percent(one.least)} – {numbers.percent(one.most)}"
    )  # fmt: skip


def reasons(report: PublishedReport) -> Table:
    """Reasons why rows are left out, with how many each leaves out."""
    columns = (Column("rows", number=True), Column("which", wraps=True, priority=1), Column("why not", wraps=True))
    return Table(columns, tuple((str(len(rows)), _which(rows), reason) for reason, rows in report.reasons()))


def _which(rows: Sequence[LeftOutRow]) -> str:
    """The name of a row alone; of several the first two numbers, and how many more there are."""
    if len(rows) == 1:
        return rows[0].row.what.partition(" (")[0].partition(",")[0]
    more = len(rows) - MOST_NUMBERS
    return ", ".join(number(one.row) for one in rows[:MOST_NUMBERS]) + (f" and {more} more" if more > 0 else "")


def _rows(report: PublishedReport) -> Iterator[Block]:
    """Every row: of those that may be read in several ways the range of answers."""
    alone = [one for one in report.compared if not one.others]
    several = [one for one in report.compared if one.others]
    yield Heading("rows that are read in one way")
    yield table(alone)
    if several:
        yield Heading("rows that leave something unsaid")
        yield ranges(several)
        yield from _unsaid(several)


def table(rows: Sequence[ReadRow]) -> Table:
    """One row a published row that says enough."""
    columns = (
        Column("row"),
        Column("what", wraps=True),
        Column("where", priority=5, wraps=True),
        Column("framework", priority=4),
        Column("precision", priority=3),
        Column("fitted"),
        Column("measured", number=True),
        Column("predicted", number=True),
        Column("90 %", number=True, priority=2),
        Column("unit", priority=1),
        Column("error", number=True),
        Column("held out", number=True, priority=1),
    )
    return Table(columns, tuple(
        (number(one.row), one.family, where(one.row), one.framework, one.row.precision, sample(one),
         as_published(one.row), numbers.significant(one.predicted, 4), interval(one), one.row.unit,
         numbers.signed_percent(one.error), _error_held_out(one))
        for one in rows
    ))  # fmt: skip


def sample(one: ReadRow) -> str:
    """Whether a constant is fitted to a row: "yes" in sample, "ref." where it does not enter; a dash in no fit."""
    return {Sample.IN_SAMPLE: "yes", Sample.REFERENCE: "ref."}.get(one.sample, NONE)


def _error_held_out(one: ReadRow) -> str:
    return NONE if math.isnan(one.fit.held_out) else numbers.signed_percent(one.fit.held_out)


def interval(one: ReadRow) -> str:
    """The 90 % interval in the unit of the row; a dash where podsim gives none."""
    if not one.has_interval:
        return NONE
    return f"{numbers.significant(one.low_90, 3)} – {numbers.significant(one.high_90, 3)}"


def ranges(rows: Sequence[ReadRow]) -> Table:
    """One row a published row that may be read in several ways, with the least and the most that podsim answers."""
    columns = (
        Column("row"),
        Column("what", wraps=True),
        Column("where", priority=5, wraps=True),
        Column("precision", priority=4),
        Column("fitted"),
        Column("measured", number=True),
        Column("predicted", number=True),
        Column("error", number=True),
        Column("least – most", number=True, priority=1),
        Column("in range", priority=2),
        Column("unit", priority=3),
    )
    return Table(columns, tuple(
        (number(one.row), one.family, where(one.row), one.row.precision, sample(one), as_published(one.row),
         numbers.significant(one.predicted, 4), numbers.signed_percent(one.error),
         f"{numbers.significant(one.low, 3)} – {numbers.significant(one.high, 3)}",
         "yes" if one.in_range else "no", one.row.unit)
        for one in rows
    ))  # fmt: skip


def _unsaid(rows: Sequence[ReadRow]) -> Iterator[Block]:
    moved = [one for one in rows if not one.determined]
    yield Note(
        f"predicted and error are of the stated choice, least and most of all readings that fit; they move the answer "
        f"to {len(moved)} of {len(rows)} rows by {numbers.percent(MOST_SPREAD - 1)} or more",
        "", Tone.QUIET,
    )  # fmt: skip
    yield Note(f"the range holds {sum(one.in_range for one in rows)} of {len(rows)} measured values")


def left_out(report: PublishedReport) -> Table:
    """One row a published row that cannot be modelled."""
    columns = (Column("row", priority=1), Column("what", wraps=True), Column("published", number=True, priority=2),
               Column("unit", priority=2), Column("why not", wraps=True))  # fmt: skip
    return Table(columns, tuple(
        (number(one.row), one.row.what, as_published(one.row), one.row.unit, one.reason)
        for one in report.left_out
    ))  # fmt: skip


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
        if one.reading.workload or one.reading.operator:
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
        ("clients", reading.clients), ("samples", reading.samples), ("precision", reading.precision),
        ("sdk", reading.sdk), *(("set", change) for change in reading.changes),
    )  # fmt: skip
    flags = [f"--{name} {value}" for name, value in named if value]
    sizes = [f"--{size.replace('=', ' ')}" for size in reading.sizes]
    return " ".join([str(reading.mode), reading.workload or reading.operator, *sizes, *flags])


def _verdict(report: PublishedReport, *, verbose: bool) -> Iterator[Block]:
    more = "" if verbose else " · -v lists every row, what was asked and assumed, and every reading"
    yield Note(
        f"{answer(report)} · an error is predicted over measured, less one · a framework with rows of fewer than "
        f"{LEAST_FAMILIES} networks has no bar{more} · {NOT_MLPERF}",
        "", Tone.QUIET,
    )  # fmt: skip
