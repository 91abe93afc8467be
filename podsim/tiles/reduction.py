"""Sums over tiles: each tile sums what it holds, then the partial sums of an output meet on one tile (Eq. 39).

A value that arrives costs 4 B of exchange. Counts are those of poplibs (lib/popops/reduction/, CycleEstimationFunctions
.cpp) except where a measurement is named.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import VECTOR_BYTES, call, check_fit, check_sizes, spread, step, up, vertex
from podsim.tiles.supersteps import Cycles, slower, total

READ_CYCLES: Final = {2: 1, 4: 2}
"""Cycles of a thread a vector that it adds to one output, by element bytes; float measured (jia-2019, table 4.16)."""
CALL_CYCLES = 1000  # a sum called for itself, beyond its supersteps: 15 measured on Mk1 (jia-2019, section 4.6)
ONE_OVERHEAD, COLUMN_OVERHEAD, COLUMN_CYCLES = 16, 16, 13  # one output of a contiguous range; columns of a strided one
RECEIVED_OVERHEAD = 17  # partial sums in one buffer are read 128 bits in 2 cycles
FLOAT_BYTES = 4
LOST_KEPT = 5  # numbers of tiles a plan remembers
GRAIN = 16  # outputs next to each other where a product left them (lib/poplin/ConvVertexType.cpp)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatteredSum:
    """`elements` to be summed: up to `share` on each of `tiles` tiles, which adds to `held` of all `outputs`."""

    elements: int
    share: int
    tiles: int
    resident: int
    outputs: int

    @property
    def depth(self) -> float:
        """Values of one output on a tile."""
        return self.share / self.resident

    @property
    def sources(self) -> int:
        """Tiles that hold a partial sum of the same output."""
        return -(-self.elements * self.resident // (self.share * self.outputs))


_Layout = tuple[ScatteredSum, tuple[Superstep, ...], Cycles]


def plan(
    elements: int,
    outputs: int,
    precision: Precision,
    chip: Chip,
    *,
    footprint: int | None = None,
    tiles: int | None = None,
    straight: bool | None = None,
    overhead_cycles: float = CALL_CYCLES,
    name: str = "sum",
) -> TilePlan:
    """Sum `elements` into `outputs`; a tile holds values of `held` outputs, by default those of a square block.

    `straight` sends partial sums to their output at once or in two stages; None chooses as poplibs does. The elements
    lie evenly on `tiles`; None takes as many as cost least, the others have no part in the sum.
    """
    check_sizes(
        name, elements=elements, outputs=outputs, held=footprint or 1, tiles=chip.tiles if tiles is None else tiles
    )
    size = OUTPUT_BYTES[precision]
    if tiles is not None:
        values = _scatter(elements, outputs, footprint, min(tiles, chip.tiles))
        return _plan(values, steps(values, size, chip, straight=straight), size, chip, overhead_cycles, name)
    layouts = sorted(_layouts(elements, outputs, footprint, straight, size, chip), key=lambda item: item[2].total)
    values, supersteps, least = next(
        (item for item in layouts if _bytes(*item[:2], size) <= chip.sram.bytes_per_tile), layouts[0]
    )
    plan = _plan(values, supersteps, size, chip, overhead_cycles, name)
    around = total(plan.supersteps, chip).total - least.total
    others = {item[0].tiles.bit_length(): item for item in reversed(layouts) if item[0] != values}
    rivals = sorted(others.values(), key=lambda item: item[2].total)[:LOST_KEPT]
    return replace(plan, alternatives=tuple(_rejection(item, least, around, size, chip) for item in rivals))


def _scatter(elements: int, outputs: int, footprint: int | None, tiles: int) -> ScatteredSum:
    """The elements evenly on the tiles; each holds values of as many outputs as the edge of a square block."""
    shares = spread(elements, tiles)
    share = shares[0][1]
    block = up(math.isqrt(share), GRAIN)
    used_tiles = sum(count for count, _ in shares)
    return ScatteredSum(
        elements=elements,
        share=share,
        tiles=used_tiles,
        resident=min(footprint or block, outputs, share),
        outputs=outputs,
    )


def _layouts(
    elements: int, outputs: int, footprint: int | None, straight: bool | None, size: int, chip: Chip
) -> Iterator[_Layout]:
    """The sum on every number of tiles that makes a difference, the most first.

    Fewer tiles have more to read: once that takes as long as the best sum yet, none is better.
    """
    earlier_steps, least = set(), math.inf
    for tiles in range(chip.tiles, 0, -1):
        values = _scatter(elements, outputs, footprint, tiles)
        supersteps = steps(values, size, replace(chip, tiles=tiles), straight=straight)
        if values.share > (footprint or GRAIN) and values.share * size / VECTOR_BYTES >= least:
            return
        if supersteps in earlier_steps:
            continue
        earlier_steps.add(supersteps)
        cycles = total(supersteps, chip)
        least = min(least, cycles.total)
        yield values, supersteps, cycles


def _bytes(values: ScatteredSum, supersteps: tuple[Superstep, ...], size: int) -> float:
    return float(values.share * size) + _partials(values, supersteps)


def _partials(values: ScatteredSum, supersteps: tuple[Superstep, ...]) -> float:
    """Bytes of a tile beside what it reads: its own partial sums, and the most that arrive to be added in one stage."""
    arriving = max((cohort.receive_bytes for step in supersteps for cohort in step.cohorts), default=0.0)
    return float(values.resident * FLOAT_BYTES) + arriving


def _rejection(item: _Layout, least: Cycles, around: float, size: int, chip: Chip) -> RejectedPlan:
    values, supersteps, cycles = item
    needed_bytes = _bytes(values, supersteps, size)
    why = slower(cycles, least)
    if needed_bytes > chip.sram.bytes_per_tile:
        why = f"{needed_bytes:,.0f} B per tile do not fit {chip.sram.bytes_per_tile:,.0f} B"
    return RejectedPlan(
        splits={"elements": values.tiles, "sources": values.sources},
        cycles=cycles.total + around,
        sram_bytes_per_tile=needed_bytes,
        why=why,
    )


def _plan(
    values: ScatteredSum, supersteps: tuple[Superstep, ...], size: int, chip: Chip, overhead_cycles: float, name: str
) -> TilePlan:
    memory = {"operands": float(values.share * size), "partials": _partials(values, supersteps)}
    return TilePlan(
        operator=name,
        method="vector",
        splits={"elements": values.tiles, "sources": values.sources},
        supersteps=(*call(overhead_cycles, values.tiles), *supersteps),
        flop=float(values.elements),
        sram_bytes_per_tile=check_fit(name, memory, chip),
        tiles_used=values.tiles,
    )


def steps(
    values: ScatteredSum,
    element_bytes: int,
    chip: Chip,
    *,
    moments: int = 1,
    straight: bool | None = None,
    name: str = "sum",
) -> tuple[Superstep, ...]:
    """The supersteps of a sum; `moments` sums (of values, of squares) are made of one reading."""
    return (
        *on_tile(values, element_bytes, chip, moments=moments, name=name),
        *across(values, chip, moments=moments, straight=straight, name=name),
    )


def on_tile(
    values: ScatteredSum, element_bytes: int, chip: Chip, *, moments: int = 1, name: str = "sum"
) -> tuple[Superstep, ...]:
    """Each tile sums what it holds; where outputs are fewer than threads, the threads' sums are added after."""
    if values.depth <= 1:
        return ()
    columns = math.ceil(values.resident * element_bytes / VECTOR_BYTES)
    threads = chip.worker_threads
    if columns >= threads:
        loop = math.ceil(columns / threads) * (COLUMN_CYCLES + moments * math.ceil(values.depth))
        cycles = [vertex(COLUMN_OVERHEAD + loop, chip)]
    else:
        rate = READ_CYCLES[element_bytes] if values.resident == 1 else 1
        count = math.ceil(math.ceil(values.share / threads) * element_bytes / VECTOR_BYTES)
        cycles = [vertex(ONE_OVERHEAD + COLUMN_CYCLES * (values.resident > 1) + moments * rate * count, chip)]
        if count > 1:
            sum_vectors = math.ceil(threads * FLOAT_BYTES / VECTOR_BYTES) * max(1, math.ceil(columns / threads))
            cycles.append(vertex(ONE_OVERHEAD + moments * READ_CYCLES[FLOAT_BYTES] * sum_vectors, chip))
    load = float(values.share * element_bytes)
    return tuple(
        step(
            f"{name} on tile" if not at else f"{name} of threads",
            "reduce",
            (Cohort(tiles=values.tiles, compute_cycles=compute_cycles, load_bytes=0.0 if at else load),),
        )
        for at, compute_cycles in enumerate(cycles)
    )


def across(
    values: ScatteredSum,
    chip: Chip,
    *,
    moments: int = 1,
    straight: bool | None = None,
    name: str = "sum",
) -> tuple[Superstep, ...]:
    """Partial sums go to their output, in two stages from 2 sqrt(tiles) sources on (ReductionPlan.cpp)."""
    sources = values.sources
    if sources <= 1:
        return ()
    if straight is None:
        straight = sources < 2 * math.sqrt(chip.tiles)
    sums_per_tile = moments * values.resident
    if straight:
        return _stage(values.outputs * moments, sources, sums_per_tile, chip, name)
    first = math.ceil(math.sqrt(sources))
    second = -(-sources // first)
    return (
        *_stage(values.outputs * moments * second, first, sums_per_tile, chip, f"{name}, first stage"),
        *_stage(values.outputs * moments, second, moments, chip, f"{name}, second stage"),
    )


def _stage(outputs: int, sources: int, sums_per_tile: int, chip: Chip, name: str) -> tuple[Superstep, ...]:
    """`sources` float partial sums of each of `outputs` meet on as many tiles as whole vectors allow."""
    share = up(-(-outputs // chip.tiles), VECTOR_BYTES // FLOAT_BYTES) if outputs >= chip.tiles else 1
    tiles = min(chip.tiles, -(-outputs // share))
    arriving = share * sources
    count = math.ceil(math.ceil(arriving / chip.worker_threads) * FLOAT_BYTES / VECTOR_BYTES)
    cohort = Cohort(
        tiles=tiles,
        compute_cycles=vertex(RECEIVED_OVERHEAD + count, chip),
        receive_bytes=float(arriving * FLOAT_BYTES),
        send_bytes=float(sums_per_tile * FLOAT_BYTES),
        load_bytes=float(arriving * FLOAT_BYTES),
        store_bytes=float(share * FLOAT_BYTES),
    )
    sum_step = step(f"{name} across tiles", "reduce", (cohort,))
    if share > 1 or count <= 1:
        return (sum_step,)
    thread_cycles = vertex(ONE_OVERHEAD + READ_CYCLES[FLOAT_BYTES] * math.ceil(chip.worker_threads / 2), chip)
    return sum_step, step(f"{name} of threads", "reduce", (Cohort(tiles=tiles, compute_cycles=thread_cycles),))
