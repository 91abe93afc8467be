"""Fabrics without chips: ranks joined level by level, as textbooks and other simulators describe networks."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from podsim.model.fabric import Shape
from podsim.model.quantity import BytesPerS, Count, Key, Positive, Seconds

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
    """Who has links of its own in a level: every rank, or each member as a whole."""

    EACH = "each"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericLink:
    """ONE link: `bandwidth` is that of one direction, or of both together where `duplex` is half."""

    bandwidth_bytes_per_s: BytesPerS
    efficiency: Positive = 1.0
    latency_s: Seconds = 0.0
    duplex: Duplex = Duplex.FULL

    def __post_init__(self) -> None:
        if not 0 < self.efficiency <= 1:
            raise ValueError("efficiency: must be above 0 and at most 1")

    @property
    def effective_bytes_per_s(self) -> float:
        """What a long transfer reaches [B/s]."""
        return self.bandwidth_bytes_per_s * self.efficiency


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
            raise ValueError(f'name: wants letters, digits, "-" and "_", no digit last, and not "{RANK}"')
        if self.shape is Shape.LADDER:
            raise ValueError("shape: a ladder joins IPUs; here it is a torus of sides [2, n]")
        if (self.shape is Shape.TORUS) != bool(self.sides):
            raise ValueError("sides: a torus has sides, such as [4, 4], and nothing else has")
        if (self.holds is None) != bool(self.sides):
            raise ValueError("holds: a torus holds the product of its sides; everything else has to say it")
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
class GenericFabric:
    """Ranks and the levels that join them, innermost first."""

    name: str
    title: str
    levels: Annotated[tuple[GenericLevel, ...], Key("level")]
    links: Annotated[Mapping[str, GenericLink], Key("link")]
    overrides: Annotated[tuple[Override, ...], Key("override")] = ()
    notes: tuple[str, ...] = ()

    @property
    def endpoints(self) -> int:
        """Ranks in all."""
        return math.prod(level.members for level in self.levels)
