"""Choose the cheapest way to run a product on the tiles of a chip (Eq. 3)."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from podsim.caches.tables import TABLES, Table
from podsim.errors import Infeasible
from podsim.model.chip import Chip
from podsim.tiles.problem import Array, Problem, Vertex
from podsim.tiles.splitting import Candidates, candidates
from podsim.tiles.superstep_arrays import (
    Serial,
    SuperstepArray,
    TileElements,
    broadcast_each_time,
    memory_bytes,
    sequence,
    tile_elements,
    total_cycles,
)
from podsim.tiles.supersteps import sram_rates

PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # serial parts tried where one pass does not fit
BUSY = 0.75  # serial parts are for products that fill the chip: of cuts, those with less of the busiest cut's tiles go
SERIAL = (Serial("outputs", once=True), Serial("outputs"), Serial("inputs"))

Way = tuple[Problem, Vertex]


@dataclass(frozen=True, slots=True)
class Request:
    """What a search keeps to: the chip, the bytes a tile may use meanwhile, the cycles no part explains.

    With `price_copies` false, plans are compared as if copies into another order took no cycles.
    """

    chip: Chip
    available_memory: float
    overhead_cycles: float
    relax: bool = False
    price_copies: bool = True

    @property
    def limits_bytes(self) -> tuple[float, ...]:
        """Bytes a tile may use, in the order tried: doubled up to twice the SRAM, then without bound, where allowed."""
        sram = self.chip.sram.bytes_per_tile
        limit = self.available_memory * sram
        if not self.relax:
            return (limit,)
        values = [limit]
        while values[-1] < 2 * sram:
            values.append(min(2 * values[-1], 2 * sram))
        return (*values, float("inf"))


@dataclass(frozen=True, slots=True)
class EvaluatedCuts:
    """All cuts of one way to multiply, with their cycles and temporary bytes."""

    problem: Problem
    vertex: Vertex
    serial: Serial | None
    cuts: Candidates
    cycles: Array
    sram_bytes: Array

    def cheapest(self, within: npt.NDArray[np.bool_]) -> int | None:
        """Index of the cheapest cut among some of them."""
        if not within.any():
            return None
        return int(np.argmin(np.where(within, self.cycles, np.inf)))


def search(ways: tuple[Way, ...], request: Request) -> tuple[list[EvaluatedCuts], float]:
    """All ways evaluated, and the limit within which at least one cut fits.

    Serial parts are tried where the cheapest cut in one pass does not fit: of that way to multiply, then of all.

    Raises
    ------
    Infeasible
        No cut fits the bytes a tile may use.

    """
    evaluations = [result for way in ways for result in _single(*way, request)]
    limit = request.limits_bytes[0]
    target = min(evaluations, key=lambda way: float(way.cycles.min()))
    if target.sram_bytes[int(target.cycles.argmin())] > limit:
        evaluations += _in_parts(target.problem, target.vertex, request)
        if all(float(way.sram_bytes.min()) > limit for way in evaluations):
            others = (way for way in ways if way != (target.problem, target.vertex))
            evaluations += [in_part for way in others for in_part in _in_parts(*way, request)]
    least = min(float(way.sram_bytes.min()) for way in evaluations)
    for limit in request.limits_bytes:
        if least <= limit:
            return evaluations, limit
    raise Infeasible(
        f"no split over {request.chip.tiles} tiles fits {limit:,.0f} B per tile; the least is {least:,.0f} B",
        code="operator-does-not-fit",
        hint=("raise the available memory, or " if least <= request.chip.sram.bytes_per_tile else "")
        + "cut the operator into smaller ones",
    )


def _single(problem: Problem, vertex: Vertex, request: Request) -> list[EvaluatedCuts]:
    return [
        EvaluatedCuts(problem, vertex, None, cuts, total_cycles(steps, request.chip), memory)
        for cuts, memory, steps in _laid_out(problem, vertex, request)
    ]


WayCosts = tuple[Candidates, Array, tuple[SuperstepArray, ...]]
# Some 30 MB: the ways to multiply of a workload at one or two micro-batch sizes.
_WAYS: Final = TABLES.add("ways to multiply", Table[object, list[WayCosts]](320))


def _laid_out(problem: Problem, vertex: Vertex, request: Request) -> list[WayCosts]:
    """All cuts in one pass with their bytes and supersteps.

    What exchange and sync take does not enter, so that searches for chips that differ in those alone share them.
    """
    chip = request.chip
    settings = request.overhead_cycles, request.price_copies
    key = problem, vertex, chip.tiles, chip.worker_threads, sram_rates(chip), settings
    way_costs = _WAYS.get(key)
    if way_costs is None:
        way_costs = [
            (cuts, _memory(problem, vertex, cuts, hold, None), _steps(problem, vertex, cuts, hold, None, request))
            for cuts in candidates(problem, vertex, chip.tiles, (1,), "outputs")
            for hold in [tile_elements(problem, vertex, cuts.tile, cuts.splits)]
        ]
        _WAYS.keep(key, way_costs)
    return way_costs


def _in_parts(problem: Problem, vertex: Vertex, request: Request) -> list[EvaluatedCuts]:
    """Serial parts over outputs and over inputs; only cuts that keep most tiles busy and fit, or the least ones."""
    evaluations = []
    for over in ("outputs", "inputs"):
        first, *others = (serial for serial in SERIAL if serial.over == over)
        cuts, memory = _fitting_cuts(problem, vertex, first, request)
        steps = _steps(problem, vertex, cuts, tile_elements(problem, vertex, cuts.tile, cuts.splits), first, request)
        evaluations.append(EvaluatedCuts(problem, vertex, first, cuts, total_cycles(steps, request.chip), memory))
        for serial in others:
            cycles = total_cycles(broadcast_each_time(steps), request.chip)
            evaluations.append(EvaluatedCuts(problem, vertex, serial, cuts, cycles, memory))
    return evaluations


def _fitting_cuts(problem: Problem, vertex: Vertex, serial: Serial, request: Request) -> tuple[Candidates, Array]:
    """Cuts that fit and keep most tiles busy, with their bytes; where there are none, the one that needs least."""
    fitting: list[tuple[Candidates, Array]] = []
    most = 0.0
    for cuts in candidates(problem, vertex, request.chip.tiles, PARTS, serial.over, busy=BUSY):
        most = max(most, float(cuts.splits.tiles.max(initial=0.0)))
        memory = _memory(problem, vertex, cuts, tile_elements(problem, vertex, cuts.tile, cuts.splits), serial)
        fits = np.flatnonzero(memory <= request.limits_bytes[0])
        fitting.append((cuts.take(fits), memory[fits]))
    fitting_cuts = Candidates.join([cuts for cuts, _ in fitting])
    memory = np.concatenate([memory for _, memory in fitting])
    busy = np.flatnonzero(fitting_cuts.splits.tiles >= BUSY * most)
    return (fitting_cuts.take(busy), memory[busy]) if busy.size else _least(problem, vertex, serial, request)


def _least(problem: Problem, vertex: Vertex, serial: Serial, request: Request) -> tuple[Candidates, Array]:
    """The cut that needs the fewest bytes, with them."""
    result = []
    for cuts in candidates(problem, vertex, request.chip.tiles, PARTS, serial.over):
        memory = _memory(problem, vertex, cuts, tile_elements(problem, vertex, cuts.tile, cuts.splits), serial)
        at = np.array([memory.argmin()])
        result.append((cuts.take(at), memory[at]))
    return min(result, key=lambda item: float(item[1][0]))


def in_full(way: EvaluatedCuts, at: int, request: Request) -> float:
    """Cycles of one cut with its copies, also where plans are compared before them."""
    if request.price_copies:
        return float(way.cycles[at])
    item = way.cuts.take(np.array([at]))
    return float(_cycles(way.problem, way.vertex, item, way.serial, replace(request, price_copies=True))[0])


def _memory(problem: Problem, vertex: Vertex, cuts: Candidates, hold: TileElements, serial: Serial | None) -> Array:
    return np.asarray(sum(memory_bytes(problem, vertex, hold, cuts.splits, serial).values()))


def _cycles(problem: Problem, vertex: Vertex, cuts: Candidates, serial: Serial | None, request: Request) -> Array:
    hold = tile_elements(problem, vertex, cuts.tile, cuts.splits)
    return total_cycles(_steps(problem, vertex, cuts, hold, serial, request), request.chip)


def _steps(
    problem: Problem, vertex: Vertex, cuts: Candidates, hold: TileElements, serial: Serial | None, request: Request
) -> tuple[SuperstepArray, ...]:
    return sequence(
        problem,
        vertex,
        cuts.tile,
        cuts.splits,
        serial,
        request.chip,
        hold=hold,
        overhead_cycles=request.overhead_cycles,
        price_copies=request.price_copies,
    )
