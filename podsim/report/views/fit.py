"""What a fit found, as a document."""

from collections.abc import Iterator

from podsim.model.calibration import FittedParameter
from podsim.model.validation import FitReport
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, Heading, Note, Table, Tone
from podsim.report.views.validation import three


def answer(report: FitReport) -> str:
    """The answer in one line: "mean 2.4 %, held out 3.6 %"."""
    return f"mean {three(report.in_sample)[0]}, held out {three(report.held_out)[0]}"


def document(report: FitReport) -> Doc:
    """What `calibrate` found."""
    free, points = len(report.parameters), report.in_sample.count
    head = f"{points} points, {free} free parameters, least squares on log step time, {report.evaluations} evaluations"
    return Doc((
        (Heading(head),),
        (_parameters(report), *(Note(warning, "!", Tone.WARNING) for warning in report.warnings)),
        tuple(_fit_errors(report)),
    ))  # fmt: skip


def _parameters(report: FitReport) -> Table:
    columns = (
        Column("parameter"),
        Column("value", number=True),
        Column("±", number=True, priority=1),
        Column("prior", number=True, priority=2),
        Column("± prior", number=True, priority=4),
        Column("pull", number=True, priority=3),
        Column("meaning", priority=5, wraps=True),
    )

    def row(name: str, found: FittedParameter) -> tuple[str, ...]:
        pull = f"{numbers.fixed(found.pull, 1)} σ"
        return (
            name,
            numbers.significant(found.value),
            numbers.percent(found.error, 0 if found.error >= 0.1 else 1),
            numbers.significant(found.prior),
            numbers.percent(found.prior_error),
            pull if pull.startswith("−") else f"+{pull}",
            found.meaning,
        )

    return Table(columns, tuple(row(name, found) for name, found in report.parameters.items()))


def _fit_errors(report: FitReport) -> Iterator[Block]:
    rows = tuple(
        (name, *three(found)) for name, found in (("in sample", report.in_sample), ("held out", report.held_out))
    )
    columns = (Column("error"), *(Column(name, number=True) for name in ("mean", "signed", "worst")))
    yield Table(columns, rows)
    yield Note(f"wrote {report.path}" if report.path else "nothing was written", "", Tone.QUIET)
