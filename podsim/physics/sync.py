"""Barriers across chips."""

from podsim.model.chip import Chip

SYNC_HOP_S = 15e-9  # sync between chips, a hop (hot-chips-33, slide 15)


COLLECTIVE_STEP_S = 4e-6
"""One step of a collective inside a program, beyond latency and bytes: barriers, code that adds up what has come.

Derived: data-parallel SchNet on 2 to 32 Bow IPUs leaves 1 to 6 us per step (hydronet-gnn, strong_scaling.ipynb,
cell 23); sums of one value per tile over 16 IPUs take 3.6 to 14.5 us in all (jia-2019, tables 4.16 and 4.17, Mk1).
"""


def machine_sync_s(chip: Chip, hops: int) -> float:
    """A barrier of the IPUs of a replica or rack [s] (Eq. 5): the compiler's floor, or the wires if they are longer."""
    wired_s = chip.sync.on_chip_cycles / chip.clock_hz + SYNC_HOP_S * hops
    return max(chip.sync.global_cycles / chip.clock_hz, wired_s)
