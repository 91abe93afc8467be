"""The graph of a network in networkx, and what is asked of it: ways round faults, who still reaches whom."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import networkx as nx

if TYPE_CHECKING:
    from podsim.topology.network import LinkKey, Network, Node

Arc = dict[str, Any]
"""What an edge says of itself: `key` (None where a step is free) and, of a link, the fields of `FabricGraph`."""
FREE: Final[Arc] = {"key": None}


class FabricGraph(nx.DiGraph):  # type: ignore[misc]  # networkx has no types
    """Nodes and directed links of a pod or stated fabric; edges are made as they are asked for, so that any size fits.

    An edge that is a link has its `key`, `kind` (what files call it), `links` (how many are parallel),
    `bandwidth_bytes_per_s` (nominal, all of them, one direction), `bytes_per_s` (what a long transfer reaches over
    them with overrides and faults) and `latency_s` (of one). Links that are down are no edges.

    Validity: it is a view, which does not change; every algorithm of networkx that only reads takes it.
    """

    def __init__(self, network: Network | None = None) -> None:
        super().__init__()
        if network is not None:
            self._node: Mapping[Node, Arc] = {node: {} for node in network.nodes()}
            self._adj = _Successors(network, self._node)
            self._pred = _Predecessors(self._adj)
            self.graph["last_is_link"] = network.last_is_link
            nx.freeze(self)

    def between(self, kind: str) -> FabricGraph:
        """The graph of those nodes whose names are that kind and a number, with the links between them."""
        part: FabricGraph = nx.subgraph_view(self, filter_node=lambda node: str(node).rstrip("0123456789") == kind)
        return part

    def detour(self, start: Node, goal: Node) -> tuple[LinkKey, ...] | None:
        """Links of the way of fewest hops, of those the widest, of those the first by port; None if cut off.

        Dijkstra's algorithm of networkx. Where every way to the goal ends with a link, that link's hop is counted
        before: nodes as far as the goal are then not looked beyond, of which a full mesh has many.
        """
        last = _Way(-1, float("-inf"), -1) if self.graph["last_is_link"] else NOTHING

        def cost(_: Node, there: Node, arc: Arc) -> _Way:
            way = NOTHING if arc["key"] is None else _Way(1, -arc["bytes_per_s"])
            return way + last if there == goal else way

        try:
            nodes = nx.dijkstra_path(self, start, goal, weight=cost)
        except nx.NetworkXNoPath:
            return None
        keys = (self[source][target]["key"] for source, target in pairwise(nodes))
        return tuple(key for key in keys if key is not None)

    def split(
        self, members: Mapping[Node, int], missing_arcs: Iterable[tuple[Node, Node]], around: Iterable[Node]
    ) -> tuple[list[int], list[int]] | None:
        """Members that still reach each other with the first of them, and those that do not; None where all do.

        `missing_arcs` are nodes that a missing link joined, `around` those next to lost ones: where they still have a
        way to each other nothing else can have lost its own, and the rest of a large graph is not looked at.
        """
        way_left = all(self._reaches(source, {target}) for source, target in missing_arcs)
        if not members or (way_left and self._is_connected(around)):
            return None
        first = next(iter(members))
        inside = next(part for part in nx.strongly_connected_components(self) if first in part)
        out = [number for node, number in members.items() if node not in inside]
        return ([number for node, number in members.items() if node in inside], out) if out else None

    def _is_connected(self, nodes: Iterable[Node]) -> bool:
        """Whether each of some nodes reaches each other."""
        target = list(dict.fromkeys(nodes))
        home, missing = set(target[:1]), set(target[1:])
        for _, there in nx.bfs_edges(self, target[0]) if missing else ():
            missing.discard(there)
            if not missing:
                break
        for node in target[1:]:
            if missing or not self._reaches(node, home):
                return False
            home.add(node)
        return True

    def _reaches(self, source: Node, goals: set[Node]) -> bool:
        """Whether a way leads from a node to one of some others."""
        return source in goals or any(there in goals for _, there in nx.bfs_edges(self, source))


class _Successors(Mapping["Node", "_Arcs"]):
    """What lies one link beyond each node, known once it is asked for."""

    def __init__(self, network: Network, nodes: Mapping[Node, Arc]) -> None:
        self._network, self._nodes = network, nodes
        self._known: dict[Node, _Arcs] = {}

    def __getitem__(self, node: Node) -> _Arcs:
        if node not in self._known:
            if node not in self._nodes:
                raise KeyError(node)
            self._known[node] = _Arcs(self._network, node)
        return self._known[node]

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class _Arcs(Mapping["Node", Arc]):
    """The edges that leave one node; their far ends are known one by one, as who looks for one needs no others."""

    def __init__(self, network: Network, node: Node) -> None:
        self._network, self._node = network, node

    @cached_property
    def _edges(self) -> dict[Node, Arc]:
        return {there: _attributes(self._network, key) for there, key in self._network.arcs(self._node)}

    def __getitem__(self, there: Node) -> Arc:
        return self._edges[there]

    def __iter__(self) -> Iterator[Node]:
        return (there for there, _ in self._network.arcs(self._node))

    def __len__(self) -> int:
        return len(self._edges)

    def items(self) -> ItemsView[Node, Arc]:
        """Far ends with what their edges say."""
        return self._edges.items()


class _Predecessors(Mapping["Node", "dict[Node, Arc]"]):
    """What lies one link before each node: of all of them, once it is asked of one."""

    def __init__(self, successors: Mapping[Node, _Arcs]) -> None:
        self._successors = successors
        self._known: dict[Node, dict[Node, Arc]] = {}

    def __getitem__(self, node: Node) -> dict[Node, Arc]:
        if not self._known:
            self._known = {at: {} for at in self._successors}
            for source, arcs in self._successors.items():
                for target, arc in arcs.items():
                    self._known[target][source] = arc
        return self._known[node]

    def __iter__(self) -> Iterator[Node]:
        return iter(self._successors)

    def __len__(self) -> int:
        return len(self._successors)


def _attributes(network: Network, key: LinkKey | None) -> Arc:
    if key is None:
        return FREE
    joint, rate = network.joint(key), network.rate(key)
    return {
        "key": key,
        "kind": joint.name,
        "links": joint.links,
        "bandwidth_bytes_per_s": joint.links * joint.kind.bandwidth_bytes_per_s,
        "bytes_per_s": rate.bytes_per_s,
        "latency_s": rate.latency_s,
    }


@dataclass(frozen=True, slots=True)
class _Way:
    """What a way costs: hops, minus the rate of its narrowest link [B/s]; of equals the one that is at its end."""

    hops: int
    narrowest: float
    ends: int = 0

    def __add__(self, more: _Way) -> _Way:
        return _Way(self.hops + more.hops, max(self.narrowest, more.narrowest), self.ends + more.ends)

    def __radd__(self, _: int) -> _Way:
        return self

    def __lt__(self, other: _Way | int) -> bool:
        """Whether a way is better than another; none is better than the start, which networkx counts as 0."""
        if isinstance(other, int):
            return False
        return (self.hops, self.narrowest, self.ends) < (other.hops, other.narrowest, other.ends)


NOTHING: Final = _Way(0, float("-inf"))
