"""How much on-chip memory each floating-point operation has on a chip."""

from __future__ import annotations

from dataclasses import dataclass

from podsim.files import catalog
from podsim.studies.checking import checked


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDensity:
    """SRAM of a chip [B], and that of each of its tiles [B]."""

    chip: str
    sram_bytes: int
    tile_bytes: int


@checked
def density(chip: str) -> MemoryDensity:
    """SRAM of a chip. Raises InputError for a chip that is not known."""
    known = catalog.chip(chip).value
    return MemoryDensity(
        chip=known.name, sram_bytes=known.tiles * known.sram.bytes_per_tile, tile_bytes=known.sram.bytes_per_tile
    )
