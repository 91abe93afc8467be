"""Constants of frameworks, and errors by framework and family, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report import numbers
from podsim.report.doc import Column, Doc, Fact, Facts, Heading, Note, Table, Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.calibrate.frameworks import FrameworkFit


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
        Column("framework"), Column("family"), Column("rows", number=True), Column("without", number=True),
        Column("in sample", number=True), Column("held out", number=True), Column("mean", number=True),
    )  # fmt: skip
    rows = [
        (str(one.framework), one.family, str(len(one.before)), _size(one.before), _size(one.in_sample),
         _size(one.held_out), numbers.signed_percent(sum(one.held_out) / len(one.held_out)))
        for one in found.groups
    ]  # fmt: skip
    whole = [
        (str(name), "all", str(len(each.before)), _size(each.before), _size(each.in_sample), _size(each.held_out),
         numbers.signed_percent(sum(each.held_out) / len(each.held_out)))
        for name, each in found.by_framework.items()
    ]  # fmt: skip
    written = (Note(f"written to {found.path}", "", Tone.QUIET),) if found.path else ()
    return Doc((
        (Heading(f"frameworks, fitted to {found.costs.rows} published training rates"), Facts(facts)),
        (
            Heading("errors of throughput: median in size by framework and family, mean signed held out"),
            Table(columns, (*rows, *whole)),
        ),
        (Note("PopART, TensorFlow 1, PopXL and PopRT are the reference and add nothing", "", Tone.QUIET), *written),
    ))  # fmt: skip


def _size(errors: Sequence[float]) -> str:
    sizes = sorted(map(abs, errors))
    middle = len(sizes) // 2
    value = sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2
    return f"{100 * value:.1f} %"
