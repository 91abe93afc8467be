"""Energies of a chip fitted to kernels whose power was measured, also with each kernel left out (Eq. 60)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.model.activity import StepActivity
from podsim.physics import power

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.chip import ActivityPower, Chip, Precision

IDLE: Final = "idle"
CYCLE: Final = "cycle"
CONSTANT: Final = "chip.activity_power"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredKernel:
    """Mean power of one IPU that calls a kernel again and again, or does nothing [W], and its activity meanwhile."""

    id: str
    measured_w: float
    activity: StepActivity


def fit(kernels: Sequence[MeasuredKernel], chip: Chip) -> ActivityPower:
    """Least squares of relative errors over the kernels: idle, a cycle of a tile, and a FLOP of each precision.

    A precision without a kernel follows from one that has one by the maker's published energies of a FLOP. Raises
    ValueError where `chip` has no energies to start from.
    """
    activity_power = chip.activity_power
    if activity_power is None:
        raise ValueError(f"{chip.name} has no activity_power")
    precisions = sorted({kernel.activity.precision for kernel in kernels if kernel.activity.flop_per_s})
    names: tuple[str, ...] = (IDLE, CYCLE, *precisions)
    rows = np.array([[_of(name, kernel, chip) / kernel.measured_w for name in names] for kernel in kernels])
    result = np.linalg.lstsq(rows, np.ones(len(kernels)), rcond=None)[0]
    values = dict(zip(names, map(float, result), strict=True))
    return replace(
        activity_power,
        idle_w=values[IDLE],
        pj_per_cycle=values[CYCLE],
        pj_per_flop={each: _flop(each, values, precisions, activity_power) for each in activity_power.pj_per_flop},
    )


def _of(name: str, kernel: MeasuredKernel, chip: Chip) -> float:
    """Watts that a kernel draws for each unit of a constant."""
    activity = kernel.activity
    if name == IDLE:
        return 1.0
    if name == CYCLE:
        return power.PJ * chip.tiles * chip.clock_hz * (activity.vector + activity.exchange)
    return power.PJ * activity.flop_per_s if name == activity.precision else 0.0


def _flop(
    precision: Precision, values: dict[str, float], precisions: Sequence[Precision], activity_power: ActivityPower
) -> float:
    """As fitted; else of the nearest precision that is, by the energies that the maker has published."""
    if precision in values:
        return values[precision]
    published_pj_per_flop = activity_power.published_pj_per_flop
    nearest = min(
        precisions, key=lambda other: abs(math.log(published_pj_per_flop[other] / published_pj_per_flop[precision]))
    )
    return values[nearest] * published_pj_per_flop[precision] / published_pj_per_flop[nearest]


def predicted_w(kernel: MeasuredKernel, chip: Chip) -> float:
    """What one IPU of the chip draws in a kernel [W]."""
    return power.total(power.ipu(kernel.activity, chip)).value


def errors_held_out(kernels: Sequence[MeasuredKernel], chip: Chip) -> dict[str, float]:
    """Predicted over measured, less one, of each kernel with energies fitted to the others alone."""
    result = {}
    for kernel in kernels:
        others = [other for other in kernels if other is not kernel]
        without = replace(chip, activity_power=fit(others, chip))
        result[kernel.id] = predicted_w(kernel, without) / kernel.measured_w - 1
    return result
