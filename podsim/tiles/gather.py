"""Rows looked up in a table, and rows added into one: the cheapest split of table, width and look-ups (Eq. 41).

Cycles of the vertices as poplibs plans them (lib/popops/DynamicSlice.cpp, PerformanceEstimation.cpp). A tile that has
part of the table goes through all look-ups, and what lies in its part costs more than what does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Alternative, Cohort, Superstep, TilePlan
from podsim.model.workload import Gather
from podsim.tiles import vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.shares import VECTOR_BYTES, VERTEX_CYCLES, access_cycles, call, checked, fitted, spread, step
from podsim.tiles.splitting import distinct
from podsim.tiles.supersteps import exchange_rates, total

Array = npt.NDArray[np.float64]

FRAMEWORK_CYCLES: Final = 400
"""What a framework's call takes beyond its plan, for gather and scatter alike; fitted to the calls in hydronet-gnn."""
INDEX_BYTES, ATOM_BYTES, FLOAT_BYTES = 4, 8, 4  # an index; the least a tile stores at once; a partial sum
LOOK_OVERHEAD, HIT, HIT_ACCESS, MISS = 30, 19, 2, 8  # cycles of a thread: once, a row found, its 8 B, a row not found
ADD_HIT, ADD_ELEMENT, ADD_MISS = 11, 3, 5
SUM_OVERHEAD, SUM_VECTOR, SUM_PARTIAL = 33, 7, 1  # of a thread that sums the partial tables of the look-up split
BACK: Final = "other order back"
LOST_KEPT = 5  # alternatives a plan remembers


@dataclass(frozen=True, slots=True)
class _Ask:
    """What is planned, whether table and rows come in another order, and the temporary bytes a tile may use for it."""

    name: str
    shape: Gather
    size: int
    chip: Chip
    rearranged: bool
    limit_bytes: float

    def even_bytes(self, elements: int) -> int:
        """Bytes of the fullest tile where elements lie evenly on all."""
        return spread(elements, self.chip.tiles, VECTOR_BYTES // self.size)[0][1] * self.size


@dataclass(frozen=True, slots=True)
class _Part:
    """One superstep of all candidates, left out where it does nothing; `serial` ones run for each serial part."""

    name: str
    phase: str
    compute: Array
    receive: Array
    send: Array | float = 0.0
    serial: bool = True


@dataclass(frozen=True, slots=True)
class _Work:
    """All supersteps of all candidates, and the bytes of a tile: what stays, and what the operator needs meanwhile."""

    parts: tuple[_Part, ...]
    operands: Array
    temporary: Array


@dataclass(frozen=True, slots=True)
class _Candidates:
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
        kept: Array = np.ceil(self.on_tile * self.elements / self.lookups)
        return kept


_Supersteps = Callable[[_Candidates, _Ask], _Work]


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
    ask = _ask(name, shape, precision, chip, rearranged, available_memory)
    return _chosen(ask, _look_up, call(overhead_cycles, chip.tiles), rivals)


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
    ask = _ask(name, shape, precision, chip, rearranged, available_memory)
    return _chosen(ask, _add_up, call(overhead_cycles, chip.tiles), rivals)


def _ask(name: str, shape: Gather, precision: Precision, chip: Chip, rearranged: bool, available_memory: float) -> _Ask:
    checked(name, table=shape.table, width=shape.width, lookups=shape.lookups)
    if not 0 < available_memory <= 1:
        raise InputError(
            f"available memory is a share of the SRAM above 0 and at most 1, not {available_memory:g}",
            code="bad-available-memory",
        )
    return _Ask(name, shape, OUTPUT_BYTES[precision], chip, rearranged, available_memory * chip.sram.bytes_per_tile)


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
        elements=np.minimum(atom * np.ceil(np.ceil(shape.width / atom) / width), shape.width),
        looked=np.ceil(-(-shape.lookups // serial) / lookups),
        serial=serial,
    )


def _cuts(count: int, most: int) -> Array:
    """Numbers of parts that differ in the largest part."""
    parts = np.arange(1, min(count, most) + 1)
    return distinct((-(-count // -(-count // parts))).astype(np.float64))


def _thread(cycles: Array, chip: Chip) -> Array:
    return VERTEX_CYCLES + chip.worker_threads * cycles


def _look_up(these: _Candidates, ask: _Ask) -> _Work:
    """A table that is not copied stays where it is; what is found goes on as its part is done."""
    size, chip = ask.size, ask.chip
    each = HIT + HIT_ACCESS * np.ceil(these.elements * size / VECTOR_BYTES)
    mine = np.ceil(these.looked / chip.worker_threads)
    hits = np.minimum(mine, np.ceil(mine * these.on_tile / ask.shape.table))
    cut = these.rows > 1
    merged = np.ceil(these.looked / these.rows)
    again = LOOK_OVERHEAD + np.ceil(merged / chip.worker_threads) * each
    copied = np.where(these.lookups > 1, these.on_tile * these.elements * size, 0.0)
    arriving = np.where(cut, these.rows * merged * these.elements * size, 0.0)
    found = these.looked * these.elements * size
    result = ask.even_bytes(ask.shape.lookups * ask.shape.width)
    parts = (
        *_brought(these, ask, 0),
        _Part("table and indices", "input", np.zeros_like(mine), copied + these.looked * INDEX_BYTES),
        _Part("look up", "vector", _thread(LOOK_OVERHEAD + hits * each + (mine - hits) * MISS, chip), 0.0 * mine),
        _Part("merge parts of the table", "reduce", np.where(cut, _thread(again, chip), 0.0), arriving),
        *_returned(np.full_like(mine, -(-result // these.serial)), merged * these.elements * size, ask, serial=True),
    )
    temporary = copied + found + these.looked * INDEX_BYTES + arriving
    return _Work(parts, _resting(these, ask) + result, temporary + ask.rearranged * these.home * size)


def _add_up(these: _Candidates, ask: _Ask) -> _Work:
    """Threads share the table's rows, so each goes through all that are added."""
    size, chip, threads = ask.size, ask.chip, ask.chip.worker_threads
    held = these.on_tile * these.elements
    hits = np.minimum(these.looked, np.ceil(these.looked * np.ceil(these.on_tile / threads) / ask.shape.table))
    adding = LOOK_OVERHEAD + hits * (ADD_HIT + ADD_ELEMENT * these.elements) + (these.looked - hits) * ADD_MISS
    summed = np.ceil(np.ceil(held / these.lookups) * size / VECTOR_BYTES / threads)
    cut = these.lookups > 1
    rows = ask.even_bytes(ask.shape.lookups * ask.shape.width)
    arriving = these.looked * (these.elements * size + INDEX_BYTES)
    added = np.ceil(np.ceil(these.home / threads) * size / VECTOR_BYTES)
    parts = (
        *_brought(these, ask, rows),
        _Part("rows and indices", "input", np.zeros_like(held), arriving),
        _Part(
            "clear", "vector", _thread(23 + np.ceil(held / threads * size / VECTOR_BYTES), chip), 0.0 * held, 0.0, False
        ),
        _Part("add rows", "vector", _thread(adding, chip), 0.0 * held),
        _Part(
            "sum partial tables",
            "reduce",
            np.where(cut, _thread(SUM_OVERHEAD + summed * (SUM_VECTOR + SUM_PARTIAL * these.lookups), chip), 0.0),
            np.where(cut, held * size, 0.0),
            serial=False,
        ),
        _Part("scaled_add", "vector", _thread(_scaled(added, size, chip), chip), 0.0 * held, serial=False),
        *_returned(np.full_like(held, _table(ask)), these.home * size, ask, serial=False),
    )
    temporary = FLOAT_BYTES * held * (1 + cut) + arriving
    return _Work(parts, _resting(these, ask) + rows, temporary + ask.rearranged * (these.home * size + rows))


def _scaled(vectors: Array, size: int, chip: Chip) -> Array:
    """Cycles of a thread that adds so many vectors to the table."""
    cycles: Array = vector.OPERATIONS["scaled_add"].thread_cycles(vectors, size, chip)  # type: ignore[arg-type,assignment]
    return cycles


def _table(ask: _Ask) -> int:
    return ask.even_bytes(ask.shape.table * ask.shape.width)


def _resting(these: _Candidates, ask: _Ask) -> Array:
    """Bytes of the table: evenly on all tiles where it is rearranged, else as it is cut."""
    return np.full_like(these.rows, _table(ask)) if ask.rearranged else these.home * ask.size


def _brought(these: _Candidates, ask: _Ask, more_bytes: int) -> tuple[_Part, ...]:
    """The table, and what else comes in another order, to the tiles of the split."""
    if not ask.rearranged:
        return ()
    home = these.home * ask.size + more_bytes
    sent = float(_table(ask) + more_bytes)
    return (_Part("other order", "rearrange", _copied(home, ask.chip), home, sent, serial=False),)


def _returned(arriving: Array, sent: Array, ask: _Ask, *, serial: bool) -> tuple[_Part, ...]:
    """From the tiles of the split to all, evenly."""
    if not ask.rearranged:
        return ()
    return (_Part(BACK, "rearrange", _copied(arriving, ask.chip), arriving, sent, serial),)


def _copied(moved_bytes: Array, chip: Chip) -> Array:
    """Cycles to copy so many bytes as fast as the SRAM takes them."""
    return moved_bytes / VECTOR_BYTES * access_cycles(1, 1, chip)


def _chosen(ask: _Ask, supersteps: _Supersteps, before: tuple[Superstep, ...], rivals: bool) -> TilePlan:
    """The cheapest candidate whose bytes fit, with the look-ups in as few serial parts as that takes."""
    serial = 1
    while True:
        these = _candidates(ask, serial)
        work = supersteps(these, ask)
        fitting = _fitting(work, ask)
        if fitting.any():
            break
        if serial == 1:
            _refuse(supersteps(_candidates(ask, ask.shape.lookups), ask), ask)
        serial = min(2 * serial, ask.shape.lookups)
    around = total(before, ask.chip).total
    spent = {part.name: _cycles(part, ask.chip, serial) for part in work.parts}
    cycles = sum(spent.values(), np.full_like(work.temporary, around))
    best = int(np.argmin(np.where(fitting, cycles, np.inf)))
    tiles = int(np.prod([of[best] for of in these.splits]))
    return TilePlan(
        operator=ask.name,
        method="slice",
        splits={**_named(these, best), "serial lookups": serial},
        supersteps=(*before, *_steps(work.parts, best, tiles, serial, ask.chip)),
        flop=float(ask.shape.lookups * ask.shape.width) if supersteps is _add_up else 0.0,
        sram_bytes_per_tile={"operands": float(work.operands[best]), "temporary": float(work.temporary[best])},
        tiles_used=tiles,
        alternatives=_lost(these, spent, cycles, work, fitting, best) if rivals else (),
    )


def _fitting(work: _Work, ask: _Ask) -> npt.NDArray[np.bool_]:
    fits: npt.NDArray[np.bool_] = (work.temporary <= ask.limit_bytes) & (
        work.operands + work.temporary <= ask.chip.sram.bytes_per_tile
    )
    return fits


def _refuse(least: _Work, ask: _Ask) -> None:
    """Raise Infeasible where nothing fits though every look-up is a serial part of its own."""
    if _fitting(least, ask).any():
        return
    held = least.operands + least.temporary
    at = int(held.argmin())
    fitted(ask.name, {"operands": float(least.operands[at]), "temporary": float(least.temporary[at])}, ask.chip)
    raise Infeasible(
        f"{ask.name} needs at least {least.temporary[held <= ask.chip.sram.bytes_per_tile].min():,.0f} B of temporary "
        f"memory on a tile; {ask.limit_bytes:,.0f} B of a tile of {ask.chip.name} are allowed",
        hint="a larger share of memory, or a narrower table",
    )


def _cycles(part: _Part, chip: Chip, serial: int) -> Array:
    """What podsim.tiles.supersteps makes of the part, for all candidates at once."""
    send, receive, _ = exchange_rates(chip)
    moved = np.maximum(part.receive / receive, part.send / send)
    once = part.compute + np.where(moved > 0, chip.exchange.start_cycles + moved, 0.0) + chip.sync.on_chip_cycles
    return np.where((part.compute > 0) | (moved > 0), once * (serial if part.serial else 1), 0.0)


def _steps(parts: tuple[_Part, ...], at: int, tiles: int, serial: int, chip: Chip) -> tuple[Superstep, ...]:
    """Supersteps of one candidate; an even order is that of all tiles, on one side of the exchange or on the other."""
    found = []
    for part in parts:
        compute, receive = float(part.compute[at]), float(part.receive[at])
        send = float(np.broadcast_to(part.send, part.receive.shape)[at])
        if not (compute or receive or send):
            continue
        moved = receive if part.phase == "rearrange" else 0.0
        here = Cohort(tiles=tiles, compute_cycles=compute, send_bytes=send, receive_bytes=receive, load_bytes=moved,
                      store_bytes=moved)  # fmt: skip
        others = chip.tiles - tiles
        if part.phase != "rearrange" or not others:
            cohorts: tuple[Cohort, ...] = (here,)
        elif part.name == BACK:
            cohorts = (here, replace(here, tiles=others, send_bytes=0.0))
        else:
            cohorts = (here, Cohort(tiles=others, send_bytes=send))
        found.append(step(part.name, part.phase, cohorts, repeat=serial if part.serial else 1))
    return tuple(found)


def _named(these: _Candidates, at: int) -> dict[str, int]:
    return {name: int(split[at]) for name, split in zip(("rows", "width", "lookups"), these.splits, strict=True)}


def _lost(
    these: _Candidates,
    spent: Mapping[str, Array],
    cycles: Array,
    work: _Work,
    fitting: npt.NDArray[np.bool_],
    best: int,
) -> tuple[Alternative, ...]:
    """The cheapest others, and the superstep that each spends most more on than the chosen one."""
    nearest = [int(at) for at in np.argsort(cycles, kind="stable")[: LOST_KEPT + 1] if at != best]

    def why(at: int) -> str:
        if not fitting[at]:
            return "does not fit the memory allowed"
        if cycles[at] == cycles[best]:
            return "as many cycles"
        most = max(spent, key=lambda name: float(spent[name][at] - spent[name][best]))
        return f"{most}: {spent[most][at] - spent[most][best]:,.0f} cycles more"

    return tuple(
        Alternative(
            splits=_named(these, at),
            cycles=float(cycles[at]),
            sram_bytes_per_tile=float(work.operands[at] + work.temporary[at]),
            why=why(at),
        )
        for at in nearest[:LOST_KEPT]
    )
