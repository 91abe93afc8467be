"""What a fit found, as a document."""

from collections.abc import Iterator, Sequence

from podsim.model.calibration import FittedParameter
from podsim.model.error_summary import ErrorSummary
from podsim.model.validation import FitReport
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.report.views.validation_view import three


def answer(report: FitReport) -> str:
    """The answer in one line: "mean 2.4 %, held out 3.6 %"."""
    held_out = f", held out {three(report.held_out)[0]}" if report.held_out else ""
    return f"mean {three(report.in_sample)[0]}{held_out}"


def document(report: FitReport) -> Doc:
    """What `calibrate` found."""
    free, points = len(report.parameters), report.in_sample.count
    head = f"{points} points, {free} free parameters, least squares on log step time, {report.evaluations} evaluations"
    return Doc(
        (
            (Heading(head),),
            (_parameters(report), *(Note(warning, "!", Tone.WARNING) for warning in report.warnings)),
            tuple(_fit_errors(report)),
            *(((Heading("Start-up, evaluation, checkpoints: fitted apart"), _apart(report)),) if report.apart else ()),
            (Note(f"wrote {report.path}" if report.path else _not_written(report), "", Tone.QUIET),),
        )
    )


def _parameters(report: FitReport) -> DocTable:
    columns = (
        Column("Parameter"),
        Column("Value", number=True),
        Column("±", number=True, priority=1),
        Column("Prior", number=True, priority=2),
        Column("± prior", number=True, priority=4),
        Column("Pull", number=True, priority=3),
        Column("Meaning", priority=5, wraps=True),
    )

    def row(name: str, parameter: FittedParameter) -> tuple[str, ...]:
        pull = f"{numbers.with_decimals(parameter.pull, 1)} σ"
        return (
            name,
            numbers.file_quantity(parameter.value, parameter.unit),
            numbers.percent(parameter.error, 0 if parameter.error >= 0.1 else 1),
            numbers.file_quantity(parameter.prior, parameter.unit),
            numbers.percent(parameter.prior_error),
            pull if pull.startswith("−") else f"+{pull}",
            parameter.meaning,
        )

    return DocTable(columns, tuple(row(name, parameter) for name, parameter in report.parameters.items()))


def _fit_errors(report: FitReport) -> Iterator[Block]:
    rows = [("in sample", report.in_sample)]
    if report.held_out:
        rows.append((f"each {report.hold_out} held out", report.held_out))
    yield errors([*rows, *((f"without {name}", group) for name, group in report.groups.items())])


def errors(rows: Sequence[tuple[str, ErrorSummary]]) -> DocTable:
    """Count, mean, signed mean and worst error, a row each."""
    columns = (
        Column("Step time"),
        Column("Points", number=True, priority=1),
        *(Column(name, number=True) for name in ("Mean", "Signed", "Worst")),
    )
    return DocTable(columns, tuple((name, f"{summary.count}", *three(summary)) for name, summary in rows))


def _not_written(report: FitReport) -> str:
    why = "; without held-out errors the width of intervals is not known" if report.hold_out == "none" else ""
    return f"nothing was written{why}"


def _apart(report: FitReport) -> DocTable:
    columns = (
        Column("Part"),
        Column("Taken as", wraps=True),
        Column("Points", number=True, priority=2),
        Column("Spread", number=True, priority=1),
        Column("Held-out mean", number=True),
        Column("Release held out", number=True, priority=1),
    )

    def percent(error: float | None) -> str:
        return numbers.NO_VALUE if error is None else numbers.percent(error, 1)

    rows = tuple(
        (
            fit.part,
            fit.form,
            f"{fit.points}",
            percent(fit.spread),
            percent(fit.held_out),
            percent(fit.release_held_out),
        )
        for fit in report.apart
    )
    return DocTable(columns, rows)
