"""Published microbenchmarks beside predictions, as a document."""

import math
from collections import Counter
from collections.abc import Iterator

from podsim.model.microbenchmark import Compared, FamilySummary, MicrobenchmarkReport, Statistic
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, Heading, Note, Table, Tone

BAR_WORDS = {
    Statistic.MEDIAN: "median",
    Statistic.MEAN: "mean",
    Statistic.NINE_IN_TEN: "90 %",
    Statistic.WORST: "all",
}


def answer(report: MicrobenchmarkReport) -> str:
    """The answer in one line: "MISS, 11 of 13 families inside their bars, 1,512 rows"."""
    judged = [one for one in report.summaries if one.verdict]
    passed = sum(one.verdict == "PASS" for one in judged)
    said = "MISS" if report.misses else "PASS"
    return f"{said}, {passed} of {len(judged)} families inside their bars, {len(report.compared):,} rows"


def document(report: MicrobenchmarkReport, *, verbose: bool = False) -> Doc:
    """Errors by family with their bars, and why rows are left out; `verbose` lists every row."""
    groups: list[tuple[Block, ...]] = [
        (Heading("errors by family"), _summary(report)),
    ]
    if report.compared:
        if any(one.verdict for one in report.summaries):
            groups.append((Heading("bars, by rows that a constant was fitted to and others"), *_fitted(report)))
        groups.append((Heading("rows that a constant was fitted to, apart"), _constants(report)))
    if verbose:
        for one in report.summaries:
            rows = [item for item in report.compared if item.family == one.family.key]
            groups.append((Heading(one.family.title), _rows(rows)))
        groups.append((Heading("left out"), _left_out_rows(report)))
    else:
        groups.append((Heading("left out"), _left_out(report)))
    groups.append(tuple(_verdict(report, verbose=verbose)))
    return Doc(tuple(groups))


def _summary(report: MicrobenchmarkReport) -> Table:
    columns = (
        Column("family", wraps=True),
        Column("rows", number=True),
        Column("median", number=True),
        Column("90 % within", number=True, priority=1),
        Column("mean", number=True, priority=3),
        Column("signed", number=True, priority=2),
        Column("worst", number=True, priority=4),
        Column("bar", priority=1),
        Column("", priority=0),
    )
    return Table(columns, tuple(_family(one) for one in report.summaries))


def _fitted(report: MicrobenchmarkReport) -> Iterator[Block]:
    """What rows each bar is laid on."""
    columns = (
        Column("family", wraps=True), Column("fitted", number=True), Column("median", number=True),
        Column("not fitted", number=True), Column("median", number=True), Column(""),
    )  # fmt: skip
    yield Table(columns, tuple(
        (one.family.title, f"{one.fitted:,}", _median(one.median_abs_fitted), f"{one.not_fitted:,}",
         _median(one.median_abs_not_fitted), one.verdict)
        for one in report.summaries if one.verdict
    ))  # fmt: skip
    if report.only_fitted:
        titles = ", ".join(one.family.title for one in report.only_fitted)
        yield Note(
            f"{titles}: a constant was fitted to or read from every row, so a bar that is passed says how well it "
            "describes its own rows, and is no evidence for others", "", Tone.QUIET,
        )  # fmt: skip


def _median(value: float) -> str:
    return numbers.UNKNOWN if math.isnan(value) else numbers.percent(value, 1)


def _constants(report: MicrobenchmarkReport) -> Table:
    """Rows that podsim has no constant from, and those of each constant."""
    columns = (Column("constant", wraps=True), Column("rows", number=True), Column("median", number=True),
               Column("90 % within", number=True, priority=1), Column("signed", number=True))  # fmt: skip
    return Table(columns, tuple(
        (one.family.title, f"{one.count:,}", numbers.percent(one.median_abs, 1),
         numbers.percent(one.nine_in_ten_abs, 1), numbers.signed_percent(one.mean_signed))
        for one in report.by_constant
    ))  # fmt: skip


def _family(one: FamilySummary) -> tuple[str, ...]:
    return (
        one.family.title,
        f"{one.count:,}",
        numbers.percent(one.median_abs, 1),
        numbers.percent(one.nine_in_ten_abs, 1),
        numbers.percent(one.mean_abs, 1),
        numbers.signed_percent(one.mean_signed),
        numbers.signed_percent(one.worst, 0),
        ", ".join(f"{BAR_WORDS[bar.statistic]} ≤ {numbers.percent(bar.limit)}" for bar in one.family.bars),
        one.verdict,
    )


def _rows(rows: list[Compared]) -> Table:
    columns = (
        Column("row"),
        Column("what", wraps=True, priority=1),
        Column("shape", wraps=True, priority=2),
        Column("precision", priority=4),
        Column("fitted", wraps=True, priority=5),
        Column("measured", number=True, priority=3),
        Column("predicted", number=True, priority=3),
        Column("unit", priority=3),
        Column("error", number=True),
    )
    return Table(columns, tuple(
        (item.row.id, item.row.what, item.row.shape_text, item.row.precision, item.fitted,
         numbers.significant(item.row.value, 4), numbers.significant(item.predicted, 4), item.row.unit,
         numbers.signed_percent(item.error))
        for item in rows
    ))  # fmt: skip


def _left_out(report: MicrobenchmarkReport) -> Table:
    reasons = Counter(item.reason for item in report.left_out)
    columns = (Column("rows", number=True), Column("reason", wraps=True))
    return Table(columns, tuple((f"{count:,}", reason) for reason, count in reasons.most_common()))


def _left_out_rows(report: MicrobenchmarkReport) -> Table:
    columns = (Column("row"), Column("what", wraps=True, priority=1), Column("shape", wraps=True, priority=2),
               Column("reason", wraps=True))  # fmt: skip
    return Table(columns, tuple(
        (item.row.id, item.row.what, item.row.shape_text, item.reason) for item in report.left_out
    ))  # fmt: skip


def _verdict(report: MicrobenchmarkReport, *, verbose: bool) -> Iterator[Block]:
    for one, bar in report.misses:
        size, limit = numbers.percent(one.size(bar.statistic), 1), numbers.percent(bar.limit)
        yield Note(f"{one.family.title}: {BAR_WORDS[bar.statistic]} {size}, bar {limit}", "outside", Tone.WARNING)
        if one.family.why:
            yield Note(one.family.why, "", Tone.QUIET)
    more = "" if verbose else " · -v lists every row"
    yield Note(
        f"{answer(report)} · {len(report.left_out):,} left out · an error is predicted over measured, less one, in the"
        f" unit of the source{more}", "", Tone.QUIET,
    )  # fmt: skip
