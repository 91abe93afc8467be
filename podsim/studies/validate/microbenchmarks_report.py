"""Published microbenchmarks beside predictions, as a document."""

import math
from collections import Counter
from collections.abc import Iterator

from podsim.model.checks import SUCCESS, verdict
from podsim.model.microbenchmark import ComparedMeasurement, FamilySummary, MicrobenchmarkReport, Statistic
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone

BAR_WORDS = {
    Statistic.MEDIAN: "median",
    Statistic.MEAN: "mean",
    Statistic.NINE_IN_TEN: "90 %",
    Statistic.WORST: "all",
}


def answer(report: MicrobenchmarkReport) -> str:
    """The answer in one line: "FAIL, 11 of 13 families within their limits, 1,512 rows"."""
    summaries = [summary for summary in report.summaries if summary.verdict]
    passes = sum(summary.verdict == SUCCESS for summary in summaries)
    rows = f"{len(report.compared):,} rows"
    return f"{verdict(passed=not report.misses)}, {passes} of {len(summaries)} families within their limits, {rows}"


def document(report: MicrobenchmarkReport, *, verbose: bool = False) -> Doc:
    """Errors by family with their bars, and why rows are left out; `verbose` lists every row."""
    groups: list[tuple[Block, ...]] = [
        (Heading("Errors by family"), _summary(report)),
    ]
    if report.compared:
        if any(item.verdict for item in report.summaries):
            groups.append((Heading("Limits, by rows that a constant was fitted to and others"), *_bar_rows(report)))
        groups.append((Heading("Rows that a constant was fitted to, apart"), _constants(report)))
    if verbose:
        for summary in report.summaries:
            rows = [item for item in report.compared if item.family == summary.family.key]
            groups.append((Heading(summary.family.title), _rows(rows)))
        groups.append((Heading("Left out"), _left_out_rows(report)))
    else:
        groups.append((Heading("Left out"), _left_out(report)))
    groups.append(tuple(_verdict(report, verbose=verbose)))
    return Doc(tuple(groups))


def _summary(report: MicrobenchmarkReport) -> DocTable:
    columns = (
        Column("Family", wraps=True),
        Column("Rows", number=True),
        Column("Median", number=True),
        Column("90 % within", number=True, priority=1),
        Column("Mean", number=True, priority=3),
        Column("Signed", number=True, priority=2),
        Column("Worst", number=True, priority=4),
        Column("Limit", priority=1),
        Column("", priority=0),
    )
    return DocTable(columns, tuple(_family(summary) for summary in report.summaries))


def _bar_rows(report: MicrobenchmarkReport) -> Iterator[Block]:
    """What rows each bar is laid on."""
    columns = (
        Column("Family", wraps=True),
        Column("Fitted", number=True),
        Column("Median", number=True),
        Column("Not fitted", number=True),
        Column("Median", number=True),
        Column(""),
    )
    yield DocTable(
        columns,
        tuple(
            (
                summary.family.title,
                f"{summary.fitted:,}",
                _median(summary.median_abs_fitted),
                f"{summary.not_fitted:,}",
                _median(summary.median_abs_not_fitted),
                summary.verdict,
            )
            for summary in report.summaries
            if summary.verdict
        ),
    )
    if report.only_fitted:
        titles = ", ".join(summary.family.title for summary in report.only_fitted)
        yield Note(
            f"{titles}: a constant was fitted to or read from every row, so a limit that is met says how well it "
            "describes its own rows, and is no evidence for others",
            "",
            Tone.QUIET,
        )


def _median(value: float) -> str:
    return numbers.NO_VALUE if math.isnan(value) else numbers.percent(value, 1)


def _constants(report: MicrobenchmarkReport) -> DocTable:
    """Rows that podsim has no constant from, and those of each constant."""
    columns = (
        Column("Constant", wraps=True),
        Column("Rows", number=True),
        Column("Median", number=True),
        Column("90 % within", number=True, priority=1),
        Column("Signed", number=True),
    )
    return DocTable(
        columns,
        tuple(
            (
                summary.family.title,
                f"{summary.count:,}",
                numbers.percent(summary.median_abs, 1),
                numbers.percent(summary.nine_in_ten_abs, 1),
                numbers.signed_percent(summary.mean_signed),
            )
            for summary in report.by_constant
        ),
    )


def _family(summary: FamilySummary) -> tuple[str, ...]:
    return (
        summary.family.title,
        f"{summary.count:,}",
        numbers.percent(summary.median_abs, 1),
        numbers.percent(summary.nine_in_ten_abs, 1),
        numbers.percent(summary.mean_abs, 1),
        numbers.signed_percent(summary.mean_signed),
        numbers.signed_percent(summary.worst, 0),
        ", ".join(f"{BAR_WORDS[bar.statistic]} ≤ {numbers.percent(bar.limit)}" for bar in summary.family.bars),
        summary.verdict,
    )


def _rows(rows: list[ComparedMeasurement]) -> DocTable:
    columns = (
        Column("Row"),
        Column("What", wraps=True, priority=1),
        Column("Shape", wraps=True, priority=2),
        Column("Precision", priority=4),
        Column("Fitted", wraps=True, priority=5),
        Column("Measured", number=True, priority=3),
        Column("Predicted", number=True, priority=3),
        Column("Unit", priority=3),
        Column("Error", number=True),
    )
    return DocTable(
        columns,
        tuple(
            (
                item.row.id,
                item.row.what,
                item.row.shape_text,
                item.row.precision,
                item.fitted,
                numbers.significant(item.row.value, 4),
                numbers.significant(item.predicted, 4),
                item.row.unit,
                numbers.signed_percent(item.error),
            )
            for item in rows
        ),
    )


def _left_out(report: MicrobenchmarkReport) -> DocTable:
    reasons = Counter(item.reason for item in report.left_out)
    columns = (Column("Rows", number=True), Column("Reason", wraps=True))
    return DocTable(columns, tuple((f"{count:,}", reason) for reason, count in reasons.most_common()))


def _left_out_rows(report: MicrobenchmarkReport) -> DocTable:
    columns = (
        Column("Row"),
        Column("What", wraps=True, priority=1),
        Column("Shape", wraps=True, priority=2),
        Column("Reason", wraps=True),
    )
    return DocTable(
        columns, tuple((item.row.id, item.row.what, item.row.shape_text, item.reason) for item in report.left_out)
    )


def _verdict(report: MicrobenchmarkReport, *, verbose: bool) -> Iterator[Block]:
    for summary, bar in report.misses:
        size, limit = numbers.percent(summary.size(bar.statistic), 1), numbers.percent(bar.limit)
        yield Note(f"{summary.family.title}: {BAR_WORDS[bar.statistic]} {size}, limit {limit}", "outside", Tone.WARNING)
        if summary.family.why:
            yield Note(summary.family.why, "", Tone.QUIET)
    yield Note(
        f"{answer(report)} · {len(report.left_out):,} left out · an error is predicted over measured, less one, in the"
        f" unit of the source",
        "",
        Tone.QUIET,
        hint="" if verbose else "-v lists every row",
    )
