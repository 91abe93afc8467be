"""Shapes of message passing: rows of nodes read for each edge of a graph, and rows of edges summed into their nodes."""

from dataclasses import dataclass, replace


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
