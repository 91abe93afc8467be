"""What one IPU can do: tiles, SRAM, exchange, links."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from podsim.model.quantity import Bytes, BytesPerCycle, BytesPerS, Count, Cycles, Hertz, Key, Positive, Watts


class Precision(StrEnum):
    """Inputs and partial sums of a multiplication, as Poplar users name them."""

    FP8_16 = "8.16"
    FP16_16 = "16.16"
    FP16_32 = "16.32"
    FP32 = "32"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amp:
    """The accumulating matrix product unit of one tile."""

    flop_per_cycle: Mapping[Precision, Positive]
    channel_group: Count = 16

    def __post_init__(self) -> None:
        if any(not rate > 0 for rate in self.flop_per_cycle.values()):
            raise ValueError("flop_per_cycle: every rate must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sram:
    """The memory of one tile and the width of its path to the workers."""

    bytes_per_tile: Annotated[Bytes, Key("per_tile")]
    load_bytes_per_cycle: Annotated[BytesPerCycle, Key("load")]
    store_bytes_per_cycle: Annotated[BytesPerCycle, Key("store")]
    bandwidth_bytes_per_s: BytesPerS | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The on-chip exchange as one tile sees it; `nearest` and `furthest` are what a word takes between two tiles."""

    send_bytes_per_cycle: Annotated[BytesPerCycle, Key("send")]
    receive_bytes_per_cycle: Annotated[BytesPerCycle, Key("receive")]
    shared_receive_bytes_per_cycle: Annotated[BytesPerCycle, Key("shared_receive")]
    efficiency: Positive
    start_cycles: Annotated[Cycles, Key("start")]
    bandwidth_bytes_per_s: BytesPerS | None = None
    nearest_cycles: Cycles | None = None
    furthest_cycles: Cycles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipSync:
    """What a barrier costs on the chip, and the least a barrier across chips costs."""

    on_chip_cycles: Annotated[Cycles, Key("on_chip")]
    global_cycles: Annotated[Cycles, Key("global")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """How the software that plans for the chip chose when its measurements were made; by default, as released."""

    counts_copies: bool = True  # of a convolution's operands into another order, while plans are compared
    slic: bool = True  # whether it has the vertices of sub-kernels for few channels
    quarter_blocks: bool = True  # whether convolutions of several groups use blocks of a quarter of the input channels
    run_bytes: Count = 8  # the shortest run of channels that copies of a convolution's operands move as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityPower:
    """What a chip draws, by what it does: Eq. 60 (docs/explanation/model.md).

    `idle_w` [W] is drawn all the time. On top, every tile takes `pj_per_cycle` [pJ] for a cycle of vector code or of
    exchange, and a matrix product `pj_per_flop` [pJ/FLOP] by its precision. `idle_error`, `busy_error` and
    `flop_error` are standard deviations of the logarithm of these. `published_pj_per_flop` are the maker's figures,
    from which those of a precision follow that no kernel was measured in.
    """

    idle_w: Annotated[Watts, Key("idle")]
    idle_error: Positive
    pj_per_cycle: Positive
    busy_error: Positive
    pj_per_flop: Mapping[Precision, Positive]
    flop_error: Mapping[Precision, Positive]
    published_pj_per_flop: Mapping[Precision, Positive] = field(default_factory=dict)
    energies_of: str = ""  # the chip that these are taken over from, where none of this chip are published

    def __post_init__(self) -> None:
        for name in ("pj_per_flop", "flop_error", "published_pj_per_flop"):
            if any(not value > 0 for value in getattr(self, name).values()):
                raise ValueError(f"{name}: every number must be above 0")
        if self.pj_per_flop.keys() != self.flop_error.keys():
            raise ValueError("flop_error: must have the precisions of pj_per_flop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One published statement of a quantity, kept where sources disagree."""

    name: str
    quantity: str
    text: str
    source: str
    verdict: str


@dataclass(frozen=True, kw_only=True)  # without slots, so that its text is computed once
class Chip:
    """One IPU: what a tile, the exchange and the SRAM can do."""

    name: str
    title: str
    tiles: Count
    worker_threads: Count
    clock_hz: Hertz
    amp: Amp
    sram: Sram
    exchange: Exchange
    sync: ChipSync
    ipu_links: Count
    power_w: Watts | None = None
    activity_power: ActivityPower | None = None  # none where nothing is published that it could be derived from
    layouts_of: str = ""  # a chip of the same die, whose published layouts and configurations hold here too
    library: Library = field(default=Library())
    readings: Annotated[tuple[Reading, ...], Key("reading")] = field(default=())

    def __post_init__(self) -> None:
        for name in ("tiles", "worker_threads", "ipu_links"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1")
        if not 0 < self.exchange.efficiency <= 1:
            raise ValueError("exchange.efficiency: must be above 0 and at most 1")

    @cached_property
    def content(self) -> str:
        """One text for one content."""
        return repr(self)

    @property
    def sram_bytes(self) -> float:
        """SRAM of the whole chip [B]."""
        return self.tiles * self.sram.bytes_per_tile

    def peak_flop_per_s(self, precision: Precision) -> float:
        """AMP rate of the whole chip [FLOP/s]."""
        return self.tiles * self.clock_hz * self.amp.flop_per_cycle[precision]

    @property
    def sram_bytes_per_s(self) -> float:
        """Data-side SRAM bandwidth of the chip [B/s]: as stated, else loads and stores per cycle x tiles x clock."""
        if self.sram.bandwidth_bytes_per_s is not None:
            return self.sram.bandwidth_bytes_per_s
        return (self.sram.load_bytes_per_cycle + self.sram.store_bytes_per_cycle) * self.tiles * self.clock_hz

    @property
    def exchange_bytes_per_s(self) -> float:
        """Exchange bandwidth of the whole chip [B/s]: as stated, else receive bytes per cycle x tiles x clock."""
        if self.exchange.bandwidth_bytes_per_s is not None:
            return self.exchange.bandwidth_bytes_per_s
        return self.exchange.receive_bytes_per_cycle * self.tiles * self.clock_hz

    def without(self, io_tiles: int) -> "Chip":
        """What is left for compute where so many tiles are set aside; totals stated for the chip shrink with them."""
        if not io_tiles:
            return self
        remaining_share = (self.tiles - io_tiles) / self.tiles
        exchange_bytes_per_s, sram_bytes_per_s = self.exchange.bandwidth_bytes_per_s, self.sram.bandwidth_bytes_per_s
        return replace(
            self,
            tiles=self.tiles - io_tiles,
            exchange=replace(
                self.exchange, bandwidth_bytes_per_s=exchange_bytes_per_s and exchange_bytes_per_s * remaining_share
            ),
            sram=replace(self.sram, bandwidth_bytes_per_s=sram_bytes_per_s and sram_bytes_per_s * remaining_share),
        )
