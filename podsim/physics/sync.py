"""Barriers across chips."""

from podsim.model.chip import Chip

SYNC_HOP_S = 15e-9  # sync between chips, a hop (hot-chips-33, slide 15)


def machine_sync_s(chip: Chip, hops: int) -> float:
    """A barrier of the IPUs of a replica or rack [s] (Eq. 5): the compiler's floor, or the wires if they are longer."""
    wired_s = chip.sync.on_chip_cycles / chip.clock_hz + SYNC_HOP_S * hops
    return max(chip.sync.global_cycles / chip.clock_hz, wired_s)
