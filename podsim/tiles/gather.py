"""Rows looked up in a table, and rows added into one: the cheapest split of table, width and look-ups (Eq. 41).

Cycles of the vertices as poplibs plans them (lib/popops/DynamicSlice.cpp, PerformanceEstimation.cpp). A tile that has
part of the table goes through all look-ups, and what lies in its part costs more than what does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Alternative, Cohort, Superstep, TilePlan
from podsim.model.workload import Gather
from podsim.tiles import vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import VECTOR_BYTES, VERTEX_CYCLES, call, checked, fitted, spread, step
from podsim.tiles.splitting import distinct

Array = npt.NDArray[np.float64]

FRAMEWORK_CYCLES: Final = 400
"""What a framework's call takes beyond its plan, for gather and scatter alike; fitted to the calls in hydronet-gnn."""
INDEX_BYTES, ATOM_BYTES, FLOAT_BYTES = 4, 8, 4  # an index; the least a tile stores at once; a partial sum
LOOK_OVERHEAD, HIT, HIT_ACCESS, MISS = 30, 19, 2, 8  # cycles of a thread: once, a row found, its 8 B, a row not found
ADD_HIT, ADD_ELEMENT, ADD_MISS = 11, 3, 5
SUM_OVERHEAD, SUM_VECTOR, SUM_PARTIAL = 33, 7, 1  # of a thread that sums the partial tables of the look-up split
LOST_KEPT = 5  # alternatives a plan remembers


@dataclass(frozen=True, slots=True)
class _Ask:
    """What is planned, and the temporary bytes a tile may use for it."""

    name: str
    shape: Gather
    size: int
    chip: Chip
    limit_bytes: float


@dataclass(frozen=True, slots=True)
class _Part:
    """One superstep of all candidates, left out where it does nothing; `serial` ones run for each serial part."""

    name: str
    phase: str
    compute: Array
    receive: Array
    serial: bool = True


@dataclass(frozen=True, slots=True)
class _Candidates:
    """All splits of table rows, width and look-ups that the tiles allow, and what a tile of each has."""

    rows: Array
    width: Array
    lookups: Array
    on_tile: Array
    elements: Array
    looked: Array

    @property
    def splits(self) -> tuple[Array, Array, Array]:
        """Parts of table rows, width and look-ups."""
        return self.rows, self.width, self.lookups


_Supersteps = Callable[[_Candidates, _Ask], tuple[tuple[_Part, ...], Array]]


def plan(
    shape: Gather,
    precision: Precision,
    chip: Chip,
    *,
    available_memory: float = 0.6,
    rearranged: bool = True,
    overhead_cycles: float = FRAMEWORK_CYCLES,
    rivals: bool = True,
    name: str = "gather",
) -> TilePlan:
    """Rows of a table looked up: the table goes to the tiles that look up, what they find to where it belongs.

    `rearranged` brings table and result from and to the order of elementwise operators. Raises Infeasible where no
    split's temporary bytes fit the share `available_memory` of the SRAM, or the table does not fit the chip. `rivals`
    false leaves out the plans that lost.
    """
    ask = _ask(name, shape, precision, chip, available_memory)
    size = ask.size
    before = call(overhead_cycles, chip.tiles)
    after: tuple[Superstep, ...] = ()
    if rearranged:
        before = (*before, _other_order(shape.table * shape.width, size, chip))
        after = (_other_order(shape.lookups * shape.width, size, chip),)
    return _chosen(ask, _look_up, before, after, rivals)


def scatter_add(
    shape: Gather,
    precision: Precision,
    chip: Chip,
    *,
    available_memory: float = 0.6,
    rearranged: bool = True,
    overhead_cycles: float = FRAMEWORK_CYCLES,
    rivals: bool = True,
    name: str = "scatter-add",
) -> TilePlan:
    """`lookups` rows added into a table: each tile goes through the rows, partial tables are summed and added.

    The table is rearranged before and after, the rows once. Raises Infeasible as `plan` does.
    """
    ask = _ask(name, shape, precision, chip, available_memory)
    size, table = ask.size, shape.table * shape.width
    before = call(overhead_cycles, chip.tiles)
    shares = spread(table, chip.tiles, VECTOR_BYTES // size)
    after: tuple[Superstep, ...] = (vector.superstep("scaled_add", shares, precision, chip),)
    if rearranged:
        before = (*before, _other_order(table + shape.lookups * shape.width, size, chip))
        after = (*after, _other_order(table, size, chip))
    return _chosen(ask, _add_up, before, after, rivals)


def _ask(name: str, shape: Gather, precision: Precision, chip: Chip, available_memory: float) -> _Ask:
    checked(name, table=shape.table, width=shape.width, lookups=shape.lookups)
    if not 0 < available_memory <= 1:
        raise InputError(
            f"available memory is a share of the SRAM above 0 and at most 1, not {available_memory:g}",
            code="bad-available-memory",
        )
    return _Ask(name, shape, OUTPUT_BYTES[precision], chip, available_memory * chip.sram.bytes_per_tile)


def _candidates(ask: _Ask, serial: int) -> _Candidates:
    shape, chip, atom = ask.shape, ask.chip, ATOM_BYTES // ask.size
    of_rows, of_width, of_lookups = (
        _cuts(count, chip.tiles) for count in (shape.table, -(-shape.width // atom), -(-shape.lookups // serial))
    )
    first, second = np.nonzero(np.outer(of_rows, of_width) <= chip.tiles)
    held = of_rows[first] * of_width[second]
    pair, third = np.nonzero(np.outer(held, of_lookups) <= chip.tiles)
    rows, width, lookups = of_rows[first[pair]], of_width[second[pair]], of_lookups[third]
    return _Candidates(
        rows,
        width,
        lookups,
        on_tile=np.ceil(shape.table / rows),
        elements=atom * np.ceil(np.ceil(shape.width / atom) / width),
        looked=np.ceil(-(-shape.lookups // serial) / lookups),
    )


def _cuts(count: int, most: int) -> Array:
    """Numbers of parts that differ in the largest part."""
    parts = np.arange(1, min(count, most) + 1)
    return distinct((-(-count // -(-count // parts))).astype(np.float64))


def _thread(cycles: Array, chip: Chip) -> Array:
    return VERTEX_CYCLES + chip.worker_threads * cycles


def _look_up(these: _Candidates, ask: _Ask) -> tuple[tuple[_Part, ...], Array]:
    """Supersteps and temporary bytes; a table that is not copied stays where it is."""
    size, chip = ask.size, ask.chip
    accesses = np.ceil(these.elements * size / VECTOR_BYTES)
    each = HIT + HIT_ACCESS * accesses
    mine = np.ceil(these.looked / chip.worker_threads)
    hits = np.minimum(mine, np.ceil(mine * these.on_tile / ask.shape.table))
    cut = these.rows > 1
    merged = np.ceil(these.looked / these.rows)
    again = LOOK_OVERHEAD + np.ceil(merged / chip.worker_threads) * each
    copied = np.where(these.lookups > 1, these.on_tile * these.elements * size, 0.0)
    temporary = these.elements * size * (these.on_tile * (these.lookups > 1) + these.looked * (1 + cut))
    parts = (
        _Part("table and indices", "input", np.zeros_like(mine), copied + these.looked * INDEX_BYTES),
        _Part("look up", "vector", _thread(LOOK_OVERHEAD + hits * each + (mine - hits) * MISS, chip), 0.0 * mine),
        _Part(
            "merge parts of the table",
            "reduce",
            np.where(cut, _thread(again, chip), 0.0),
            np.where(cut, these.rows * merged * these.elements * size, 0.0),
        ),
    )
    return parts, temporary


def _add_up(these: _Candidates, ask: _Ask) -> tuple[tuple[_Part, ...], Array]:
    """Supersteps and temporary bytes; threads share the table's rows, so each goes through all that are added."""
    size, chip, threads = ask.size, ask.chip, ask.chip.worker_threads
    held = these.on_tile * these.elements
    hits = np.minimum(these.looked, np.ceil(these.looked * np.ceil(these.on_tile / threads) / ask.shape.table))
    adding = LOOK_OVERHEAD + hits * (ADD_HIT + ADD_ELEMENT * these.elements) + (these.looked - hits) * ADD_MISS
    summed = np.ceil(np.ceil(held / these.lookups) * size / VECTOR_BYTES / threads)
    cut = these.lookups > 1
    temporary = these.elements * (FLOAT_BYTES * these.on_tile * (1 + cut) + size * these.looked)
    parts = (
        _Part("rows and indices", "input", np.zeros_like(held), these.looked * (these.elements * size + INDEX_BYTES)),
        _Part("clear", "vector", _thread(23 + np.ceil(held / threads * size / VECTOR_BYTES), chip), 0.0 * held, False),
        _Part("add rows", "vector", _thread(adding, chip), 0.0 * held),
        _Part(
            "sum partial tables",
            "reduce",
            np.where(cut, _thread(SUM_OVERHEAD + summed * (SUM_VECTOR + SUM_PARTIAL * these.lookups), chip), 0.0),
            np.where(cut, held * size, 0.0),
            serial=False,
        ),
    )
    return parts, temporary


def _chosen(
    ask: _Ask, supersteps: _Supersteps, before: tuple[Superstep, ...], after: tuple[Superstep, ...], rivals: bool
) -> TilePlan:
    """The cheapest candidate whose temporary bytes fit, with the look-ups in as few serial parts as that takes."""
    serial = 1
    while True:
        these = _candidates(ask, serial)
        parts, temporary = supersteps(these, ask)
        fitting = temporary <= ask.limit_bytes
        if fitting.any():
            break
        if serial >= ask.shape.lookups:
            raise Infeasible(
                f"{ask.name} needs at least {temporary.min():,.0f} B of temporary memory on a tile; "
                f"{ask.limit_bytes:,.0f} B of a tile of {ask.chip.name} are allowed",
                hint="a larger share of memory, or a narrower table",
            )
        serial *= 2
    cycles = sum((_cycles(part, ask.chip, serial) for part in parts), np.zeros_like(temporary))
    best = int(np.argmin(np.where(fitting, cycles, np.inf)))
    table = -(-ask.shape.table * ask.shape.width // ask.chip.tiles) * ask.size
    return TilePlan(
        operator=ask.name,
        method="slice",
        splits={**_named(these, best), "serial lookups": serial},
        supersteps=(*before, *_steps(parts, best, int(np.prod([of[best] for of in these.splits])), serial), *after),
        flop=float(ask.shape.lookups * ask.shape.width) if supersteps is _add_up else 0.0,
        sram_bytes_per_tile=fitted(ask.name, {"operands": float(table), "temporary": float(temporary[best])}, ask.chip),
        tiles_used=int(np.prod([of[best] for of in these.splits])),
        alternatives=_lost(these, cycles, temporary, fitting, best) if rivals else (),
    )


def _cycles(part: _Part, chip: Chip, serial: int) -> Array:
    """What podsim.tiles.supersteps makes of the part, for all candidates at once."""
    exchange = chip.exchange
    arrives = exchange.start_cycles + part.receive / (exchange.receive_bytes_per_cycle * exchange.efficiency)
    once = part.compute + np.where(part.receive > 0, arrives, 0.0) + chip.sync.on_chip_cycles
    return np.where((part.compute > 0) | (part.receive > 0), once * (serial if part.serial else 1), 0.0)


def _steps(parts: tuple[_Part, ...], at: int, tiles: int, serial: int) -> tuple[Superstep, ...]:
    return tuple(
        step(
            part.name,
            part.phase,
            (Cohort(tiles=tiles, compute_cycles=float(part.compute[at]), receive_bytes=float(part.receive[at])),),
            repeat=serial if part.serial else 1,
        )
        for part in parts
        if part.compute[at] or part.receive[at]
    )


def _other_order(elements: int, size: int, chip: Chip) -> Superstep:
    """A tensor to another order: its bytes through the exchange, then copied at 8 B a cycle."""
    cohorts = tuple(
        Cohort(
            tiles=count,
            compute_cycles=share * size / VECTOR_BYTES,
            send_bytes=float(share * size),
            receive_bytes=float(share * size),
            load_bytes=float(share * size),
            store_bytes=float(share * size),
        )
        for count, share in spread(elements, chip.tiles, VECTOR_BYTES // size)
    )
    return step("other order", "rearrange", cohorts)


def _named(these: _Candidates, at: int) -> dict[str, int]:
    return {name: int(split[at]) for name, split in zip(("rows", "width", "lookups"), these.splits, strict=True)}


def _lost(
    these: _Candidates, cycles: Array, temporary: Array, fitting: npt.NDArray[np.bool_], best: int
) -> tuple[Alternative, ...]:
    nearest = [int(at) for at in np.argsort(cycles, kind="stable")[: LOST_KEPT + 1] if at != best]
    return tuple(
        Alternative(
            splits=_named(these, at),
            cycles=float(cycles[at]),
            sram_bytes_per_tile=float(temporary[at]),
            why=f"{cycles[at] / cycles[best] - 1:+.1%} cycles" if fitting[at] else "does not fit the memory allowed",
        )
        for at in nearest[:LOST_KEPT]
    )
