"""The dimensions of a generic fabric: which links each has, and which of them a move along it crosses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import RANK, WITH_MIDDLE, Attach, Duplex, Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.fabric import GenericFabric, Link

UP: Final = 0
DOWN: Final = 1
HUB: Final = 2
Key = tuple[int, int, int]
"""One link: its axis, the node (or middle) it leaves, and its port.

Ports of a ring, line or torus are UP and DOWN; from a node to a middle it is UP, back DOWN, and through the middle HUB;
of a full mesh the offset of the other end.
"""


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
    def grouped(self) -> bool:
        """Whether its links belong to groups of the level inside, not to ranks."""
        return self.inner != RANK

    @property
    def half(self) -> bool:
        """Whether the two directions of a link share its rate."""
        return self.kind.duplex is Duplex.HALF

    @property
    def middled(self) -> bool:
        """Whether members meet in a middle."""
        return self.shape in WITH_MIDDLE

    @property
    def copies(self) -> int:
        """Middles of one group of this level, one for each node of a member."""
        return self.stride // self.unit

    def coordinate(self, endpoint: int) -> int:
        """Which member of its group an endpoint is in."""
        return endpoint // self.stride % self.size

    def moved(self, endpoint: int, to: int) -> int:
        """The endpoint of the same place in member `to`."""
        return endpoint + (to - self.coordinate(endpoint)) * self.stride

    def middle(self, endpoint: int) -> int:
        """The middle through which an endpoint goes."""
        group = endpoint // (self.stride * self.size)
        return group * self.copies + endpoint % self.stride // self.unit

    def beyond(self, endpoint: int, port: int) -> int:
        """The endpoint that a port leads to, where there is no middle."""
        offset = port if self.shape is Shape.FULL else 1 if port == UP else -1
        return self.moved(endpoint, (self.coordinate(endpoint) + offset) % self.size)

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

    def crossed(self, endpoint: int, to: int) -> Iterator[Key]:
        """Links from an endpoint to its like in member `to`: the shorter way round a ring, upwards where both are."""
        if self.shape is Shape.FULL:
            yield self.key(endpoint, (to - self.coordinate(endpoint)) % self.size)
        elif self.middled:
            yield from self.way_in(endpoint)
            if self.shape is not Shape.SHARED:
                yield self.key(self.moved(endpoint, to), DOWN)
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
            here = self.moved(endpoint, (start + step * hop) % self.size)
            yield self.key(here, UP if step > 0 else DOWN)

    def way_in(self, endpoint: int) -> Iterator[Key]:
        """Links from an endpoint to the far side of its middle; none where there is no middle."""
        if self.middled and self.shape is not Shape.SHARED:
            yield self.key(endpoint, UP)
        if self.hub is not None:
            yield (self.index, self.middle(endpoint), HUB)

    def way_out(self, endpoint: int) -> Iterator[Key]:
        """Links from outside the group through its middle to an endpoint."""
        if self.hub is not None:
            yield (self.index, self.middle(endpoint), HUB)
        if self.middled and self.shape is not Shape.SHARED:
            yield self.key(endpoint, DOWN)

    def key(self, endpoint: int, port: int) -> Key:
        """The link of the endpoint's node at a port; one name only for a link that both directions share."""
        if self.middled:
            return (self.index, endpoint // self.unit, UP if self.half else port)
        at = self.coordinate(endpoint)
        if self.shape is Shape.FULL:
            if self.half and (other := (at + port) % self.size) < at:
                endpoint, port = self.moved(endpoint, other), self.size - port
        elif port == DOWN and (self.half or self.size == 2):
            endpoint, port = (self.moved(endpoint, (at - 1) % self.size), UP) if self.half else (endpoint, UP)
        if self.half and self.size == 2:
            endpoint = self.moved(endpoint, 0)
        return (self.index, endpoint // self.unit, port)

    def folded(self, port: int) -> tuple[int, float]:
        """What stands for a port in the quotient, and how many of its links there are for each endpoint."""
        if port == HUB and self.middled:
            return HUB, 1 / (self.size * self.unit)
        if self.shape is Shape.FULL and self.half:
            port = min(port, self.size - port)
            return port, (0.5 if 2 * port == self.size else 1.0) / self.unit
        alone = self.half and self.size == 2 and not self.middled
        return port, (0.5 if alone else 1.0) / self.unit

    def ends(self, key: Key) -> tuple[str, str]:
        """Names of the nodes that a link joins."""
        _, at, port = key
        if self.middled:
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
        grouped = level.attach is not Attach.EACH and at > 0
        spread = fabric.levels[at - 1].members if level.attach is Attach.SPREAD and at > 0 else 0
        unit = stride if grouped else 1
        kind = fabric.links[level.link]
        hub = kind if level.shape is Shape.SHARED else fabric.links[level.hub] if level.hub else None
        inner = fabric.levels[at - 1].name if grouped else RANK
        for side, size in enumerate(level.extents):
            name = f"{level.name}.{side}" if level.shape is Shape.TORUS else level.name
            shape = Shape.RING if level.shape is Shape.TORUS else level.shape
            axis.append(Axis(len(axis), name, at, shape, size, stride, unit, kind, hub, inner, level.name, spread))
            stride *= size
    return tuple(axis)
