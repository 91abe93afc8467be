"""One operator on the tiles of a chip: tiles that are alike in every superstep are one SimPy process.

A superstep is a sync that all tiles wait for, an exchange that ends when its busiest port is through, and compute.
Rates come from podsim.tiles.supersteps; this module only decides when.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import simpy

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip
from podsim.model.chip_timeline import ChipTimeline, IoTiles, TileShare, TileSpan
from podsim.model.program import Part
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.supersteps import AsRun, Cycles, TileRates, cohort_cycles, superstep_cycles

NOTHING = Cohort(tiles=0)
OFF_PLAN = -1


def run(plan: TilePlan, chip: Chip, *, unfolded: bool = False, io: IoTiles | None = None) -> ChipTimeline:
    """Run the supersteps of a plan; `unfolded` runs every tile and every repeat as a process of its own.

    Cohorts stand on neighbouring tiles in their order, from tile 0; IO tiles are the last ones of the chip. Raises
    Infeasible where the plan and the IO tiles need more tiles, or the stream more SRAM, than there is.
    """
    tiles = chip.tiles - (check_io(io, chip).tiles if io else 0)
    _refuse_too_many(plan, chip, tiles)
    steps = [(number, step) for number, step in enumerate(plan.supersteps) if step.repeat > 0]
    if unfolded:
        turns = [_Turn(number, step, 1) for number, step in steps for _ in range(step.repeat)]
    else:
        turns = [_Turn(number, step, step.repeat) for number, step in steps]
    simulation = _ChipSimulation(chip, turns, _groups(turns, tiles, unfolded=unfolded))
    total = simulation.run(io)
    return ChipTimeline(
        total_cycles=total,
        spans=tuple(simulation.spans),
        shares=tuple(group.share(total) for group in simulation.groups),
        sram_bytes_per_tile=plan.sram_bytes_per_tile,
        events=simulation.events,
    )


def as_run(plan: TilePlan, chip: Chip) -> AsRun:
    """The supersteps of a plan as they ran: every part of one lasts from its barrier to the last tile that is in it."""
    timeline = run(plan, chip)
    spans: dict[tuple[int, Part], tuple[float, float]] = {}
    for span in timeline.spans:
        key = span.superstep, span.part
        start, end = spans.get(key, (span.start_cycles, span.end_cycles))
        spans[key] = min(start, span.start_cycles), max(end, span.end_cycles)
    part_cycles = {
        part: sum_in_order(end - start for (_, item), (start, end) in spans.items() if item is part)
        for part in (Part.COMPUTE, Part.EXCHANGE, Part.SYNC)
    }
    cycles = Cycles(part_cycles[Part.COMPUTE], part_cycles[Part.EXCHANGE], part_cycles[Part.SYNC])
    return AsRun(cycles, timeline.idle * timeline.total_cycles, timeline.events)


def _refuse_too_many(plan: TilePlan, chip: Chip, tiles: int) -> None:
    plan_tiles = max((sum(cohort.tiles for cohort in step.cohorts) for step in plan.supersteps), default=0)
    if plan_tiles > tiles:
        spare = chip.tiles - plan_tiles
        raise Infeasible(
            f"{plan.operator} needs {plan_tiles:,} tiles; {tiles:,} of {chip.name} are there to compute",
            hint=f"set aside at most {spare:,} IO tiles" if spare > 0 else "",
        )


def spans_of(plan: TilePlan, chip: Chip) -> int:
    """Spans of a run in which every tile and every repeat has its own."""
    number = 0
    for step in plan.supersteps:
        working = sum(cohort.tiles * ((cohort.compute_cycles > 0) + step.exchanges) for cohort in step.cohorts)
        number += step.repeat * (chip.tiles + working)
    return number


def check_io(io: IoTiles, chip: Chip) -> IoTiles:
    """The IO tiles; InputError where there are no such, Infeasible where they do not hold what streams in."""
    if not 0 < io.tiles < chip.tiles or not io.bytes_per_s > 0 or not io.volume_bytes >= 0:
        raise InputError(
            f"{io.tiles:,} IO tiles for {io.volume_bytes:g} B at {io.bytes_per_s:g} B/s",
            code="bad-value",
            context=[f"from 1 to {chip.tiles - 1:,} tiles, a rate above 0 and a volume of at least 0"],
        )
    footprint = io.tiles * chip.sram.bytes_per_tile
    if io.volume_bytes > footprint:
        fewest = -(-io.volume_bytes // chip.sram.bytes_per_tile)
        raise Infeasible(
            f"{io.tiles:,} IO tiles hold {footprint:,.0f} B of the {io.volume_bytes:,.0f} B that stream in",
            hint=f"set aside at least {fewest:,.0f} IO tiles, or stream less at once",
        )
    return io


@dataclass(frozen=True, slots=True)
class _Turn:
    """A superstep of the plan, `count` times without another in between."""

    number: int
    step: Superstep
    count: int


@dataclass(slots=True)
class _TileGroup:
    """Neighbouring tiles with the same cohort in every turn, and the cycles they have spent."""

    first: int
    tiles: int
    cohorts: Sequence[Cohort]
    spent: dict[Part, float] = field(default_factory=lambda: dict.fromkeys(Part, 0.0))

    def share(self, total_cycles: float) -> TileShare:
        """What it spent, and idled, of the whole."""
        return TileShare(
            first_tile=self.first,
            tiles=self.tiles,
            compute_cycles=self.spent[Part.COMPUTE],
            exchange_cycles=self.spent[Part.EXCHANGE],
            sync_cycles=self.spent[Part.SYNC],
            stream_cycles=self.spent[Part.HOST],
            idle_cycles=max(0.0, total_cycles - sum_in_order(self.spent.values())),
        )


def _groups(turns: Sequence[_Turn], tiles: int, *, unfolded: bool) -> list[_TileGroup]:
    """Cut the tiles wherever a cohort of any turn ends."""
    ends = range(tiles + 1) if unfolded else sorted({0, tiles, *(end for turn in turns for end in _ends(turn.step))})
    columns = [_cohorts_at(turn.step, ends[:-1]) for turn in turns]
    return [
        _TileGroup(first, after - first, [column[at] for column in columns])
        for at, (first, after) in enumerate(pairwise(ends))
    ]


def _ends(step: Superstep) -> Iterable[int]:
    end = 0
    for cohort in step.cohorts:
        end += cohort.tiles
        yield end


def _cohorts_at(step: Superstep, firsts: Sequence[int]) -> list[Cohort]:
    """The cohort of each of the ascending tiles `firsts`; beyond the last cohort a tile has nothing to do."""
    cohorts, ends, at = [], list(_ends(step)), 0
    for first in firsts:
        while at < len(ends) and ends[at] <= first:
            at += 1
        cohorts.append(step.cohorts[at] if at < len(ends) else NOTHING)
    return cohorts


class _Barrier:
    """Opens when all parties have come, and closes behind them."""

    def __init__(self, env: simpy.Environment, parties: int) -> None:
        self._env, self._parties, self._missing = env, parties, parties
        self._open = env.event()

    def arrive(self) -> simpy.Event:
        """An event that fires when the last party arrives."""
        self._missing -= 1
        event = self._open
        if self._missing == 0:
            self._missing, self._open = self._parties, self._env.event()
            event.succeed()
        return event


class _ChipSimulation:
    """All groups from the first superstep to the last."""

    def __init__(self, chip: Chip, turns: Sequence[_Turn], groups: list[_TileGroup]) -> None:
        self.chip, self.turns, self.groups = chip, turns, groups
        self.spans: list[TileSpan] = []
        self.events = 0
        self._env = simpy.Environment()
        self._barrier = _Barrier(self._env, len(groups))
        self._rates = TileRates.of(chip)

    def run(self, io: IoTiles | None) -> float:
        """Cycles from the start to the end of the last tile."""
        computing = [self._env.process(self._tiles(group)) for group in self.groups]
        if io is not None:
            self._env.process(self._stream(io, self._env.all_of(computing)))
        self._env.run()
        self.spans.sort(key=lambda span: (span.start_cycles, span.first_tile))
        return float(self._env.now)

    def _tiles(self, group: _TileGroup) -> simpy.events.ProcessGenerator:
        """Sync, exchange and compute of each superstep on one group; both ports of a tile move at once (Eq. 2)."""
        for turn, cohort in zip(self.turns, group.cohorts, strict=True):
            compute, exchange, sync = cohort_cycles(cohort, turn.step.fragments, self._rates)
            yield self._barrier.arrive()
            yield from self._spend(group, turn, Part.SYNC, sync)
            if turn.step.exchanges:
                yield from self._spend(group, turn, Part.EXCHANGE, exchange)
                yield self._barrier.arrive()
            yield from self._spend(group, turn, Part.COMPUTE, compute)

    def _spend(self, group: _TileGroup, turn: _Turn, part: Part, cycles: float) -> simpy.events.ProcessGenerator:
        if not cycles:
            return
        began = self._env.now
        yield self._env.timeout(cycles * turn.count)
        self._note(turn.number, part, group, began)

    def _note(self, number: int, part: Part, group: _TileGroup, began: float) -> None:
        self.events += 1
        group.spent[part] += self._env.now - began
        self.spans.append(TileSpan(number, part, group.first, group.tiles, began, self._env.now))

    def _stream(self, io: IoTiles, compute_end: simpy.Event) -> simpy.events.ProcessGenerator:
        """Off-chip bytes arrive while the others compute; then all sync, and the IO tiles send on what they hold."""
        others = self.chip.tiles - io.tiles
        group = _TileGroup(others, io.tiles, ())
        self.groups.append(group)
        began = self._env.now
        yield self._env.timeout(io.volume_bytes / io.bytes_per_s * self.chip.clock_hz)
        self._note(OFF_PLAN, Part.HOST, group, began)
        yield compute_end
        _, exchange, sync = superstep_cycles(
            self._rates, 0.0, send=io.volume_bytes / io.tiles, receive=io.volume_bytes / others
        )
        for part, cycles in ((Part.SYNC, sync), (Part.EXCHANGE, exchange)):
            began = self._env.now
            yield self._env.timeout(cycles)
            for item in self.groups:
                self._note(OFF_PLAN, part, item, began)
