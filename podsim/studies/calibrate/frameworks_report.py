"""Constants of frameworks, and errors by framework and family, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.framework import Framework
from podsim.model.framework_costs import constants_of
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.calibration.framework_fit import FrameworkFit, FrameworkGroup

NONE = "–"


def answer(fit: FrameworkFit) -> str:
    """The constants in a line."""
    return ", ".join(f"{name} {numbers.time(item.value, 3)}" for name, item in fit.costs.fitted.items())


def document(fit: FrameworkFit) -> Doc:
    """Constants with their errors, then the errors of rates."""
    facts = tuple(
        Fact(name, numbers.time(item.value, 3), "", f"± {100 * item.error:.0f} %", item.meaning)
        for name, item in fit.costs.fitted.items()
    )
    columns = (
        Column("Framework"),
        Column("Family", wraps=True),
        Column("Rows", number=True, priority=1),
        Column("Without", number=True),
        Column("In sample", number=True),
        Column("Held out", number=True),
        Column("Mean", number=True, priority=3),
    )
    rows = [_row(group, group.family) for group in fit.groups]
    whole = [_row(group, "all") for group in fit.by_framework.values()]
    path_notes = (Note(f"written to {fit.path}", "", Tone.QUIET),) if fit.path else ()
    return Doc(
        (
            (Heading(f"Frameworks, fitted to {fit.costs.rows} published training rates"), Facts(facts)),
            (
                Heading("Errors of throughput: median in size by framework and family, mean signed"),
                DocTable(columns, (*rows, *whole)),
            ),
            (Note(reference(), "", Tone.QUIET), *path_notes),
        )
    )


def _row(group: FrameworkGroup, family: str) -> tuple[str, ...]:
    """A framework and family; where no constant enters its predictions nothing is in sample, and nothing held out."""
    has_constants = bool(constants_of(group.framework))
    return (
        str(group.framework),
        family,
        str(len(group.before)),
        _size(group.before),
        _size(group.in_sample) if has_constants else NONE,
        _size(group.held_out) if has_constants else NONE,
        numbers.signed_percent(sum_in_order(group.held_out) / len(group.held_out)),
    )


def reference() -> str:
    """The frameworks that no constant is fitted for."""
    names = ", ".join(framework.value for framework in Framework if not constants_of(framework))
    return (
        f"{names}: no constant is fitted, so their errors are those without any framework; rows of popart and "
        "tensorflow1 are the baseline that shows a workload's own error"
    )


def _size(errors: Sequence[float]) -> str:
    sizes = sorted(map(abs, errors))
    middle = len(sizes) // 2
    value = sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2
    return f"{100 * value:.1f} %"
