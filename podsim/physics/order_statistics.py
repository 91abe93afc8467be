"""The slowest of many: exact draws of maxima, and the law of sums of maxima on an even grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podsim.model.sums import sum_in_order

Array = npt.NDArray[np.float64]
FINENESS = 8  # grid cells in the mean delay of the slowest member: means are 0.07 % off; for quantiles see draw_maximum
MOST_CELLS = 2**20
LEAST_JITTER = 1e-9  # below it nothing varies
TAIL = 45.0  # e-folds of an exponential tail kept: far below the rounding of a double


def exponential_maximum(uniform: Array, count: float) -> Array:
    """The largest of `count` standard exponential draws [means of one draw], from one uniform number each.

    Parameters: `uniform`, numbers above 0 and below 1, an array of any shape; `count`, independent draws of each
    maximum, at least 1. Result: the maxima in units of the mean of one draw, in the shape of `uniform`.

    Equation: -log(1 - U^(1/n)) (Eq. 44); its mean is the sum of 1/k and its variance that of 1/k², k to `count`.
    Validity: draws are independent and of one exponential law. Source: derived: P(all ≤ x) = P(one ≤ x)^n.
    """
    return np.asarray(-np.log(-np.expm1(np.log(uniform) / count)))


def poisson_maximum(uniform: Array, expected: float) -> Array:
    """The largest of a Poisson number of standard exponential draws [means of one draw]; 0 where there is none.

    Parameters: `uniform`, numbers above 0 and below 1, an array of any shape; `expected`, mean number of draws, all 0
    where it is not above 0. Result: the maxima in units of the mean of one draw, in the shape of `uniform`.

    Equation: P(none above x) = exp(-expected e^-x) (Eq. 44). Validity: draws are independent of each other and of their
    number. Source: derived: draws above x of a Poisson number are again Poisson, with mean expected e^-x.
    """
    if expected <= 0:
        return np.zeros_like(uniform)
    return np.asarray(np.maximum(0.0, math.log(expected) - np.log(-np.log(uniform))))


@dataclass(frozen=True, slots=True)
class Law:
    """How a delay of at least 0 is distributed: `shares[k]` of the time it is `k` cells long [s]."""

    cell_s: float
    shares: Array

    @property
    def mean_s(self) -> float:
        """Expected value [s]."""
        return self.cell_s * float(np.arange(len(self.shares)) @ self.shares)

    @property
    def spread_s(self) -> float:
        """Standard deviation [s]."""
        at = np.arange(len(self.shares)) - self.mean_s / self.cell_s
        return self.cell_s * math.sqrt(float((at * at) @ self.shares))

    def above(self) -> Array:
        """Chance of more than `k + 1/2` cells, for every k; summed from the tail, where it has to be exact."""
        return np.append(np.cumsum(self.shares[::-1])[::-1][1:], 0.0)

    def maximum(self, count: float) -> Law:
        """The largest of `count` independent draws."""
        above = np.minimum(self.above(), 1.0)
        with np.errstate(divide="ignore"):
            more = -np.expm1(count * np.log1p(-above))
        return Law(self.cell_s, -np.diff(np.concatenate(([1.0], more))))

    def draw_maximum(self, uniform: Array, count: float) -> Array:
        """The largest of `count` draws of this law [s], from one uniform number each.

        Parameters: `uniform`, numbers above 0 and below 1, an array of any shape; `count`, independent draws of each
        maximum, at least 1. Result: the maxima [s], in the shape of `uniform`.

        Equation: the quantile of the law at U^(1/n) (Eq. 44). Validity: as good as the grid, for a law of `total` a
        tenth of a cell, but three in the lowest 1 % of draws; straight between logarithms of the tail, which is exact
        for an exponential one; no draw is beyond the last cell. Source: derived: P(all ≤ x) = P(one ≤ x)^n.
        """
        values = -np.expm1(np.log(uniform) / count)
        above = self.above()
        inner_cells = np.flatnonzero((above > 0) & (above < 1))
        # straight lines between logarithms are exact in an exponential tail; a half cell more is an edge of a cell
        edges = np.concatenate(([0.0], (inner_cells + 0.5) * self.cell_s))
        return np.asarray(np.interp(-np.log(values), np.concatenate(([0.0], -np.log(above[inner_cells]))), edges))


def slowest(times_s: Sequence[float], jitter: float, cell_s: float) -> Law:
    """By how much members delay a barrier [s]: the largest of t (1 + jitter E) less the longest t, E exponential.

    Parameters: `times_s`, busy time of each member [s], shape (members,), at least one above 0; `jitter`, mean delay of
    a member over its busy time, above 0; `cell_s`, width of a grid cell [s]. Result: the law of the delay on that grid.

    Equation: P(delay ≤ x) = Π over members of 1 - exp(-(x + t_max - t) / (jitter t)) (Eq. 45). Validity: delays of
    members are independent; a member without work delays nothing; the tail ends 45 e-folds out. Source: derived: the
    distribution of a maximum is the product of those of its members; that delays are exponential is podsim's own
    assumption.
    """
    times = np.array([time for time in times_s if time > 0])
    longest = float(times.max())
    reach_s = jitter * longest * (math.log(len(times)) + TAIL)
    edges = (np.arange(math.ceil(reach_s / cell_s) + 1) + 0.5) * cell_s
    late = (edges[:, None] + longest - times[None, :]) / (jitter * times[None, :])
    above = -np.expm1(np.log1p(-np.exp(-late)).sum(axis=1))
    return Law(cell_s, -np.diff(np.concatenate(([1.0], above))))


@dataclass(frozen=True, slots=True)
class Barrier:
    """What meets `count` times in a row: busy times of the members [s]."""

    times_s: tuple[float, ...]
    count: int


def total(barriers: Sequence[Barrier], jitter: float) -> Law | None:
    """The delay of barriers one after the other [s]: the sum of what the slowest adds at each; None if nothing.

    Parameters: `barriers`, each with the busy times of its members [s] and how often it recurs; `jitter`, mean delay of
    a member over its busy time (calibration/noise.toml). Result: the law of the sum; None below a jitter of 1e-9 as
    well.

    Equation: convolution of the laws of `slowest` (Eq. 45), for two barriers as for thousands, where it becomes the
    normal law with the sums of means and variances. Validity: delays of different barriers are independent; exact but
    for a grid of an eighth of the longest member's mean delay, coarser beyond 2^20 cells. Source: derived: the law of a
    sum of independent delays.
    """
    busy = [Barrier(tuple(t for t in item.times_s if t > 0), item.count) for item in barriers]
    busy = [item for item in busy if item.times_s and item.count]
    if not busy or jitter < LEAST_JITTER:
        return None
    cell_s = jitter * max(max(item.times_s) for item in busy) / FINENESS
    # the mean of the slowest of n is at most the sum of 1/k; ten spreads and a tail are beyond any draw
    means = [item.count * jitter * max(item.times_s) * (math.log(len(item.times_s)) + 1) for item in busy]
    most = sum_in_order(means) + 10 * math.sqrt(
        sum_in_order(m * m / item.count for m, item in zip(means, busy, strict=True))
    )
    reach_s = most + cell_s * FINENESS * (TAIL + math.log(max(len(item.times_s) for item in busy)))
    cell_s = max(cell_s, reach_s / MOST_CELLS)
    cells = 2 ** math.ceil(math.log2(reach_s / cell_s + 2))
    spectrum = np.ones(cells // 2 + 1, dtype=np.complex128)
    for barrier in busy:
        shares = slowest(barrier.times_s, jitter, cell_s).shares
        spectrum *= np.fft.rfft(shares[:cells], cells) ** barrier.count
    shares = np.maximum(np.fft.irfft(spectrum, cells), 0.0)
    return Law(cell_s, shares / shares.sum())
