"""The directed links of a machine and the routes over them."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from podsim.caches.tables import Numbers
from podsim.errors import InputError
from podsim.model.fabric import Link, Shape
from podsim.model.fault import FaultyPart
from podsim.model.sums import sum_in_order
from podsim.topology import wiring
from podsim.topology.network import Damage, Dimension, FabricLink, Joint, LinkKey, Network, Node, Rate, Route

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from podsim.model.fabric import Topology
    from podsim.topology.graph import FabricGraph
    from podsim.topology.wiring import Ends

_ONLY_WAY: Final = {wiring.NETWORK, wiring.HOST, wiring.DDR, wiring.SRAM}
"""Ends of links that nothing leads round."""


class Fabric(Network):
    """The IPU-Links of the first rack, and every other link that was asked for so far.

    IPUs are numbered over the whole machine. A link is known by its two ends. Routes go round what is down.
    """

    word = wiring.IPU
    called = "IPU"

    def __init__(self, topology: Topology, damage: Damage | None = None) -> None:
        super().__init__(damage)
        self.topology = topology
        self.joints = wiring.Joints(topology)
        self._loops = wiring.loops(topology)
        self._kinds: dict[int, Link] = {}
        self._leaves: dict[int, str] = {}  # the kind of node that each link leaves
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

    @cached_property
    def rack_number(self) -> int:
        """Equal for machines whose racks are alike in wires and rates, and so number their links alike."""
        return _RACKS.of((tuple(self.joints.rack.items()), self._loops, self.topology.levels))

    def link(self, number: int) -> FabricLink:
        """The link of that number."""
        source, target = self._keys[number]
        return FabricLink(f"{source}->{target}", source, target, self._capacities[number])

    def kind(self, number: int) -> str:
        """What files call links like that one: ipu-link, gw-link, pcie."""
        return self.joint(self._keys[number]).name

    def joint(self, key: LinkKey) -> Joint:
        """The parallel links between two ends; ValueError where the machine has none."""
        source, target = key
        joint = self.joints.between(source, target)
        if joint is None:
            raise ValueError(f"{self.name} has no link from {source} to {target}")
        return joint

    def rate(self, key: LinkKey) -> Rate:
        """What the links between two ends carry, faults counted; ValueError where the machine has none."""
        joint = self.joint(key)
        return Rate(joint.bytes_per_s * self.damage.rates.get(key, 1.0), joint.kind.latency_s + joint.kind.hop_s)

    def _number_of(self, key: LinkKey) -> int:
        return self._add(key, self.joint(key))

    def _add(self, ends: LinkKey, joint: Joint) -> int:
        number = self._append(ends, joint.bytes_per_s * self.damage.rates.get(ends, 1.0))
        self._kinds[number] = joint.kind
        self._leaves[number] = ends[0].rstrip("0123456789")
        return number

    def route(self, a: int, b: int) -> Route:
        """The route from IPU `a` to IPU `b`; ValueError where none leads there.

        Parameters: `a`, `b`, numbers of IPUs over the whole machine, from 0. In a rack over IPU-Links; to another over
        IPU-Links to the IPU in the place of `b`, up to its gateway, over GW-Links and down. Result: links by number,
        whose rates [B/s] are `capacities`, and the latency [s].

        Equation: a run of IPU-Links pays its latency once, GW-Links one for each hop on a ring and one in all through
        switches, each link its hop time (Eq. 6). Validity: static routes, around a link that is down the fewest hops;
        PCIe without latency. Source: jia-2019, section 2.1 and figure 4.4 (Mk1); of GW-Links the file of the machine.
        """
        if (cached_route := self._routes.get((a, b))) is not None:
            return cached_route
        size, ipus = self.topology.ipus_per_rack, self.topology.ipus
        if not (0 <= a < ipus and 0 <= b < ipus):
            raise ValueError(f"IPUs of {self.name} are 0 to {ipus - 1}, not {a} and {b}")
        across = a // size != b // size
        nodes = self._over_gateways(a, b) if across else self._in_rack(a, b)
        route = self._routes[a, b] = self._remaining_route(nodes, across=across)
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
        """GW-Links between the gateways of machine `machine` of two racks, with their latency [s]; ValueError if none.

        Parameters: `machine`, its number in a rack; `from_rack`, `to_rack`, numbers of racks, all from 0. Result: links
        by number, whose rates [B/s] are `capacities`, and the latency [s].

        Equation: on a ring the shorter way, a latency each hop; through the switches up and down, one latency in all
        (Eq. 6). Where a GW-Link is down, the other way round or over IPU-Links to the GW-Links of other machines.
        Validity: racks wired machine by machine. Source: the file of the machine, which names that of its latency.
        """
        racks, machines = self.topology.racks, self.topology.machines_per_rack
        if not (0 <= machine < machines and 0 <= from_rack < racks and 0 <= to_rack < racks):
            raise ValueError(f"{self.name} has no machine {machine} in rack {from_rack} or {to_rack}")
        return self._remaining_route(self._gateways(machine, from_rack, to_rack), across=True)

    def _gateways(self, machine: int, from_rack: int, to_rack: int) -> list[str]:
        pod, machines = self.topology.level("pod"), self.topology.machines_per_rack
        has_switch = pod is not None and pod.shape is Shape.SWITCH
        path = (from_rack, to_rack) if has_switch else wiring.ring_path(from_rack, to_rack, self.topology.racks)
        nodes = [wiring.gateway(rack * machines + machine) for rack in dict.fromkeys(path)]
        return [nodes[0], wiring.switch(0), nodes[1]] if has_switch and len(nodes) > 1 else nodes

    def boundary_latency_s(self, links: Collection[int]) -> float:
        """Latency of activations on their way from stage to stage over these links [s]: once, and a hop for each."""
        link = self.topology.neighbour_link
        return link.latency_s + link.hop_s * len(links)

    def host_route(self, ipu: int, server: int) -> Route:
        """The route from a server over its network card, the port of a gateway and PCIe to an IPU.

        Parameters: `ipu`, its number over the whole machine; `server`, its number, both from 0. Result: three links by
        number, whose rates [B/s] are `capacities`, and a latency of 0 s. Errors: `ValueError` where either does not
        exist or a link between them is down.

        Equation: the links of a flow from the host (Eq. 6). Validity: the network joins every server to every gateway;
        nothing leads round a link that is down; the start of a transfer is counted apart (Eq. 13) and no latency is
        published. Source: datasheet-m2000; the file of the machine for rates.
        """
        most = self.topology.hosts.most_servers
        if not 0 <= server < most:
            raise ValueError(f"servers of {self.name} are 0 to {most - 1}, not {server}")
        return self._only([wiring.host(server), wiring.NETWORK, self._gateway_of(ipu), wiring.ipu(ipu)])

    def streaming_route(self, ipu: int) -> Route:
        """The route from the DDR of a gateway over PCIe to an IPU, at most as fast as one IPU streams.

        Parameters: `ipu`, its number over the whole machine, from 0. Result: three links by number, whose rates [B/s]
        are `capacities`, and a latency of 0 s. Errors: `ValueError` where there is no such IPU or a link is down.

        Equation: the links of a flow from streaming memory (Eq. 6). Validity: IPUs of a machine share its DDR; writing
        loads the same links; no latency is published. Source: datasheet-m2000; the file of the machine for rates.
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

    def _remaining_route(self, nodes: Sequence[str], *, across: bool) -> Route:
        """The route over these nodes, or the way round where a link of it is down: where not `across`, in the rack."""
        if self.damage.down and not self.damage.down.isdisjoint(pairwise(nodes)):
            graph = self.graph if across else self.graph.between(wiring.IPU)
            detours = graph.detour(nodes[0], nodes[-1])
            if detours is None:
                raise ValueError(f"{nodes[-1]} cannot be reached from {nodes[0]}: links are down")
            nodes = [nodes[0], *(target for _, target in detours)]
        return self._route(nodes)

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

    # --- the graph, names and faults ---

    def node(self, endpoint: int) -> Node:
        """The name of an IPU."""
        return wiring.ipu(endpoint)

    def nodes(self) -> Iterator[Node]:
        """IPUs, gateways, the switch, hosts with their network, both ends of streaming memory."""
        return self.joints.nodes()

    def arcs(self, node: Node) -> Iterator[tuple[Node, LinkKey | None]]:
        """What lies one link beyond a node, those that are down left out."""
        down = self.damage.down
        return ((there, ends) for there in self.joints.beyond(node) if (ends := (node, there)) not in down)

    def links_named(self, text: str) -> tuple[Ends, ...]:
        """The links between two ends, such as "ipu4-ipu6" or "gateway3->switch0"; ValueError says what there is."""
        return self.joints.links_named(text)

    def sample_links(self) -> Iterator[tuple[str, Ends]]:
        """The links of the first rack with those that leave it, and of the servers."""
        hosts = ((wiring.host(server), wiring.NETWORK) for server in range(self.topology.hosts.servers))
        earlier_ends: set[Ends] = set()
        for source, target in (*self.joints.of_rack(0), *hosts):
            if self.joints.between(source, target) and not earlier_ends & {(source, target), (target, source)}:
                earlier_ends.add((source, target))
                yield f"{source}{'-' if self.joints.between(target, source) else '->'}{target}", (source, target)

    @property
    def parts(self) -> Mapping[FaultyPart, int]:
        """IPUs, machines and racks, with the IPUs of each."""
        topology = self.topology
        return {
            FaultyPart.IPU: 1,
            FaultyPart.MACHINE: topology.ipus_per_machine,
            FaultyPart.RACK: topology.ipus_per_rack,
        }

    def refuse_faults(self) -> None:
        """Raise InputError where IPUs stand at the ranks of a stated fabric."""
        if self.topology.fabric:
            raise InputError(
                f"{self.name}: training on a generic fabric does not support --fault",
                code="not-on-stated-fabric",
                hint="podsim collective takes --fault on generic fabrics",
            )

    def with_damage(self, damage: Damage) -> Fabric:
        """The machine with this damage in place of its own."""
        return Fabric(self.topology, damage)

    def links_of(self, endpoint: int, part: FaultyPart) -> Iterator[Ends]:
        """Links of an IPU, and with the first of a machine that is lost as a whole those of its gateway."""
        yield from self.joints.of_node(wiring.ipu(endpoint))
        machine, at = divmod(endpoint, self.topology.ipus_per_machine)
        if part in (FaultyPart.MACHINE, FaultyPart.RACK) and at == 0:
            yield from self.joints.of_node(wiring.gateway(machine))

    def arcs_of(self, key: LinkKey) -> Iterator[tuple[Node, Node]]:
        """The two ends of a link, where routes between IPUs may pass."""
        source, target = key
        if _ONLY_WAY.isdisjoint(_kinds(source, target)):
            yield source, target

    def lost_nodes(self) -> set[Node]:
        """IPUs that are lost, and gateways all of whose IPUs are, with their memory."""
        lost_ipus, each = self.damage.lost, self.topology.ipus_per_machine
        nodes: set[Node] = {node for number in lost_ipus for node in (wiring.ipu(number), wiring.sram(number))}
        for machine in {number // each for number in lost_ipus}:
            if lost_ipus.issuperset(range(machine * each, (machine + 1) * each)):
                nodes |= {wiring.gateway(machine), wiring.ddr(machine)}
        return nodes

    def only_ways(self) -> Iterator[Ends]:
        """Links to hosts and memory, and between IPUs and gateways."""
        for ends in sorted(self.damage.down):
            if (kinds := _kinds(*ends)) & _ONLY_WAY or kinds == {wiring.IPU, wiring.GATEWAY}:
                yield ends

    def domains(self) -> Iterator[tuple[range, FabricGraph, list[Ends]]]:
        """Racks in which an IPU-Link is down, whose IPUs reach each other over IPU-Links; then all IPUs over all."""
        size = self.topology.ipus_per_rack
        inside: dict[int, list[Ends]] = {}
        across: list[Ends] = []
        for ends in sorted(self.damage.down):
            if _kinds(*ends) == {wiring.IPU}:
                inside.setdefault(int(ends[0].removeprefix(wiring.IPU)) // size, []).append(ends)
            else:
                across.append(ends)
        for rack, down in inside.items():
            yield range(rack * size, (rack + 1) * size), self.graph.between(wiring.IPU), down
        if self.topology.racks > 1 and across:
            yield range(self.endpoints), self.graph, across


def _kinds(source: str, target: str) -> set[str]:
    return {source.rstrip("0123456789"), target.rstrip("0123456789")}


_RACKS: Final = Numbers("racks", 64)
