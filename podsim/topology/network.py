"""What every network offers: endpoints, directed links with a capacity, static routes, and their graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from podsim.model.fabric import Link, Shape
    from podsim.model.fault import FaultyPart
    from podsim.topology.graph import FabricGraph
    from podsim.topology.rank_symmetry import Quotient

Node: TypeAlias = Any
"""A place of the graph: of a machine a name, of a stated fabric its kind, axis or level, and number."""
LinkKey: TypeAlias = tuple[Any, ...]
"""One directed link: of a machine the names of its two ends, of a stated fabric its axis, node and port."""


@dataclass(frozen=True, slots=True)
class FabricLink:
    """All parallel links from one node to another, one direction, as one rate that a long transfer reaches [B/s]."""

    name: str
    source: str
    target: str
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one endpoint to another by number, and the time of an empty message over them [s]."""

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


class Rate(NamedTuple):
    """What the links from one node to another carry [B/s], and the latency of one of them [s]."""

    bytes_per_s: float
    latency_s: float


@dataclass(frozen=True, slots=True)
class Damage:
    """Links by key that are `down` or at a fraction of their `rates`; endpoints `lost` or at a fraction of their clock.

    The links of a lost endpoint are down as well.
    """

    down: frozenset[LinkKey] = frozenset()
    rates: Mapping[LinkKey, float] = field(default_factory=dict)
    lost: frozenset[int] = frozenset()
    slow: Mapping[int, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.down or self.rates or self.lost or self.slow)


class Network(ABC):
    """Endpoints (IPUs, or the ranks of a stated fabric) numbered from 0, innermost dimension fastest.

    A link gets its number when a route first crosses it, and keeps it. Routes are closed forms, or the shortest way
    through `graph` where a link of them is down.
    """

    word: ClassVar[str]
    """What an endpoint is called before its number: ipu, rank."""
    called: ClassVar[str]
    """What it is called in a sentence: IPU, rank."""

    def __init__(self, damage: Damage | None) -> None:
        self.damage = damage or Damage()
        self._numbers: dict[LinkKey, int] = {}
        self._keys: list[LinkKey] = []
        self._capacities: list[float] = []

    @property
    @abstractmethod
    def name(self) -> str:
        """What files and screens call it."""

    @property
    @abstractmethod
    def endpoints(self) -> int:
        """How many there are, lost ones included."""

    @property
    @abstractmethod
    def dimensions(self) -> tuple[Dimension, ...]:
        """How endpoints are arranged, innermost first; their sizes multiply to `endpoints`."""

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]; a live view that grows as links are first routed over."""
        return self._capacities

    @property
    def quotient(self) -> Quotient | None:
        """One endpoint that stands for all; None where not all are alike, or none was looked for."""
        return None

    @abstractmethod
    def route(self, a: int, b: int) -> Route:
        """The static route from endpoint `a` to endpoint `b`; ValueError where there is none."""

    @abstractmethod
    def link(self, number: int) -> FabricLink:
        """The link of that number."""

    @abstractmethod
    def kind(self, number: int) -> str:
        """What screens call links like that one: ipu-link, or the dimension of a stated fabric."""

    def number(self, key: LinkKey) -> int:
        """The number of a link, from now on; ValueError where there is no such link."""
        number = self._numbers.get(key)
        return self._number_of(key) if number is None else number

    def _number_of(self, key: LinkKey) -> int:
        """The number of a link that has none yet."""
        return self._append(key, self.rate(key).bytes_per_s)

    def _append(self, key: LinkKey, bytes_per_s: float) -> int:
        self._capacities.append(bytes_per_s)
        self._keys.append(key)
        number = self._numbers[key] = len(self._keys) - 1
        return number

    # --- the graph: off the path of predictions ---

    @cached_property
    def graph(self) -> FabricGraph:
        """Every node and every link that is not down, as a graph of networkx."""
        from podsim.topology.graph import FabricGraph  # loads networkx, which no healthy network needs

        return FabricGraph(self)

    @abstractmethod
    def joint(self, key: LinkKey) -> Joint:
        """What files say of a link; ValueError where there is no such link."""

    @abstractmethod
    def rate(self, key: LinkKey) -> Rate:
        """What a link carries, its own overrides and faults counted; ValueError where there is no such link."""

    @abstractmethod
    def node(self, endpoint: int) -> Node:
        """The node of an endpoint."""

    @abstractmethod
    def nodes(self) -> Iterable[Node]:
        """Every node of the graph."""

    @abstractmethod
    def arcs(self, node: Node) -> Iterator[tuple[Node, LinkKey | None]]:
        """What lies one link beyond a node, the links that are down left out; a step without a link is free."""

    @property
    def last_is_link(self) -> bool:
        """Whether every way to an endpoint ends with a link, none with a free step."""
        return True

    # --- names and faults ---

    @abstractmethod
    def links_named(self, text: str) -> tuple[LinkKey, ...]:
        """The links that a text names, both ways unless an arrow says one; ValueError says what there is instead."""

    @abstractmethod
    def sample_links(self) -> Iterator[tuple[str, LinkKey]]:
        """Links that stand for all others, by the names that faults and overrides use."""

    @property
    @abstractmethod
    def parts(self) -> Mapping[FaultyPart, int]:
        """Parts that a fault may name by number, and the endpoints that each has."""

    @abstractmethod
    def refuse_faults(self) -> None:
        """Raise InputError where faults of this network are not modelled."""

    @abstractmethod
    def with_damage(self, damage: Damage) -> Network:
        """The network with this damage in place of its own."""

    @abstractmethod
    def links_of(self, endpoint: int, part: FaultyPart) -> Iterator[LinkKey]:
        """Links that are down where an endpoint is lost because a part is."""

    @abstractmethod
    def arcs_of(self, key: LinkKey) -> Iterator[tuple[Node, Node]]:
        """Pairs of nodes that routes pass between over a link."""

    @abstractmethod
    def lost_nodes(self) -> set[Node]:
        """Nodes that are lost with their endpoints."""

    def only_ways(self) -> Iterator[LinkKey]:
        """Links that are down which nothing can lead round, whatever else is there."""
        return iter(())

    @abstractmethod
    def domains(self) -> Iterator[tuple[range, FabricGraph, list[LinkKey]]]:
        """Endpoints that have to reach each other, over which graph, and which of its links are down."""
