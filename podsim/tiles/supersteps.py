"""The one place where a superstep is given its cycles (Eq. 2)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from podsim.model.chip import Chip
from podsim.model.tile_plan import Cohort, Superstep, TilePlan

FRAGMENT_CYCLES = 3  # control instructions a separate piece costs its receiver (poplibs; ipu-stack profile)


@dataclass(frozen=True, slots=True)
class Cycles:
    """Cycles by what they are spent on."""

    compute: float = 0.0
    exchange: float = 0.0
    sync: float = 0.0

    def __add__(self, other: "Cycles") -> "Cycles":
        return Cycles(self.compute + other.compute, self.exchange + other.exchange, self.sync + other.sync)

    def __mul__(self, count: float) -> "Cycles":
        return Cycles(self.compute * count, self.exchange * count, self.sync * count)

    @property
    def total(self) -> float:
        """All of them."""
        return self.compute + self.exchange + self.sync


@dataclass(frozen=True, slots=True)
class AsRun:
    """Supersteps as a simulation of the tiles ran them: cycles by what the last tile spent them on.

    `idle` are cycles of the mean tile in which it waits for others.
    """

    cycles: Cycles = field(default_factory=Cycles)
    idle: float = 0.0
    events: int = 0

    def __add__(self, other: "AsRun") -> "AsRun":
        return AsRun(self.cycles + other.cycles, self.idle + other.idle, self.events + other.events)


TileEngine = Callable[[TilePlan, Chip], AsRun]
"""What runs the supersteps of a plan as events."""


def exchange_rates(chip: Chip) -> tuple[float, float, float]:
    """Send, receive and shared receive of one tile [B/cycle]: the ports, or a bandwidth stated for the chip."""
    exchange = chip.exchange
    scale = exchange.efficiency
    if exchange.bandwidth_bytes_per_s is not None:
        stated = exchange.bandwidth_bytes_per_s / (chip.tiles * chip.clock_hz)
        scale *= stated / exchange.receive_bytes_per_cycle
    return (
        exchange.send_bytes_per_cycle * scale,
        exchange.receive_bytes_per_cycle * scale,
        exchange.shared_receive_bytes_per_cycle * scale,
    )


def sram_rates(chip: Chip) -> tuple[float, float]:
    """Load and store of one tile [B/cycle]: widths of the path, or their shares of a bandwidth stated for the chip."""
    load, store = chip.sram.load_bytes_per_cycle, chip.sram.store_bytes_per_cycle
    if chip.sram.bandwidth_bytes_per_s is None:
        return load, store
    scale = chip.sram_bytes_per_s / (chip.tiles * chip.clock_hz * (load + store))
    return load * scale, store * scale


def compute_cycles(cohort: Cohort, chip: Chip) -> float:
    """Cycles that a tile of the cohort computes: as its vertices issue, or as SRAM delivers where that is slower."""
    load, store = sram_rates(chip)
    return max(cohort.compute_cycles, cohort.load_bytes / load, cohort.store_bytes / store)


def cycles(step: Superstep, chip: Chip) -> Cycles:
    """Cycles of a superstep with all its repeats: the slowest tile computes, all sync, the busiest port exchanges."""
    compute = max((compute_cycles(cohort, chip) for cohort in step.cohorts), default=0.0)
    exchange = 0.0
    if step.exchanges:
        send, receive, shared = exchange_rates(chip)
        moved = max(
            max(c.send_bytes / send, c.receive_bytes / receive + c.shared_receive_bytes / shared) for c in step.cohorts
        )
        exchange = chip.exchange.start_cycles + moved + FRAGMENT_CYCLES * step.fragments
    return Cycles(compute, exchange, chip.sync.on_chip_cycles) * step.repeat


def total(steps: Iterable[Superstep], chip: Chip) -> Cycles:
    """Supersteps follow each other."""
    return sum((cycles(step, chip) for step in steps), Cycles())


def slower(cycles: Cycles, least: Cycles) -> str:
    """By how much cycles are more than the least, and what takes most of that."""
    more = cycles.total - least.total
    if more < 1:
        return "as many cycles"
    parts = {name: getattr(cycles, name) - getattr(least, name) for name in ("compute", "exchange", "sync")}
    return f"{more:,.0f} cycles more, most for {max(parts, key=lambda name: parts[name])}"
