"""Stated fabrics as networks: ranks joined level by level, and IPUs that stand at ranks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.fabric import RANK, Attach, Shape
from podsim.model.fault import FaultyPart
from podsim.topology.axes import HUB, RankGraph, axes, way_out
from podsim.topology.edges import every_link, link_keys
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Damage, Dimension, FabricLink, Joint, LinkKey, Network, Node, Rate, Route
from podsim.topology.rank_symmetry import Quotient

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from podsim.model.fabric import GenericFabric, Override, Topology
    from podsim.topology.axes import Axis, Key
    from podsim.topology.graph import FabricGraph


class RankNetwork(Network):
    """Ranks joined level by level; a link is known by its axis, the node it leaves and its port."""

    word = RANK
    called = RANK

    def __init__(self, fabric: GenericFabric, damage: Damage | None = None) -> None:
        super().__init__(damage)
        self.fabric = fabric
        self.axes = axes(fabric)
        self.ranks = RankGraph(fabric, self.axes)
        self.different: dict[LinkKey, Rate] = {}
        self._grouped = [at for at, level in enumerate(fabric.levels) if level.attach is not Attach.EACH and at]
        for override in fabric.overrides:
            for key in link_keys(fabric, override.name):
                self.different[key] = self._override(key, override)
        for link, share in self.damage.rates.items():
            usual = self.rate(link)
            self.different[link] = Rate(usual.bytes_per_s * share, usual.latency_s)

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
    def quotient(self) -> Quotient | None:
        """One rank that stands for all, where all are alike: no line, no link that differs, no fault."""
        alike = not (self.different or self.damage) and all(
            not axis.spread and (axis.shape is not Shape.LINE or axis.size == 1) for axis in self.axes
        )
        return Quotient(self) if alike else None

    def link(self, number: int) -> FabricLink:
        """The link of that number; one that both directions share is named "a-b", a medium by itself."""
        return self.describe(self._keys[number])

    def describe(self, key: Key) -> FabricLink:
        """A link with its rate and the names of its ends."""
        axis = self.axes[key[0]]
        source, target = axis.ends(key)
        joint = axis.half and not (axis.has_middle and key[2] == HUB)
        name = source if source == target else f"{source}-{target}" if joint else f"{source}->{target}"
        return FabricLink(name, source, target, self.rate(key).bytes_per_s)

    def kind(self, number: int) -> str:
        """The dimension that the link of that number is of."""
        return self.axes[self._keys[number][0]].name

    def joint(self, key: LinkKey) -> Joint:
        """The kind of one link: that of its level, or of the hub."""
        axis = self.axes[key[0]]
        level = self.fabric.levels[axis.level]
        if axis.has_middle and key[2] == HUB and axis.hub:
            return Joint(level.hub or level.link, axis.hub, 1)
        return Joint(level.link, axis.kind, 1)

    def rate(self, key: LinkKey) -> Rate:
        """What a link carries, overrides and faults counted."""
        if key in self.different:
            return self.different[key]
        axis = self.axes[key[0]]
        kind = axis.hub if axis.has_middle and key[2] == HUB and axis.hub else axis.kind
        return Rate(kind.effective_bytes_per_s, kind.latency_s + kind.hop_s)

    def _override(self, key: Key, override: Override) -> Rate:
        usual, rate = self.rate(key), override.bandwidth_bytes_per_s
        latency_s = usual.latency_s if override.latency_s is None else override.latency_s
        efficiency = self.joint(key).kind.efficiency
        return Rate(usual.bytes_per_s if rate is None else rate * efficiency, latency_s)

    def route(self, a: int, b: int) -> Route:
        """Links from rank `a` to rank `b`, innermost dimension first, and their latency [s].

        Parameters: `a`, `b`, numbers of ranks, from 0. Result: links by number, whose rates [B/s] are `capacities`, and
        the latency [s]. Errors: `ValueError` outside the fabric, or where links that are down leave no way.

        Equation: a latency for each link crossed (Eq. 6). Validity: fixed routes, around a link that is down the fewest
        hops; no adaptive routing. Source: the file of the fabric for links, rates and latencies.
        """
        keys = self.links_of_route(a, b)
        numbers = tuple(self.number(key) for key in keys)
        return Route(numbers, len(numbers), math.fsum(self.rate(key).latency_s for key in keys))

    def links_of_route(self, a: int, b: int) -> tuple[Key, ...]:
        """The links of a route.

        Where a level whose groups have one way out lies between, everything inside it is left through that way and
        entered again at the other end.
        """
        if not (0 <= a < self.endpoints and 0 <= b < self.endpoints):
            raise ValueError(f"ranks of {self.name} are 0 to {self.endpoints - 1}, not {a} and {b}")
        usual = tuple(self._walk(a, b))
        if self.damage.down.isdisjoint(usual):
            return usual
        detours = self.graph.detour(self.node(a), self.node(b))
        if detours is None:
            raise ValueError(f"rank{b} cannot be reached from rank{a}: links are down")
        return detours

    def _walk(self, at: int, b: int) -> Iterator[Key]:
        differing = {axis.level for axis in self.axes if axis.coordinate(at) != axis.coordinate(b)}
        top = max((level for level in self._grouped if level in differing), default=-1)
        last = max((axis.index for axis in self.axes if axis.level == top), default=-1)
        if top >= 0 and (spread := self._spread(top)):
            yield from self._over(spread, at, b)
            return
        if top >= 0:
            yield from self._out_of(at, top)
        for axis in self.axes:
            to = axis.coordinate(b)
            if axis.coordinate(at) != to:
                if axis.level >= top:
                    yield from axis.links_to(at, to)
                at = axis.move(at, to)
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
        if inside.has_group_links:
            yield from self._out_of(at, inside.level)
        out, into = axis.leaves_at(offset), axis.leaves_at(size - offset)
        if inside.coordinate(at) != out:
            yield from inside.links_to(at, out)
        yield axis.key(at, offset)
        entry_rank = inside.move(axis.move(at, to), into)
        if into != inside.coordinate(b):
            yield from inside.links_to(entry_rank, inside.coordinate(b))
        if inside.has_group_links:
            yield from self._into(b, inside.level)

    def _out_of(self, endpoint: int, level: int) -> Iterator[Key]:
        """Links from an endpoint to the way out of its group inside a level."""
        for axis in way_out(self.axes, level):
            yield from axis.way_in(endpoint)

    def _into(self, endpoint: int, level: int) -> Iterator[Key]:
        for axis in reversed(way_out(self.axes, level)):
            yield from axis.way_out(endpoint)

    # --- the graph, names and faults ---

    def node(self, endpoint: int) -> Node:
        """The node of a rank."""
        return (RANK, 0, endpoint)

    def nodes(self) -> Iterator[Node]:
        """Ranks, both sides of middles, the ways out of and into groups."""
        return self.ranks.nodes()

    def arcs(self, node: Node) -> Iterator[tuple[Node, LinkKey | None]]:
        """What lies one link or free step beyond a node, links that are down left out."""
        down = self.damage.down
        return (step for step in self.ranks.steps(node) if step[1] is None or step[1] not in down)

    @property
    def last_is_link(self) -> bool:
        """Whether no rank is entered for free."""
        return self.ranks.last_is_link

    def links_named(self, text: str) -> tuple[Key, ...]:
        """The links that "rank3-rank4", "rank3->rank4" or "bus0" name; ValueError says what there is instead."""
        return link_keys(self.fabric, text)

    def sample_links(self) -> Iterator[tuple[str, Key]]:
        """Every link, axis by axis; of the two directions of one the first."""
        earlier_ends: set[tuple[str, str]] = set()
        for key in every_link(self.fabric):
            source, target = self.axes[key[0]].ends(key)
            if not earlier_ends & {(source, target), (target, source)}:
                earlier_ends.add((source, target))
                yield source if source == target else f"{source}-{target}", key

    @property
    def parts(self) -> Mapping[FaultyPart, int]:
        """Ranks alone."""
        return {FaultyPart.RANK: 1}

    def refuse_faults(self) -> None:
        """Raise InputError where the links of a group are spread over its members: ways round one are not known."""
        if any(axis.spread for axis in self.axes):
            raise InputError(
                f"{self.name}: links that are spread over the members of a group have no way round a fault here",
                code="not-on-stated-fabric",
                hint='attach = "group" joins groups as wholes, and takes faults',
            )

    def with_damage(self, damage: Damage) -> RankNetwork:
        """The fabric with this damage in place of its own."""
        return RankNetwork(self.fabric, damage)

    def links_of(self, endpoint: int, part: FaultyPart) -> Iterator[Key]:
        """Every link of a rank, which is no part of anything larger."""
        del part
        return self.ranks.of_rank(endpoint)

    def arcs_of(self, key: Key) -> Iterator[tuple[Node, Node]]:
        """The nodes that a link joins, one pair for each direction that it carries."""
        return self.ranks.arcs(key)

    def lost_nodes(self) -> set[Node]:
        """Ranks that are lost."""
        return {self.node(rank) for rank in self.damage.lost}

    def domains(self) -> Iterator[tuple[range, FabricGraph, list[LinkKey]]]:
        """All ranks, over the whole graph."""
        yield range(self.endpoints), self.graph, sorted(self.damage.down)


class StatedFabric(Fabric):
    """IPU n at rank n of a stated fabric; links of hosts and streaming memory are those of any machine.

    Parameters: `topology`, whose `stated` fabric is not None. Links of both kinds are numbered in one sequence, in the
    order in which routes first cross them; rates are in B/s, latencies in s.

    Equation: V bytes take the sum of the latencies of their links plus V over their max-min fair rate (Eq. 6).
    Validity: fixed routes, no packets, no adaptive routing, no loss. Source: the file of the fabric.
    """

    def __init__(self, topology: Topology, stated_fabric: GenericFabric) -> None:
        super().__init__(topology)
        self.ranks = RankNetwork(stated_fabric)

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The levels of the fabric, innermost first, and each side of a torus as a ring."""
        return self.ranks.dimensions

    def link(self, number: int) -> FabricLink:
        """The link of that number; those of the fabric join ranks."""
        key = self._keys[number]
        return self.ranks.describe(key) if _is_stated(key) else super().link(number)

    def kind(self, number: int) -> str:
        """The level that a link is of; of links to hosts and memory, what files call them."""
        key = self._keys[number]
        return self.ranks.axes[key[0]].name if _is_stated(key) else super().kind(number)

    def joint(self, key: LinkKey) -> Joint:
        """What files say of a link; ValueError where there is no such link."""
        return self.ranks.joint(key) if _is_stated(key) else super().joint(key)

    def rate(self, key: LinkKey) -> Rate:
        """What a link carries; ValueError where there is no such link."""
        return self.ranks.rate(key) if _is_stated(key) else super().rate(key)

    def _number_of(self, key: LinkKey) -> int:
        if _is_stated(key):
            return self._append(key, self.ranks.rate(key).bytes_per_s)
        return super()._number_of(key)

    def route(self, a: int, b: int) -> Route:
        """The fixed route from IPU `a` to IPU `b`, innermost level first; ValueError outside the fabric.

        Its latency [s] is the sum of those of its links.
        """
        route = self._routes.get((a, b))
        if route is None:
            keys = self.ranks.links_of_route(a, b)
            numbers = tuple([self.number(key) for key in keys])
            latency_s = math.fsum(self.ranks.rate(key).latency_s for key in keys)
            route = self._routes[a, b] = Route(numbers, len(numbers), latency_s)
        return route

    def boundary_latency_s(self, links: Iterable[int]) -> float:
        """Latency of activations over these links [s]: the sum of theirs."""
        return math.fsum(self.ranks.rate(self._keys[number]).latency_s for number in links)

    def nodes(self) -> Iterator[Node]:
        """The nodes of the machine, whose IPUs are the ranks, and those of the fabric between ranks."""
        yield from super().nodes()
        yield from (node for node in self.ranks.nodes() if not isinstance(node, tuple) or node[0] != RANK)

    def arcs(self, node: Node) -> Iterator[tuple[Node, LinkKey | None]]:
        """What lies beyond a node over the links of the fabric, and of the machine."""
        rank = (RANK, 0, int(node.removeprefix(self.word))) if str(node).startswith(self.word) else node
        if isinstance(rank, tuple):
            for there, key in self.ranks.arcs(rank):
                yield f"{self.word}{there[2]}" if there[0] == RANK else there, key
        if isinstance(node, str):
            yield from super().arcs(node)


def _is_stated(key: LinkKey) -> bool:
    """Whether a link is one of the fabric, known by axis, node and port; those of the machine are known by two ends."""
    return len(key) == 3
