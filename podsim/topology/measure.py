"""What a topology amounts to: its graph, bisection, diameter, and what is left unconnected."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.model.fabric import Shape
from podsim.topology import wiring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import networkx as nx

    from podsim.model.fabric import Level, Topology

LEVELS: Final = ("machine", "rack", "pod")
# A complete IPU-Link domain is 16 machines of four IPUs. Source: popart, commgroup.hpp; IPU-POD64 datasheet.
MOST_IPUS_PER_RACK: Final = 64
MOST_IPUS_DRAWN: Final = 256


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
    known = [name for name in names if name in LEVELS]
    if any(LEVELS.index(inner) > LEVELS.index(outer) for inner, outer in pairwise(known)):
        yield f"levels: {', '.join(known)} are out of order; innermost first is {', '.join(LEVELS)}"
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


def _did_you_mean(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word, tuple(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def bisection_bytes_per_s(topology: Topology) -> dict[str, float]:
    """Least nominal bandwidth, one direction, cut by any even split of the members of each level [B/s].

    Members stay whole: a rack is split by machines, a pod by racks. A level of one member has no entry. The host
    network does not count.
    """
    cuts: dict[str, float] = {}
    for level in topology.levels:
        if level.holds < 2:
            continue
        if level.shape is Shape.LADDER:
            links = _ladder_cut_links(level, 1 if level.name == "machine" else topology.ipus_per_machine)
        elif level.shape is Shape.RING:
            links = topology.machines_per_rack * wiring.gateway_links(level) * min(level.holds - 1, 2)
        else:
            links = topology.machines_per_rack * wiring.gateway_links(level) * (level.holds // 2)
        cuts[level.name] = links * topology.links[level.link].bandwidth_bytes_per_s
    return cuts


def _ladder_cut_links(level: Level, ipus_each: int) -> int:
    """Links cut between the halves of a ladder: across both rails, at two places of a loop, or along all rungs."""
    across = 2 * (level.rail_links or 0) * (2 if level.closed else 1)
    if ipus_each > 1:
        return across
    along = level.holds // 2 * (level.rung_links or 0)
    return min(across, along) if level.holds > 2 else along


def diameter_hops(topology: Topology) -> int:
    """IPU-Link hops between the farthest IPUs of a rack, plus GW-Link hops between the farthest racks."""
    pairs = topology.ipus_per_rack // 2
    along = pairs // 2 if wiring.loops(topology) else max(pairs - 1, 0)
    pod = topology.level("pod")
    racks = 0 if pod is None or pod.holds < 2 else 2 if pod.shape is Shape.SWITCH else pod.holds // 2
    return along + min(pairs, 1) + racks


def graph(topology: Topology) -> nx.Graph:
    """Every IPU, gateway, switch and host in use as a node, parallel links as one edge; at most 256 IPUs.

    Nodes have `kind` (ipu, gateway, switch, host). Edges have `kind` (the link's name, pcie or host-link), `links` and
    `bandwidth_bytes_per_s` (nominal, one direction, all parallel links). InputError above the limit or where the
    machine is not connected.
    """
    import networkx as nx

    if faults := connection_faults(topology):
        raise InputError(f"{topology.name} is not connected", code="not-connected", context=faults)
    if topology.ipus > MOST_IPUS_DRAWN:
        raise InputError(
            f"{topology.name} has {topology.ipus:,} IPUs; its graph is drawn up to {MOST_IPUS_DRAWN}",
            code="too-large-to-draw",
        )
    drawn = nx.Graph()
    for text, other, kind, links, each_bytes_per_s in _edges(topology):
        if not drawn.has_edge(text, other):
            drawn.add_edge(text, other, kind=kind, links=0, bandwidth_bytes_per_s=0.0)
        drawn.edges[text, other]["links"] += links
        drawn.edges[text, other]["bandwidth_bytes_per_s"] += links * each_bytes_per_s
    nx.set_node_attributes(drawn, {node: node.rstrip("0123456789") for node in drawn}, "kind")
    return drawn


_EdgeRow = tuple[str, str, str, int, float]


def _edges(topology: Topology) -> Iterator[_EdgeRow]:
    """Both ends, kind, links and nominal rate of one link [B/s]."""
    for rack in range(topology.racks):
        first = rack * topology.ipus_per_rack
        for edge in wiring.rack_edges(topology):
            rate = topology.links[edge.link].bandwidth_bytes_per_s
            yield wiring.ipu(first + edge.end), wiring.ipu(first + edge.other), edge.link, edge.links, rate
    for number in range(topology.ipus):
        gateway = wiring.gateway(number // topology.ipus_per_machine)
        yield wiring.ipu(number), gateway, "pcie", 1, topology.gateway.pcie_bytes_per_s
    for machine in range(topology.machines):
        host = wiring.host(machine * topology.hosts.servers // topology.machines)
        yield wiring.gateway(machine), host, "host-link", 1, topology.gateway.host_bytes_per_s
    yield from _gateway_edges(topology)


def _gateway_edges(topology: Topology) -> Iterator[_EdgeRow]:
    """GW-Links: link k of every gateway goes to switch k, or to the gateway of the same machine in the next rack."""
    pod, machines = topology.level("pod"), topology.machines_per_rack
    if pod is None or pod.holds < 2:
        return
    rate = topology.links[pod.link].bandwidth_bytes_per_s
    for number in range(topology.machines):
        rack, machine = divmod(number, machines)
        if pod.shape is Shape.SWITCH:
            for link in range(wiring.gateway_links(pod)):
                yield wiring.gateway(number), wiring.switch(link), pod.link, 1, rate
        elif pod.holds > 2 or rack == 0:  # two racks have one set of cables between them
            following = wiring.gateway((rack + 1) % pod.holds * machines + machine)
            yield wiring.gateway(number), following, pod.link, wiring.gateway_links(pod), rate
