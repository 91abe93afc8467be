"""When the tiles of one chip did what: the supersteps of one operator as they ran."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.program import Part
from podsim.model.sums import sum_in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class IoTiles:
    """Tiles set aside that take a stream from host or streaming memory while the others compute, then pass it on."""

    tiles: int
    volume_bytes: float
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class TileSpan:
    """One part of a superstep on neighbouring tiles that do the same; cycles from the start of the operator."""

    superstep: int  # -1 for what IO tiles do
    part: Part
    first_tile: int
    tiles: int
    start_cycles: float
    end_cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TileShare:
    """How neighbouring tiles that are alike in every superstep spent their cycles; its parts add up to the total."""

    first_tile: int
    tiles: int
    compute_cycles: float
    exchange_cycles: float
    sync_cycles: float
    stream_cycles: float  # taking bytes from host or streaming memory
    idle_cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipTimeline:
    """One operator on all tiles of a chip; `sram_bytes_per_tile` is by category, on the tile of peak SRAM."""

    total_cycles: float
    spans: tuple[TileSpan, ...]
    shares: tuple[TileShare, ...]
    sram_bytes_per_tile: Mapping[str, float]
    events: int

    @property
    def idle(self) -> float:
        """Share of all cycles of all tiles in which a tile has nothing to do but be ready for the others (0..1)."""
        tiles = sum(share.tiles for share in self.shares)
        idle = sum_in_order(share.tiles * share.idle_cycles for share in self.shares)
        return idle / (tiles * self.total_cycles) if self.total_cycles else 0.0
