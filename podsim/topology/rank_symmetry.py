"""A symmetric fabric as seen by one rank that stands for all: one link for each dimension and direction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.fabric import Shape
from podsim.topology.network import FabricLink, Route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.topology.axes import Axis
    from podsim.topology.stated_network import RankNetwork


class Quotient:
    """The links of a fabric on which every rank sends alike, folded to the share of one rank.

    When every rank sends V bytes to its own place + the same offsets, all links of one dimension and direction carry
    the same: V x (crossings of one rank) x ranks / (such links). So one flow of V bytes over `folded_route` loads these
    links, whose capacity is that of one link x links / ranks, exactly as all flows load the whole fabric.
    """

    def __init__(self, network: RankNetwork) -> None:
        self.network = network
        self._numbers: dict[tuple[int, int], int] = {}
        self._links: list[FabricLink] = []
        self._capacities: list[float] = []

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number, as much of it as one rank has [B/s]; a live view that grows."""
        return self._capacities

    def link(self, number: int) -> FabricLink:
        """The link of that number, named after the dimension it is of."""
        return self._links[number]

    def kind(self, number: int) -> str:
        """The dimension that the link of that number is of."""
        return self._links[number].source

    def folded_route(self, offsets: Sequence[int]) -> Route:
        """The route from any rank to its place + `offsets`, one for each dimension, innermost first, modulo its size.

        A link stands in the route as often as it is crossed.
        """
        axes = self.network.axes
        if len(offsets) != len(axes):
            raise ValueError(f"{self.network.name} has {len(axes)} dimensions, not {len(offsets)}")
        to = sum(offset % axis.size * axis.stride for offset, axis in zip(offsets, axes, strict=True))
        keys = self.network.links_of_route(0, to)
        numbers = tuple(self._number(axis, port) for axis, _, port in keys)
        return Route(numbers, len(numbers), math.fsum(self.network.rate(key).latency_s for key in keys))

    def _number(self, index: int, port: int) -> int:
        axis = self.network.axes[index]
        port, each = axis.fold(port)
        if (index, port) not in self._numbers:
            self._numbers[index, port] = len(self._links)
            rate = self.network.rate((index, 0, port)).bytes_per_s * each
            self._links.append(FabricLink(f"{axis.name} {_port_name(axis, port)}", axis.name, axis.name, rate))
            self._capacities.append(rate)
        return self._numbers[index, port]


def _port_name(axis: Axis, port: int) -> str:
    if axis.shape is Shape.FULL:
        return f"+{port}"
    return ("up", "down", "middle")[port] if axis.has_middle else ("+1", "-1")[port]
