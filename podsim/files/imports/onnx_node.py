"""A node of an ONNX graph as builders of operators see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podsim.model.workload import Kind, Operator, OperatorShape

Operators = list[Operator]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShapes:
    """A node, the shapes of what it reads and writes, and which of its inputs are weights (by root name)."""

    node: Any
    ins: tuple[tuple[int, ...], ...]
    out: tuple[int, ...]
    weights: Mapping[int, str]  # inputs that hang on nothing that runs: the weight they are made of, or ""
    tied: frozenset[str]  # weights counted before
    name: str

    def attribute(self, name: str, usual: Any) -> Any:
        """An attribute of the node, plain."""
        for entry in self.node.attribute:
            if entry.name == name:
                return list(entry.ints) or list(entry.floats) if entry.type in (6, 7) else _single(entry)
        return usual


def _single(entry: Any) -> Any:
    return {1: entry.f, 2: entry.i}.get(entry.type, entry.s.decode("utf-8", "replace"))


def of(
    node_shapes: NodeShapes,
    kind: Kind,
    shape: OperatorShape,
    *,
    stashed: bool = True,
    tensors: int | None = None,
    suffix: str = "",
    tied: bool = False,
) -> Operator:
    """An operator called as the node is."""
    footprint = 0 if tied or not shape.parameters else 1
    return Operator(
        name=f"{node_shapes.name}{suffix}",
        kind=kind,
        shape=shape,
        tied=tied,
        stashed=stashed,
        weight_tensors=footprint if tensors is None else tensors,
    )


def is_tied(node_shapes: NodeShapes, at: int) -> bool:
    """Whether an input is a weight that was counted before."""
    return node_shapes.weights.get(at, "") in node_shapes.tied
