"""Cycles of one tile's multiplication vertices away from full AMP blocks: SLIC, VMAC, dot product, outer product.

Counts are those of poplibs (lib/poplin/PerformanceEstimation.hpp), in tile cycles; no measurement of them is public
beyond grouped layers on GC2. Every function takes arrays of equal shape and returns one.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

THREADS = 6
SLIC_WINDOW = 4  # kernel columns a SLIC vertex multiplies at once
VMAC_GROUPS = 8  # depthwise groups a VMAC vertex takes together


def windows(kernel: tuple[Array, Array]) -> Array:
    """Windows of 1 x 4 that a kernel is cut into."""
    return kernel[0] * np.ceil(kernel[1] / SLIC_WINDOW)


def slic(
    field: tuple[Array, Array], kernel: tuple[Array, Array], channels: int, blocks: Array, *, stride: int, chains: int
) -> Array:
    """Tile cycles of the SLIC vertex over `blocks` blocks of groups x channels: 1 x 4, 2 x 2, 4 x 1 to 16 x 1.

    The kernel is cut into windows of 1 x 4; a thread streams whole rows; two passes where only two chains are free.
    """
    rows, columns = field
    sub_kernels = windows(kernel)
    load = 34 if channels == SLIC_WINDOW else 37 + THREADS * 12
    whole = np.floor(rows / THREADS) * _row(columns, stride, chains)
    rest = rows % THREADS
    thread = THREADS * (whole + np.where(rest > 0, _row(np.ceil(rest * columns / THREADS), stride, chains), 0.0))
    cycles: Array = 17 + np.where(blocks > 4, 4, 0) + blocks * (28 + 15 + sub_kernels * (load + 40 + thread))
    return cycles


def _row(outputs: Array, stride: int, chains: int) -> Array:
    """Thread cycles of one row; two passes where fewer than four chains are free."""
    length = np.maximum(outputs, 5)
    once = 15 + (length - 5) if stride == 1 else 15 + 2 * (length - 3)
    cycles: Array = 10 + once * (1 if chains >= 4 else 2)
    return cycles


def vmac(field: Array, kernel: tuple[Array, Array], groups: Array) -> Array:
    """Tile cycles of the VMAC vertex, depthwise only: 8 groups together, then the sums of six threads added up."""
    size = kernel[0] * kernel[1]
    thread = 22 + np.ceil(field / THREADS) * 3 * size
    cycles: Array = 100 + np.ceil(groups / VMAC_GROUPS) * THREADS * (thread + field)
    return cycles


def dot(field: Array, kernel: tuple[Array, Array], channels: tuple[Array, Array], groups: Array, vector: int) -> Array:
    """Tile cycles of the plain dot product (HMAC): any shape, one output and kernel position at a time."""
    products = field * channels[1] * kernel[0] * kernel[1]
    each = 7 + np.ceil(channels[0] / vector) + 7
    cycles: Array = 100 + groups * THREADS * np.ceil(products / THREADS) * each
    return cycles


def outer(field: Array, channels_out: Array, groups: Array) -> Array:
    """Tile cycles of the outer product, one input channel: half operands, four outputs at a time."""
    width = np.ceil(field / THREADS)
    cycles: Array = THREADS * (25 + groups * (10 + width * (6 + np.maximum(channels_out - 12, 0) / 4)))
    return cycles
