"""Which link joins two nodes of a machine, and which nodes lie next to one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import Link, Shape
from podsim.topology import wiring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.fabric import Topology

Ends = tuple[str, str]
"""One directed link by the nodes it joins; parallel links are one."""
_NODE: Final = re.compile(r"([a-z]+)(0|[1-9]\d{0,8})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Joint:
    """Parallel links from one node to another, one direction: what they are called in files, one of them, how many."""

    name: str
    kind: Link
    links: int

    @property
    def bytes_per_s(self) -> float:
        """What a long transfer reaches over all of them [B/s]."""
        return self.links * self.kind.effective_bytes_per_s


class Joints:
    """Every link of a machine by its two ends, without a list of them all; `rack` holds the IPU-Links of one rack."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        pod, gateway = topology.level("pod"), topology.gateway
        self._pod = pod if pod and pod.holds > 1 else None
        self.rack: dict[tuple[int, int], Joint] = {}
        self._beside: list[list[int]] = [[] for _ in range(topology.ipus_per_rack)]
        for edge in wiring.rack_edges(topology):
            for pair in ((edge.end, edge.other), (edge.other, edge.end)):
                # Two machines joined at both ends have two edges between the same IPUs.
                links = edge.links + (self.rack[pair].links if pair in self.rack else 0)
                if links == edge.links:
                    self._beside[pair[0]].append(pair[1])
                self.rack[pair] = Joint(edge.link, topology.links[edge.link], links)
        ddr_bytes_per_s = gateway.streaming_bytes_per_s or (
            topology.ipus_per_machine * gateway.streaming_bytes_per_s_per_ipu
        )
        self._fixed = {
            (wiring.IPU, wiring.GATEWAY): _single("pcie", gateway.pcie_bytes_per_s),
            (wiring.GATEWAY, wiring.IPU): _single("pcie", gateway.pcie_bytes_per_s),
            (wiring.NETWORK, wiring.GATEWAY): _single("host-link", gateway.host_bytes_per_s),
            (wiring.HOST, wiring.NETWORK): _single("server-link", topology.hosts.server_bytes_per_s),
            (wiring.DDR, wiring.GATEWAY): _single("ddr", ddr_bytes_per_s),
            (wiring.IPU, wiring.SRAM): _single("stream", gateway.streaming_bytes_per_s_per_ipu),
        }
        self._counts = {
            wiring.IPU: topology.ipus,
            wiring.SRAM: topology.ipus,
            wiring.GATEWAY: topology.machines,
            wiring.DDR: topology.machines,
            wiring.HOST: topology.hosts.most_servers,
            wiring.SWITCH: int(self._pod is not None and self._pod.shape is Shape.SWITCH),
        }

    def parsed(self, node: str) -> tuple[str, int] | None:
        """Kind and number of a node; None where the machine has no such node."""
        match = _NODE.fullmatch(node)
        if match is None:
            return None
        if match[2] is None:
            return (node, 0) if node == wiring.NETWORK else None
        kind, number = match[1], int(match[2])
        return (kind, number) if number < self._counts.get(kind, 0) else None

    def between(self, source: str, target: str) -> Joint | None:
        """The links from one node to another; None where there are none."""
        item, other = self.parsed(source), self.parsed(target)
        if item is None or other is None:
            return None
        kinds, machine = (item[0], other[0]), self.topology.ipus_per_machine
        if kinds == (wiring.IPU, wiring.IPU):
            size = self.topology.ipus_per_rack
            same = item[1] // size == other[1] // size
            return self.rack.get((item[1] % size, other[1] % size)) if same else None
        if kinds in self._fixed:
            place = {wiring.IPU: item[1] // machine, wiring.GATEWAY: item[1], wiring.DDR: item[1]}.get(item[0])
            there = {wiring.IPU: other[1] // machine, wiring.SRAM: other[1] // machine}.get(other[0], other[1])
            apart = place is not None and place != there
            wrong = kinds == (wiring.IPU, wiring.SRAM) and item[1] != other[1]
            return None if apart or wrong else self._fixed[kinds]
        return self._gateways(item, other)

    def _gateways(self, item: tuple[str, int], other: tuple[str, int]) -> Joint | None:
        """GW-Links to the switches, or to the gateway of the same machine in the next rack of the ring."""
        pod, machines = self._pod, self.topology.machines_per_rack
        if pod is None:
            return None
        if pod.shape is Shape.SWITCH:
            joined = {item[0], other[0]} == {wiring.GATEWAY, wiring.SWITCH}
        else:
            apart = (other[1] - item[1]) // machines % pod.holds
            same = item[1] % machines == other[1] % machines
            joined = item[0] == other[0] == wiring.GATEWAY and same and apart in (1, pod.holds - 1)
        return Joint(pod.link, self.topology.links[pod.link], wiring.gateway_links(pod)) if joined else None

    def beyond(self, node: str, *, across: bool) -> Iterator[str]:
        """Nodes one link away: IPUs, and where a route may go `across` racks gateways and the switch as well."""
        parsed = self.parsed(node)
        if parsed is None:
            return
        kind, number = parsed
        topology = self.topology
        if kind == wiring.IPU:
            first = number - number % topology.ipus_per_rack
            yield from (wiring.ipu(first + other) for other in self._beside[number - first])
            if across:
                yield wiring.gateway(number // topology.ipus_per_machine)
        elif kind == wiring.GATEWAY and across:
            first = number * topology.ipus_per_machine
            yield from (wiring.ipu(first + at) for at in range(topology.ipus_per_machine))
            yield from self._gateways_beyond(number)
        elif kind == wiring.SWITCH and across:
            yield from (wiring.gateway(at) for at in range(topology.machines))

    def _gateways_beyond(self, number: int) -> Iterator[str]:
        pod = self._pod
        if pod is None:
            return
        if pod.shape is Shape.SWITCH:
            yield wiring.switch(0)
            return
        rack, machine = divmod(number, self.topology.machines_per_rack)
        for other in dict.fromkeys(((rack + 1) % pod.holds, (rack - 1) % pod.holds)):
            yield wiring.gateway(other * self.topology.machines_per_rack + machine)

    def around(self, node: str) -> Iterator[str]:
        """Every node that a link joins to one, in either direction."""
        yield from self.beyond(node, across=True)
        parsed = self.parsed(node)
        if parsed is None:
            return
        kind, number = parsed
        if kind == wiring.IPU:
            yield wiring.sram(number)
        elif kind == wiring.SRAM:
            yield wiring.ipu(number)
        elif kind == wiring.GATEWAY:
            yield wiring.NETWORK
            yield wiring.ddr(number)
        elif kind == wiring.DDR:
            yield wiring.gateway(number)
        elif kind == wiring.HOST:
            yield wiring.NETWORK
        elif kind == wiring.NETWORK:
            yield from (wiring.host(at) for at in range(self._counts[wiring.HOST]))
            yield from (wiring.gateway(at) for at in range(self._counts[wiring.GATEWAY]))

    def nodes(self) -> str:
        """Every kind of node with its numbers, in words."""
        ranges = (f"{kind}0" + f" to {kind}{count - 1}" * (count > 1) for kind, count in self._counts.items() if count)
        return ", ".join((*ranges, wiring.NETWORK))

    def of_rack(self, rack: int) -> Iterator[Ends]:
        """Both directions of every link that joins or leaves the nodes of one rack, and those of its streams."""
        size, machines, each = (
            self.topology.ipus_per_rack,
            self.topology.machines_per_rack,
            self.topology.ipus_per_machine,
        )
        for item, other in self.rack:
            yield wiring.ipu(rack * size + item), wiring.ipu(rack * size + other)
        for number in range(rack * size, (rack + 1) * size):
            gateway = wiring.gateway(number // each)
            yield wiring.ipu(number), gateway
            yield gateway, wiring.ipu(number)
            yield wiring.ipu(number), wiring.sram(number)
        for number in range(rack * machines, (rack + 1) * machines):
            gateway = wiring.gateway(number)
            for there in self._gateways_beyond(number):
                yield gateway, there
                yield there, gateway
            yield wiring.NETWORK, gateway
            yield wiring.ddr(number), gateway


def _single(name: str, bytes_per_s: float) -> Joint:
    return Joint(name, Link(bandwidth_bytes_per_s=bytes_per_s), 1)
