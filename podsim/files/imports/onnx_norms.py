"""Layer norms that an exporter has taken apart: mean, difference, square, mean, root, quotient, scale, offset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podsim.files.imports.onnx_file import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Norms:
    """Nodes that belong to a norm, by place; at the place of its last one the norm as one node."""

    inner: frozenset[int]
    whole: Mapping[int, Any]


def find_norms(graph: Graph) -> Norms:
    """Every layer norm that stands in a graph node by node."""
    finder = _Finder(graph)
    inner: set[int] = set()
    whole: dict[int, Any] = {}
    for at, node in enumerate(graph.nodes):
        if node.op_type == "ReduceMean" and at not in inner and (norm := finder.norm(at)):
            parts, norm_node = norm
            inner.update(parts[:-1])
            whole[parts[-1]] = norm_node
    return Norms(inner=frozenset(inner), whole=whole)


class _Finder:
    """Who reads what."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers: dict[str, list[int]] = {}
        for at, node in enumerate(graph.nodes):
            for name in dict.fromkeys(node.input):
                self.readers.setdefault(name, []).append(at)

    def norm(self, at: int) -> tuple[list[int], Any] | None:
        """Places of the nodes of a norm that begins with this mean, and the norm as a node; None where it is none."""
        mean = self.graph.nodes[at]
        difference = self._next(at, "Sub")
        if difference is None or self.graph.nodes[difference].input[0] != mean.input[0]:
            return None
        parts = [at, difference]
        both = self.readers.get(self.graph.nodes[difference].output[0], [])
        squares = [number for number in both if self.graph.nodes[number].op_type in ("Pow", "Mul")]
        if len(both) != 2 or len(squares) != 1:
            return None
        parts.append(squares[0])
        for kind in ("ReduceMean", "Add", "Sqrt", "Div"):
            following = self._next(parts[-1], kind)
            if following is None:
                return None
            parts.append(following)
        if parts[-1] not in both:
            return None
        affines = self._affine(parts)
        return sorted(parts), self._node(mean.input[0], affines, self.graph.nodes[parts[-1]])

    def _affine(self, parts: list[int]) -> list[str]:
        """Scale and offset behind the quotient, where there are any; their nodes join the norm."""
        affine = []
        for kind in ("Mul", "Add"):
            following = self._next(parts[-1], kind)
            weights = self._weights(following)
            if following is None or len(weights) != 1:
                break
            parts.append(following)
            affine += weights
        return affine

    def _weights(self, at: int | None) -> list[str]:
        return [] if at is None else [name for name in self.graph.nodes[at].input if name in self.graph.weights]

    def _next(self, at: int, kind: str) -> int | None:
        """The only reader of what a node writes, where it is of a kind."""
        readers = self.readers.get(self.graph.nodes[at].output[0], [])
        return readers[0] if len(readers) == 1 and self.graph.nodes[readers[0]].op_type == kind else None

    def _node(self, source: str, texts: list[str], last: Any) -> Any:
        import onnx

        return onnx.helper.make_node("LayerNormalization", [source, *texts], list(last.output), name=last.name)
