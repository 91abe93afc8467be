"""Compile time of a program and the way of its weights to the IPUs, by what is fitted to published times."""

import math
from collections.abc import Sequence
from dataclasses import replace

from podsim.lowering import program_size
from podsim.model.mapping import Mapping
from podsim.model.quantity import Estimate, Grade
from podsim.model.wall_clock import ProgramStart, StartTimes, UnitTime
from podsim.model.workload import Workload
from podsim.predicting.intervals import normal_quantile
from podsim.tiles.amp import ELEMENT_BYTES


def student_quantile(level: float, freedom: int) -> float:
    """How many standard deviations to either side hold that share where as many degrees of freedom gave the deviation.

    The first two terms of the expansion by degrees of freedom: within 1 % from five on, 6 % at two (Eq. 101).
    """
    z = normal_quantile(level)
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def factor(unit: UnitTime, level: float, beyond: float = 1.0) -> float:
    """By how much a time lies above or below its estimate at most, with that confidence (Eq. 101).

    Each doubling `beyond` what was fitted counts as much as the scatter of networks does: assumed.
    """
    scatter = unit.scatter * math.sqrt(1 + math.log2(beyond))
    return math.exp(student_quantile(level, unit.networks - 1) * math.hypot(scatter, unit.error))


def compile_time(mapping: Mapping, times: StartTimes, start: ProgramStart, level: float) -> tuple[int, Estimate]:
    """Operators of the program, and how long it takes to compile [s]; the load of an executable where it is cached.

    An executable loads in at most the time of its compilation, which ends with such a load.
    """
    operators = program_size.operator_count(mapping)
    fresh = _estimate(times.operator, float(operators), level, known=is_known(mapping, times))
    if start is ProgramStart.FRESH:
        return operators, fresh
    if fresh.value < times.cached_s:
        return operators, replace(fresh, grade=Grade.ASSUMED)
    wide, cached_s = factor(times.operator, level), times.cached_s  # one row: no better known than a compile time is
    return operators, Estimate(value=cached_s, low=cached_s / wide, high=cached_s * wide, grade=Grade.ASSUMED)


def is_known(mapping: Mapping, times: StartTimes) -> bool:
    """Whether compile times are published of the framework of a mapping."""
    framework = mapping.configuration.framework_named
    return framework is not None and framework.value in times.frameworks


def weights_time(volume_bytes: float, times: StartTimes, level: float) -> Estimate:
    """How long weights and optimizer state take from the host to the IPUs before the first step [s]."""
    return _estimate(times.weights, volume_bytes, level, known=True)


def state_bytes(workload: Workload, moment_bytes: Sequence[int]) -> float:
    """One copy of weights and optimizer state [B]."""
    each = ELEMENT_BYTES[workload.precision] + sum(moment_bytes)
    return float(workload.parameters * each)


def quantiles(estimate: Estimate, unit: UnitTime, shares: Sequence[float]) -> list[float]:
    """The quantiles at those probabilities, of an estimate by that unit [s] (Eq. 101)."""
    return [
        estimate.value * math.pow(factor(unit, abs(2 * share - 1), estimate.beyond), math.copysign(1.0, share - 0.5))
        for share in shares
    ]


def _estimate(unit: UnitTime, amount: float, level: float, *, known: bool) -> Estimate:
    """A proportion with its interval, extrapolated outside of what it was fitted to."""
    beyond = max(1.0, amount / unit.most, unit.least / amount)
    value, wide = unit.value * amount, factor(unit, level, beyond)
    grade = Grade.INTERPOLATED if known and beyond == 1 else Grade.EXTRAPOLATED
    return Estimate(value=value, low=value / wide, high=value * wide, grade=grade, beyond=beyond)
