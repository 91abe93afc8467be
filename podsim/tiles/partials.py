"""Cycles of one tile for what surrounds a multiplication: sums of partials, casts, slices, additions in place (Eq. 37).

Counts are those of poplibs (lib/poplin/ConvReduce.cpp, ConvReducePlan.cpp, lib/popops cycle estimators), in tile
cycles. Every function takes arrays of equal shape and returns one.
"""

import math

import numpy as np
import numpy.typing as npt

from podsim.caches.tables import TABLES
from podsim.model.chip import Chip
from podsim.tiles import rearrange
from podsim.tiles.problem import VECTOR_BYTES

Array = npt.NDArray[np.float64]

THREADS = 6
WHOLE_RUN_BYTES = 16  # groups of 8 half or 4 float channels, the least that layouts of poplibs hold together
TWO_STAGES, THREE_STAGES = 16, 125  # depths from which a sum takes two and three stages (ConvReducePlan.cpp)


def stages(depth: Array) -> tuple[Array, Array, Array]:
    """Partials summed in each of at most three stages of nearly equal depth; 1 where a stage is left out."""
    first, second, third = _stages(1 << int(depth.max()).bit_length())
    at = depth.astype(np.intp)
    return first[at], second[at], third[at]


@TABLES.function("stages of sums of partials", 64)
def _stages(below: int) -> tuple[Array, Array, Array]:
    """The stages of every whole depth below a bound: few, and each is met in hundreds of cuts."""
    depth = np.maximum(np.arange(below, dtype=np.float64), 1)
    count = np.where(depth < TWO_STAGES, 1, np.where(depth < THREE_STAGES, 2, 3))
    root = np.ceil(np.round(depth ** (1 / count), 9))
    first = np.where(count == 1, depth, root)
    remaining_depth = np.ceil(depth / first)
    second = np.where(
        count == 1, 1, np.where(count == 2, remaining_depth, np.ceil(np.round(np.sqrt(remaining_depth), 9)))
    )
    return first, second, np.ceil(remaining_depth / second)


def accumulators(partial_bytes: int) -> int:
    """Partial sums a thread adds at once: 128 bits."""
    return 16 // partial_bytes


def reduce_cycles(outputs: Array, depth: Array, partial_bytes: int) -> Array:
    """Tile cycles to sum `depth` partials into each of `outputs` outputs; none where there is one partial.

    The short form, one partial as the base, where whole vectors are summed; else the general one.
    """
    cycles = np.zeros_like(outputs)
    many = depth > 1
    if not many.any():
        return cycles
    width = accumulators(partial_bytes)
    rest = outputs % width
    for form, at in ((_whole_vectors, many & (rest == 0)), (_any_outputs, many & (rest > 0))):
        if at.any():
            cycles[at] = form(np.floor(outputs[at] / width), rest[at], depth[at])
    return cycles


def _whole_vectors(whole: Array, rest: Array, depth: Array) -> Array:  # noqa: ARG001
    return 33 + THREADS * (20 + (2 * (depth - 1) + 9) * np.ceil(whole / THREADS))


def _any_outputs(whole: Array, rest: Array, depth: Array) -> Array:
    vectors = whole + _bits(rest)
    full, last = np.floor(vectors / THREADS), vectors % THREADS
    end = np.where(last > 0, 2 * depth + 11, 0)
    cycles: Array = THREADS * (32 + (3 * depth + 8) * full + end)
    return cycles


def _bits(rest: Array) -> Array:
    """Ones in the binary form of a remainder below 8: pieces of 4, 2 and 1 it is summed in."""
    return np.floor(rest / 4) + np.floor(rest % 4 / 2) + rest % 2


def cast_cycles(elements: Array) -> Array:
    """Tile cycles to cast partial sums of 4 B to the type of the output, two at a time."""
    return THREADS * (np.ceil(np.ceil(elements / THREADS) / 2) + 26)


def slice_cycles(elements: Array, element_bytes: int) -> Array:
    """Tile cycles to take a serial step's part out of a tensor, or to put it back."""
    return 25 + THREADS * (63 + 2 * np.ceil(np.ceil(elements / THREADS) * element_bytes / 8))


def add_cycles(elements: Array, partial_bytes: int) -> Array:
    """Tile cycles to add a serial step's sums to the accumulator."""
    return 11 + THREADS * (58 + 3 * np.ceil(elements / (48 / partial_bytes)))


def copy_cycles(elements: Array, run: int, element_bytes: int, chip: Chip) -> Array:
    """Tile cycles to bring an operand into the planner's order, run by run; six threads in turn.

    Runs of 16 B and more take the 1.25 cycles an element of poplibs (lib/poplin/ConvPlan.cpp). Shorter ones are copied
    piece by piece, with the constants of `rearrange`: 21 cycles an element by itself, 5 in runs of 4. GC2 takes 24 with
    2 channels a group and 10 to 33 with 3 channels and the kernel moved among them (jia-2019, table 5.5).
    """
    piece = run * element_bytes
    if piece >= WHOLE_RUN_BYTES:
        return elements * rearrange.BLOCK_CYCLES
    access = rearrange.piece_cycles(piece, math.gcd(piece, VECTOR_BYTES), chip)
    return elements / run * (rearrange.PIECE_CYCLES + access)
