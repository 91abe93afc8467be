"""Which links join which nodes of a machine: IPU-Links in a rack, GW-Links between racks, PCIe, hosts and memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import Link, Shape
from podsim.topology.network import Joint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podsim.model.fabric import Level, Topology

Ends = tuple[str, str]
"""One directed link by the nodes it joins; parallel links are one."""
_NODE: Final = re.compile(r"([a-z]+)(0|[1-9]\d{0,8})?", re.ASCII)


LEVELS: Final = ("machine", "rack", "pod")
# A complete IPU-Link domain is 16 machines of four IPUs. Source: popart, commgroup.hpp; IPU-POD64 datasheet.
MOST_IPUS_PER_RACK: Final = 64


@dataclass(frozen=True, slots=True)
class Edge:
    """Parallel IPU-Links between two IPUs of one rack; `link` names their kind."""

    end: int
    other: int
    link: str
    links: int


IPU: Final = "ipu"
GATEWAY: Final = "gateway"
SWITCH: Final = "switch"
HOST: Final = "host"
DDR: Final = "ddr"
SRAM: Final = "sram"
NETWORK: Final = "network"
"""What servers and the host ports of all gateways are plugged into."""


def ipu(number: int) -> str:
    """Node name of an IPU."""
    return f"{IPU}{number}"


def gateway(number: int) -> str:
    """Node name of a machine's gateway."""
    return f"{GATEWAY}{number}"


def switch(number: int) -> str:
    """Node name of a GW-Link switch."""
    return f"{SWITCH}{number}"


def host(number: int) -> str:
    """Node name of a server."""
    return f"{HOST}{number}"


def ddr(number: int) -> str:
    """Node name of the streaming memory behind a gateway."""
    return f"{DDR}{number}"


def sram(number: int) -> str:
    """Node name of the far end of an IPU's streams."""
    return f"{SRAM}{number}"


def loops(topology: Topology) -> bool:
    """Whether the two ends of a rack's ladder are joined."""
    rack = topology.level("rack")
    return rack is not None and rack.closed


def rack_edges(topology: Topology) -> tuple[Edge, ...]:
    """Every rung and rail of one rack; two machines joined at both ends have two edges between the same IPUs.

    Empty where a stated fabric joins the IPUs.
    """
    if topology.fabric:
        return ()
    size = topology.ipus_per_rack
    rungs = [(even, even + 1) for even in range(0, size - 1, 2)]
    rails = [(number, number + 2) for number in range(size - 2)]
    closing = [(size - 2, 0), (size - 1, 1)] if loops(topology) and size > 2 else []
    return (
        *(_edge(topology, pair, rung=True) for pair in rungs),
        *(_edge(topology, pair, rung=False) for pair in rails),
        *(_edge(topology, pair, rung=False, outer=True) for pair in closing),
    )


def _edge(topology: Topology, pair: tuple[int, int], *, rung: bool, outer: bool = False) -> Edge:
    """The links of one edge, as the level says that holds both its ends."""
    machines = {number // topology.ipus_per_machine for number in pair}
    name = "rack" if outer or len(machines) > 1 else "machine"
    level = next(level for level in topology.levels if level.name == name)
    return Edge(*pair, level.link, (level.rung_links if rung else level.rail_links) or 0)


def rack_path(start: int, end: int, *, size: int, closed: bool) -> tuple[int, ...]:
    """IPUs passed from `start` to `end` in a rack of `size`: along the rail the shorter way, then over the rung.

    Where both ways round are alike: upwards. Order and ties are assumed: JIA 2019, section 2.1, says only
    that routes are static.
    """
    pairs = size // 2
    up = end // 2 - start // 2
    if closed:
        up %= max(pairs, 1)
        up = up if 2 * up <= pairs else up - pairs
    step = 2 if up > 0 else -2
    along = tuple((start + step * rail) % size for rail in range(abs(up) + 1))
    return along if along[-1] == end else (*along, end)


def ring_path(start: int, end: int, racks: int) -> tuple[int, ...]:
    """Racks passed from `start` to `end` on a ring: the shorter way, upwards where both are alike."""
    up = (end - start) % racks
    up = up if 2 * up <= racks else up - racks
    step = 1 if up > 0 else -1
    return tuple((start + step * hop) % racks for hop in range(abs(up) + 1))


def gateway_links(pod: Level) -> int:
    """GW-Links from one gateway to the next rack, or to the switches; on a ring of racks a machine splits its links."""
    links = pod.links_each or 0
    return links // 2 if pod.shape is Shape.RING and pod.holds > 2 else links


class Joints:
    """Every link of a machine by its two ends, without a list of them all; `rack` holds the IPU-Links of one rack."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        pod, ports = topology.level("pod"), topology.gateway
        self._pod = pod if pod and pod.holds > 1 else None
        self.rack: dict[tuple[int, int], Joint] = {}
        self._beside: list[list[int]] = [[] for _ in range(topology.ipus_per_rack)]
        for edge in rack_edges(topology):
            for pair in ((edge.end, edge.other), (edge.other, edge.end)):
                # Two machines joined at both ends have two edges between the same IPUs.
                links = edge.links + (self.rack[pair].links if pair in self.rack else 0)
                if links == edge.links:
                    self._beside[pair[0]].append(pair[1])
                self.rack[pair] = Joint(edge.link, topology.links[edge.link], links)
        ddr_bytes_per_s = ports.streaming_bytes_per_s or (
            topology.ipus_per_machine * ports.streaming_bytes_per_s_per_ipu
        )
        self._fixed = {
            (IPU, GATEWAY): _single("pcie", ports.pcie_bytes_per_s),
            (GATEWAY, IPU): _single("pcie", ports.pcie_bytes_per_s),
            (NETWORK, GATEWAY): _single("host-link", ports.host_bytes_per_s),
            (HOST, NETWORK): _single("server-link", topology.hosts.server_bytes_per_s),
            (DDR, GATEWAY): _single("ddr", ddr_bytes_per_s),
            (IPU, SRAM): _single("stream", ports.streaming_bytes_per_s_per_ipu),
        }
        self._counts = {
            IPU: topology.ipus,
            SRAM: topology.ipus,
            GATEWAY: topology.machines,
            DDR: topology.machines,
            HOST: topology.hosts.most_servers,
            SWITCH: int(self._pod is not None and self._pod.shape is Shape.SWITCH),
        }

    def parse_node(self, node: str) -> tuple[str, int] | None:
        """Kind and number of a node; None where the machine has no such node."""
        match = _NODE.fullmatch(node)
        if match is None:
            return None
        if match[2] is None:
            return (node, 0) if node == NETWORK else None
        kind, number = match[1], int(match[2])
        return (kind, number) if number < self._counts.get(kind, 0) else None

    def between(self, source: str, target: str) -> Joint | None:
        """The links from one node to another; None where there are none."""
        item, other = self.parse_node(source), self.parse_node(target)
        if item is None or other is None:
            return None
        kinds, machine = (item[0], other[0]), self.topology.ipus_per_machine
        if kinds == (IPU, IPU):
            size = self.topology.ipus_per_rack
            same = item[1] // size == other[1] // size
            return self.rack.get((item[1] % size, other[1] % size)) if same else None
        if kinds in self._fixed:
            place = {IPU: item[1] // machine, GATEWAY: item[1], DDR: item[1]}.get(item[0])
            there = {IPU: other[1] // machine, SRAM: other[1] // machine}.get(other[0], other[1])
            apart = place is not None and place != there
            wrong = kinds == (IPU, SRAM) and item[1] != other[1]
            return None if apart or wrong else self._fixed[kinds]
        return self._gateways(item, other)

    def _gateways(self, item: tuple[str, int], other: tuple[str, int]) -> Joint | None:
        """GW-Links to the switches, or to the gateway of the same machine in the next rack of the ring."""
        pod, machines = self._pod, self.topology.machines_per_rack
        if pod is None:
            return None
        if pod.shape is Shape.SWITCH:
            is_joined = {item[0], other[0]} == {GATEWAY, SWITCH}
        else:
            apart = (other[1] - item[1]) // machines % pod.holds
            same = item[1] % machines == other[1] % machines
            is_joined = item[0] == other[0] == GATEWAY and same and apart in (1, pod.holds - 1)
        return Joint(pod.link, self.topology.links[pod.link], gateway_links(pod)) if is_joined else None

    def beyond(self, node: str) -> Iterator[str]:
        """Nodes that a link from one leads to."""
        kind_and_number = self.parse_node(node)
        if kind_and_number is None:
            return
        kind, number = kind_and_number
        topology = self.topology
        if kind == IPU:
            first = number - number % topology.ipus_per_rack
            yield from (ipu(first + other) for other in self._beside[number - first])
            yield gateway(number // topology.ipus_per_machine)
            yield sram(number)
        elif kind == GATEWAY:
            first = number * topology.ipus_per_machine
            yield from (ipu(at) for at in range(first, min(first + topology.ipus_per_machine, topology.ipus)))
            yield from self._gateways_beyond(number)
        elif kind in (SWITCH, NETWORK):
            yield from (gateway(at) for at in range(topology.machines))
        elif kind == HOST:
            yield NETWORK
        elif kind == DDR:
            yield gateway(number)

    def _gateways_beyond(self, number: int) -> Iterator[str]:
        pod = self._pod
        if pod is None:
            return
        if pod.shape is Shape.SWITCH:
            yield switch(0)
            return
        rack, machine = divmod(number, self.topology.machines_per_rack)
        for other in dict.fromkeys(((rack + 1) % pod.holds, (rack - 1) % pod.holds)):
            yield gateway(other * self.topology.machines_per_rack + machine)

    def around(self, node: str) -> Iterator[str]:
        """Every node that a link joins to one, in either direction."""
        yield from self.beyond(node)
        kind, number = self.parse_node(node) or ("", 0)
        if kind == SRAM:
            yield ipu(number)
        elif kind == GATEWAY:
            yield from (NETWORK, ddr(number))
        elif kind == NETWORK:
            yield from (host(at) for at in range(self._counts[HOST]))

    def of_node(self, node: str) -> Iterator[Ends]:
        """Both directions of every link of a node."""
        for there in self.around(node):
            yield from (ends for ends in ((node, there), (there, node)) if self.between(*ends))

    def links_named(self, text: str) -> tuple[Ends, ...]:
        """The links between the two ends that a text names, both ways unless an arrow says one; ValueError if none."""
        arrow = "->" in text
        source, _, target = text.partition("->" if arrow else "-")
        ways = [(source, target)] if arrow else [(source, target), (target, source)]
        links = tuple(ends for ends in ways if self.between(*ends))
        if not links:
            raise ValueError(self._nothing(source, target))
        return links

    def _nothing(self, source: str, target: str) -> str:
        """What there is instead of a link."""
        for node, other in ((source, target), (target, source)):
            if self.parse_node(node):
                near = list(self.around(node))
                matches = get_close_matches(other, near, n=1)
                hint = f'; did you mean "{node}-{matches[0]}"?' if matches else ""
                return f"{node} is joined to {', '.join(near[:8])}" + (" and others" if len(near) > 8 else "") + hint
        return f"no such link; nodes are {self.in_words()}; a link is named by its ends, as ipu0-gateway0"

    def nodes(self) -> Iterator[str]:
        """Every node."""
        for kind, count in self._counts.items():
            yield from (f"{kind}{number}" for number in range(count))
        yield NETWORK

    def in_words(self) -> str:
        """Every kind of node with its numbers, in words."""
        ranges = (f"{kind}0" + f" to {kind}{count - 1}" * (count > 1) for kind, count in self._counts.items() if count)
        return ", ".join((*ranges, NETWORK))

    def of_rack(self, rack: int) -> Iterator[Ends]:
        """Both directions of every link that joins or leaves the nodes of one rack, and those of its streams."""
        size, machines, each = (
            self.topology.ipus_per_rack,
            self.topology.machines_per_rack,
            self.topology.ipus_per_machine,
        )
        for item, other in self.rack:
            yield ipu(rack * size + item), ipu(rack * size + other)
        for number in range(rack * size, (rack + 1) * size):
            port = gateway(number // each)
            yield ipu(number), port
            yield port, ipu(number)
            yield ipu(number), sram(number)
        for number in range(rack * machines, (rack + 1) * machines):
            for there in self._gateways_beyond(number):
                yield gateway(number), there
                yield there, gateway(number)
            yield NETWORK, gateway(number)
            yield ddr(number), gateway(number)


def _single(name: str, bytes_per_s: float) -> Joint:
    return Joint(name, Link(bandwidth_bytes_per_s=bytes_per_s), 1)


def connection_faults(topology: Topology) -> tuple[str, ...]:
    """Why parts of the machine cannot reach each other, one line a fault; empty where all can."""
    return (*_level_faults(topology), *_link_faults(topology), *_shape_faults(topology))


def _level_faults(topology: Topology) -> Iterator[str]:
    names = [level.name for level in topology.levels]
    for name in dict.fromkeys(names):
        if name not in LEVELS:
            yield f"level {name}: not a level{_did_you_mean(name, LEVELS)}"
        elif names.count(name) > 1:
            yield f"level {name}: given {names.count(name)} times"
    level_names = [name for name in names if name in LEVELS]
    if any(LEVELS.index(inner) > LEVELS.index(outer) for inner, outer in pairwise(level_names)):
        yield f"levels: {', '.join(level_names)} are out of order; innermost first is {', '.join(LEVELS)}"
    if "machine" not in names:
        yield "level machine: missing; it holds the IPUs behind one gateway"
    if topology.ipus_per_rack > MOST_IPUS_PER_RACK:
        yield (
            f"level rack: IPU-Links would join {topology.ipus_per_rack} IPUs; "
            f"an IPU-Link domain has at most {MOST_IPUS_PER_RACK} IPUs"
        )


def _link_faults(topology: Topology) -> Iterator[str]:
    for level in topology.levels:
        if level.link not in topology.links:
            yield f'level {level.name}: no link "{level.link}" in [link]{_did_you_mean(level.link, topology.links)}'


def _shape_faults(topology: Topology) -> Iterator[str]:
    for level in topology.levels:
        if level.name == "pod" and level.shape is Shape.LADDER:
            yield "level pod: a ladder joins IPUs; GW-Links join racks as a ring or by a switch"
        if level.name in ("machine", "rack") and level.shape is not Shape.LADDER:
            yield f"level {level.name}: IPU-Links join IPUs as a ladder, not as a {level.shape}"
        if level.closed and level.name != "rack":
            yield f"level {level.name}: closed joins the ends of a rack's ladder; here it joins nothing"
        if level.shape is Shape.RING and level.holds > 2 and (level.links_each or 0) % 2:
            yield (
                f"level {level.name}: a ring of {level.holds} needs an even number of links each, "
                f"half each way, not {level.links_each}"
            )


def _did_you_mean(word: str, candidates: Iterable[str]) -> str:
    near = get_close_matches(word, tuple(candidates), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
