"""Time to move data through the SRAM of a chip."""

from podsim.model.chip import Chip


def sram_s(moved_bytes: float, chip: Chip, efficiency: float) -> float:
    """Bytes read plus written over the data-side bandwidth reached, spread evenly over tiles [s] (Eq. 3)."""
    return moved_bytes / (chip.sram_bytes_per_s * efficiency)
