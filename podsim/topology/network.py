"""What every fabric offers: endpoints, directed links with a capacity, and static routes between endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.fabric import Shape


@dataclass(frozen=True, slots=True)
class FabricLink:
    """All parallel links from one node to another, one direction, as one rate that a long transfer reaches."""

    name: str
    source: str
    target: str
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one endpoint to another by number, and the time of an empty message over them."""

    links: tuple[int, ...]
    hops: int
    latency_s: float


@dataclass(frozen=True, slots=True)
class Dimension:
    """One level of the arrangement of endpoints: `size` members that lie `stride` endpoint numbers apart."""

    name: str
    size: int
    stride: int
    shape: Shape


class Network(Protocol):
    """Endpoints (IPUs, or the ranks of a generic fabric) numbered from 0, innermost dimension fastest."""

    @property
    def name(self) -> str:
        """What files and screens call it."""
        ...

    @property
    def endpoints(self) -> int:
        """How many there are."""
        ...

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """How endpoints are arranged, innermost first; their sizes multiply to `endpoints`."""
        ...

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]; a live view that grows as links are first routed over."""
        ...

    def link(self, number: int) -> FabricLink:
        """The link of that number."""
        ...

    def kind(self, number: int) -> str:
        """What files call links like that one: ipu-link, or the level of a generic fabric."""
        ...

    def route(self, a: int, b: int) -> Route:
        """The static route from endpoint `a` to endpoint `b`; ValueError where there is none."""
        ...
