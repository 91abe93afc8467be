"""Errors of results left out of everything that is learned, as a document."""

from podsim.model.validation import POOLED, POOLED_GROUPINGS, STEP, TIME, TIME_OWN_SAMPLES, HoldOuts
from podsim.report.doc import NOT_MLPERF, Column, Doc, Heading, Note, Table, Tone
from podsim.report.numbers import percent
from podsim.report.views.validation import three

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
    found = (f"{LEFT_OUT[by]} {three(one[STEP])[0]}" for by, one in report.hold_outs.items())
    return f"step time without {', '.join(found)}"


def document(report: HoldOuts) -> Doc:
    """A table for each quantity, then the forms that were chosen."""
    tables = tuple((Heading(title), _table(report, quantity)) for quantity, title in TITLES.items())
    chosen = "; ".join(f"without {name}: {form}" for found in report.forms.values() for name, form in found.items())
    covered = tuple(
        (Heading(f"90 % intervals: {title}"), _intervals(report, quantity)) for quantity, title in TITLES.items()
    )
    notes = (
        Note(chosen, "sharded state", Tone.QUIET),
        Note(f"each fitted again from the priors, the form chosen again · {NOT_MLPERF}", "", Tone.QUIET),
    )
    return Doc((*tables, *covered, notes))


def _table(report: HoldOuts, quantity: str) -> Table:
    columns = (
        Column("left out of all that is learned"),
        Column("points", number=True),
        *(Column(name, number=True) for name in ("mean", "signed", "worst")),
    )
    rows = (
        (LEFT_OUT[by], f"{found[quantity].count}", *three(found[quantity])) for by, found in report.hold_outs.items()
    )
    return Table(columns, tuple(rows))


def _intervals(report: HoldOuts, quantity: str) -> Table:
    columns = (
        Column("left out of all that is learned"),
        *(Column(name, number=True) for name in ("points", "held", "share", "median width", "widest")),
    )
    rows = []
    for by, found in report.intervals.items():
        one = found[quantity]
        widths = (f"× {width:.2f}" for width in (one.median_width, one.widest))
        rows.append((_what(by), f"{one.count}", f"{one.held}", percent(one.share), *widths))
    return Table(columns, tuple(rows))


def _what(by: str) -> str:
    return LEFT_OUT[by] if by != POOLED else f"pooled: {', '.join(LEFT_OUT[one] for one in POOLED_GROUPINGS)}"
