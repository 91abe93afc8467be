"""The dimensions of a stated fabric: which links each has, which of them a move along it crosses, what they join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import RANK, WITH_MIDDLE, Attach, Duplex, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fabric import GenericFabric, Link

UP: Final = 0
DOWN: Final = 1
HUB: Final = 2
Key = tuple[int, int, int]
"""One link: its axis, the node (or middle) it leaves, and its port.

Ports of a ring, line or torus are UP and DOWN; from a node to a middle it is UP, back DOWN, and through the middle HUB;
of a full mesh the offset of the other end.
"""
Node = tuple[str, int, int]
"""A place of the graph: its kind, its axis or level, its number.

A middle has a side that is entered ("in") and one that is left ("out"), with the hub between them. A group has a way
out ("up") and a way in ("down"), so that nothing passes from member to member through it.
"""
Step = tuple[Node, Key | None]
"""A node that is reached over a link, or free."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Members of one dimension: `size` of them, `stride` endpoints apart; a node of it stands for `unit` endpoints."""

    index: int
    name: str
    level: int
    shape: Shape
    size: int
    stride: int
    unit: int
    kind: Link
    hub: Link | None
    inner: str
    outer: str
    spread: int = 0  # members inside over which the links of a member are spread; 0 where they leave it at once

    def leaves_at(self, offset: int) -> int:
        """Which member inside has the link of its group to the group `offset` further (1 to size - 1).

        Links are dealt out in the order of their offsets, as many to each member, rounded up: the palm-tree
        arrangement. Source: Camarero, Vallejo, Beivide 2014, "Topological characterization of Hamming and dragonfly
        networks", section 4.
        """
        return (offset - 1) // -(-(self.size - 1) // self.spread)

    @property
    def has_group_links(self) -> bool:
        """Whether its links belong to groups of the level inside, not to ranks."""
        return self.inner != RANK

    @property
    def half(self) -> bool:
        """Whether the two directions of a link share its rate."""
        return self.kind.duplex is Duplex.HALF

    @property
    def has_middle(self) -> bool:
        """Whether members meet in a middle."""
        return self.shape in WITH_MIDDLE

    @property
    def copies(self) -> int:
        """Middles of one group of this level, one for each node of a member."""
        return self.stride // self.unit

    def coordinate(self, endpoint: int) -> int:
        """Which member of its group an endpoint is in."""
        return endpoint // self.stride % self.size

    def move(self, endpoint: int, to: int) -> int:
        """The endpoint of the same place in member `to`."""
        return endpoint + (to - self.coordinate(endpoint)) * self.stride

    def middle(self, endpoint: int) -> int:
        """The middle through which an endpoint goes."""
        group = endpoint // (self.stride * self.size)
        return group * self.copies + endpoint % self.stride // self.unit

    def beyond(self, endpoint: int, port: int) -> int:
        """The endpoint that a port leads to, where there is no middle."""
        offset = port if self.shape is Shape.FULL else 1 if port == UP else -1
        return self.move(endpoint, (self.coordinate(endpoint) + offset) % self.size)

    def opposite(self, port: int) -> int:
        """The port of the other end of a link, where there is no middle."""
        if self.shape is Shape.FULL:
            return self.size - port
        return UP if self.size == 2 or port == DOWN else DOWN

    def beside(self, endpoint: int) -> Iterator[tuple[int, int]]:
        """Ports without a middle and the endpoints they lead to, the nearest first."""
        if self.shape is Shape.FULL:
            ports = [port for near in range(1, self.size // 2 + 1) for port in dict.fromkeys((near, self.size - near))]
        else:
            ports = [UP, DOWN][: self.size - 1]
            at = self.coordinate(endpoint)
            if self.shape is Shape.LINE and self.size > 2:
                ports = [UP] * (at + 1 < self.size) + [DOWN] * (at > 0)
        yield from ((port, self.beyond(endpoint, port)) for port in ports)

    def links_to(self, endpoint: int, to: int) -> Iterator[Key]:
        """Links from an endpoint to its like in member `to`: the shorter way round a ring, upwards where both are."""
        if self.shape is Shape.FULL:
            yield self.key(endpoint, (to - self.coordinate(endpoint)) % self.size)
        elif self.has_middle:
            yield from self.way_in(endpoint)
            if self.shape is not Shape.SHARED:
                yield self.key(self.move(endpoint, to), DOWN)
        else:
            yield from self._along(endpoint, to)

    def _along(self, endpoint: int, to: int) -> Iterator[Key]:
        start = self.coordinate(endpoint)
        up = to - start
        if self.shape is not Shape.LINE:
            up %= self.size
            up = up if 2 * up <= self.size else up - self.size
        step = 1 if up > 0 else -1
        for hop in range(abs(up)):
            here = self.move(endpoint, (start + step * hop) % self.size)
            yield self.key(here, UP if step > 0 else DOWN)

    def way_in(self, endpoint: int) -> Iterator[Key]:
        """Links from an endpoint to the far side of its middle; none where there is no middle."""
        if self.has_middle and self.shape is not Shape.SHARED:
            yield self.key(endpoint, UP)
        if self.hub is not None:
            yield (self.index, self.middle(endpoint), HUB)

    def way_out(self, endpoint: int) -> Iterator[Key]:
        """Links from outside the group through its middle to an endpoint."""
        if self.hub is not None:
            yield (self.index, self.middle(endpoint), HUB)
        if self.has_middle and self.shape is not Shape.SHARED:
            yield self.key(endpoint, DOWN)

    def key(self, endpoint: int, port: int) -> Key:
        """The link of the endpoint's node at a port; one name only for a link that both directions share."""
        if self.has_middle:
            return (self.index, endpoint // self.unit, UP if self.half else port)
        at = self.coordinate(endpoint)
        if self.shape is Shape.FULL:
            if self.half and (other := (at + port) % self.size) < at:
                endpoint, port = self.move(endpoint, other), self.size - port
        elif port == DOWN and (self.half or self.size == 2):
            endpoint, port = (self.move(endpoint, (at - 1) % self.size), UP) if self.half else (endpoint, UP)
        if self.half and self.size == 2:
            endpoint = self.move(endpoint, 0)
        return (self.index, endpoint // self.unit, port)

    def fold(self, port: int) -> tuple[int, float]:
        """What stands for a port in the quotient, and how many of its links there are for each endpoint."""
        if port == HUB and self.has_middle:
            return HUB, 1 / (self.size * self.unit)
        if self.shape is Shape.FULL and self.half:
            port = min(port, self.size - port)
            return port, (0.5 if 2 * port == self.size else 1.0) / self.unit
        alone = self.half and self.size == 2 and not self.has_middle
        return port, (0.5 if alone else 1.0) / self.unit

    def ends(self, key: Key) -> tuple[str, str]:
        """Names of the nodes that a link joins."""
        _, at, port = key
        if self.has_middle:
            if port == HUB:
                return self.middle_name(at), self.middle_name(at)
            node, middle = self.node_name(at), self.middle_name(self.middle(at * self.unit))
            return (node, middle) if port == UP else (middle, node)
        return self.node_name(at), self.node_name(self.beyond(at * self.unit, port) // self.unit)

    def node_name(self, node: int) -> str:
        """An end of the links of this axis: a rank, or a group of the level inside."""
        return f"{self.inner}{node}"

    def middle_name(self, middle: int) -> str:
        """A switch, hub or medium; with the place in a member where a group has several."""
        group, copy = divmod(middle, self.copies)
        return f"{self.outer}{group}" + (f".{copy}" if self.copies > 1 else "")


def axes(fabric: GenericFabric) -> tuple[Axis, ...]:
    """Every dimension of a fabric, innermost first; a torus has one for each side."""
    axis: list[Axis] = []
    stride = 1
    for at, level in enumerate(fabric.levels):
        is_grouped = level.attach is not Attach.EACH and at > 0
        spread = fabric.levels[at - 1].members if level.attach is Attach.SPREAD and at > 0 else 0
        unit = stride if is_grouped else 1
        kind = fabric.links[level.link]
        hub = kind if level.shape is Shape.SHARED else fabric.links[level.hub] if level.hub else None
        inner = fabric.levels[at - 1].name if is_grouped else RANK
        for side, size in enumerate(level.extents):
            name = f"{level.name}.{side}" if level.shape is Shape.TORUS else level.name
            shape = Shape.RING if level.shape is Shape.TORUS else level.shape
            axis.append(Axis(len(axis), name, at, shape, size, stride, unit, kind, hub, inner, level.name, spread))
            stride *= size
    return tuple(axis)


def way_out(axes: Sequence[Axis], level: int) -> list[Axis]:
    """Axes with a middle that lie between an endpoint and the way out of its group inside `level`, innermost first.

    A level in which every endpoint has its own links is reached without those inside it.
    """
    way: list[Axis] = []
    for axis in axes:
        if axis.level < level:
            way = [*way, axis] if axis.has_group_links else [axis]
    return [axis for axis in way if axis.has_middle]


class RankGraph:
    """Steps from node to node over the axes of a fabric; a step without a link is free."""

    def __init__(self, fabric: GenericFabric, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self.endpoints = fabric.endpoints
        self._levels = [[axis for axis in axes if axis.level == at] for at in range(len(fabric.levels))]
        group_levels = [at for at, level in enumerate(fabric.levels) if level.attach is Attach.GROUP and at]
        self._left = {at - 1 for at in group_levels}
        self._span = [max(axis.stride * axis.size for axis in level) for level in self._levels]

    @property
    def last_is_link(self) -> bool:
        """Whether no rank is entered for free: none from a shared medium or from the way into a group."""
        return not self._left and all(axis.shape is not Shape.SHARED for axis in self.axes)

    def nodes(self) -> Iterator[Node]:
        """Every node: ranks, both sides of middles, the ways out of and into groups."""
        yield from ((RANK, 0, rank) for rank in range(self.endpoints))
        for axis in self.axes:
            middles = self.endpoints // (axis.stride * axis.size) * axis.copies if axis.has_middle else 0
            yield from ((side, axis.index, middle) for side in ("in", "out") for middle in range(middles))
        for at in self._left:
            groups = range(self.endpoints // self._span[at])
            yield from ((side, at, group) for side in ("up", "down") for group in groups)

    def steps(self, node: Node) -> Iterator[Step]:
        """What leaves a node."""
        kind, at, number = node
        if kind == RANK:
            yield from self._from_member(-1, number)
        elif kind == "up":
            yield from self._from_member(at, number * self._span[at])
        elif kind == "down":
            yield from self._into_group(at, number)
        elif kind == "in":
            yield ("out", at, number), (at, number, HUB) if self.axes[at].hub is not None else None
        else:
            yield from self._from_middle(self.axes[at], number)

    def _from_member(self, inside: int, endpoint: int) -> Iterator[Step]:
        """From a rank (`inside` is -1) or from the way out of a group of level `inside`."""
        for axis in self.axes:
            owner = self.axes[axis.index - 1] if axis.spread else axis
            if owner.has_group_links == (inside >= 0) and (inside < 0 or owner.level == inside + 1):
                yield from self._over(axis, owner, endpoint) if axis.spread else self._along(axis, endpoint)
        for at in self._left:
            axes = self._levels[at]
            direct = axes[0].has_group_links == (inside >= 0) and (inside < 0 or at == inside + 1)
            if direct and not axes[0].has_middle:
                yield ("up", at, endpoint // self._span[at]), None

    def _along(self, axis: Axis, endpoint: int) -> Iterator[Step]:
        if axis.size == 1 and not axis.has_middle:
            return
        if axis.has_middle:
            key = None if axis.shape is Shape.SHARED else axis.key(endpoint, UP)
            yield ("in", axis.index, axis.middle(endpoint)), key
            return
        yield from ((self._member(axis, there), axis.key(endpoint, port)) for port, there in axis.beside(endpoint))

    def _over(self, axis: Axis, inside: Axis, endpoint: int) -> Iterator[Step]:
        """Links between groups that a member inside has, where they are spread over members."""
        here, group = inside.coordinate(endpoint), axis.coordinate(endpoint)
        for offset in range(1, axis.size):
            if axis.leaves_at(offset) == here:
                there = axis.move(endpoint, (group + offset) % axis.size)
                into = inside.move(there, axis.leaves_at(axis.size - offset))
                yield self._member(inside, into), axis.key(endpoint, offset)

    def _source(self, axis: Axis, endpoint: int) -> Node:
        """Where a link of an axis leaves."""
        return ("up", axis.level - 1, endpoint // axis.unit) if axis.has_group_links else (RANK, 0, endpoint)

    def _member(self, axis: Axis, endpoint: int) -> Node:
        """Where a link of an axis arrives."""
        return ("down", axis.level - 1, endpoint // axis.unit) if axis.has_group_links else (RANK, 0, endpoint)

    def _from_middle(self, axis: Axis, middle: int) -> Iterator[Step]:
        group, copy = divmod(middle, axis.copies)
        first = group * axis.stride * axis.size + copy * axis.unit
        for member in range(axis.size):
            endpoint = first + member * axis.stride
            key = None if axis.shape is Shape.SHARED else axis.key(endpoint, DOWN)
            yield self._member(axis, endpoint), key
        if axis.level in self._left:
            yield ("up", axis.level, group), None

    def _into_group(self, level: int, group: int) -> Iterator[Step]:
        yield ("up", level, group), None
        axes, first = self._levels[level], group * self._span[level]
        if axes[0].has_middle:
            axis = axes[0]
            yield from ((("in", axis.index, group * axis.copies + copy), None) for copy in range(axis.copies))
        else:
            unit = axes[0].unit
            ends = range(first, first + self._span[level], unit)
            yield from ((self._member(axes[0], endpoint), None) for endpoint in ends)

    def arcs(self, key: Key) -> Iterator[tuple[Node, Node]]:
        """The nodes that a link joins, one pair for each direction that it carries; of spread links none."""
        axis, (_, at, port) = self.axes[key[0]], key
        endpoint = at * axis.unit
        if axis.spread:
            return
        if not axis.has_middle:
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
            if axis.has_group_links or axis.shape is Shape.SHARED:
                continue
            if axis.has_middle:
                yield from (axis.key(rank, UP), axis.key(rank, DOWN))
                continue
            for port, there in axis.beside(rank):
                yield from (axis.key(rank, port), axis.key(there, axis.opposite(port)))
