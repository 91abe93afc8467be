"""The network of IPUs that stand at the ranks of a stated fabric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.topology.fabric import Fabric
from podsim.topology.generic import GenericNetwork
from podsim.topology.network import FabricLink, Route

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podsim.model.fabric import GenericFabric, Topology
    from podsim.topology.axes import Key
    from podsim.topology.network import Dimension


class StatedFabric(Fabric):
    """IPU n at rank n of a stated fabric; links of hosts and streaming memory are those of any machine.

    Parameters: `topology`, whose `stated` fabric is not None. Links of both kinds are numbered in one sequence, in the
    order in which routes first cross them; rates are in B/s, latencies in s.

    Equation: V bytes take the sum of the latencies of their links plus V over their max-min fair rate (Eq. 6).
    Validity: fixed routes, no packets, no adaptive routing, no loss. Source: the file of the fabric.
    """

    def __init__(self, topology: Topology, stated: GenericFabric) -> None:
        super().__init__(topology)
        self.ranks = GenericNetwork(stated)
        self._by_key: dict[Key, int] = {}
        self._key_of: dict[int, Key] = {}

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The levels of the fabric, innermost first, and each side of a torus as a ring."""
        return self.ranks.dimensions

    def kind(self, number: int) -> str:
        """The level that a link is of; of links to hosts and memory, what files call them."""
        key = self._key_of.get(number)
        return super().kind(number) if key is None else self.ranks.axes[key[0]].name

    def route(self, a: int, b: int) -> Route:
        """The fixed route from IPU `a` to IPU `b`, innermost level first; ValueError outside the fabric.

        Its latency [s] is the sum of those of its links.
        """
        known = self._routes.get((a, b))
        if known is None:
            keys = self.ranks.crossed(a, b)
            numbers = tuple([self._numbered(key) for key in keys])
            latency_s = math.fsum(self.ranks.rate(key).latency_s for key in keys)
            known = self._routes[a, b] = Route(numbers, len(numbers), latency_s)
        return known

    def boundary_latency_s(self, links: Iterable[int]) -> float:
        """Latency of activations over these links [s]: the sum of theirs."""
        return math.fsum(self.ranks.rate(self._key_of[number]).latency_s for number in links)

    def _numbered(self, key: Key) -> int:
        number = self._by_key.get(key)
        if number is None:
            link = self.ranks.link(self.ranks.number(key))
            number = self._by_key[key] = self._appended(
                FabricLink(link.name, link.source, link.target, link.bytes_per_s)
            )
            self._key_of[number] = key
        return number
