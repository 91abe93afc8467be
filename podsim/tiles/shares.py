"""How elements spread over tiles and over the worker threads of a tile, and what every vertex pays before it works."""

import math
from collections.abc import Mapping

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import Cohort, Superstep
from podsim.tiles.supersteps import sram_rates

VERTEX_CYCLES = 11  # the supervisor starts the threads of a tile (poplibs, lib/popops cycle estimators)
VECTOR_BYTES = 8  # one access of a thread: 4 half or 2 float elements (ipu-programmers-guide, chapter 2)

Share = tuple[int, int]
"""A number of tiles and the elements each of them has."""


def check_sizes(operator: str, **sizes: int) -> None:
    """Raise InputError, naming every size that is not a positive whole number."""
    faults = [f"{name} must be a whole number above 0, not {value}" for name, value in sizes.items() if value < 1]
    if faults:
        raise InputError(f"{operator} cannot be planned as asked", code="bad-value", context=faults)


def up(size: int, grain: int) -> int:
    """The next multiple of `grain`."""
    return -(-size // grain) * grain


def spread(elements: int, tiles: int, grain: int = 1) -> tuple[Share, ...]:
    """Equal shares in whole grains on as few tiles as that takes, and a last tile with what is left."""
    share = up(-(-elements // tiles), grain)
    full, rest = divmod(elements, share)
    return tuple((count, size) for count, size in ((full, share), (1, rest)) if count and size)


def vectors(elements: float, element_bytes: int, chip: Chip) -> int:
    """Vectors of the busiest thread of a tile that has so many elements."""
    width = VECTOR_BYTES // element_bytes
    return math.ceil(math.ceil(elements / chip.worker_threads) / width)


def vertex(thread_cycles: float, chip: Chip) -> float:
    """Tile cycles of a vertex whose busiest thread issues for so long: each thread has every sixth cycle."""
    return VERTEX_CYCLES + chip.worker_threads * thread_cycles


def access_cycles(reads: float, writes: float, chip: Chip) -> float:
    """Tile cycles in which SRAM delivers and takes so many vectors."""
    load, store = sram_rates(chip)
    return max(reads * VECTOR_BYTES / load, writes * VECTOR_BYTES / store)


def step(name: str, kind: str, cohorts: tuple[Cohort, ...], *, repeat: int = 1, fragments: int = 0) -> Superstep:
    """A superstep of these cohorts."""
    return Superstep(name=name, phase=kind, cohorts=cohorts, repeat=repeat, fragments=fragments)


def call(cycles: float, tiles: int) -> tuple[Superstep, ...]:
    """What a library call takes beyond its supersteps, as one of its own; none where nothing is charged."""
    return (step("call", "overhead", (Cohort(tiles=tiles, compute_cycles=cycles),)),) if cycles else ()


USUAL_HINT = "split the operator, or spread it over more IPUs"


def check_fit(operator: str, footprint: Mapping[str, float], chip: Chip, hint: str = USUAL_HINT) -> Mapping[str, float]:
    """The bytes of the most loaded tile; Infeasible where a tile has less SRAM than that."""
    needed_bytes = sum_in_order(footprint.values())
    if needed_bytes > chip.sram.bytes_per_tile:
        raise Infeasible(
            f"{operator} needs {needed_bytes:,.0f} B on a tile; "
            f"a tile of {chip.name} has {chip.sram.bytes_per_tile:,.0f} B",
            hint=hint,
        )
    return footprint
