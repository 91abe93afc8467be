"""A generic fabric as a graph, node by node: which links leave a node, and what they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.fabric import Attach, Shape
from podsim.topology.axes import DOWN, HUB, UP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fabric import GenericFabric
    from podsim.topology.axes import Axis, Key

Node = tuple[str, int, int]
"""A place of the graph: its kind, its axis or level, its number.

A middle has a side that is entered ("in") and one that is left ("out"), with the hub between them. A group has a way
out ("up") and a way in ("down"), so that nothing passes from member to member through it.
"""
Step = tuple["Key | None", Node]


class GenericGraph:
    """Steps from node to node; a step without a link is free."""

    def __init__(self, fabric: GenericFabric, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self.endpoints = fabric.endpoints
        self._levels = [[axis for axis in axes if axis.level == at] for at in range(len(fabric.levels))]
        grouped = [at for at, level in enumerate(fabric.levels) if level.attach is Attach.GROUP and at]
        self._left = {at - 1 for at in grouped}
        self._span = [max(axis.stride * axis.size for axis in level) for level in self._levels]

    def steps(self, node: Node) -> Iterator[Step]:
        """What leaves a node."""
        kind, at, number = node
        if kind == "rank":
            yield from self._from_member(-1, number)
        elif kind == "up":
            yield from self._from_member(at, number * self._span[at])
        elif kind == "down":
            yield from self._into_group(at, number)
        elif kind == "in":
            axis = self.axes[at]
            yield (at, number, HUB) if axis.hub is not None else None, ("out", at, number)
        else:
            yield from self._from_middle(self.axes[at], number)

    def _from_member(self, inside: int, endpoint: int) -> Iterator[Step]:
        """From a rank (`inside` is -1) or from the way out of a group of level `inside`."""
        for axis in self.axes:
            if axis.grouped == (inside >= 0) and (inside < 0 or axis.level == inside + 1):
                yield from self._along(axis, endpoint)
        for at in self._left:
            axes = self._levels[at]
            direct = axes[0].grouped == (inside >= 0) and (inside < 0 or at == inside + 1)
            if direct and not axes[0].middled:
                yield None, ("up", at, endpoint // self._span[at])

    def _along(self, axis: Axis, endpoint: int) -> Iterator[Step]:
        if axis.size == 1 and not axis.middled:
            return
        if axis.middled:
            key = None if axis.shape is Shape.SHARED else axis.key(endpoint, UP)
            yield key, ("in", axis.index, axis.middle(endpoint))
            return
        yield from ((axis.key(endpoint, port), self._member(axis, there)) for port, there in axis.beside(endpoint))

    def _source(self, axis: Axis, endpoint: int) -> Node:
        """Where a link of an axis leaves."""
        return ("up", axis.level - 1, endpoint // axis.unit) if axis.grouped else ("rank", 0, endpoint)

    def _member(self, axis: Axis, endpoint: int) -> Node:
        """Where a link of an axis arrives."""
        return ("down", axis.level - 1, endpoint // axis.unit) if axis.grouped else ("rank", 0, endpoint)

    def _from_middle(self, axis: Axis, middle: int) -> Iterator[Step]:
        group, copy = divmod(middle, axis.copies)
        first = group * axis.stride * axis.size + copy * axis.unit
        for member in range(axis.size):
            endpoint = first + member * axis.stride
            key = None if axis.shape is Shape.SHARED else axis.key(endpoint, DOWN)
            yield key, self._member(axis, endpoint)
        if axis.level in self._left:
            yield None, ("up", axis.level, group)

    def _into_group(self, level: int, group: int) -> Iterator[Step]:
        yield None, ("up", level, group)
        axes, first = self._levels[level], group * self._span[level]
        if axes[0].middled:
            axis = axes[0]
            yield from ((None, ("in", axis.index, group * axis.copies + copy)) for copy in range(axis.copies))
        else:
            unit = axes[0].unit
            ends = range(first, first + self._span[level], unit)
            yield from ((None, self._member(axes[0], endpoint)) for endpoint in ends)

    def arcs(self, key: Key) -> Iterator[tuple[Node, Node]]:
        """The nodes that a link joins, one pair for each direction that it carries."""
        axis, (_, at, port) = self.axes[key[0]], key
        endpoint = at * axis.unit
        if not axis.middled:
            there = axis.beyond(endpoint, port)
            yield self._source(axis, endpoint), self._member(axis, there)
            if axis.half:
                yield self._source(axis, there), self._member(axis, endpoint)
        elif port == HUB:
            yield ("in", axis.index, at), ("out", axis.index, at)
        else:
            middle = axis.middle(endpoint)
            if port == UP:
                yield self._source(axis, endpoint), ("in", axis.index, middle)
            if port == DOWN or axis.half:
                yield ("out", axis.index, middle), self._member(axis, endpoint)

    def of_rank(self, rank: int) -> Iterator[Key]:
        """Every link that leaves or reaches a rank."""
        for axis in self.axes:
            if axis.grouped or axis.shape is Shape.SHARED:
                continue
            if axis.middled:
                yield from (axis.key(rank, UP), axis.key(rank, DOWN))
                continue
            for port, there in axis.beside(rank):
                yield from (axis.key(rank, port), axis.key(there, axis.opposite(port)))
