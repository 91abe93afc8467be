"""Which links a trace shows, and what they carry when: of those alike one, of each kind those that carry most."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import LinkUse
from podsim.model.sums import sum_in_order
from podsim.model.trace import LinkLoad
from podsim.predicting.drawing import NEAR_S
from podsim.topology.wiring import IPU

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from podsim.predicting.drawing import Drawing
    from podsim.topology.network import FabricLink

Piece = tuple[float, float, float]  # from, to [s], at this rate [B/s]
OF_A_KIND: Final = 8
"""Links of one kind that are shown, each with a load of its own."""
DIGITS: Final = 9  # of a time or a rate that two links alike have in common


class Links(NamedTuple):
    """What numbers of links mean."""

    link: Callable[[int], FabricLink]
    kind: Callable[[int], str]


class _Alike(NamedTuple):
    """Links with the same load: the first of them, how many there are."""

    use: LinkUse
    link: FabricLink
    kind: str
    members: int


def loads(uses: Iterable[LinkUse], links: Links, drawing: Drawing, most: int) -> tuple[LinkLoad, ...]:
    """The links to show, by kind the busiest first; of more than `most` changes those of the least busy are left out.

    What is left out is said in the notes of the drawing.
    """
    alike = _alike(uses, links)
    shown_links = _first_of_kinds(alike)
    if len(shown_links) < len(alike):
        left_out = len(alike) - len(shown_links)
        drawing.notes.append(AnswerNote.of(NoteCode.LINKS_LEFT_OUT, links=left_out, most=OF_A_KIND))
    changes: list[list[tuple[float, float]]] = []
    for item in shown_links:
        load = _changes(item.use, drawing)
        remaining_changes = most - sum(map(len, changes))
        changes.append(load if len(load) <= remaining_changes else [])
    if idle := sum(not each for each in changes):
        drawing.notes.append(AnswerNote.of(NoteCode.LOADS_NOT_DRAWN, links=idle))
    return tuple(
        LinkLoad(
            name=alike.link.name,
            kind=alike.kind,
            alike=alike.members,
            bytes_per_s=alike.link.bytes_per_s,
            moved_bytes=alike.use.moved_bytes,
            busy_s=alike.use.busy_s,
            changes=tuple(each),
        )
        for alike, each in zip(shown_links, changes, strict=True)
    )


def _alike(uses: Iterable[LinkUse], links: Links) -> list[_Alike]:
    """Links that carry the same at the same time as one, the busiest first."""
    classes: dict[tuple[object, ...], list[_Alike]] = {}
    for use in uses:
        alike = _Alike(use, links.link(use.link), links.kind(use.link), 1)
        load = tuple(_round(value) for piece in use.load for value in piece)
        key = (alike.kind, _round(alike.link.bytes_per_s), _round(use.moved_bytes), load)
        classes.setdefault(key, []).append(alike)
    firsts = [members[0]._replace(members=len(members)) for members in classes.values()]
    return sorted(firsts, key=lambda item: (-_round(item.use.busy_s), -_round(item.use.moved_bytes), item.use.link))


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _first_of_kinds(alike: Iterable[_Alike]) -> list[_Alike]:
    """The busiest of each kind, then the next of each, and so on."""
    kinds: dict[str, int] = {}
    ranked_links: list[tuple[int, _Alike]] = []
    for item in alike:
        kinds[item.kind] = rank = kinds.get(item.kind, 0) + 1
        ranked_links.append((rank, item))
    return [alike for rank, alike in sorted(ranked_links, key=lambda pair: pair[0]) if rank <= OF_A_KIND]


def _changes(use: LinkUse, drawing: Drawing) -> list[tuple[float, float]]:
    """When the rate of a link becomes what; 0 where nothing is drawn."""
    by_block = _by_block(use, drawing)
    changes: list[tuple[float, float]] = []
    for turn in drawing.turns:
        begin_s = drawing.ran[turn.ran].start_s
        for start_s, end_s, rate in by_block.get(turn.ran, ()):
            at_s = turn.start_s + (start_s - begin_s) * turn.pace
            if not changes and at_s > 0:
                changes.append((0.0, 0.0))
            if changes and at_s <= changes[-1][0] + NEAR_S:
                at_s = changes.pop()[0]
            if not changes or changes[-1][1] != rate:
                changes.append((at_s, rate))
            changes.append((turn.start_s + (end_s - begin_s) * turn.pace, 0.0))
    return changes


def _by_block(use: LinkUse, drawing: Drawing) -> dict[int, list[Piece]]:
    starts_s = [ran.start_s for ran in drawing.ran]
    table: dict[int, list[Piece]] = {}
    for piece in use.load:
        table.setdefault(bisect_right(starts_s, piece[0]) - 1, []).append(piece)
    return table


def of_replicas(
    uses: Iterable[LinkUse], links: Links, drawing: Drawing, ipus_per_replica: int, ipus_per_machine: int
) -> list[LinkUse]:
    """The links that carry all they would, where only the first replica runs its pipeline.

    Collectives, and what goes between racks, run whole. An IPU-Link inside another replica gets the pipeline's share
    from the one in its place in the first, unless both come at once; others of another replica are not shown.
    """
    by_name = {links.link(use.link).name: use for use in uses}
    result, missing = [], False
    for use in by_name.values():
        nodes = (links.link(use.link).source, links.link(use.link).target)
        replicas = {at for node in nodes for at in _replicas(node, ipus_per_replica, ipus_per_machine)}
        if not replicas or 0 in replicas:
            result.append(use)
        elif all(node.startswith(IPU) for node in nodes):
            first = min(replicas) * ipus_per_replica
            twin = "->".join(f"{IPU}{int(node.removeprefix(IPU)) - first}" for node in nodes)
            whole = use if len(replicas) > 1 else _join(use, by_name.get(twin), drawing)
            result += [whole] if whole else []
            missing |= whole is None
        else:
            missing = True
    if missing:
        drawing.notes.append(AnswerNote.of(NoteCode.LINKS_OF_REPLICAS))
    return result


def _join(own: LinkUse, twin: LinkUse | None, drawing: Drawing) -> LinkUse | None:
    """What a link carries itself and, in the pipeline, its twin; None where it carries something itself there."""
    pieces = _by_block(own, drawing)
    if any(drawing.ran[at].block.pipeline for at in pieces):
        return None
    if twin is not None:
        ours = _by_block(twin, drawing)
        pieces |= {at: each for at, each in ours.items() if drawing.ran[at].block.pipeline}
    moved_bytes = busy_s = 0.0
    for at, each in pieces.items():
        repeat = drawing.ran[at].block.repeat
        moved_bytes += repeat * sum_in_order((end_s - start_s) * rate for start_s, end_s, rate in each)
        busy_s += repeat * sum_in_order(end_s - start_s for start_s, end_s, _ in each)
    load = tuple(piece for at in sorted(pieces) for piece in pieces[at])
    return LinkUse(own.link, moved_bytes, busy_s, load)


def _replicas(node: str, ipus_per_replica: int, ipus_per_machine: int) -> Iterator[int]:
    """The replica of an IPU, or of the first IPU of a machine with streaming memory; none for what all share."""
    kind = node.rstrip("0123456789")
    number = int(node.removeprefix(kind) or 0)
    if kind in (IPU, "sram"):
        yield number // ipus_per_replica
    elif kind == "ddr":
        yield number * ipus_per_machine // ipus_per_replica
