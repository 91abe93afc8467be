"""Shapes of message passing: neighbours of nodes, rows of nodes for each edge, rows of edges summed into nodes."""

from dataclasses import dataclass, replace
from typing import Final

AXES: Final = 3  # of a position


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPairs:
    """The nearest `neighbours` of each of all `nodes`, found among all pairs, those of other rows as well."""

    nodes: int
    neighbours: int

    def at(self, rows: int) -> "AllPairs":
        """The shape for `rows` rows, whose nodes are compared as one graph: pairs grow with their square."""
        return replace(self, nodes=self.nodes * rows)

    @property
    def pairs(self) -> int:
        """Distances."""
        return self.nodes**2

    @property
    def flop(self) -> float:
        """A difference and a square on each axis, their sum and its root [FLOP]."""
        return float(self.pairs * 3 * AXES)

    @property
    def parameters(self) -> int:
        """None is trained."""
        return 0

    @property
    def outputs(self) -> int:
        """Edges."""
        return self.nodes * self.neighbours

    @property
    def inputs(self) -> int:
        """Positions read."""
        return self.nodes * AXES


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGather:
    """The row of its source node, `width` elements, for each edge. Nodes and edges are those of one row."""

    nodes: int
    edges: int
    width: int

    def at(self, rows: int) -> "NodeGather":
        """The shape for `rows` rows, whose graphs are apart."""
        return replace(self, nodes=self.nodes * rows, edges=self.edges * rows)

    @property
    def flop(self) -> float:
        """A gather computes nothing [FLOP]."""
        return 0.0

    @property
    def parameters(self) -> int:
        """Nodes are activations: none."""
        return 0

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.edges * self.width

    @property
    def inputs(self) -> int:
        """Elements read."""
        return self.nodes * self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterAdd:
    """The rows of all edges, `width` elements each, summed into their target nodes."""

    nodes: int
    edges: int
    width: int

    def at(self, rows: int) -> "ScatterAdd":
        """The shape for `rows` rows, whose graphs are apart."""
        return replace(self, nodes=self.nodes * rows, edges=self.edges * rows)

    @property
    def flop(self) -> float:
        """One addition an element of an edge [FLOP]."""
        return float(self.edges * self.width)

    @property
    def parameters(self) -> int:
        """Nodes are activations: none."""
        return 0

    @property
    def outputs(self) -> int:
        """Elements written."""
        return self.nodes * self.width

    @property
    def inputs(self) -> int:
        """Elements read."""
        return self.edges * self.width
