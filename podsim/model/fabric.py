"""Machines as files describe them: levels, links, gateways and hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from podsim.model.chip import Chip
from podsim.model.quantity import Bytes, BytesPerS, Count, Dollars, Key, Positive, Seconds, Watts


class Shape(StrEnum):
    """How the members of a level are joined: machines as the first three, generic fabrics as all but the ladder."""

    LADDER = "ladder"
    RING = "ring"
    SWITCH = "switch"
    LINE = "line"
    TORUS = "torus"
    FULL = "full"
    STAR = "star"
    SHARED = "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """ONE direction of ONE link."""

    bandwidth_bytes_per_s: BytesPerS
    efficiency: Positive = 1.0
    latency_s: Seconds = 0.0
    hop_s: Seconds = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.efficiency <= 1:
            raise ValueError("efficiency: must be above 0 and at most 1")

    @property
    def effective_bytes_per_s(self) -> float:
        """What a long transfer reaches on one link, one direction [B/s]."""
        return self.bandwidth_bytes_per_s * self.efficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One step of the hierarchy: what it holds and how its members are joined.

    On a ladder (two rails of IPUs joined by rungs) `rung_links` and `rail_links` count links an edge and `closed`
    joins the ends into a torus; on a ring or switch `links_each` counts links of one member (a machine's GW-Links).
    """

    name: str
    holds: Count
    shape: Shape
    link: str
    links_each: Count | None = None
    rung_links: Count | None = None
    rail_links: Count | None = None
    closed: bool = False

    def __post_init__(self) -> None:
        if self.holds < 1 or self.holds & (self.holds - 1):
            raise ValueError("holds: must be a power of two, at least 1")
        if self.shape not in (Shape.LADDER, Shape.RING, Shape.SWITCH):
            raise ValueError(f"shape: a machine is joined as a ladder, ring or switch, not as {self.shape}")
        if self.shape is Shape.LADDER and not (self.rung_links and self.rail_links):
            raise ValueError("shape: a ladder needs rung_links and rail_links, both at least 1")
        if self.shape is not Shape.LADDER and not self.links_each:
            raise ValueError(f"shape: a {self.shape} needs links_each, at least 1")
        if any(links is not None and links < 1 for links in (self.rung_links, self.rail_links, self.links_each)):
            raise ValueError("shape: a count of links must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The gateway of one machine: streaming memory, PCIe to its IPUs, network to the host.

    `streaming_bytes_per_s` is what all its IPUs together draw from streaming memory at most; None: nothing is lost
    by sharing. A card has no gateway: no streaming memory, and its host is its PCIe.
    """

    streaming_bytes_per_s_per_ipu: Annotated[BytesPerS, Key("streaming_bandwidth_per_ipu")]
    pcie_bytes_per_s: Annotated[BytesPerS, Key("pcie_bandwidth")]
    host_bytes_per_s: Annotated[BytesPerS, Key("host_bandwidth")]
    streaming_bytes: Annotated[Bytes, Key("streaming_memory")] = 0.0
    streaming_bytes_per_s: Annotated[BytesPerS | None, Key("streaming_bandwidth")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """The servers that feed the machine."""

    servers: Count
    most_servers: Count
    server_bytes_per_s: Annotated[BytesPerS, Key("server_bandwidth")]

    def __post_init__(self) -> None:
        if not 1 <= self.servers <= self.most_servers:
            raise ValueError("servers: must be at least 1 and at most most_servers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Economics:
    """What a machine (four IPUs, or a card) draws, and what it costs where a price is published."""

    machine_w: Annotated[Watts, Key("machine_power")]
    machine_usd: Annotated[Dollars | None, Key("machine_price")] = None


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A machine: chips, links and the levels that join them, innermost level first.

    Without slots, so that its counts are kept once known: routes ask for them thousands of times.
    """

    name: str
    title: str
    chip: Chip
    levels: Annotated[tuple[Level, ...], Key("level")]
    links: Annotated[Mapping[str, Link], Key("link")]
    gateway: Gateway
    hosts: Hosts
    economics: Economics
    notes: tuple[str, ...] = ()

    def level(self, name: str) -> Level | None:
        """The level of that name, if the machine has it."""
        return next((level for level in self.levels if level.name == name), None)

    def count(self, name: str) -> int:
        """Members held by the level of that name; 1 where the machine has no such level."""
        level = self.level(name)
        return level.holds if level else 1

    @cached_property
    def ipus(self) -> int:
        """IPUs in all."""
        return self.ipus_per_rack * self.racks

    @cached_property
    def ipus_per_machine(self) -> int:
        """IPUs behind one gateway."""
        return self.count("machine")

    @cached_property
    def machines_per_rack(self) -> int:
        """Machines in one IPU-Link domain."""
        return self.count("rack")

    @cached_property
    def ipus_per_rack(self) -> int:
        """IPUs in one IPU-Link domain (at most 64)."""
        return self.ipus_per_machine * self.machines_per_rack

    @cached_property
    def racks(self) -> int:
        """IPU-Link domains."""
        return self.count("pod")

    @cached_property
    def machines(self) -> int:
        """IPU-M2000 or Bow-2000 machines (gateways) in all."""
        return self.machines_per_rack * self.racks
