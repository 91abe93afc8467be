"""Barriers across chips."""

from podsim.model.chip import Chip

SYNC_HOP_S = 15e-9  # sync between chips, a hop (hot-chips-33, slide 15)


COLLECTIVE_STEP_S = 4e-6
"""One step of a collective inside a program, beyond latency and bytes: barriers, code that adds up what has come.

Derived: data-parallel SchNet on 2 to 32 Bow IPUs leaves 1 to 6 us per step (hydronet-gnn, strong_scaling.ipynb,
cell 23); sums of one value per tile over 16 IPUs take 3.6 to 14.5 us in all (jia-2019, tables 4.16 and 4.17, Mk1).
"""


def machine_sync_s(chip: Chip, hops: int) -> float:
    """A barrier of the IPUs of a replica or rack [s]: the compiler's floor, or the wires if they are longer.

    Parameters: `chip`, with its clock [Hz] and the cycles of its syncs; `hops`, links that the barrier crosses: 1
    between neighbours, else callers take the number of IPUs that meet. Result: seconds, without the wait for a slow
    IPU.

    Equation: max(sync.global / clock, sync.on_chip / clock + 15 ns × hops) (Eq. 5). Validity: IPUs of one rack; what a
    sync between racks adds is left out. Source: ipu21-target for the floor, hot-chips-33 (slide 15) for 15 ns a hop.
    """
    wired_s = chip.sync.on_chip_cycles / chip.clock_hz + SYNC_HOP_S * hops
    return max(chip.sync.global_cycles / chip.clock_hz, wired_s)
