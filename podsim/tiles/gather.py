"""Rows looked up in a table, and rows added into one: the cheapest split of table, width and look-ups (Eq. 41).

Cycles of the vertices as poplibs plans them (lib/popops/DynamicSlice.cpp, PerformanceEstimation.cpp). A tile that has
part of the table goes through all look-ups, and what lies in its part costs more than what does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.model.workload import Gather
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.gather_steps import (
    ATOM_BYTES,
    BACK,
    Array,
    Ask,
    GatherCandidates,
    GatherStep,
    GatherWork,
    add_up,
    look_up,
)
from podsim.tiles.shares import call, check_fit, check_sizes, step
from podsim.tiles.splitting import distinct
from podsim.tiles.supersteps import TileRates, superstep_cycles, total

FRAMEWORK_CYCLES: Final = 400
"""What a framework's call takes beyond its plan, for gather and scatter alike; fitted to the calls in hydronet-gnn."""
LOST_KEPT = 5  # alternatives a plan remembers

_Supersteps = Callable[[GatherCandidates, Ask], GatherWork]


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
    return _choose(ask, look_up, call(overhead_cycles, chip.tiles), rivals)


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
    return _choose(ask, add_up, call(overhead_cycles, chip.tiles), rivals)


def _ask(name: str, shape: Gather, precision: Precision, chip: Chip, rearranged: bool, available_memory: float) -> Ask:
    check_sizes(name, table=shape.table, width=shape.width, lookups=shape.lookups)
    if not 0 < available_memory <= 1:
        raise InputError(
            f"available memory is a share of the SRAM above 0 and at most 1, not {available_memory:g}",
            code="bad-available-memory",
        )
    return Ask(name, shape, OUTPUT_BYTES[precision], chip, rearranged, available_memory * chip.sram.bytes_per_tile)


def candidates(ask: Ask, serial: int) -> GatherCandidates:
    """All splits for look-ups in so many serial parts."""
    shape, chip, atom = ask.shape, ask.chip, ATOM_BYTES // ask.size
    of_rows, of_width, of_lookups = (
        _cuts(count, chip.tiles) for count in (shape.table, -(-shape.width // atom), -(-shape.lookups // serial))
    )
    first, second = np.nonzero(np.outer(of_rows, of_width) <= chip.tiles)
    footprint = of_rows[first] * of_width[second]
    pair, third = np.nonzero(np.outer(footprint, of_lookups) <= chip.tiles)
    rows, width, lookups = of_rows[first[pair]], of_width[second[pair]], of_lookups[third]
    return GatherCandidates(
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


def _choose(ask: Ask, supersteps: _Supersteps, before: tuple[Superstep, ...], rivals: bool) -> TilePlan:
    """The cheapest candidate whose bytes fit, with the look-ups in as few serial parts as that takes."""
    serial = 1
    while True:
        these = candidates(ask, serial)
        work = supersteps(these, ask)
        fitting = _fitting(work, ask)
        if fitting.any():
            break
        if serial == 1:
            _refuse(supersteps(candidates(ask, ask.shape.lookups), ask), ask)
        serial = min(2 * serial, ask.shape.lookups)
    around = total(before, ask.chip).total
    step_cycles = {part.name: _cycles(part, ask.chip, serial) for part in work.parts}
    cycles = sum(step_cycles.values(), np.full_like(work.temporary, around))
    best = _best(work, cycles, fitting)
    tiles = int(np.prod([of[best] for of in these.splits]))
    return TilePlan(
        operator=ask.name,
        method="slice",
        splits={**_splits_by_name(these, best), "serial lookups": serial},
        supersteps=(*before, *_steps(work.parts, best, tiles, serial, ask.chip)),
        flop=float(ask.shape.lookups * ask.shape.width) if supersteps is add_up else 0.0,
        sram_bytes_per_tile={"operands": float(work.operands[best]), "temporary": float(work.temporary[best])},
        tiles_used=tiles,
        alternatives=_rejections(these, step_cycles, cycles, work, fitting, best) if rivals else (),
    )


def _best(work: GatherWork, cycles: Array, fitting: npt.NDArray[np.bool_]) -> int:
    """The split that is compared as the cheapest, of equal ones the one that takes least."""
    cost = cycles if work.compared is None else work.compared
    first = np.lexsort((cycles, np.where(fitting, cost, np.inf)))[0]
    return int(first)


def _fitting(work: GatherWork, ask: Ask) -> npt.NDArray[np.bool_]:
    fits: npt.NDArray[np.bool_] = (work.temporary <= ask.limit_bytes) & (
        work.operands + work.temporary <= ask.chip.sram.bytes_per_tile
    )
    return fits


def _refuse(least: GatherWork, ask: Ask) -> None:
    """Raise Infeasible where nothing fits though every look-up is a serial part of its own."""
    if _fitting(least, ask).any():
        return
    footprint = least.operands + least.temporary
    at = int(footprint.argmin())
    check_fit(ask.name, {"operands": float(least.operands[at]), "temporary": float(least.temporary[at])}, ask.chip)
    raise Infeasible(
        f"{ask.name} needs at least {least.temporary[footprint <= ask.chip.sram.bytes_per_tile].min():,.0f} B "
        "of temporary "
        f"memory on a tile; {ask.limit_bytes:,.0f} B of a tile of {ask.chip.name} are allowed",
        hint="a larger share of memory, or a narrower table",
    )


def _cycles(part: GatherStep, chip: Chip, serial: int) -> Array:
    """Cycles of the superstep in all its repeats (Eq. 2), for all candidates at once; 0 where it does nothing.

    Copies into another order are as slow as the SRAM already (`shares.access_cycles`).
    """
    compute, exchange, sync = superstep_cycles(TileRates.of(chip), part.compute, send=part.send, receive=part.receive)
    works = (part.compute > 0) | (exchange > 0)
    return works * (compute + exchange + sync) * (serial if part.serial else 1)


def _steps(parts: tuple[GatherStep, ...], at: int, tiles: int, serial: int, chip: Chip) -> tuple[Superstep, ...]:
    """Supersteps of one candidate; an even order is that of all tiles, on one side of the exchange or on the other."""
    supersteps = []
    for part in parts:
        compute, receive = float(part.compute[at]), float(part.receive[at])
        send = float(np.broadcast_to(part.send, part.receive.shape)[at])
        if not (compute or receive or send):
            continue
        copy_bytes = receive if part.phase == "rearrange" else 0.0
        here = Cohort(
            tiles=tiles,
            compute_cycles=compute,
            send_bytes=send,
            receive_bytes=receive,
            load_bytes=copy_bytes,
            store_bytes=copy_bytes,
        )
        others = chip.tiles - tiles
        if part.phase != "rearrange" or not others:
            cohorts: tuple[Cohort, ...] = (here,)
        elif part.name == BACK:
            cohorts = (here, replace(here, tiles=others, send_bytes=0.0))
        else:
            cohorts = (here, Cohort(tiles=others, send_bytes=send))
        supersteps.append(step(part.name, part.phase, cohorts, repeat=serial if part.serial else 1))
    return tuple(supersteps)


def _splits_by_name(these: GatherCandidates, at: int) -> dict[str, int]:
    return {name: int(split[at]) for name, split in zip(("rows", "width", "lookups"), these.splits, strict=True)}


def _rejections(
    these: GatherCandidates,
    step_cycles: Mapping[str, Array],
    cycles: Array,
    work: GatherWork,
    fitting: npt.NDArray[np.bool_],
    best: int,
) -> tuple[RejectedPlan, ...]:
    """The cheapest others, and the superstep that each spends most more on than the chosen one."""
    nearest = [int(at) for at in np.argsort(cycles, kind="stable")[: LOST_KEPT + 1] if at != best]

    def why(at: int) -> str:
        if not fitting[at]:
            return "does not fit the memory allowed"
        if cycles[at] == cycles[best]:
            return "as many cycles"
        if cycles[at] < cycles[best]:
            return "more cycles before syncs and changes of layout"
        most = max(step_cycles, key=lambda name: float(step_cycles[name][at] - step_cycles[name][best]))
        return f"{most}: {step_cycles[most][at] - step_cycles[most][best]:,.0f} cycles more"

    return tuple(
        RejectedPlan(
            splits=_splits_by_name(these, at),
            cycles=float(cycles[at]),
            sram_bytes_per_tile=float(work.operands[at] + work.temporary[at]),
            why=why(at),
        )
        for at in nearest[:LOST_KEPT]
    )
