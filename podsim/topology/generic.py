"""A generic fabric as a network: links by number as they are asked for, routes dimension by dimension."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from podsim.model.fabric import RANK, Attach, Shape
from podsim.topology.axes import HUB, axes
from podsim.topology.damage import Damage
from podsim.topology.detour import detour
from podsim.topology.edges import link_keys
from podsim.topology.generic_graph import GenericGraph
from podsim.topology.network import Dimension, FabricLink, Route
from podsim.topology.rank_symmetry import Quotient

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fabric import GenericFabric, Link, Override
    from podsim.topology.axes import Axis, Key
    from podsim.topology.generic_graph import Node, Step


class Rate(NamedTuple):
    """What one link carries, and its latency."""

    bytes_per_s: float
    latency_s: float


class GenericNetwork:
    """Ranks joined level by level; a link gets its number when a route first crosses it."""

    def __init__(self, fabric: GenericFabric, damage: Damage[Key] | None = None) -> None:
        self.fabric = fabric
        self.damage: Damage[Key] = damage or Damage()
        self.axes = axes(fabric)
        self.graph = GenericGraph(fabric, self.axes)
        self.different: dict[Key, Rate] = {}
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._capacities: list[float] = []
        self._grouped = [at for at, level in enumerate(fabric.levels) if level.attach is not Attach.EACH and at]
        for override in fabric.overrides:
            for key in link_keys(fabric, override.name):
                self.different[key] = self._overridden(key, override)
        for key, share in self.damage.rates.items():
            usual = self.rate(key)
            self.different[key] = Rate(usual.bytes_per_s * share, usual.latency_s)

    @property
    def name(self) -> str:
        """What files and screens call it."""
        return self.fabric.name

    @property
    def endpoints(self) -> int:
        """Ranks in all."""
        return self.fabric.endpoints

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """One for each level, and one for each side of a torus, as a ring."""
        return tuple(Dimension(axis.name, axis.size, axis.stride, axis.shape) for axis in self.axes)

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]; a live view that grows as routes cross new links."""
        return self._capacities

    @property
    def folded(self) -> Quotient | None:
        """One rank that stands for all, where all are alike: no line, no link that differs, no fault."""
        alike = not (self.different or self.damage) and all(
            not axis.spread and (axis.shape is not Shape.LINE or axis.size == 1) for axis in self.axes
        )
        return Quotient(self) if alike else None

    def link(self, number: int) -> FabricLink:
        """The link of that number; one that both directions share is named "a-b", a medium by itself."""
        key = self._keys[number]
        axis = self.axes[key[0]]
        source, target = axis.ends(key)
        joint = axis.half and not (axis.middled and key[2] == HUB)
        name = source if source == target else f"{source}-{target}" if joint else f"{source}->{target}"
        return FabricLink(name, source, target, self._capacities[number])

    def kind(self, number: int) -> str:
        """The level that the link of that number is of."""
        return self.axes[self._keys[number][0]].name

    def number(self, key: Key) -> int:
        """The number of a link, from now on."""
        if key not in self._numbers:
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
            self._capacities.append(self.rate(key).bytes_per_s)
        return self._numbers[key]

    def rate(self, key: Key) -> Rate:
        """What a link carries."""
        if key in self.different:
            return self.different[key]
        kind = self._kind(key)
        return Rate(kind.effective_bytes_per_s, kind.latency_s + kind.hop_s)

    def _overridden(self, key: Key, override: Override) -> Rate:
        usual, rate = self.rate(key), override.bandwidth_bytes_per_s
        latency_s = usual.latency_s if override.latency_s is None else override.latency_s
        efficiency = self._kind(key).efficiency
        return Rate(usual.bytes_per_s if rate is None else rate * efficiency, latency_s)

    def _kind(self, key: Key) -> Link:
        axis = self.axes[key[0]]
        return axis.hub if axis.middled and key[2] == HUB and axis.hub else axis.kind

    def route(self, a: int, b: int) -> Route:
        """Links from rank `a` to rank `b`, innermost dimension first, a latency each (Eq. 6); ValueError outside."""
        keys = self.crossed(a, b)
        numbers = tuple(self.number(key) for key in keys)
        return Route(numbers, len(numbers), math.fsum(self.rate(key).latency_s for key in keys))

    def crossed(self, a: int, b: int) -> tuple[Key, ...]:
        """The links of a route.

        Where a level whose groups have one way out lies between, everything inside it is left through that way and
        entered again at the other end.
        """
        if not (0 <= a < self.endpoints and 0 <= b < self.endpoints):
            raise ValueError(f"ranks of {self.name} are 0 to {self.endpoints - 1}, not {a} and {b}")
        usual = tuple(self._walk(a, b))
        return usual if self.damage.down.isdisjoint(usual) else self._round(a, b)

    def _round(self, a: int, b: int) -> tuple[Key, ...]:
        detours = detour(("rank", 0, a), ("rank", 0, b), self.steps, lambda key: self.rate(key).bytes_per_s, _is_rank)
        if detours is None:
            raise ValueError(f"rank{b} cannot be reached from rank{a}: links are down")
        return detours

    def steps(self, node: Node) -> Iterator[Step]:
        """Links that leave a node of the graph and are not down, and free steps."""
        down = self.damage.down
        return (step for step in self.graph.steps(node) if step[0] is None or step[0] not in down)

    def _walk(self, at: int, b: int) -> Iterator[Key]:
        differing = {axis.level for axis in self.axes if axis.coordinate(at) != axis.coordinate(b)}
        top = max((level for level in self._grouped if level in differing), default=-1)
        last = max((axis.index for axis in self.axes if axis.level == top), default=-1)
        if top >= 0 and (spread := self._spread(top)):
            yield from self._over(spread, at, b)
            return
        if top >= 0:
            yield from self.out_of(at, top)
        for axis in self.axes:
            to = axis.coordinate(b)
            if axis.coordinate(at) != to:
                if axis.level >= top:
                    yield from axis.crossed(at, to)
                at = axis.moved(at, to)
            if axis.index == last:
                yield from self._into(at, top)

    def _spread(self, level: int) -> Axis | None:
        """The axis of a level whose links leave each group at one of its members."""
        return next((axis for axis in self.axes if axis.level == level and axis.spread), None)

    def _over(self, axis: Axis, at: int, b: int) -> Iterator[Key]:
        """From the group of `at` to that of `b` over their link, and over one link inside each to and from it.

        Minimal routing: local, global, local. Source: Kim, Dally, Scott, Abts 2008, "Technology-driven,
        highly-scalable dragonfly topology", section 4.1.
        """
        inside = next(inner for inner in self.axes if inner.index == axis.index - 1)
        to, size = axis.coordinate(b), axis.size
        offset = (to - axis.coordinate(at)) % size
        if inside.grouped:
            yield from self.out_of(at, inside.level)
        out, into = axis.leaves_at(offset), axis.leaves_at(size - offset)
        if inside.coordinate(at) != out:
            yield from inside.crossed(at, out)
        yield axis.key(at, offset)
        arrived = inside.moved(axis.moved(at, to), into)
        if into != inside.coordinate(b):
            yield from inside.crossed(arrived, inside.coordinate(b))
        if inside.grouped:
            yield from self._into(b, inside.level)

    def _way(self, level: int) -> list[Axis]:
        """Axes with a middle that lie between an endpoint and the way out of its group inside `level`, innermost first.

        A level in which every endpoint has its own links is reached without those inside it.
        """
        way: list[Axis] = []
        for axis in self.axes:
            if axis.level < level:
                way = [*way, axis] if axis.grouped else [axis]
        return [axis for axis in way if axis.middled]

    def out_of(self, endpoint: int, level: int) -> Iterator[Key]:
        """Links from an endpoint to the way out of its group inside a level."""
        for axis in self._way(level):
            yield from axis.way_in(endpoint)

    def _into(self, endpoint: int, level: int) -> Iterator[Key]:
        for axis in reversed(self._way(level)):
            yield from axis.way_out(endpoint)


def _is_rank(node: Node) -> bool:
    return node[0] == RANK
