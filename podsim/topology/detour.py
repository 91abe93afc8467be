"""The way from one node to another over the links that are left."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Node = TypeVar("Node")
Key = TypeVar("Key")


def detour(
    start: Node,
    goal: Node,
    steps: Callable[[Node], Iterable[tuple[Key | None, Node]]],
    bytes_per_s: Callable[[Key], float],
) -> tuple[Key, ...] | None:
    """Links of the route of fewest hops, of those the widest, of those the one that was offered first; None if cut off.

    `steps` are the links that leave a node, with their far ends; a step without a link costs no hop.
    """
    best: dict[Node, tuple[int, float]] = {start: (0, float("-inf"))}
    back: dict[Node, tuple[Key | None, Node]] = {}
    order = 0
    queue: list[tuple[int, float, int, Node]] = [(0, float("-inf"), order, start)]
    while queue:
        hops, narrowest, _, node = heapq.heappop(queue)
        if node == goal:
            return tuple(_links(back, start, goal))
        if best[node] < (hops, narrowest):
            continue
        for key, there in steps(node):
            found = (hops, narrowest) if key is None else (hops + 1, max(narrowest, -bytes_per_s(key)))
            if there not in best or found < best[there]:
                best[there], back[there] = found, (key, node)
                order += 1
                heapq.heappush(queue, (*found, order, there))
    return None


def _links(back: dict[Node, tuple[Key | None, Node]], start: Node, goal: Node) -> Iterator[Key]:
    keys = []
    while goal != start:
        key, goal = back[goal]
        if key is not None:
            keys.append(key)
    return reversed(keys)


def reached(start: Node, steps: Callable[[Node], Iterable[tuple[Key | None, Node]]]) -> dict[Node, None]:
    """Every node that can be reached, in the order in which it is."""
    found, rest = {start: None}, [start]
    while rest:
        for _, there in steps(rest.pop()):
            if there not in found:
                found[there] = None
                rest.append(there)
    return found
