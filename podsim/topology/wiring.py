"""Which links join which nodes: the ladder of IPU-Links in a rack and the GW-Links between racks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import Shape

if TYPE_CHECKING:
    from podsim.model.fabric import Level, Topology


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

    None where a stated fabric joins the IPUs.
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
