"""What IPUs and the machines around them draw, by what the IPUs do: the one place where watts are computed (Eq. 60)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from podsim.model.quantity import NINETY
from podsim.model.run_cost import Range
from podsim.model.sums import sum_in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.activity import StepActivity
    from podsim.model.chip import Chip
    from podsim.model.fabric import Topology

PJ: Final = 1e-12


class PowerLoad(StrEnum):
    """What watts are drawn for."""

    IDLE = "idle draw of all IPUs"
    MATRIX = "matrix products"
    VECTOR = "vector code"
    EXCHANGE = "on-chip exchange"
    MACHINE = "machines besides IPUs"


@dataclass(frozen=True, slots=True)
class PartOfPower:
    """Watts for one load, and the standard deviation of their logarithm."""

    load: PowerLoad
    watts: float
    error: float

    def times(self, count: float) -> PartOfPower:
        """The same so many times, with one error that all share."""
        return PartOfPower(self.load, count * self.watts, self.error)


def ipu(activity: StepActivity, chip: Chip) -> tuple[PartOfPower, ...]:
    """What one IPU draws on average, by load [W]; nothing where its chip has no power for the precision.

    Parameters: `activity`, matrix products [FLOP/s] and shares of time of the mean IPU; `chip`, with its idle power
    [W], energies [pJ] and their errors. Result: watts by load, each with the standard deviation of its logarithm.

    Equation: idle + J per FLOP × FLOP/s + J per cycle × tiles × clock × (vector + exchange) (Eq. 60). Validity: five
    kernels of one GC200; other chips of its die are assumed alike, the exchange is assumed to draw as vector code does;
    tiles that are set aside for IO count as busy as all others; no effect of temperature. Source: ella-tek-energy for
    what is fitted to kernels, hot-chips-33 for the ratio of float and half partial sums.
    """
    power = chip.activity_power
    if power is None or activity.precision not in power.pj_per_flop:
        return ()
    busy_w = power.pj_per_cycle * PJ * chip.tiles * chip.clock_hz
    flop_j = power.pj_per_flop[activity.precision] * PJ
    return (
        PartOfPower(PowerLoad.IDLE, power.idle_w, power.idle_error),
        PartOfPower(PowerLoad.MATRIX, flop_j * activity.flop_per_s, power.flop_error[activity.precision]),
        PartOfPower(PowerLoad.VECTOR, busy_w * activity.vector, power.busy_error),
        PartOfPower(PowerLoad.EXCHANGE, busy_w * activity.exchange, power.busy_error),
    )


def machines(activity: StepActivity, topology: Topology) -> tuple[PartOfPower, ...]:
    """What all machines draw in a step, servers and switches apart, by load [W]; nothing where it is not known."""
    each, fixed_w = ipu(activity, topology.chip), topology.economics.fixed_w
    if not each or fixed_w is None:
        return ()
    machine_power = PartOfPower(PowerLoad.MACHINE, fixed_w, topology.economics.fixed_error)
    return (*(part.times(topology.ipus) for part in each), machine_power.times(topology.machines))


def total(parts: Sequence[PartOfPower]) -> Range:
    """All parts together with their 90 % interval [W]: errors of different energies are independent.

    Parameters: `parts`, watts by load, each with the standard deviation of its logarithm. Result: their sum [W] with
    1.645 standard deviations to either side, at least 0.

    Equation: error² = Σ over energies of (watts of its loads × error)² (Eq. 60): vector code and exchange are of one
    fitted energy and err together. Validity: errors are small, so that those of logarithms are relative ones; servers
    and the nameplate, which bounds the sum, are counted by the caller. Source: derived: variances of independent errors
    add.
    """
    value = sum_in_order(part.watts for part in parts)
    errors_w: dict[PowerLoad, float] = {}
    for part in parts:
        energy = PowerLoad.VECTOR if part.load is PowerLoad.EXCHANGE else part.load
        errors_w[energy] = errors_w.get(energy, 0.0) + part.watts * part.error
    spread = NINETY * math.sqrt(sum_in_order(error_w**2 for error_w in errors_w.values()))
    return Range(value=value, low=max(0.0, value - spread), high=value + spread)
