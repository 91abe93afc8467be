"""The way from one node to another over the links that are left."""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Node = TypeVar("Node")
Key = TypeVar("Key")


def detour(
    start: Node,
    goal: Node,
    steps: Callable[[Node], Iterable[tuple[Key | None, Node]]],
    bytes_per_s: Callable[[Key], float],
    paid: Callable[[Node], bool],
) -> tuple[Key, ...] | None:
    """Links of the route of fewest hops, of those the widest, of those the one that was offered first; None if cut off.

    `steps` are the links that leave a node, with their far ends; a step without a link costs no hop. `paid` says of a
    node that no way from it to the goal is without a link.
    """
    best: dict[Node, tuple[int, float]] = {start: (0, float("-inf"))}
    back: dict[Node, tuple[Key | None, Node]] = {}
    order = 0
    queue: list[tuple[int, float, int, Node]] = [(0, float("-inf"), order, start)]
    while queue:
        hops, narrowest, _, node = heapq.heappop(queue)
        if node == goal:
            return tuple(_links(back, start, goal))
        if best[node] < (hops, narrowest) or (goal in best and paid(node) and (hops + 1, narrowest) >= best[goal]):
            continue
        for key, there in steps(node):
            result = (hops, narrowest) if key is None else (hops + 1, max(narrowest, -bytes_per_s(key)))
            if there not in best or result < best[there]:
                best[there], back[there] = result, (key, node)
                order += 1
                heapq.heappush(queue, (*result, order, there))
    return None


def _links(back: dict[Node, tuple[Key | None, Node]], start: Node, goal: Node) -> Iterator[Key]:
    keys = []
    while goal != start:
        key, goal = back[goal]
        if key is not None:
            keys.append(key)
    return reversed(keys)


def reached(
    start: Node, steps: Callable[[Node], Iterable[tuple[Key | None, Node]]], until: Collection[Node] = ()
) -> dict[Node, None]:
    """Every node that can be reached, in the order in which it is; no further than to the first one of `until`."""
    table, rest = {start: None}, deque([start])
    while rest:
        for _, there in steps(rest.popleft()):
            if there not in table:
                table[there] = None
                if there in until:
                    return table
                rest.append(there)
    return table


def joined(nodes: Iterable[Node], steps: Callable[[Node], Iterable[tuple[Key | None, Node]]]) -> bool:
    """Whether each of the nodes can be reached from each other."""
    target = list(dict.fromkeys(nodes))
    missing, result, rest = set(target[1:]), set(target[:1]), deque(target[:1])
    while rest and missing:
        for _, there in steps(rest.popleft()):
            if there not in result:
                result.add(there)
                missing.discard(there)
                rest.append(there)
    home = set(target[:1])
    for node in target[1:]:
        near = {} if missing else reached(node, steps, home)
        if home.isdisjoint(near):
            return False
        home.add(node)
    return True
