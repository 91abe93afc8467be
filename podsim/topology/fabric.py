"""The directed links of a machine and the routes over them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.fabric import Shape
from podsim.physics.links import alone_s
from podsim.topology import wiring
from podsim.topology.measure import connection_faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.fabric import Link, Topology
    from podsim.model.program import Flow


@dataclass(frozen=True, slots=True)
class FabricLink:
    """All parallel links from one node to another, one direction, as one rate that a long transfer reaches."""

    name: str
    source: str
    target: str
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one node to another by number, and the time of an empty message over them."""

    links: tuple[int, ...]
    hops: int
    latency_s: float


class Fabric:
    """The links of one rack, which stands for all, and the GW-Links that were asked for so far.

    IPUs are numbered over the whole machine; a route of any rack is that of the first one, since racks are alike and
    share no IPU-Link. A link keeps its number once it has one.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._ipus, self._rack_ipus = topology.ipus, topology.ipus_per_rack
        self._links: list[FabricLink] = []
        self._capacities: list[float] = []
        self._kinds: list[Link] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._routes: dict[tuple[int, int], Route] = {}
        self._gateway_routes: dict[tuple[int, int, int], Route] = {}
        self._alone_s: dict[tuple[Flow, ...], float] = {}
        for edge in wiring.rack_edges(topology):
            kind = topology.links[edge.link]
            one, other = wiring.ipu(edge.one), wiring.ipu(edge.other)
            self._join(one, other, kind, edge.links)
            self._join(other, one, kind, edge.links)

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]; a live view that grows as GW-Links are asked for."""
        return self._capacities

    def link(self, number: int) -> FabricLink:
        """The link of that number."""
        return self._links[number]

    def route(self, a: int, b: int) -> Route:
        """IPU-Links from IPU `a` to IPU `b` of the same rack (Eq. 6); ValueError where none lead there.

        One base latency and one hop time an edge, sync included: 0.385 us + 0.160 us x hops as fitted on Mk1.
        Source: JIA 2019, figure 4.4.
        """
        size, ipus = self._rack_ipus, self._ipus
        if not (0 <= a < ipus and 0 <= b < ipus):
            raise ValueError(f"IPUs of {self.topology.name} are 0 to {ipus - 1}, not {a} and {b}")
        if a // size != b // size:
            raise ValueError(f"no IPU-Link leads from ipu{a} to ipu{b}: they are in different racks")
        key = (a % size, b % size)
        if key not in self._routes:
            path = wiring.rack_path(*key, size=size, closed=wiring.loops(self.topology))
            numbers = tuple(self._numbers[wiring.ipu(one), wiring.ipu(other)] for one, other in pairwise(path))
            self._routes[key] = self._route(numbers, bases=1)
        return self._routes[key]

    def gateway_route(self, machine: int, from_rack: int, to_rack: int) -> Route:
        """GW-Links between the gateways of machine `machine` of two racks; ValueError where there is none.

        On a ring the shorter way, a latency each hop; through the switches up and down, one latency in all.
        """
        key = (machine, from_rack, to_rack)
        if key not in self._gateway_routes:
            self._gateway_routes[key] = self._gateway_route(*key)
        return self._gateway_routes[key]

    def _gateway_route(self, machine: int, from_rack: int, to_rack: int) -> Route:
        pod = self.topology.level("pod")
        racks, machines = self.topology.racks, self.topology.machines_per_rack
        if not (0 <= machine < machines and 0 <= from_rack < racks and 0 <= to_rack < racks):
            raise ValueError(f"{self.topology.name} has no machine {machine} in rack {from_rack} or {to_rack}")
        if pod is None or from_rack == to_rack:
            return Route((), 0, 0.0)
        switched = pod.shape is Shape.SWITCH
        path = (from_rack, to_rack) if switched else wiring.ring_path(from_rack, to_rack, racks)
        nodes = [wiring.gateway(rack * machines + machine) for rack in path]
        if switched:
            nodes.insert(1, wiring.switch(0))
        kind, links = self.topology.links[pod.link], wiring.gateway_links(pod)
        numbers = tuple(
            self._numbers[pair] if pair in self._numbers else self._join(*pair, kind, links) for pair in pairwise(nodes)
        )
        return self._route(numbers, bases=1 if switched else len(numbers))

    def alone_s(self, flows: tuple[Flow, ...]) -> float:
        """Time of flows that start together and have the links to themselves [s]; latency is not counted."""
        if flows not in self._alone_s:
            self._alone_s[flows] = alone_s(flows, self._capacities)
        return self._alone_s[flows]

    def _join(self, source: str, target: str, kind: Link, links: int) -> int:
        """Add `links` parallel links; those that join the same two nodes already take them in."""
        rate = links * kind.effective_bytes_per_s
        number = self._numbers.setdefault((source, target), len(self._links))
        if number == len(self._links):
            self._links.append(FabricLink(f"{source}->{target}", source, target, rate))
            self._capacities.append(rate)
            self._kinds.append(kind)
        else:
            self._capacities[number] += rate
            self._links[number] = FabricLink(f"{source}->{target}", source, target, self._capacities[number])
        return number

    def _route(self, numbers: tuple[int, ...], bases: int) -> Route:
        """A route over these links that pays the base latency `bases` times."""
        kinds = [self._kinds[number] for number in numbers]
        base_s = max((kind.latency_s for kind in kinds), default=0.0)
        return Route(numbers, len(numbers), bases * base_s + sum(kind.hop_s for kind in kinds))


def build(topology: Topology) -> Fabric:
    """The fabric of a machine; InputError where its parts are not connected."""
    if faults := connection_faults(topology):
        raise InputError(
            f"{topology.name} is not connected",
            code="not-connected",
            context=faults,
            hint="podsim topology show pod128   prints a complete example",
        )
    return Fabric(topology)
