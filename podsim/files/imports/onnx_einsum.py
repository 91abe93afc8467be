"""Einsum of two operands as a product: labels of both and of the result are groups, those of both alone are summed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from podsim.files.imports.onnx_node import NodeShapes, Operators, is_tied, of
from podsim.model.workload import Kind, Matmul, Operator, Stream

DOTS = "..."
SPARE = "@#$%&*!?"  # labels of dimensions that an ellipsis stands for, from the last


def einsum(node_shapes: NodeShapes) -> Operators | None:
    """The product of two operands; None for more of them, for a diagonal, and where one alone is summed over."""
    result = _labels(node_shapes)
    if result is None:
        return None
    groups, reduction, left_size, right_size = (
        result.size(labels) for labels in (result.groups, result.summed, result.left, result.right)
    )
    if not result.summed:
        elements = Stream(
            elements=max(1, math.prod(node_shapes.out)),
            operations=("multiply",),
            back_operations=("multiply", "multiply"),
        )
        return None if node_shapes.weights else [of(node_shapes, Kind.ELEMENTWISE, elements)]
    if 1 in node_shapes.weights:
        return [_product(node_shapes, 1, groups, left_size, reduction, right_size)]
    if 0 in node_shapes.weights:
        return [_product(node_shapes, 0, groups, right_size, reduction, left_size)]
    shape = Matmul(groups=groups, m=left_size, k=reduction, n=right_size, weights=False)
    return [of(node_shapes, Kind.MATMUL, shape)]


def _product(node_shapes: NodeShapes, at: int, groups: int, rows: int, reduction: int, columns: int) -> Operator:
    return of(
        node_shapes, Kind.MATMUL, Matmul(groups=groups, m=rows, k=reduction, n=columns), tied=is_tied(node_shapes, at)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """Labels by where they stand, and the size of each."""

    sizes: Mapping[str, int]
    groups: str
    summed: str
    left: str
    right: str

    def size(self, labels: str) -> int:
        return math.prod(self.sizes[label] for label in labels)


def _labels(node_shapes: NodeShapes) -> _Labels | None:
    equation = str(node_shapes.attribute("equation", "")).replace(" ", "")
    reads, arrow, writes = equation.partition("->")
    terms = reads.split(",")
    if len(terms) != 2 or len(node_shapes.ins) != 2:
        return None
    first, second = (_label_dimensions(term, len(size)) for term, size in zip(terms, node_shapes.ins, strict=True))
    both = [*first, *second]
    if len(set(first)) < len(first) or len(set(second)) < len(second):
        return None  # a diagonal
    if arrow:
        out = _label_dimensions(writes, len(node_shapes.out))
    else:
        once = sorted(label for label in both if both.count(label) == 1 and label not in SPARE)
        out = "".join([label for label in SPARE if label in both] + once)
    sizes: dict[str, int] = {}
    for term, dimensions in zip((first, second), node_shapes.ins, strict=True):
        for label, size in zip(term, dimensions, strict=True):
            sizes[label] = max(size, sizes.get(label, 1))  # of 1 it is repeated
    result_labels, shared_labels = set(out), set(first) & set(second)
    if any(label not in result_labels for label in set(both) - shared_labels) or not result_labels <= set(both):
        return None
    return _Labels(
        sizes=sizes,
        groups="".join(label for label in first if label in shared_labels and label in result_labels),
        summed="".join(label for label in first if label in shared_labels and label not in result_labels),
        left="".join(label for label in first if label not in shared_labels),
        right="".join(label for label in second if label not in shared_labels),
    )


def _label_dimensions(term: str, dimensions: int) -> str:
    """A term with a label for each dimension."""
    before, dots, after = term.partition(DOTS)
    hidden = dimensions - len(before) - len(after) if dots else 0
    if not 0 <= hidden <= len(SPARE) or not all(label.isalpha() for label in before + after):
        raise ValueError
    return before + SPARE[:hidden][::-1] + after
