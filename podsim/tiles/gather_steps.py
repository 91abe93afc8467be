"""Supersteps of rows looked up and of rows added, for all ways to split them over the tiles (Eq. 41).

Cycles of the vertices as poplibs plans them (lib/popops/DynamicSlice.cpp, PerformanceEstimation.cpp).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from podsim.model.chip import Chip
from podsim.model.workload import Gather
from podsim.tiles import vector
from podsim.tiles.shares import VECTOR_BYTES, VERTEX_CYCLES, access_cycles, spread
from podsim.tiles.supersteps import exchange_rates

Array = npt.NDArray[np.float64]

INDEX_BYTES, ATOM_BYTES, FLOAT_BYTES = 4, 8, 4  # an index; the least a tile stores at once; a partial sum
LOOK_OVERHEAD, HIT, HIT_ACCESS, MISS = 30, 19, 2, 8  # cycles of a thread: once, a row found, its 8 B, a row not found
ADD_HIT, ADD_ELEMENT, ADD_MISS = 11, 3, 5
SUM_OVERHEAD, SUM_VECTOR, SUM_PARTIAL = 33, 7, 1  # of a thread that sums the partial tables of the look-up split
SECOND_STAGE_CYCLES: Final = 2700
"""Index arithmetic of the second stage, whatever its size: the part of the table that has a row, and its place there.

Median of what 13 calls of hydronet-gnn with available memory 0.1 take beyond all other supersteps; the 20 calls with
0.6 are judged by it.
"""
BACK: Final = "other order back"


@dataclass(frozen=True, slots=True)
class Ask:
    """What is planned, whether table and rows come in another order, and the temporary bytes a tile may use for it."""

    name: str
    shape: Gather
    size: int
    chip: Chip
    rearranged: bool
    limit_bytes: float

    def even_bytes(self, elements: int) -> int:
        """Bytes of the most loaded tile where elements lie evenly on all."""
        return spread(elements, self.chip.tiles, VECTOR_BYTES // self.size)[0][1] * self.size


@dataclass(frozen=True, slots=True)
class GatherStep:
    """One superstep of all candidates, left out where it does nothing; `serial` ones run for each serial part."""

    name: str
    phase: str
    compute: Array
    receive: Array
    send: Array | float = 0.0
    serial: bool = True


@dataclass(frozen=True, slots=True)
class GatherWork:
    """All supersteps of all candidates, and the bytes of a tile: what stays, and what the operator needs meanwhile.

    `compared` are the cycles that candidates are compared by; those of all supersteps where there are none.
    """

    parts: tuple[GatherStep, ...]
    operands: Array
    temporary: Array
    compared: Array | None = None


@dataclass(frozen=True, slots=True)
class GatherCandidates:
    """All splits of table rows, width and look-ups that the tiles allow, and what a tile of each has."""

    rows: Array
    width: Array
    lookups: Array
    on_tile: Array
    elements: Array
    looked: Array
    serial: int

    @property
    def splits(self) -> tuple[Array, Array, Array]:
        """Parts of table rows, width and look-ups."""
        return self.rows, self.width, self.lookups

    @property
    def home(self) -> Array:
        """Elements of the table that a tile keeps: those that share the look-ups of a part share it as well."""
        home_elements: Array = np.ceil(self.on_tile * self.elements / self.lookups)
        return home_elements


def _thread(cycles: Array, chip: Chip) -> Array:
    return VERTEX_CYCLES + chip.worker_threads * cycles


def look_up(these: GatherCandidates, ask: Ask) -> GatherWork:
    """A table that is not copied stays where it is; where its rows are cut, a second stage collects partial rows.

    Splits are compared as poplibs compares them: by the table's copies and both stages, without syncs, changes of
    layout and index arithmetic (lib/popops/DynamicSlice.cpp).
    """
    size, chip = ask.size, ask.chip
    each = HIT + HIT_ACCESS * np.ceil(these.elements * size / VECTOR_BYTES)
    mine = np.ceil(these.looked / chip.worker_threads)
    hits = np.minimum(mine, np.ceil(mine * these.on_tile / ask.shape.table))
    cut = these.rows > 1
    merged_rows = np.ceil(these.looked / these.rows)
    again = LOOK_OVERHEAD + np.ceil(merged_rows / chip.worker_threads) * each
    first = _thread(LOOK_OVERHEAD + hits * each + (mine - hits) * MISS, chip)
    second = np.where(cut, _thread(again, chip), 0.0)
    table_bytes = np.where(these.lookups > 1, these.on_tile * these.elements * size, 0.0)
    arriving = np.where(cut, these.rows * merged_rows * these.elements * size, 0.0)
    values = these.looked * these.elements * size
    result = ask.even_bytes(ask.shape.lookups * ask.shape.width)
    parts = (
        *_input_steps(these, ask, 0),
        GatherStep("table and indices", "input", np.zeros_like(mine), table_bytes + these.looked * INDEX_BYTES),
        GatherStep("look up", "vector", first, 0.0 * mine),
        GatherStep("indices of the second stage", "vector", np.where(cut, SECOND_STAGE_CYCLES, 0.0), 0.0 * mine),
        GatherStep("merge parts of the table", "reduce", second, arriving),
        *_return_steps(
            np.full_like(mine, -(-result // these.serial)), merged_rows * these.elements * size, ask, serial=True
        ),
    )
    temporary = table_bytes + values + these.looked * INDEX_BYTES + arriving
    compared_cycles = (table_bytes + arriving) / exchange_rates(chip)[1] + first + second
    return GatherWork(
        parts, _resting(these, ask) + result, temporary + ask.rearranged * these.home * size, compared_cycles
    )


def add_up(these: GatherCandidates, ask: Ask) -> GatherWork:
    """Threads share the table's rows, so each goes through all that are added.

    The partial tables are copied into the order of the table before they are summed, also where there is one
    (poplibs charges the delivery of a single partial, lib/poplin/ConvPlan.cpp).
    """
    size, chip, threads = ask.size, ask.chip, ask.chip.worker_threads
    footprint = these.on_tile * these.elements
    hits = np.minimum(these.looked, np.ceil(these.looked * np.ceil(these.on_tile / threads) / ask.shape.table))
    adding = LOOK_OVERHEAD + hits * (ADD_HIT + ADD_ELEMENT * these.elements) + (these.looked - hits) * ADD_MISS
    sum_vectors = np.ceil(np.ceil(footprint / these.lookups) * size / VECTOR_BYTES / threads)
    cut = these.lookups > 1
    rows = ask.even_bytes(ask.shape.lookups * ask.shape.width)
    arriving = these.looked * (these.elements * size + INDEX_BYTES)
    home_vectors = np.ceil(np.ceil(these.home / threads) * size / VECTOR_BYTES)
    parts = (
        *_input_steps(these, ask, rows),
        GatherStep("rows and indices", "input", np.zeros_like(footprint), arriving),
        GatherStep(
            "clear",
            "vector",
            _thread(23 + np.ceil(footprint / threads * size / VECTOR_BYTES), chip),
            0.0 * footprint,
            0.0,
            False,
        ),
        GatherStep("add rows", "vector", _thread(adding, chip), 0.0 * footprint),
        *_order_steps(footprint * size, ask),
        GatherStep(
            "sum partial tables",
            "reduce",
            np.where(cut, _thread(SUM_OVERHEAD + sum_vectors * (SUM_VECTOR + SUM_PARTIAL * these.lookups), chip), 0.0),
            np.where(cut, footprint * size, 0.0),
            serial=False,
        ),
        GatherStep(
            "scaled_add", "vector", _thread(_add_cycles(home_vectors, size, chip), chip), 0.0 * footprint, serial=False
        ),
        *_return_steps(np.full_like(footprint, _table(ask)), these.home * size, ask, serial=False),
    )
    temporary = FLOAT_BYTES * footprint * (1 + cut) + arriving
    return GatherWork(parts, _resting(these, ask) + rows, temporary + ask.rearranged * (these.home * size + rows))


def _add_cycles(vectors: Array, size: int, chip: Chip) -> Array:
    """Cycles of a thread that adds so many vectors to the table."""
    cycles: Array = vector.OPERATIONS["scaled_add"].thread_cycles(vectors, size, chip)  # type: ignore[arg-type,assignment]
    return cycles


def _table(ask: Ask) -> int:
    return ask.even_bytes(ask.shape.table * ask.shape.width)


def _resting(these: GatherCandidates, ask: Ask) -> Array:
    """Bytes of the table: evenly on all tiles where it is rearranged, else as it is cut."""
    return np.full_like(these.rows, _table(ask)) if ask.rearranged else these.home * ask.size


def _input_steps(these: GatherCandidates, ask: Ask, more_bytes: int) -> tuple[GatherStep, ...]:
    """The table, and what else comes in another order, to the tiles of the split."""
    if not ask.rearranged:
        return ()
    home = these.home * ask.size + more_bytes
    send_bytes = float(_table(ask) + more_bytes)
    return (GatherStep("other order", "rearrange", _copy_cycles(home, ask.chip), home, send_bytes, serial=False),)


def _order_steps(held_bytes: Array, ask: Ask) -> tuple[GatherStep, ...]:
    """Partial tables in the order of the table."""
    if not ask.rearranged:
        return ()
    cycles = _copy_cycles(held_bytes, ask.chip)
    return (GatherStep("partial tables in order", "rearrange", cycles, held_bytes, held_bytes, serial=False),)


def _return_steps(arriving: Array, send_bytes: Array, ask: Ask, *, serial: bool) -> tuple[GatherStep, ...]:
    """From the tiles of the split to all, evenly."""
    if not ask.rearranged:
        return ()
    return (GatherStep(BACK, "rearrange", _copy_cycles(arriving, ask.chip), arriving, send_bytes, serial),)


def _copy_cycles(moved_bytes: Array, chip: Chip) -> Array:
    """Cycles to copy so many bytes as fast as the SRAM takes them."""
    return moved_bytes / VECTOR_BYTES * access_cycles(1, 1, chip)
