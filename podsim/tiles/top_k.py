"""The largest or smallest k numbers of each row with their indices, by a bitonic sort in parts.

Blocks of the power of two at or above k are sorted, then pairs of blocks give one, until one is left (Eq. 96).
"""

import math
from collections.abc import Iterator
from typing import Final

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import check_fit, check_sizes, spread, step, vertex

COMPARE_CYCLES: Final = 14
"""Of a thread, a pair of numbers with their indices: four loads, a comparison and its branch, four stores, the loop.

Assumed: instructions counted, not read from poplibs' estimates.
"""
COMPARE_OVERHEAD: Final = 20  # of a thread, once; as other vertices with a scalar operand (podsim/tiles/vector.py)
INDEX_BYTES: Final = 4


def plan(rows: int, row: int, k: int, precision: Precision, chip: Chip, *, name: str = "top-k") -> TilePlan:
    """The first `k` of each of `rows` rows of `row` numbers, all rows together on all tiles.

    Raises InputError where k is above the length of a row, Infeasible where a tile cannot hold its share.
    """
    check_sizes(name, rows=rows, row=row, k=k)
    if k > row:
        raise InputError(f"{name}: {k} of a row of {row} numbers", code="bad-value", hint=f"at most {row}")
    size = OUTPUT_BYTES[precision] + INDEX_BYTES
    steps = tuple(_superstep(rows * candidates, distance, size, chip) for candidates, distance in _comparisons(row, k))
    share = spread(rows * row, chip.tiles)[0][1]
    footprint = {"operands": float(share * size), "other halves of pairs": float(share * size)}
    return TilePlan(
        operator=name,
        method="vector",
        splits={"elements": sum(count for count, _ in spread(rows * row, chip.tiles))},
        supersteps=steps or (_superstep(rows * row, 1, size, chip),),
        flop=float(sum(rows * candidates // 2 for candidates, _ in _comparisons(row, k))),
        sram_bytes_per_tile=check_fit(name, footprint, chip),
        tiles_used=min(chip.tiles, rows * row),
    )


def _comparisons(row: int, k: int) -> Iterator[tuple[int, int]]:
    """Numbers of a row that are compared in pairs, and how far apart, one superstep after the other."""
    depth = math.ceil(math.log2(min(k, row))) if k > 1 else 0
    block, candidates = 1 << depth, row
    for phase in range(1, depth + 1):
        for distance in range(phase - 1, -1, -1):
            yield candidates, 1 << distance
    while candidates > block:
        yield candidates, block
        candidates = max(block, -(-candidates // 2))
        for distance in range(depth - 1, -1, -1):
            yield candidates, 1 << distance


def _superstep(elements: int, distance: int, element_bytes: int, chip: Chip) -> Superstep:
    """Each pair put in order; pairs further apart than what a tile has in a row need the exchange."""
    cohorts = []
    for count, share in spread(elements, chip.tiles):
        pairs = math.ceil(math.ceil(share / 2) / chip.worker_threads)
        exchange_bytes = float(share * element_bytes) if distance >= share else 0.0
        cohorts.append(
            Cohort(
                tiles=count,
                compute_cycles=vertex(COMPARE_OVERHEAD + COMPARE_CYCLES * pairs, chip),
                receive_bytes=exchange_bytes,
                send_bytes=exchange_bytes,
                load_bytes=float(share * element_bytes),
                store_bytes=float(share * element_bytes),
            )
        )
    return step(f"pairs {distance} apart", "vector", tuple(cohorts))
