"""Compile time of a program and the way of its weights to the IPUs, by what is fitted to published times."""

import math
from collections.abc import Sequence
from dataclasses import replace

from podsim.lowering import program_size
from podsim.model.mapping import Mapping
from podsim.model.quantity import Estimate, Grade
from podsim.model.sums import sum_in_order
from podsim.model.wall_clock import ProgramStart, StartTimes, UnitTime
from podsim.model.workload import Workload
from podsim.predicting.intervals import normal_quantile
from podsim.tiles.amp import ELEMENT_BYTES


def student_quantile(level: float, freedom: int) -> float:
    """How many standard deviations to either side hold that share, by Student's distribution [1] (Eq. 101).

    Parameters: `level`, share between 0 and 1; `freedom`, degrees of freedom of the standard deviation, at least 1.
    Result: a number of standard deviations.

    Equation: tan(π level / 2) with 1 degree of freedom; level × √(2 / (1 − level²)) with 2; else z + (z³ + z) / (4 f) +
    (5 z⁵ + 16 z³ + 3 z) / (96 f²) + (3 z⁷ + 19 z⁵ + 17 z³ − 15 z) / (384 f³) + (79 z⁹ + 776 z⁷ + 1482 z⁵ − 1920 z³ −
    945 z) / (92160 f⁴), z of the normal distribution. Validity: exact with 1 and 2 degrees of freedom f; from 3 on
    within 0.1 % at 90 % and 1 % at 99 %. Source: derived: Student's quantile, expanded in 1 / f.
    """
    if freedom == 1:
        return math.tan(math.pi * level / 2)
    if freedom == 2:
        return level * math.sqrt(2 / (1 - level**2))
    z = normal_quantile(level)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum_in_order(term / freedom**power for power, term in enumerate(terms, start=1))


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
