"""Same padding of convolutions: which of their multiplications meet a pixel."""

import math
from collections.abc import Sequence


def share_in_image(
    sizes: Sequence[int], outputs: Sequence[int], kernels: Sequence[int], strides: Sequence[int]
) -> float:
    """Pairs of an output and a kernel position that meet a pixel, over all; each argument has an entry an edge."""
    edges = zip(sizes, kernels, strides, strict=True)
    return math.prod(_edge_pairs(*edge) for edge in edges) / math.prod((*outputs, *kernels))


def _edge_pairs(size: int, kernel: int, stride: int) -> int:
    """The pairs of one edge that meet a pixel."""
    outputs = math.ceil(size / stride)
    before = max((outputs - 1) * stride + kernel - size, 0) // 2
    starts = (output * stride - before for output in range(outputs))
    return sum(min(start + kernel, size) - max(start, 0) for start in starts)
