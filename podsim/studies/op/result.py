"""What is known of one operator on one chip: its plan, its cycles, what it reaches."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.chip import Chip, Precision
from podsim.model.chip_timeline import ChipTimeline, IoTiles
from podsim.model.displayable import Displayable
from podsim.model.program import Part
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import Superstep, TilePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class SuperstepCost:
    """A superstep with the cycles of all its repeats, and the bytes that all tiles receive in them."""

    step: Superstep
    compute_cycles: float
    exchange_cycles: float
    sync_cycles: float
    exchange_bytes: float

    @property
    def cycles(self) -> float:
        """All of them."""
        return self.compute_cycles + self.exchange_cycles + self.sync_cycles


def overflows(operator: str, chip: Chip, resident_bytes: float, temporary_bytes: float, code_bytes: float) -> bool:
    """Whether operands and result of a product, with temporary data and code, are more than a tile holds (Eq. 19).

    `resident_bytes` are of the whole operator, the others of a tile [B].
    """
    needed_bytes = resident_bytes / chip.tiles + temporary_bytes + code_bytes
    return operator == "matmul" and needed_bytes > chip.sram.bytes_per_tile


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OperatorReport(Displayable):
    """One operator as asked, planned and run on the tiles of a chip."""

    operator: str
    sizes: Mapping[str, int | str]
    chip: Chip
    precision: Precision
    available_memory: float
    plan: TilePlan
    costs: tuple[SuperstepCost, ...]
    timeline: ChipTimeline
    resident_bytes: float  # operands and result of the whole operator
    on_amp: bool  # whether its arithmetic is the AMP's
    limited: bool  # whether the plan minds the available memory
    code_bytes_per_tile: float  # assumed, as of a whole program
    io: IoTiles | None = None

    @property
    def cycles(self) -> float:
        """From the first superstep to the last."""
        return self.timeline.total_cycles

    @property
    def time_s(self) -> float:
        """At the clock of the chip [s]."""
        return self.cycles / self.chip.clock_hz

    @property
    def flop_per_s(self) -> float:
        """Arithmetic asked for over the time it takes [FLOP/s]."""
        return self.plan.flop / self.time_s if self.time_s else 0.0

    @property
    def amp_share(self) -> float | None:
        """Of the AMP's peak rate over all tiles and all cycles, 0..1; None where the AMP is not used."""
        return self.flop_per_s / self.chip.peak_flop_per_s(self.precision) if self.on_amp else None

    @property
    def overflows(self) -> bool:
        """Whether a product's operands and result, its temporary data and code are more than a tile holds (Eq. 19)."""
        return overflows(self.operator, self.chip, self.resident_bytes, self.sram_bytes, self.code_bytes_per_tile)

    @property
    def exchange_bytes(self) -> float:
        """Bytes that all tiles receive [B]."""
        return sum_in_order(cost.exchange_bytes for cost in self.costs)

    @property
    def by_purpose(self) -> dict[str, float]:
        """Cycles by what a superstep is for, in order, and what a stream adds; they add up to `cycles`."""
        table: dict[str, float] = {}
        for cost in self.costs:
            table[cost.step.phase] = table.get(cost.step.phase, 0.0) + cost.cycles
        if self.io is not None:
            table["stream"] = self._streaming
        return table

    @property
    def by_part(self) -> dict[Part, float]:
        """Cycles by compute, exchange and sync, and what a stream adds; they add up to `cycles`."""
        streaming = {} if self.io is None else {Part.HOST: self._streaming}
        return {
            Part.COMPUTE: sum_in_order(cost.compute_cycles for cost in self.costs),
            Part.EXCHANGE: sum_in_order(cost.exchange_cycles for cost in self.costs),
            Part.SYNC: sum_in_order(cost.sync_cycles for cost in self.costs),
            **streaming,
        }

    @property
    def _streaming(self) -> float:
        """Cycles after the last superstep, in which IO tiles take what is left and pass it on."""
        return max(0.0, self.cycles - sum_in_order(cost.cycles for cost in self.costs))

    @property
    def bound(self) -> Part:
        """What takes most of the cycles."""
        return max(self.by_part.items(), key=lambda item: item[1])[0]

    @property
    def sram_bytes(self) -> float:
        """SRAM of the most loaded tile, all categories [B]."""
        return sum_in_order(self.plan.sram_bytes_per_tile.values())
