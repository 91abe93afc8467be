"""Whether faults leave all that must talk connected; if not, who is cut off from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from podsim.errors import Infeasible
from podsim.topology.detour import joined, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Node = TypeVar("Node")
Key = TypeVar("Key")
MOST_LISTED: Final = 6
"""Ranges of endpoints, and links, that a message names."""


def split(
    members: Mapping[Node, int],
    steps: Callable[[Node], Iterable[tuple[Key | None, Node]]],
    parted: Iterable[tuple[Node, Node]],
    around: Iterable[Node],
) -> tuple[list[int], list[int]] | None:
    """Members that still reach each other with the first of them, and those that do not; None where all do.

    `parted` are nodes that a missing link joined, `around` those next to lost ones: where they still have a way to each
    other nothing else can have lost its own.
    """
    way_left = all(target in reached(source, steps, (target,)) for source, target in parted)
    if not members or (way_left and joined(around, steps)):
        return None
    import networkx as nx  # only where a fault may have cut a network in two

    left: nx.DiGraph = nx.DiGraph()
    left.add_nodes_from(members)
    for start in members:
        for node in reached(start, steps) if not left.out_degree(start) else ():
            left.add_edges_from((node, there) for _, there in steps(node))
    first = next(iter(members))
    inside = next(part for part in nx.strongly_connected_components(left) if first in part)
    together = [number for node, number in members.items() if node in inside]
    return (
        (together, [number for node, number in members.items() if node not in inside])
        if len(together) < len(members)
        else None
    )


def cut_off(network: str, word: str, parted: tuple[Sequence[int], Sequence[int]], down: Iterable[str]) -> Infeasible:
    """The answer no, with the two sides of the cut and the links that were lost."""
    smaller, larger = sorted(parted, key=len)
    links = sorted(dict.fromkeys(down), key=lambda name: (len(name), name))
    more = [f"… and {len(links) - MOST_LISTED:,} more"] if len(links) > MOST_LISTED else []
    return Infeasible(
        f"{network} is cut in two: {ranges(smaller, word)} and {ranges(larger, word)} no longer reach each other",
        code="cut-off",
        context=[f"down: {', '.join((*links[:MOST_LISTED], *more))}"],
        hint="leave one link of the cut at a fraction of its rate, such as =0.5, to see what it costs",
    )


def ranges(numbers: Sequence[int], word: str) -> str:
    """Numbers in words, the first few ranges of them: "ipu0 to ipu15, ipu20"."""
    result: list[list[int]] = []
    for number in sorted(numbers):
        if result and number == result[-1][1] + 1:
            result[-1][1] = number
        else:
            result.append([number, number])
    texts = [f"{word}{low}" + (f" to {word}{high}" if high > low else "") for low, high in result[:MOST_LISTED]]
    return ", ".join(texts) + (" and others" if len(result) > MOST_LISTED else "")
