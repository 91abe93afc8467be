"""Constants of frameworks, and errors by framework and family, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.framework import Framework
from podsim.model.framework_costs import constants_of
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import Column, Doc, Fact, Facts, Heading, Note, Table, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.calibrate.frameworks import FrameworkFit, FrameworkGroup

NONE = "–"


def answer(found: FrameworkFit) -> str:
    """The constants in a line."""
    return ", ".join(f"{name} {numbers.time(item.value, 3)}" for name, item in found.costs.fitted.items())


def document(found: FrameworkFit) -> Doc:
    """Constants with their errors, then the errors of rates."""
    facts = tuple(
        Fact(name, numbers.time(item.value, 3), "", f"± {100 * item.error:.0f} %", item.meaning)
        for name, item in found.costs.fitted.items()
    )
    columns = (
        Column("framework"),
        Column("family", wraps=True),
        Column("rows", number=True, priority=1),
        Column("without", number=True),
        Column("in sample", number=True),
        Column("held out", number=True),
        Column("mean", number=True, priority=3),
    )
    rows = [_row(one, one.family) for one in found.groups]
    whole = [_row(one, "all") for one in found.by_framework.values()]
    written = (Note(f"written to {found.path}", "", Tone.QUIET),) if found.path else ()
    return Doc((
        (Heading(f"frameworks, fitted to {found.costs.rows} published training rates"), Facts(facts)),
        (
            Heading("errors of throughput: median in size by framework and family, mean signed"),
            Table(columns, (*rows, *whole)),
        ),
        (Note(reference(), "", Tone.QUIET), *written),
    ))  # fmt: skip


def _row(one: FrameworkGroup, family: str) -> tuple[str, ...]:
    """A framework and family; where no constant enters its predictions nothing is in sample, and nothing held out."""
    fitted = bool(constants_of(one.framework))
    return (
        str(one.framework), family, str(len(one.before)), _size(one.before),
        _size(one.in_sample) if fitted else NONE, _size(one.held_out) if fitted else NONE,
        numbers.signed_percent(sum_in_order(one.held_out) / len(one.held_out)),
    )  # fmt: skip


def reference() -> str:
    """The frameworks that no constant is fitted for."""
    names = ", ".join(one.value for one in Framework if not constants_of(one))
    return (
        f"{names}: no constant is fitted, so their errors are those without any framework; rows of popart and "
        "tensorflow1 are the reference that says what a workload's own error is"
    )


def _size(errors: Sequence[float]) -> str:
    sizes = sorted(map(abs, errors))
    middle = len(sizes) // 2
    value = sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2
    return f"{100 * value:.1f} %"
