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
    """How many standard deviations to either side hold that share, by Student's distribution [1] (Eq. 101).

    Parameters: `level`, share between 0 and 1; `freedom`, degrees of freedom of the standard deviation, at least 1.
    Result: a number of standard deviations.

    Equation: z + (z³ + z) / (4 freedom) + (5 z⁵ + 16 z³ + 3 z) / (96 freedom²), z of the normal distribution. Validity:
    too low by 0.4 % with 5 and 5 % with 2 degrees of freedom at 90 %, by 1 and 10 % at 95 %, by 3 and 27 % at 99 %.
    Source: derived: Student's quantile expanded in 1 / freedom, first two terms.
    """
    z = normal_quantile(level)
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2


def factor(unit: UnitTime, level: float, beyond: float = 1.0) -> float:
    """By how much a time lies above or below its estimate at most, with that confidence [1] (Eq. 101).

    Parameters: `unit`, fitted seconds per unit with log error, scatter and number of networks; `level`, confidence
    between 0 and 1; `beyond`, factor by which the fitted range is left, at least 1. Result: a factor of at least 1.

    Equation: exp(t(level, networks − 1) × √(scatter² × (1 + log2 beyond) + error²)). Validity: at least two networks;
    lognormal; `student_quantile` says how near t is. Source: calibration/compile-times.csv; that each doubling `beyond`
    counts as much as the scatter of networks is podsim's own assumption (Eq. 101 of the model).
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
    """The quantiles at those probabilities, of an estimate by that unit [s] (Eq. 101).

    Parameters: `estimate`, compile time or time of weights [s]; `unit`, that it was estimated by; `shares`, n
    probabilities between 0 and 1. Result: a list of n times [s].

    Equation: value × factor(|2 share − 1|)^(±1), + from the median up. Validity: as `factor`. Source:
    calibration/compile-times.csv; derived: two-sided intervals of Eq. 101 read as quantiles.
    """
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
