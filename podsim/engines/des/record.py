"""What moved over each link, put together from the times at which combinations of flows were in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.program import LinkUse, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.engines.des.sharing import Sharing

Piece = tuple[float, float, float]  # from, to [s], at this rate [B/s]


def link_uses(spans: Sequence[tuple[float, float, Sharing]], record: Record) -> tuple[LinkUse, ...]:
    """Bytes and busy seconds of every link that carried any, in order of their numbers; with its load if asked."""
    seconds: dict[Sharing, float] = {}
    pieces: dict[int, list[Piece]] = {}
    for start_s, end_s, sharing in spans:
        seconds[sharing] = seconds.get(sharing, 0.0) + end_s - start_s
    loads = {sharing: sharing.loads() for sharing in seconds}
    moved_bytes: dict[int, float] = {}
    busy: dict[int, float] = {}
    for sharing, lasted_s in seconds.items():
        for link, rate in loads[sharing].items():
            moved_bytes[link] = moved_bytes.get(link, 0.0) + rate * lasted_s
            busy[link] = busy.get(link, 0.0) + lasted_s
    if record is Record.LOADS:
        for start_s, end_s, sharing in spans:
            for link, rate in loads[sharing].items():
                _append(pieces.setdefault(link, []), (start_s, end_s, rate))
    return tuple(
        LinkUse(link, moved_bytes[link], busy[link], tuple(pieces.get(link, ()))) for link in sorted(moved_bytes)
    )


def _append(pieces: list[Piece], piece: Piece) -> None:
    """As one with the last piece where nothing changes between them."""
    if pieces and pieces[-1][1:] == (piece[0], piece[2]):
        pieces[-1] = (pieces[-1][0], *piece[1:])
    else:
        pieces.append(piece)
