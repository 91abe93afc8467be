"""Flows and links that are alike: the coarsest classes whose members cannot be told apart by what they share.

Colour refinement: links of one class are crossed equally often by the flows of each class, flows of one class cross
the links of each class equally often. Progressive filling keeps such classes whole: while flows of a class have one
rate, links of a class carry one load and fill together, and then stop whole classes of flows. So filling classes gives
every flow the rate that filling flows gives it. Source: cardon-1982 for the refinement in E log V steps.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Classes:
    """Flows by class, and what a link of each class sees of them.

    `crossings[i]` holds the link classes of flow class i, and how many of its flows one link of each carries.
    `capacities` are by link class [B/s].
    """

    members: tuple[tuple[int, ...], ...]
    crossings: tuple[tuple[Sequence[int], Sequence[int]], ...]
    capacities: Sequence[float]


def classes(flows: Sequence[tuple[tuple[int, ...], int, Hashable]], capacities: Sequence[float]) -> Classes:
    """The coarsest classes of flows given as (route, count, kind); flows of one class have one kind and count.

    Routes may not be empty, and may cross a link more than once.
    """
    first = len(flows)
    nodes: dict[int, int] = {}
    adjacent: list[Sequence[int]] = []
    crossing: list[list[int]] = []
    for flow, (route, _, _) in enumerate(flows):
        ends = []
        for link in route:
            node = nodes.get(link)
            if node is None:
                node = nodes[link] = first + len(crossing)
                crossing.append([])
            crossing[node - first].append(flow)
            ends.append(node)
        adjacent.append(ends)
    adjacent += crossing
    kinds = _alike((count, kind) for _, count, kind in flows)
    links = _alike((capacities[link] for link in nodes), first)
    return _quotient(flows, capacities, list(nodes), adjacent, _refine(adjacent, [*kinds, *links]))


def _alike(keys: Iterable[Hashable], first: int = 0) -> list[dict[int, None]]:
    """Positions, counted from `first`, by their key; a dict is a set that keeps its order."""
    table: dict[Hashable, dict[int, None]] = {}
    for position, key in enumerate(keys, first):
        table.setdefault(key, {})[position] = None
    return list(table.values())


def _refine(adjacent: Sequence[Sequence[int]], parts: list[dict[int, None]]) -> list[dict[int, None]]:
    """Split `parts` until nodes of one part have equally many neighbours in each part."""
    of = [0] * len(adjacent)
    for number, part in enumerate(parts):
        for node in part:
            of[node] = number
    queue = dict.fromkeys(range(len(parts)))
    while queue:
        splitter, _ = queue.popitem()
        neighbours = Counter(chain.from_iterable(map(adjacent.__getitem__, parts[splitter])))
        nodes_by_part: dict[int, dict[int, list[int]]] = {}
        for node, times in neighbours.items():
            nodes_by_part.setdefault(of[node], {}).setdefault(times, []).append(node)
        for number, by_times in nodes_by_part.items():
            subsets = list(by_times.values())
            if sum(map(len, subsets)) == len(parts[number]):
                # Nobody stays for not being met, so the largest stays.
                subsets.remove(max(subsets, key=len))
            if subsets:
                _split(number, subsets, parts, of, queue)
    return parts


def _split(
    number: int, subsets: list[list[int]], parts: list[dict[int, None]], of: list[int], queue: dict[int, None]
) -> None:
    """Move nodes of a part to parts of their own; the largest need not split others unless the whole was about to."""
    new = range(len(parts), len(parts) + len(subsets))
    for label, nodes in zip(new, subsets, strict=True):
        parts.append(dict.fromkeys(nodes))
        for node in nodes:
            of[node] = label
            del parts[number][node]
    todo = [number, *new]
    if number not in queue:
        todo.remove(max(todo, key=lambda label: len(parts[label])))
    queue.update(dict.fromkeys(todo))


def _quotient(
    flows: Sequence[tuple[tuple[int, ...], int, Hashable]],
    capacities: Sequence[float],
    links: Sequence[int],
    adjacent: Sequence[Sequence[int]],
    parts: Sequence[dict[int, None]],
) -> Classes:
    """What one link of each class carries, read off its first member."""
    first = len(flows)
    by_flow = [part for part in parts if next(iter(part)) < first]
    of = {node: number for number, part in enumerate(by_flow) for node in part}
    crossings: list[tuple[list[int], list[int]]] = [([], []) for _ in by_flow]
    rates: list[float] = []
    for part in parts:
        link = next(iter(part))
        if link < first:
            continue
        for number, times in Counter(map(of.__getitem__, adjacent[link])).items():
            link_classes, flow_counts = crossings[number]
            link_classes.append(len(rates))
            flow_counts.append(times * flows[next(iter(by_flow[number]))][1])
        rates.append(capacities[links[link - first]])
    return Classes(tuple(map(tuple, by_flow)), tuple(crossings), tuple(rates))
