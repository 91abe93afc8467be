"""Errors of results left out of everything that is learned, as a document."""

from podsim.model.validation import POOLED_GROUP, STEP, TIME, TIME_OWN_SAMPLES, HoldOuts
from podsim.report.doc import NOT_MLPERF, Column, Doc, DocTable, Heading, Note, Tone
from podsim.report.numbers import percent
from podsim.report.views.validation_view import three

TITLES = {
    STEP: "step time",
    TIME_OWN_SAMPLES: "time to train, with the runs' own samples",
    TIME: "time to train, with predicted samples",
}
LEFT_OUT = {
    "machine": "each machine size",
    "round": "each round",
    "workload": "each workload",
    "larger": "more than 64 IPUs",
    "chip": "Bow, with SDK 2.5",
}


def answer(report: HoldOuts) -> str:
    """The answer in one line: the mean errors of step times."""
    texts = (f"{LEFT_OUT[by]} {three(hold_out[STEP])[0]}" for by, hold_out in report.hold_outs.items())
    return f"step time without {', '.join(texts)}"


def document(report: HoldOuts) -> Doc:
    """A table for each quantity, then the forms that were chosen."""
    tables = tuple((Heading(title), _table(report, quantity)) for quantity, title in TITLES.items())
    forms = "; ".join(f"without {name}: {form}" for table in report.forms.values() for name, form in table.items())
    interval_tables = tuple(
        (Heading(f"90 % intervals: {title}"), _intervals(report, quantity)) for quantity, title in TITLES.items()
    )
    notes = (
        Note(forms, "sharded state", Tone.QUIET),
        Note(f"each fitted again from the priors, the form chosen again · {NOT_MLPERF}", "", Tone.QUIET),
    )
    return Doc((*tables, *interval_tables, notes))


def _table(report: HoldOuts, quantity: str) -> DocTable:
    columns = (
        Column("Left out of every fit"),
        Column("Points", number=True),
        *(Column(name, number=True) for name in ("Mean", "Signed", "Worst")),
    )
    rows = (
        (LEFT_OUT[by], f"{hold_out[quantity].count}", *three(hold_out[quantity]))
        for by, hold_out in report.hold_outs.items()
    )
    return DocTable(columns, tuple(rows))


def _intervals(report: HoldOuts, quantity: str) -> DocTable:
    columns = (
        Column("Left out of every fit"),
        *(Column(name, number=True) for name in ("Points", "Held", "Share", "Median width", "Widest")),
    )
    rows = []
    for by, interval in report.intervals.items():
        intervals = interval[quantity]
        widths = (f"× {width:.2f}" for width in (intervals.median_width, intervals.widest))
        rows.append((_what(by), f"{intervals.count}", f"{intervals.held}", percent(intervals.share), *widths))
    return DocTable(columns, tuple(rows))


def _what(by: str) -> str:
    return LEFT_OUT[by] if by != POOLED_GROUP else "larger machines, rounds and chip, pooled"
