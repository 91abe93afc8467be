"""Published results of complete programs beside predictions, as a document."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from podsim.model.checks import verdict
from podsim.model.published import (
    NEAR,
    FrameworkErrors,
    LeftOutRow,
    PublishedReport,
    RowGroup,
    Sample,
    Statement,
    Summary,
)
from podsim.model.published_bars import FITTED_APART, FRAMEWORKS, LEAST_FAMILIES, BarResult, any_missed, bars, has_bar
from podsim.model.readings import Mode
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.studies.validate.published_rows import NONE, as_published, assumptions, every_row, number, why

MODES: Final = {
    Mode.TRAIN: "train",
    Mode.INFER: "infer",
    Mode.LATENCY: "latency",
    Mode.TILES: "program",
    Mode.KERNEL: "kernel",
    Mode.POWER: "power",
    Mode.RATIO: "ratio",
    Mode.SOFTWARE: "ratio",
}
KINDS: Final = {
    "networks": "networks, configuration stated",
    "networks_not_fitted": "… of these not fitted",
    "networks_in_sample": "… of these in sample",
    "networks_not_stated": "networks, configuration not stated",
    "networks_chip_not_stated": "networks, chip not stated: once for each it could be",
    "latencies": "latencies of batches",
    "programs": "other programs",
    "kernels": "kernels, timed by the host",
    "power_kernels": "power of one IPU in kernels, in sample",
    "power_systems": "power of machines",
    "ratios": "ratios",
}
CONFIGURATIONS: Final = {
    Statement.YES: "configuration stated",
    Statement.NOT: "configuration not stated",
    Statement.NO_CHIP: "chip not stated: once for each it could be",
}
MOST_NUMBERS: Final = 2


def answer(report: PublishedReport) -> str:
    """The answer in one line: networks whose configuration is stated, bars, and how many rows there are."""
    results = bars(report)
    text = verdict(passed=not any_missed(report))
    if not report.compared:
        return f"{text}, no row can be modelled, {len(report.left_out)} left out"
    met_limits = sum(result.passes for result in results)
    apart = {name: report.networks.only(*samples) for name, samples in FITTED_APART.items()}
    figures = "; ".join(
        f"{len(summary.rows)} {name}: {_figures(summary)}" for name, summary in apart.items() if summary.rows
    )
    return (
        f"{text}, {met_limits} of {len(results)} limits met; "
        f"networks with their configuration stated: {figures or 'none'}; "
        f"{len(report.compared)} rows predicted, {len(report.left_out)} left out"
    )


def _figures(summary: Summary) -> str:
    """Figures of rows: "median 9.1 %, 93 % within 25 %, 12 of 14 inside 90 %"."""
    near = f"{numbers.percent(summary.share_near)} within {numbers.percent(NEAR)}"
    return f"median {numbers.percent(summary.median_abs, 1)}, {near}, {inside(summary)} inside 90 %"


def inside(summary: Summary) -> str:
    """Rows inside their interval, of those that have one: "12 of 14"; a dash where none has."""
    return f"{summary.inside} of {summary.with_interval}" if summary.with_interval else NONE


def document(report: PublishedReport, *, verbose: bool = False) -> Doc:
    """Groups of rows, sums, bars and reasons; `verbose` adds every row, what was asked and what was assumed."""
    groups: list[tuple[Block, ...]] = [
        tuple(_families(report)),
        (Heading("Summary, at the stated choices"), summaries(report)),
        tuple(_frameworks(report)),
        (Heading("Limits"), bar_table(bars(report))),
        (*every_row(report),) if verbose else (),
        tuple(why(report)),
        (Heading("Left out"), left_out(report) if verbose else reasons(report)),
        tuple(assumptions(report)) if verbose else (),
        tuple(_verdict(report, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def _families(report: PublishedReport) -> Iterator[Block]:
    yield Heading("Predictions compared with published results")
    yield Note(fits(report), "", Tone.QUIET)
    for (mode, is_stated), groups in groupby(report.groups, key=lambda group: (group.mode, group.stated)):
        yield Heading(f"{MODES[mode]}, {CONFIGURATIONS[is_stated]}")
        yield families(tuple(groups))


def families(groups: Sequence[RowGroup]) -> DocTable:
    """One row a family and framework."""
    columns = (
        Column("Family", wraps=True),
        Column("Framework"),
        Column("Rows", number=True),
        Column("Fitted"),
        Column("Median", number=True),
        Column("Held out", number=True, priority=1),
        Column("Mean", number=True, priority=4),
        Column("Worst", number=True, priority=3),
        Column("Inside 90 %", number=True, priority=2),
    )
    return DocTable(
        columns,
        tuple(
            (
                group.family,
                group.framework or NONE,
                str(len(group.summary.rows)),
                samples(group.summary),
                numbers.percent(group.summary.median_abs, 1),
                _held_out(group.summary),
                numbers.signed_percent(group.summary.mean),
                numbers.signed_percent(group.summary.worst),
                inside(group.summary),
            )
            for group in groups
        ),
    )


def samples(summary: Summary) -> str:
    """Of what kind rows are: "in sample", or where they differ how many of each, "6 in sample, 1 not fitted"."""
    counts = summary.samples
    if len(counts) == 1:
        return NONE if Sample.NOT_FITTED in counts else str(*counts)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _held_out(summary: Summary) -> str:
    held_out = summary.held_out
    return numbers.percent(held_out.median_abs, 1) if held_out.errors else NONE


def fits(report: PublishedReport) -> str:
    """Which rows constants are fitted to, counted."""
    rows = report.compared
    if not any(row.sample is not Sample.NOT_FITTED for row in rows):
        return "no constant is fitted to a row of these"
    count = {kind: sum(row.sample is kind for row in rows) for kind in Sample}
    constants = dict.fromkeys(name for row in rows for name in row.fit.constants)
    return (
        f"of {len(rows)} rows {count[Sample.IN_SAMPLE]} are in sample: constants fitted to them or read off them enter "
        f"their predictions ({', '.join(constants)}); {count[Sample.REFERENCE]} are the reference of the constants of "
        f"frameworks, which do not enter their predictions; {count[Sample.NOT_FITTED]} are in no fit · the five "
        "parameters of steps are fitted to results of MLPerf of BERT and ResNet-50, families of which rows here are too"
    )


def _frameworks(report: PublishedReport) -> Iterator[Block]:
    """Frameworks with each family left out, and what holds of those without a constant."""
    errors = report.frameworks
    if not errors:
        return
    yield Heading("Frameworks, each family predicted without its own rows of that framework")
    yield by_framework(errors)
    free = [error.framework for error in errors if not error.constants]
    if free:
        yield Note(
            f"{', '.join(free)}: no constant of this framework is fitted, so no row of it is in sample and leaving a "
            "family out moves no prediction",
            "",
            Tone.QUIET,
        )
    if report.outdated:
        yield Note(
            f"{', '.join(report.outdated)}: calibration/frameworks.toml is not of a fit to these rows; "
            "podsim calibrate --frameworks writes it",
            "outdated",
            Tone.WARNING,
        )


def by_framework(errors: Sequence[FrameworkErrors]) -> DocTable:
    """One row a framework: in sample, held out, or as predicted where no constant of it is fitted."""
    columns = (
        Column("Framework"),
        Column("Families", number=True, priority=1),
        Column("Rows", number=True, priority=2),
        Column("In sample", number=True),
        Column("Held out", number=True),
        Column("Nothing fitted", number=True),
        Column("Limit", number=True, priority=1),
        Column(""),
    )
    return DocTable(columns, tuple(map(_framework, errors)))


def _framework(errors: FrameworkErrors) -> tuple[str, ...]:
    as_predicted = numbers.percent(errors.summary.median_abs, 1)
    limit = FRAMEWORKS.get(errors.framework)
    text = verdict(passed=errors.judged_error <= limit) if limit and has_bar(errors) else ""
    return (
        errors.framework,
        str(errors.families),
        str(len(errors.summary.rows)),
        as_predicted if errors.constants else NONE,
        _held_out(errors.summary),
        NONE if errors.constants else as_predicted,
        f"≤ {numbers.percent(limit)}" if limit and text else NONE,
        text,
    )


def summaries(report: PublishedReport) -> DocTable:
    """Figures of each kind of row, and of all."""
    columns = (
        Column("Rows", wraps=True),
        Column("Number", number=True),
        Column("In sample", number=True, priority=3),
        Column("Median", number=True),
        Column("Mean", number=True),
        Column("Worst", number=True, priority=1),
        Column(f"Within {numbers.percent(NEAR)}", number=True, priority=2),
        Column("Inside 90 %", number=True),
    )
    summaries = {**{KINDS[name]: summary for name, summary in report.summaries.items()}, "all": report.all_rows}
    return DocTable(columns, tuple((name, *_sum(summary)) for name, summary in summaries.items() if summary.rows))


def _sum(summary: Summary) -> tuple[str, ...]:
    fitted_rows = summary.samples.get(Sample.IN_SAMPLE, 0)
    figures = (
        numbers.percent(summary.median_abs, 1),
        numbers.signed_percent(summary.mean),
        numbers.signed_percent(summary.worst),
    )
    return str(len(summary.rows)), str(fitted_rows), *figures, numbers.percent(summary.share_near), inside(summary)


def bar_table(results: Sequence[BarResult]) -> DocTable:
    """One row a bar."""
    columns = (
        Column("What", wraps=True),
        Column("Figure", wraps=True),
        Column("Rows", number=True, priority=1),
        Column("In sample", number=True, priority=2),
        Column("podsim", number=True),
        Column("Limit", number=True),
        Column(""),
    )
    return DocTable(
        columns,
        tuple(
            (
                *(result.name, result.statistic, str(result.rows), str(result.in_sample)),
                *(_size(result, result.value), _bar(result), result.verdict),
            )
            for result in results
        ),
    )


def _size(result: BarResult, value: float) -> str:
    if math.isnan(value):
        return NONE
    if result.counts:
        return f"{value:.0f}"
    return numbers.signed_percent(value) if result.least == -result.most else numbers.percent(value, 1)


def _bar(result: BarResult) -> str:
    if result.counts:
        return "none" if not result.most else f"≤ {result.most:.0f}"
    if result.least == -result.most:
        return f"± {numbers.percent(result.most)}"
    if math.isinf(result.most):
        return f"≥ {numbers.percent(result.least)}"
    return (
        f"≤ {numbers.percent(result.most)}"
        if math.isinf(result.least)
        else (f"{numbers.percent(result.least)} – {numbers.percent(result.most)}")
    )


def reasons(report: PublishedReport) -> DocTable:
    """Reasons why rows are left out, with how many each leaves out."""
    columns = (Column("Rows", number=True), Column("Which", wraps=True, priority=1), Column("Why not", wraps=True))
    return DocTable(columns, tuple((str(len(rows)), _which(rows), reason) for reason, rows in report.reasons()))


def _which(rows: Sequence[LeftOutRow]) -> str:
    """The name of a row alone; of several the first two numbers, and how many more there are."""
    if len(rows) == 1:
        return rows[0].row.what.partition(" (")[0].partition(",")[0]
    more = len(rows) - MOST_NUMBERS
    return ", ".join(number(row.row) for row in rows[:MOST_NUMBERS]) + (f" and {more} more" if more > 0 else "")


def left_out(report: PublishedReport) -> DocTable:
    """One row a published row that cannot be modelled."""
    columns = (
        Column("Row", priority=1),
        Column("What", wraps=True),
        Column("Published", number=True, priority=2),
        Column("Unit", priority=2),
        Column("Why not", wraps=True),
    )
    return DocTable(
        columns,
        tuple(
            (number(row.row), row.row.what, as_published(row.row), row.row.unit, row.reason) for row in report.left_out
        ),
    )


def _verdict(report: PublishedReport, *, verbose: bool) -> Iterator[Block]:
    yield Note(
        f"{answer(report)} · an error is predicted over measured, less one · a framework with rows of fewer than "
        f"{LEAST_FAMILIES} networks has no limit · {NOT_MLPERF}",
        "",
        Tone.QUIET,
        hint="" if verbose else "-v lists every row, what was asked and assumed, and every reading",
    )
