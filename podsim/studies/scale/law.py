"""Amdahl's law and the universal scalability law, fitted to the throughput of machines of growing size."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from podsim.model.sums import sum_in_order
from podsim.studies.scale.result import ScalingCurve

Sizes = Sequence[tuple[int, float]]  # IPUs, samples/s
Array = NDArray[np.float64]
AMDAHL, UNIVERSAL = 2, 3  # parameters of each law
FIGURES = 9  # significant digits of a coefficient: below them the libraries of linear algebra differ


def fit(measured: Sizes, parameters: int) -> ScalingCurve | None:
    """The law with so many parameters that is nearest; None where there are not more machines than parameters.

    The time a sample takes, N / X(N), is linear in the law's coefficients, none of which may be below 0: least squares
    with one best answer, which need no start (Eq. 57). Source: gunther-1993.
    """
    unit = min(ipus for ipus, _ in measured) if measured else 1
    if len({ipus for ipus, _ in measured}) <= parameters:  # np.unique would load numpy.ma
        return None
    size = np.array([ipus / unit for ipus, _ in measured])
    rate = np.array([rate for _, rate in measured])
    # (1 - contention) + contention N + coherency N (N - 1), each over the rate of the unit and relative to N / X(N)
    terms = np.stack([np.ones_like(size), size, size * (size - 1)], axis=1)[:, :parameters]
    rest, linear, *pairs = (float(f"{value:.{FIGURES}g}") for value in _not_negative(terms * (rate / size)[:, None]))
    whole = rest + linear
    curve = ScalingCurve(
        unit_ipus=unit,
        unit_samples_per_s=1 / whole,
        contention=linear / whole,
        coherency=pairs[0] / whole if pairs else 0.0,
        error=0.0,
        machines=len(measured),
    )
    logs = [math.log(curve.at(ipus) / rate) for ipus, rate in measured]
    return replace(curve, error=math.sqrt(sum_in_order(log * log for log in logs) / len(logs)))


def _not_negative(terms: Array) -> tuple[float, ...]:
    """Coefficients of at least 0 whose combination of the columns is nearest to 1 everywhere.

    The best answer is a plain least-squares answer on some of the columns, so all sets of two or three are tried.
    `scipy.optimize.nnls` finds the same, but to load it takes as long as a prediction.
    """
    count = terms.shape[1]
    best, least = np.zeros(count), math.inf
    for columns in (list(some) for number in range(1, count + 1) for some in combinations(range(count), number)):
        values = np.linalg.lstsq(terms[:, columns], np.ones(len(terms)), rcond=None)[0]
        residual = float(np.sum((terms[:, columns] @ values - 1) ** 2))
        if (values >= 0).all() and residual < least and (values[[at < UNIVERSAL - 1 for at in columns]] > 0).any():
            best, least = np.zeros(count), residual
            best[columns] = values
    return tuple(float(float64) for float64 in best)


def peak(law: ScalingCurve) -> float | None:
    """The size beyond which throughput falls [IPUs]; None where it never does (Eq. 58)."""
    if law.coherency == 0:
        return None
    return law.unit_ipus * max(1.0, math.sqrt((1 - law.contention) / law.coherency))


def knee(law: ScalingCurve, gain: float) -> float | None:
    """The size from which twice as many IPUs give less than 1 + gain times the throughput [IPUs]; None if none does.

    X(2N) = (1 + gain) X(N), a quadratic in N (Eq. 58).
    """
    factor, contention, pairs = 1 + gain, law.contention, law.coherency
    square = (4 * factor - 2) * pairs
    linear = (factor - 1) * 2 * (contention - pairs)
    constant = -(2 - factor) * (1 - contention)
    if square == 0:
        return None if linear <= 0 else law.unit_ipus * -constant / linear
    return law.unit_ipus * (-linear + math.sqrt(linear**2 - 4 * square * constant)) / (2 * square)
