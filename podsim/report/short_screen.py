"""Default screens have a limit of lines: what `--verbose` shows as well leaves first, by priority."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from podsim.report.doc import Block, Chart, Doc, DocTable, Fact, Facts, Note
from podsim.report.terminal import Look, render

WIDE: Final = Look(width=100)
"""The screen on which lines are counted, so that every width shows the same."""


def shorten(doc: Doc, finish: Callable[[Doc, Look], Doc], requested_labels: Collection[str] = ()) -> Doc:
    """The document with as many lines as it may have, as far as what may leave allows.

    `finish` adds what a screen has below its document, which counts too; `requested_labels` are labels of what was
    asked for, which never leaves.
    """
    while doc.most_lines and _lines(finish(doc, WIDE)) > doc.most_lines:
        shorter = doc.with_fewer_rows() if doc.with_fewer_rows else _without_least(doc, requested_labels)
        if shorter is None:
            break
        doc = shorter
    return doc


def _lines(doc: Doc) -> int:
    return render(doc, WIDE).count("\n")


def _without_least(doc: Doc, requested_labels: Collection[str]) -> Doc | None:
    """The document without the last of what has the highest priority; None where nothing may leave."""
    most = max(
        (each for group in doc.groups for block in group for each in _priorities(block, requested_labels)), default=0
    )
    if not most:
        return None
    groups = list(doc.groups)
    for at in reversed(range(len(groups))):
        for place in reversed(range(len(groups[at]))):
            block = groups[at][place]
            priorities = _priorities(block, requested_labels)
            if most in priorities:
                remaining_blocks = _without_part(block, len(priorities) - 1 - priorities[::-1].index(most))
                groups[at] = (*groups[at][:place], *remaining_blocks, *groups[at][place + 1 :])
                return replace(doc, groups=tuple(group for group in groups if group))
    raise AssertionError("the highest priority is that of a block")


def _priorities(block: Block, requested_labels: Collection[str]) -> list[int]:
    """The priority of each part of a block, 0 for what stays."""
    match block:
        case Facts():
            return [0 if row.label in requested_labels else row.priority for row in block.rows]
        case DocTable():
            cells = block.priorities
            return [
                0 if row[0] in requested_labels else each for row, each in zip(block.rows, cells, strict=bool(cells))
            ]
        case Chart():
            return [block.priority if block.rows > block.fewest_rows else 0]
        case Note():
            return [0 if block.label.partition(" ")[0] in requested_labels else block.priority]
    return []


def _without_part(block: Block, at: int) -> tuple[Block, ...]:
    """The block without one of its parts, () where nothing is left of it."""
    match block:
        case Facts():
            rows: tuple[Fact, ...] = (*block.rows[:at], *block.rows[at + 1 :])
            return (replace(block, rows=rows),) if rows else ()
        case DocTable():
            return (block.without_row(at),)
        case Chart():
            return (replace(block, rows=block.rows - 1),)
    return ()
