"""The directed links of a machine and the routes over them."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError
from podsim.model.fabric import Link, Shape
from podsim.model.sums import sum_in_order
from podsim.topology import wiring
from podsim.topology.damage import Damage
from podsim.topology.detour import detour
from podsim.topology.joints import Joints
from podsim.topology.measure import connection_faults
from podsim.topology.network import Dimension, FabricLink, Route

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from podsim.model.fabric import Topology
    from podsim.topology.joints import Ends, Joint

FREE: Final = Link(bandwidth_bytes_per_s=float("inf"))
"""The kind of a link whose latency is not counted by runs."""


class Fabric:
    """The IPU-Links of the first rack, and every other link that was asked for so far.

    IPUs are numbered over the whole machine. A link keeps its number once it has one. Routes go round what is down.
    """

    def __init__(self, topology: Topology, damage: Damage[Ends] | None = None) -> None:
        self.topology = topology
        self.joints = Joints(topology)
        self.damage: Damage[Ends] = damage or Damage()
        self._loops = wiring.loops(topology)
        self._links: list[FabricLink] = []
        self._capacities: list[float] = []
        self._kinds: list[Link] = []
        self._leaves: list[str] = []  # the kind of node that each link leaves
        self._numbers: dict[Ends, int] = {}
        self._routes: dict[tuple[int, int], Route] = {}
        for (number, other), joint in self.joints.rack.items():
            self._add((wiring.ipu(number), wiring.ipu(other)), joint)

    @property
    def name(self) -> str:
        """What files and screens call it."""
        return self.topology.name

    @property
    def endpoints(self) -> int:
        """IPUs in all, lost ones included."""
        return self.topology.ipus

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The two IPUs of a rung, the rungs along the rails of a rack, the racks; those of one member are left out."""
        rack, pod = self.topology.ipus_per_rack, self.topology.level("pod")
        along = Shape.RING if self._loops else Shape.LINE
        dimensions = (
            Dimension("pair", min(rack, 2), 1, Shape.RING),
            Dimension("rail", max(rack // 2, 1), 2, along),
            Dimension("racks", self.topology.racks, rack, pod.shape if pod else Shape.RING),
        )
        return tuple(dimension for dimension in dimensions if dimension.size > 1)

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]; a live view that grows as links are asked for."""
        return self._capacities

    def link(self, number: int) -> FabricLink:
        """The link of that number."""
        return self._links[number]

    def kind(self, number: int) -> str:
        """What files call links like that one: ipu-link, gw-link, pcie."""
        joint = self.joints.between(self._links[number].source, self._links[number].target)
        assert joint is not None, "a link has a number because it joins its ends"
        return joint.name

    def number(self, ends: Ends) -> int:
        """The number of a link by its two ends, from now on; ValueError where the machine has no such link."""
        if (known := self._numbers.get(ends)) is not None:
            return known
        joint = self.joints.between(*ends)
        if joint is None:
            raise ValueError(f"{self.name} has no link from {ends[0]} to {ends[1]}")
        self._add(ends, joint)
        return self._numbers[ends]

    def _add(self, ends: Ends, joint: Joint) -> None:
        rate = joint.bytes_per_s * self.damage.rates.get(ends, 1.0)
        self._numbers[ends] = self._appended(FabricLink(f"{ends[0]}->{ends[1]}", *ends, rate), joint.kind)

    def _appended(self, link: FabricLink, kind: Link = FREE) -> int:
        """The number of a new link."""
        self._links.append(link)
        self._capacities.append(link.bytes_per_s)
        self._kinds.append(kind)
        self._leaves.append(link.source.rstrip("0123456789"))
        return len(self._links) - 1

    def route(self, a: int, b: int) -> Route:
        """The route from IPU `a` to IPU `b` (Eq. 6); ValueError where none leads there.

        In a rack over IPU-Links. To another rack over IPU-Links to the IPU in the place of `b`, then up to its gateway,
        over GW-Links and down.
        """
        if (known := self._routes.get((a, b))) is not None:
            return known
        size, ipus = self.topology.ipus_per_rack, self.topology.ipus
        if not (0 <= a < ipus and 0 <= b < ipus):
            raise ValueError(f"IPUs of {self.name} are 0 to {ipus - 1}, not {a} and {b}")
        across = a // size != b // size
        nodes = self._over_gateways(a, b) if across else self._in_rack(a, b)
        route = self._routes[a, b] = self._left(nodes, across=across)
        return route

    def _in_rack(self, a: int, b: int) -> list[str]:
        size = self.topology.ipus_per_rack
        first = a - a % size
        path = wiring.rack_path(a % size, b % size, size=size, closed=self._loops)
        return [wiring.ipu(first + at) for at in path]

    def _over_gateways(self, a: int, b: int) -> list[str]:
        size = self.topology.ipus_per_rack
        machine = b % size // self.topology.ipus_per_machine
        gateways = self._gateways(machine, a // size, b // size)
        return [*self._in_rack(a, a - a % size + b % size), *gateways, wiring.ipu(b)]

    def gateway_route(self, machine: int, from_rack: int, to_rack: int) -> Route:
        """GW-Links between the gateways of machine `machine` of two racks; ValueError where there is none.

        On a ring the shorter way, a latency each hop; through the switches up and down, one latency in all. Where a
        GW-Link is down, the other way round or over IPU-Links to the GW-Links of other machines.
        """
        racks, machines = self.topology.racks, self.topology.machines_per_rack
        if not (0 <= machine < machines and 0 <= from_rack < racks and 0 <= to_rack < racks):
            raise ValueError(f"{self.name} has no machine {machine} in rack {from_rack} or {to_rack}")
        return self._left(self._gateways(machine, from_rack, to_rack), across=True)

    def _gateways(self, machine: int, from_rack: int, to_rack: int) -> list[str]:
        pod, machines = self.topology.level("pod"), self.topology.machines_per_rack
        switched = pod is not None and pod.shape is Shape.SWITCH
        path = (from_rack, to_rack) if switched else wiring.ring_path(from_rack, to_rack, self.topology.racks)
        nodes = [wiring.gateway(rack * machines + machine) for rack in dict.fromkeys(path)]
        return [nodes[0], wiring.switch(0), nodes[1]] if switched and len(nodes) > 1 else nodes

    def boundary_latency_s(self, links: Collection[int]) -> float:
        """Latency of activations on their way from stage to stage over these links [s]: once, and a hop for each."""
        link = self.topology.neighbour_link
        return link.latency_s + link.hop_s * len(links)

    def host_route(self, ipu: int, server: int) -> Route:
        """From a server over its network card, the port of a gateway and PCIe to an IPU (Eq. 6).

        No latency: the start of a transfer from the host is counted apart (Eq. 13). ValueError where either does not
        exist or a link between them is down.
        """
        most = self.topology.hosts.most_servers
        if not 0 <= server < most:
            raise ValueError(f"servers of {self.name} are 0 to {most - 1}, not {server}")
        return self._only([wiring.host(server), wiring.NETWORK, self._gateway_of(ipu), wiring.ipu(ipu)])

    def streaming_route(self, ipu: int) -> Route:
        """From the DDR of a gateway, which its IPUs share, over PCIe to an IPU, at most as fast as one IPU streams.

        Writing loads the same links (Eq. 6). ValueError where there is no such IPU or a link is down.
        """
        gateway = self._gateway_of(ipu)
        ddr = wiring.ddr(ipu // self.topology.ipus_per_machine)
        return self._only([ddr, gateway, wiring.ipu(ipu), wiring.sram(ipu)])

    def _gateway_of(self, ipu: int) -> str:
        if not 0 <= ipu < self.topology.ipus:
            raise ValueError(f"IPUs of {self.name} are 0 to {self.topology.ipus - 1}, not {ipu}")
        return wiring.gateway(ipu // self.topology.ipus_per_machine)

    def _only(self, nodes: Sequence[str]) -> Route:
        """A route that has no other way."""
        for ends in pairwise(nodes):
            if ends in self.damage.down:
                raise ValueError(f"{ends[0]}->{ends[1]} is down, and there is no way round it")
        return self._route(nodes)

    def _left(self, nodes: Sequence[str], *, across: bool) -> Route:
        """The route over these nodes, or the way round where a link of it is down."""
        if self.damage.down and not self.damage.down.isdisjoint(pairwise(nodes)):
            detours = detour(
                nodes[0],
                nodes[-1],
                lambda node: self.steps(node, across=across),
                lambda ends: self._capacities[self.number(ends)],
                paid=lambda _: True,
            )
            if detours is None:
                raise ValueError(f"{nodes[-1]} cannot be reached from {nodes[0]}: links are down")
            nodes = [nodes[0], *(target for _, target in detours)]
        return self._route(nodes)

    def steps(self, node: str, *, across: bool) -> Iterator[tuple[Ends, str]]:
        """Links that leave a node and are not down: IPU-Links, and where a route goes `across` racks all others too."""
        for there in self.joints.beyond(node, across=across):
            if (node, there) not in self.damage.down:
                yield (node, there), there

    def _route(self, nodes: Sequence[str]) -> Route:
        """The route over these nodes.

        A run of IPU-Links pays its base latency once, a GW-Link where it leaves a gateway, every link its hop time.
        """
        numbers = tuple(self.number(ends) for ends in pairwise(nodes))
        latency_s = sum_in_order(self._kinds[number].hop_s for number in numbers)
        for source, run in groupby(numbers, self._leaves.__getitem__):
            kinds = [self._kinds[number] for number in run]
            if source == wiring.IPU:
                latency_s += max(kind.latency_s for kind in kinds)
            elif source == wiring.GATEWAY:
                latency_s += sum_in_order(kind.latency_s for kind in kinds)
        return Route(numbers, len(numbers), latency_s)


_KNOWN: Final = TABLES.add("fabrics", Table[object, Fabric](8))


def shared(topology: Topology) -> Fabric:
    """One fabric for all machines whose links are the same, with what is known of it; InputError as `build`."""
    names = sorted({topology.levels[0].link, *topology.joining})
    links = tuple((name, topology.links.get(name)) for name in names)
    wires = topology.levels, topology.gateway, topology.hosts, topology.fabric, topology.overrides
    return _KNOWN.remember((topology.name, topology.title, links, wires), lambda: build(topology))


def rebuilt(fabric: Fabric, topology: Topology) -> Fabric:
    """The fabric of another machine with the nodes of the first, its faults kept; InputError as `build`."""
    healthy = build(topology)
    return Fabric(topology, fabric.damage) if fabric.damage else healthy


def build(topology: Topology) -> Fabric:
    """The fabric of a machine; InputError where its parts are not connected."""
    if (stated := topology.stated) is not None:
        from podsim.topology.stated import StatedFabric  # no pod needs it

        return StatedFabric(topology, stated)
    if faults := connection_faults(topology):
        raise InputError(
            f"{topology.name} is not connected",
            code="not-connected",
            context=faults,
            hint="podsim topology show pod128   prints a complete example",
        )
    return Fabric(topology)
