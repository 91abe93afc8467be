"""The least time that any algorithm needs: what members must send and receive, and what must cross the middle.

Derived in docs/explanation/model.md, "Lower bounds". Routes are static, so that bytes of a member leave it over the
first links of its routes and arrive over the last ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from podsim.lowering.groups import Group, GroupDimension, sides
from podsim.lowering.moves import WITH_MIDDLE
from podsim.model.collective import Collective
from podsim.model.fabric import Shape
from podsim.model.sums import sum_in_order
from podsim.topology.axes import DOWN, HUB, UP
from podsim.topology.machine_network import Fabric
from podsim.topology.measure import bisection_bytes_per_s
from podsim.topology.stated_network import RankNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.lowering.collective_parts import CollectiveContext
    from podsim.topology.axes import Axis
    from podsim.topology.network import Dimension, Route

MOST_ASKED = 4096  # endpoints of a fabric that is not symmetric; of a larger one each bound asks fewer and says less


class LowerBound(NamedTuple):
    """The least time, and what it comes from."""

    seconds: float
    what: str


def lower_bound(context: CollectiveContext, group: Group, collective: Collective) -> LowerBound:
    """No algorithm that sends messages between members of a group is faster than this."""
    if group.size == 1:
        return LowerBound(0.0, "one member")
    try:
        along = sides(group, context.network.dimensions)
    except ValueError:
        return LowerBound(0.0, "nothing: the group lies across dimensions")
    volume = context.volumes_bytes[0]
    case = _BoundCase(context, along)
    bounds = [LowerBound(case.farthest_s(), "latency of the farthest members")]
    for need, word, links in (
        (_mean_share(collective, group.size), "outgoing links of all members", case.together(out=True)),
        (_mean_share(collective, group.size), "incoming links of all members", case.together(out=False)),
        (_out_share(collective, group.size), "outgoing links of one member", case.of_first(out=True)),
        (_in_share(collective, group.size), "incoming links of one member", case.of_last(out=False)),
    ):
        if links:
            bounds.append(LowerBound(case.least_s + need * volume / links, word))
    if through := case.through():
        bounds.append(
            LowerBound(
                case.least_s + _mean_share(collective, group.size) * volume / through, "links that all messages cross"
            )
        )
    groups = context.endpoints // group.size
    for dimension in along:
        if dimension.covers and (cut := _cut_bytes_per_s(context, dimension)):
            crossing = groups * volume * _cut_share(collective, group.size, dimension.group.size)
            bounds.append(LowerBound(case.least_s + crossing / cut, f"bisection of {dimension.name}"))
    return max(bounds, key=lambda bound: bound.seconds)


def out_bytes_per_s(context: CollectiveContext, group: Group) -> float:
    """Rate of the links over which the first member sends, which is that of all; 0 where they differ [B/s]."""
    try:
        case = _BoundCase(context, sides(group, context.network.dimensions))
    except ValueError:
        return 0.0
    return case.of_first(out=True) if case.even else 0.0


def _mean_share(collective: Collective, members: int) -> float:
    """What a member sends on average: every byte of the result has to visit all the others, of a sum twice."""
    share = (members - 1) / members
    return 2 * share if collective is Collective.ALL_REDUCE else share


def _out_share(collective: Collective, members: int) -> float:
    """What the first member sends at least: whatever of its buffer others need."""
    if collective in (Collective.ALL_REDUCE, Collective.BROADCAST):
        return 1.0
    return 1 / members if collective is Collective.ALL_GATHER else (members - 1) / members


def _in_share(collective: Collective, members: int) -> float:
    """What another member receives at least."""
    if collective in (Collective.ALL_REDUCE, Collective.BROADCAST):
        return 1.0
    return 1 / members if collective is Collective.REDUCE_SCATTER else (members - 1) / members


def _cut_share(collective: Collective, members: int, across: int) -> float:
    """What a group sends from the lower half of a dimension to the upper one at least."""
    lower = across // 2 / across
    if collective in (Collective.ALL_REDUCE, Collective.BROADCAST):
        return 1.0
    if collective is Collective.REDUCE_SCATTER:
        return 1 - lower
    return lower if collective is Collective.ALL_GATHER else lower * (1 - lower) * members


class _BoundCase:
    """First and last links of the routes of members, and their latencies."""

    def __init__(self, context: CollectiveContext, along: tuple[GroupDimension, ...]) -> None:
        context = replace(context, folded=True)  # a bound is the same however much is simulated
        self._network, self._along = context.network, along
        self._quotient = context.quotient
        self._dimensions = context.network.dimensions
        self.even = not context.network.damage and (
            not isinstance(context.network, RankNetwork) or context.network.quotient is not None
        )
        whole = context.rack if context.rack and self.even else context.endpoints
        self._members = range(whole) if whole * self._peers() <= MOST_ASKED * 4 else range(0)

    def _peers(self) -> int:
        return sum(len(self._moves(dimension)) for dimension in self._along)

    def _moves(self, dimension: GroupDimension) -> list[int]:
        """Members along a side to which every first link leads: neighbours, of a full mesh all."""
        every = self._dimensions[dimension.index].shape is Shape.FULL
        return list(range(1, dimension.group.size)) if every else list(dict.fromkeys((1, dimension.group.size - 1)))

    def _routes(self, endpoint: int, *, out: bool) -> Iterator[Route]:
        for dimension in self._along:
            size, stride = dimension.group.size, dimension.group.stride
            at = endpoint // stride % size
            for by in self._moves(dimension):
                other = endpoint + ((at + by) % size - at) * stride
                yield self._network.route(endpoint, other) if out else self._network.route(other, endpoint)

    @property
    def least_s(self) -> float:
        """Latency of the nearest two members [s]; none where links differ."""
        return min(route.latency_s for route in self._routes(0, out=True)) if self.even else 0.0

    def farthest_s(self) -> float:
        """Latency between the first member and the one farthest from it [s]."""
        if not self.even:
            return 0.0
        there = 0
        for dimension in self._along:
            round_ = self._dimensions[dimension.index].shape is not Shape.LINE and dimension.covers
            there += (dimension.group.size // 2 if round_ else dimension.group.size - 1) * dimension.group.stride
        return self._network.route(0, there).latency_s

    def of_first(self, *, out: bool) -> float:
        """Rate of the links out of (into) the first member [B/s]."""
        return self._rate(self._links(0, out=out))

    def of_last(self, *, out: bool) -> float:
        """Rate of the links out of (into) the member after it along the innermost dimension [B/s]."""
        return self._rate(self._links(self._along[0].group.stride, out=out))

    def _links(self, endpoint: int, *, out: bool) -> set[int]:
        return {route.links[0 if out else -1] for route in self._routes(endpoint, out=out)}

    def _rate(self, links: set[int]) -> float:
        return sum_in_order(self._network.capacities[link] for link in links)

    def together(self, *, out: bool) -> float:
        """Rate of the links out of (into) all members, by the mean member [B/s]; 0 where there are too many to ask."""
        if self._quotient is not None:
            links = {
                self._quotient.folded_route(offsets).links[0 if out else -1]
                for dimension in self._along
                for offsets in self._offsets(dimension)
            }
            return sum_in_order(self._quotient.capacities[link] for link in links)
        links = {link for member in self._members for link in self._links(member, out=out)}
        return self._rate(links) / len(self._members) if links else 0.0

    def through(self) -> float:
        """Rate of the narrowest link that every message crosses, of a switch or star, by the mean member [B/s]."""
        if (
            self._quotient is None
            or len(self._along) > 1
            or self._dimensions[self._along[0].index].shape not in WITH_MIDDLE
        ):
            return 0.0
        route = self._quotient.folded_route(next(self._offsets(self._along[0])))
        return min(self._quotient.capacities[link] / route.links.count(link) for link in route.links)

    def _offsets(self, dimension: GroupDimension) -> Iterator[tuple[int, ...]]:
        for by in self._moves(dimension):
            yield tuple(by * dimension.step if at == dimension.index else 0 for at in range(len(self._dimensions)))


def _cut_bytes_per_s(context: CollectiveContext, side: GroupDimension) -> float:
    """Rate of all links from the lower half of a dimension to the upper [B/s]; 0 where it is not known."""
    network, dimension = context.network, context.network.dimensions[side.index]
    if isinstance(network, RankNetwork):
        if context.endpoints > MOST_ASKED or (dimension.shape is Shape.FULL and dimension.size > 64):
            return 0.0
        keys = set(_cut(network.axes[side.index], context.endpoints))
        return sum_in_order(network.rate(key).bytes_per_s for key in keys)
    return _machine_cut(network, dimension) if isinstance(network, Fabric) and not network.damage else 0.0


def _machine_cut(fabric: Fabric, dimension: Dimension) -> float:
    """The middle of the rails of every rack, or of the racks; of the pairs every rung."""
    topology = fabric.topology
    name = {"rail": "rack", "racks": "pod"}.get(dimension.name)
    level = topology.level(name) if name else None
    if level is None:
        return 0.0
    rate = bisection_bytes_per_s(topology).get(level.name, 0.0) * topology.links[level.link].efficiency
    return rate * (topology.racks if name == "rack" else 1)


def _cut(axis: Axis, endpoints: int) -> Iterator[tuple[int, int, int]]:
    """Links from the lower half of an axis to the upper one."""
    half = axis.size // 2
    for endpoint in range(endpoints):
        at = axis.coordinate(endpoint)
        if axis.has_middle:
            if at < half and axis.shape is not Shape.SHARED:
                yield axis.key(endpoint, UP)
            elif axis.shape is Shape.SHARED:
                yield (axis.index, axis.middle(endpoint), HUB)
        elif axis.shape is Shape.FULL:
            yield from (axis.key(endpoint, to - at) for to in range(half, axis.size) if at < half)
        else:
            if at == half - 1:
                yield axis.key(endpoint, UP)
            if at == 0 and axis.shape is not Shape.LINE and axis.size > 2:
                yield axis.key(endpoint, DOWN)
