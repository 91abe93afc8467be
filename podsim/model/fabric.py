"""Machines and stated fabrics as files describe them: levels, links, gateways and hosts."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Final

from podsim.model.chip import Chip
from podsim.model.note import AnswerNote
from podsim.model.quantity import (
    NOT_IN_FILES,
    Bytes,
    BytesPerS,
    Count,
    Dollars,
    Key,
    NotNegative,
    Positive,
    Seconds,
    Watts,
)


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


RANK: Final = "rank"
"""What a node without levels below it is called, before its number."""
WITH_MIDDLE: Final = (Shape.SWITCH, Shape.STAR, Shape.SHARED)
"""Shapes whose members meet in one place, through which their group is left."""
_NODE: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*)?[A-Za-z_-]")


class Duplex(StrEnum):
    """Whether the two directions of a link have a rate each, or one between them."""

    FULL = "full"
    HALF = "half"


class Attach(StrEnum):
    """Who has links of its own in a level: every rank, each member as a whole, or each by one of those inside it."""

    EACH = "each"
    GROUP = "group"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """ONE link: `bandwidth` [B/s] is that of one direction, or of both together where `duplex` is half.

    On pods `latency` [s] is paid once for a run of links of a kind and `hop` [s] for each; on a stated fabric every
    link costs both. Half duplex is for stated fabrics alone: IPU-Links and GW-Links have a rate each way.
    """

    bandwidth_bytes_per_s: BytesPerS
    efficiency: Positive = 1.0
    latency_s: Seconds = 0.0
    hop_s: Seconds = 0.0
    duplex: Duplex = Duplex.FULL

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
class GenericLevel:
    """One step of the hierarchy: `holds` members (of a torus the product of its `sides`) joined in one shape."""

    name: str
    shape: Shape
    link: str
    holds: Count | None = None
    sides: tuple[Count, ...] = ()
    attach: Attach = Attach.EACH
    hub: str | None = None

    def __post_init__(self) -> None:
        if not _NODE.fullmatch(self.name) or self.name == RANK:
            raise ValueError(
                f'name: must be letters, digits, "-" and "_", without a digit at the end, and not "{RANK}"'
            )
        if self.shape is Shape.LADDER:
            raise ValueError(
                'shape: "ladder" is for the IPU-Links of a rack; in a generic fabric write shape = "torus" with '
                "sides = [2, n]"
            )
        if (self.shape is Shape.TORUS) != bool(self.sides):
            raise ValueError("sides: a torus needs sides, such as [4, 4], in place of holds; no other shape has them")
        if (self.holds is None) != bool(self.sides):
            raise ValueError("holds: a torus holds the product of its sides; everything else has to say it")
        if self.attach is Attach.SPREAD and self.shape is not Shape.FULL:
            raise ValueError('attach: links that are spread over the inside of a member join all pairs: shape "full"')
        if self.hub is not None and self.shape is not Shape.STAR:
            raise ValueError("hub: only a star has one, through which all its members talk")

    @property
    def extents(self) -> tuple[int, ...]:
        """Members along each side; one side where it is no torus."""
        return self.sides or (self.holds or 1,)

    @property
    def members(self) -> int:
        """Members in all."""
        return math.prod(self.extents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One link that differs from its kind: `name` is its ends, "rank3-rank4" both ways or "rank3->rank4" one."""

    name: str
    bandwidth_bytes_per_s: BytesPerS | None = None
    latency_s: Seconds | None = None

    def __post_init__(self) -> None:
        if self.bandwidth_bytes_per_s is None and self.latency_s is None:
            raise ValueError("name: an override states a bandwidth, a latency or both")


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
            raise ValueError(f"servers: must be from 1 to {self.most_servers}, the most_servers of this machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Economics:
    """What a machine (four IPUs, or a card) draws, and what it costs where a price is published.

    `machine_w` is the published typical power [W], `fixed_w` that of all in it but the IPUs, with the standard
    deviation of its logarithm; None where it cannot be derived. `by_hand` are the keys that the user states, in a file
    or with `--set`: such a price or power displaces those of price lists.
    """

    machine_w: Annotated[Watts, Key("machine_power")]
    fixed_w: Annotated[Watts | None, Key("fixed_power")] = None
    fixed_error: Annotated[NotNegative, Key("fixed_power_error")] = 0.0
    machine_usd: Annotated[Dollars | None, Key("machine_price")] = None
    by_hand: tuple[str, ...] = field(default=(), metadata=NOT_IN_FILES)


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A machine: chips, links and the levels that join them, innermost level first.

    Where `fabric` has levels, IPU n is its rank n: it joins all IPUs in place of IPU-Links and GW-Links, the machine
    (IPUs behind one gateway) is the only level of `levels`, and all IPUs count as one rack.

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
    fabric: tuple[GenericLevel, ...] = ()
    overrides: Annotated[tuple[Override, ...], Key("override")] = ()
    notes: tuple[AnswerNote, ...] = ()

    @property
    def stated_fabric(self) -> "GenericFabric | None":
        """The fabric that stands in for IPU-Links and GW-Links; None for a pod, whose links are those of its levels."""
        if not self.fabric:
            return None
        return GenericFabric(
            name=self.name, title=self.title, levels=self.fabric, links=self.links, overrides=self.overrides
        )

    @property
    def neighbour_link(self) -> Link:
        """The link between the two nearest IPUs: an IPU-Link, or the innermost link of a stated fabric."""
        return self.links[self.levels[0].link]

    @property
    def joining(self) -> frozenset[str]:
        """Names of the kinds of link that join two members or more."""
        if self.fabric:
            levels = (level for level in self.fabric if level.members > 1)
            return frozenset(name for level in levels for name in (level.link, level.hub) if name)
        return frozenset(level.link for level in self.levels if level.holds > 1)

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
        if self.fabric:
            return math.prod(level.members for level in self.fabric)
        return self.ipus_per_rack * self.racks

    @cached_property
    def ipus_per_machine(self) -> int:
        """IPUs behind one gateway."""
        return self.count("machine")

    @cached_property
    def machines_per_rack(self) -> int:
        """Machines in one IPU-Link domain; all of a stated fabric, the last of which may be part of one."""
        if self.fabric:
            return -(-self.ipus // self.ipus_per_machine)
        return self.count("rack")

    @cached_property
    def ipus_per_rack(self) -> int:
        """IPUs in one IPU-Link domain (at most 64); all of a stated fabric."""
        if self.fabric:
            return self.ipus
        return self.ipus_per_machine * self.machines_per_rack

    @cached_property
    def racks(self) -> int:
        """IPU-Link domains; a stated fabric is one."""
        if self.fabric:
            return 1
        return self.count("pod")

    @cached_property
    def machines(self) -> int:
        """IPU-M2000 or Bow-2000 machines (gateways) in all."""
        return self.machines_per_rack * self.racks


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericFabric:
    """Ranks and the levels that join them, innermost first; `chip` is what stands at each of them in training."""

    name: str
    title: str
    levels: Annotated[tuple[GenericLevel, ...], Key("level")]
    links: Annotated[Mapping[str, Link], Key("link")]
    overrides: Annotated[tuple[Override, ...], Key("override")] = ()
    notes: tuple[AnswerNote, ...] = ()
    chip: str = "gc200"

    @property
    def endpoints(self) -> int:
        """Ranks in all."""
        return math.prod(level.members for level in self.levels)
