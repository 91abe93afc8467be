"""Which axis explains how much of the variance of an answer: first-order and total Sobol indices of its points.

Source: I. M. Sobol, Mathematics and Computers in Simulation 55, 2001, for the indices; T. Homma, A. Saltelli,
Reliability Engineering & System Safety 52, 1996, for the total ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.studies.sweep import polynomials

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS: Final = 6
"""Decimals of an index; those beyond depend on the order in which a library adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indices:
    """First-order and total index of each axis, as shares of the variance of the answer.

    `explained` is the share of that variance from which points were predicted by the others: 1 where the indices
    follow from all points of a grid by themselves. `exact` says whether they do.
    """

    first: tuple[float, ...]
    total: tuple[float, ...]
    explained: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What an axis takes: places with weights that add up to 1; without places, all from 0 to 1 alike."""

    places: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()


def alike(places: Sequence[float]) -> Support:
    """Values that count alike, in ascending order."""
    return Support(places=tuple(places), weights=(1 / len(places),) * len(places))


def along(places: Sequence[float]) -> Support:
    """Steps of a range: each stands for what is nearest to it, so the two ends for half a step (trapezoidal rule)."""
    if len(places) < 2:
        return alike(places)
    length = places[-1] - places[0]
    edges = [places[0], *((a + b) / 2 for a, b in pairwise(places)), places[-1]]
    weights = tuple((b - a) / length for a, b in pairwise(edges))
    return Support(places=tuple(places), weights=weights)


def indices(axes: Sequence[Support], points: Sequence[Sequence[float]], answers: Sequence[float]) -> Indices | None:
    """The indices of an answer at points that have a place on each axis; None where it does not vary.

    All points of a grid are decomposed as they are (Eq. 98); of others, and of a grid with gaps, a polynomial is
    fitted, whose coefficients are the decomposition (Eq. 99).
    """
    values = np.asarray(answers, dtype=float)
    if len(values) < 2 or np.ptp(values) <= 1e-12 * np.max(np.abs(values)):
        return None
    grid = _grid(axes, points, values)
    if grid is not None:
        first, total = _of_grid(grid, [np.asarray(axis.weights) for axis in axes])
        return Indices(first=_round(first), total=_round(total), explained=1.0, exact=True)
    fit = polynomials.fit([(axis.places, axis.weights) for axis in axes], np.asarray(points, dtype=float), values)
    if fit is None:
        return None
    return Indices(
        first=_round(fit.first), total=_round(fit.total), explained=round(fit.explained, DIGITS), exact=False
    )


def _round(shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(float(share), DIGITS) + 0.0 for share in shares)


def _grid(
    axes: Sequence[Support], points: Sequence[Sequence[float]], values: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The answers as a table with a dimension for each axis; None where a point of the grid has none."""
    shape = tuple(len(axis.places) for axis in axes)
    if 0 in shape or int(np.prod(shape)) != len(values):
        return None
    at = [{place: number for number, place in enumerate(axis.places)} for axis in axes]
    table = np.full(shape, np.nan)
    for point, value in zip(points, values, strict=True):
        table[tuple(numbers[place] for numbers, place in zip(at, point, strict=True))] = value
    return None if np.isnan(table).any() else table


def _of_grid(table: NDArray[np.float64], weights: Sequence[NDArray[np.float64]]) -> tuple[list[float], list[float]]:
    """First-order and total indices of a whole grid: variances of conditional means over that of all (Eq. 98)."""
    axes = range(table.ndim)
    table = table - _mean(table, weights, axes)
    whole = _mean(table**2, weights, axes)
    alone = [_mean(table, weights, [other for other in axes if other != axis]) for axis in axes]
    first = [float(_mean(means**2, [weights[axis]], [0]) / whole) for axis, means in enumerate(alone)]
    total = []
    for axis in axes:
        others = [weight for other, weight in enumerate(weights) if other != axis]
        without = _mean(_mean(table, weights, [axis]) ** 2, others, range(table.ndim - 1))
        total.append(1 - float(without / whole))
    return first, total


def _mean(
    table: NDArray[np.float64], weights: Sequence[NDArray[np.float64]], axes: Sequence[int]
) -> NDArray[np.float64]:
    """The weighted mean over some axes; the others stay."""
    for axis in sorted(axes, reverse=True):
        table = np.tensordot(table, weights[axis], axes=([axis], [0]))
    return table
