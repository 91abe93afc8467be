"""Einsum of two operands as a product: labels of both and of the result are groups, those of both alone are summed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from podsim.files.imports.onnx_node import NodeShapes, Operators, is_tied, of
from podsim.model.workload import Kind, Matmul, Operator, Stream

DOTS = "..."
SPARE = "@#$%&*!?"  # labels of dimensions that an ellipsis stands for, from the last


def einsum(seen: NodeShapes) -> Operators | None:
    """The product of two operands; None for more of them, for a diagonal, and where one alone is summed over."""
    result = _labels(seen)
    if result is None:
        return None
    groups, summed, left, right = (
        result.size(labels) for labels in (result.groups, result.summed, result.left, result.right)
    )
    if not result.summed:
        elements = Stream(
            elements=max(1, math.prod(seen.out)), operations=("multiply",), back_operations=("multiply", "multiply")
        )
        return None if seen.weights else [of(seen, Kind.ELEMENTWISE, elements)]
    if 1 in seen.weights:
        return [_product(seen, 1, groups, left, summed, right)]
    if 0 in seen.weights:
        return [_product(seen, 0, groups, right, summed, left)]
    shape = Matmul(groups=groups, m=left, k=summed, n=right, weights=False)
    return [of(seen, Kind.MATMUL, shape)]


def _product(seen: NodeShapes, at: int, groups: int, rows: int, summed: int, columns: int) -> Operator:
    return of(seen, Kind.MATMUL, Matmul(groups=groups, m=rows, k=summed, n=columns), tied=is_tied(seen, at))


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


def _labels(seen: NodeShapes) -> _Labels | None:
    equation = str(seen.attribute("equation", "")).replace(" ", "")
    reads, arrow, writes = equation.partition("->")
    terms = reads.split(",")
    if len(terms) != 2 or len(seen.ins) != 2:
        return None
    first, second = (_label_dimensions(term, len(size)) for term, size in zip(terms, seen.ins, strict=True))
    both = [*first, *second]
    if len(set(first)) < len(first) or len(set(second)) < len(second):
        return None  # a diagonal
    if arrow:
        out = _label_dimensions(writes, len(seen.out))
    else:
        once = sorted(label for label in both if both.count(label) == 1 and label not in SPARE)
        out = "".join([label for label in SPARE if label in both] + once)
    sizes: dict[str, int] = {}
    for term, stated in zip((first, second), seen.ins, strict=True):
        for label, size in zip(term, stated, strict=True):
            sizes[label] = max(size, sizes.get(label, 1))  # of 1 it is repeated
    kept, shared = set(out), set(first) & set(second)
    if any(label not in kept for label in set(both) - shared) or not kept <= set(both):
        return None
    return _Labels(
        sizes=sizes,
        groups="".join(label for label in first if label in shared and label in kept),
        summed="".join(label for label in first if label in shared and label not in kept),
        left="".join(label for label in first if label not in shared),
        right="".join(label for label in second if label not in shared),
    )


def _label_dimensions(term: str, dimensions: int) -> str:
    """A term with a label for each dimension."""
    before, dots, after = term.partition(DOTS)
    hidden = dimensions - len(before) - len(after) if dots else 0
    if not 0 <= hidden <= len(SPARE) or not all(label.isalpha() for label in before + after):
        raise ValueError
    return before + SPARE[:hidden][::-1] + after
