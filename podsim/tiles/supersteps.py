"""The one place where a superstep is given its cycles (Eq. 2)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import numpy.typing as npt

from podsim.model.chip import Chip
from podsim.model.tile_plan import Cohort, Superstep, TilePlan

Array = npt.NDArray[np.float64]
Amount = float | Array
"""A number, or an array with one for each candidate."""
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
        stated_rate = exchange.bandwidth_bytes_per_s / (chip.tiles * chip.clock_hz)
        scale *= stated_rate / exchange.receive_bytes_per_cycle
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


@dataclass(frozen=True, slots=True)
class TileRates:
    """What Eq. 2 takes from a chip: rates of one tile [B/cycle] and the fixed parts of a superstep [cycles].

    `send`, `receive` and `shared_receive` are ports of the exchange, its efficiency counted, `load` and `store` the
    SRAM. Validity: the same for every tile, whatever the distance and the number of tiles; the shared rate where
    neighbours in pairs receive the same data. Source: the file of the chip (topologies/chips); ipu-programmers-guide
    for the ports.
    """

    send: float
    receive: float
    shared_receive: float
    load: float
    store: float
    exchange_start: float
    sync: float

    @classmethod
    def of(cls, chip: Chip) -> "TileRates":
        """The rates of a tile of the chip, its exchange efficiency and any bandwidth stated for it applied."""
        return cls(*exchange_rates(chip), *sram_rates(chip), chip.exchange.start_cycles, chip.sync.on_chip_cycles)


def _larger(item: Amount, other: Amount) -> Amount:
    if isinstance(item, np.ndarray) or isinstance(other, np.ndarray):
        return np.maximum(item, other)
    return max(item, other)


@overload
def superstep_cycles(
    rates: TileRates,
    compute: float,
    *,
    send: float = ...,
    receive: float = ...,
    shared_receive: float = ...,
    load: float = ...,
    store: float = ...,
    fragments: float = ...,
) -> tuple[float, float, float]: ...
@overload
def superstep_cycles(
    rates: TileRates,
    compute: Array,
    *,
    send: Amount = ...,
    receive: Amount = ...,
    shared_receive: Amount = ...,
    load: Amount = ...,
    store: Amount = ...,
    fragments: float = ...,
) -> tuple[Array, Amount, float]: ...
def superstep_cycles(
    rates: TileRates,
    compute: Amount,
    *,
    send: Amount = 0.0,
    receive: Amount = 0.0,
    shared_receive: Amount = 0.0,
    load: Amount = 0.0,
    store: Amount = 0.0,
    fragments: float = 0.0,
) -> tuple[Amount, Amount, float]:
    """Cycles of one superstep on one tile: compute, exchange, sync (Eq. 2).

    Parameters: `rates` of a tile [B/cycle] and fixed parts [cycles]; `compute`, cycles of the vertices; `send`,
    `receive`, `shared_receive`, bytes through the ports of the tile; `load`, `store`, bytes through its SRAM;
    `fragments`, separate pieces it receives. Each but `rates` and `fragments` is a number, or an array with one element
    for each candidate or cohort. Result: cycles, in the shape of the parameters; no exchange where nothing moves. The
    superstep lasts as long as the largest of each part over its tiles. Validity: nothing overlaps; no congestion beyond
    the ports; no distance between tiles. Source: valiant-1990; ipu-programmers-guide; poplibs (cycles of a fragment).
    """
    computing = _larger(compute, _larger(load / rates.load, store / rates.store))
    transfer_cycles = _larger(send / rates.send, receive / rates.receive + shared_receive / rates.shared_receive)
    moves: Amount = np.sign(transfer_cycles) if isinstance(transfer_cycles, np.ndarray) else float(transfer_cycles > 0)
    exchanging: Amount = moves * (rates.exchange_start + transfer_cycles + FRAGMENT_CYCLES * fragments)
    return computing, exchanging, rates.sync


def cohort_cycles(cohort: Cohort, fragments: int, rates: TileRates) -> tuple[float, float, float]:
    """Compute, exchange and sync of one tile of a cohort in one superstep [cycles].

    Parameters: `cohort`, cycles and bytes of one of its tiles; `fragments`, pieces that the busiest tile of the
    superstep receives; `rates` of a tile [B/cycle]. Result: three numbers [cycles], of one repeat.

    Equation: `superstep_cycles` (Eq. 2). Validity: as there; a cohort that exchanges anything pays the pieces of the
    busiest tile. Source: valiant-1990; ipu-programmers-guide; poplibs and ipu-stack for 3 cycles a piece.
    """
    return superstep_cycles(
        rates,
        cohort.compute_cycles,
        send=cohort.send_bytes,
        receive=cohort.receive_bytes,
        shared_receive=cohort.shared_receive_bytes,
        load=cohort.load_bytes,
        store=cohort.store_bytes,
        fragments=fragments,
    )


def cycles(step: Superstep, chip: Chip) -> Cycles:
    """Cycles of a superstep with all its repeats: the slowest tile computes, all sync, the busiest port exchanges."""
    return _of_all(step, TileRates.of(chip))


def _of_all(step: Superstep, rates: TileRates) -> Cycles:
    compute = exchange = 0.0
    for cohort in step.cohorts:
        computing, exchanging, _ = cohort_cycles(cohort, step.fragments, rates)
        compute, exchange = max(compute, computing), max(exchange, exchanging)
    return Cycles(compute, exchange, rates.sync) * step.repeat


def total(steps: Iterable[Superstep], chip: Chip) -> Cycles:
    """Cycles of supersteps that follow each other, by part [cycles].

    Parameters: `steps`, each with its cohorts and repeats; `chip`, with the rates of a tile. Result: compute, exchange
    and sync of all of them.

    Equation: Σ over supersteps of repeat × (largest compute + largest exchange of a cohort + sync) (Eq. 2). Validity:
    nothing overlaps, all tiles wait for the slowest; supersteps that a compiler merges count apart. Source:
    valiant-1990; ipu-programmers-guide for the ports; poplibs and ipu-stack for 3 cycles a piece.
    """
    rates = TileRates.of(chip)
    return sum((_of_all(step, rates) for step in steps), Cycles())


def slower(cycles: Cycles, least: Cycles) -> str:
    """By how much cycles are more than the least, and what takes most of that."""
    more = cycles.total - least.total
    if more < 1:
        return "as many cycles"
    parts = {name: getattr(cycles, name) - getattr(least, name) for name in ("compute", "exchange", "sync")}
    return f"{more:,.0f} cycles more, most for {max(parts, key=lambda name: parts[name])}"
