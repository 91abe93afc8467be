"""A sparse polynomial through scattered points, from whose coefficients Sobol indices follow.

Source: B. Sudret, Reliability Engineering & System Safety 93, 2008, for indices from coefficients of orthonormal
polynomials; G. Blatman, B. Sudret, Journal of Computational Physics 230, 2011, for sparse ones; Y. C. Pati, R.
Rezaiifar, P. S. Krishnaprasad, Asilomar Conference 1993, for orthogonal matching pursuit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_DEGREE: Final = 12
"""Of the polynomials of an axis: finer waves are not told from noise with the points that sweeps have."""
MOST_TERMS: Final = 1500
"""Candidates, so that a fit takes a second at most."""
MOST_SHARE: Final = 0.5
"""Terms for each point at most: with more of them, the error of points left out is no measure of the fit."""
MOST_CELLS: Final = 4_000_000
"""Candidates times points, so that it takes no more than some ten megabytes."""
FOLDS: Final = 5
"""Parts of the points that are left out, one after the other."""
LEAST_POINTS: Final = 2 * FOLDS
"""Two in each part, or its error is an accident."""
ALIKE: Final = 1e-8
"""Length of what a candidate adds to those taken before, over its own, below which it is rounding."""
PATIENCE: Final = 20
"""Terms without a better error of points left out after which the search for more ends."""
NOTHING_LEFT: Final = 1e-20
"""Share of the variance below which a residual is rounding."""

Axis = tuple[tuple[float, ...], tuple[float, ...]]  # places and weights; no places where all from 0 to 1 count alike


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialFit:
    """Indices of a polynomial, and the share of the variance of points left out that the others predict."""

    first: tuple[float, ...]
    total: tuple[float, ...]
    explained: float


def fit(axes: Sequence[Axis], points: NDArray[np.float64], values: NDArray[np.float64]) -> PolynomialFit | None:
    """The polynomial of the terms that predict points left out best; None where none does, or points are few (Eq. 99).

    `points` has a row for each point and a column for each axis, `values` a number for each point.
    """
    if len(values) < LEAST_POINTS:
        return None
    degrees = _degrees(axes, len(values))
    of_axis = [_basis(axis, points[:, at]) for at, axis in enumerate(axes)]
    table = np.stack([_term(of_axis, term) for term in degrees], axis=1)
    terms, error = _choose(table, values)
    if not terms:
        return None
    design = np.column_stack([np.ones(len(values)), table[:, terms]])
    coefficients = np.linalg.lstsq(design, values, rcond=None)[0][1:]
    parts = coefficients**2
    whole = float(parts.sum())
    axis_mask = np.array([degrees[number] for number in terms]) > 0
    first = [float(parts[(axis_mask.sum(axis=1) == 1) & axis_mask[:, axis]].sum()) / whole for axis in range(len(axes))]
    total = [float(parts[axis_mask[:, axis]].sum()) / whole for axis in range(len(axes))]
    return PolynomialFit(first=tuple(first), total=tuple(total), explained=max(0.0, 1 - error))


def _degrees(axes: Sequence[Axis], points: int) -> list[tuple[int, ...]]:
    """Degrees on each axis of every candidate: those of the largest sum for which there are not too many."""
    most = [min(MOST_DEGREE, len(places) - 1) if places else MOST_DEGREE for places, _ in axes]
    limit = min(MOST_TERMS, 10 * points, MOST_CELLS // points)
    terms: list[tuple[int, ...]] = []
    for degree in range(1, MOST_DEGREE + 1):
        more = list(_of_sum(most, degree))
        if terms and len(terms) + len(more) > limit:
            break
        terms += more
    alone = {_alone(len(axes), axis, degree) for axis, top in enumerate(most) for degree in range(1, top + 1)}
    return terms + sorted(alone.difference(terms))


def _alone(count: int, axis: int, degree: int) -> tuple[int, ...]:
    return tuple(degree if at == axis else 0 for at in range(count))


def _of_sum(most: Sequence[int], degree: int) -> Iterator[tuple[int, ...]]:
    """Degrees on each axis that add up to `degree`."""
    if len(most) == 1:
        if degree <= most[0]:
            yield (degree,)
        return
    for own in range(min(most[0], degree), -1, -1):
        for others in _of_sum(most[1:], degree - own):
            yield own, *others


def _basis(axis: Axis, column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal polynomials of an axis at the places of points, a column for each degree from 0 on."""
    places, weights = axis
    if not places:
        legendre = np.polynomial.legendre.legvander(2 * column - 1, MOST_DEGREE)
        return np.asarray(legendre * np.sqrt(2 * np.arange(MOST_DEGREE + 1) + 1))
    grid, root = np.asarray(places), np.sqrt(np.asarray(weights))
    reach = np.ptp(grid) or 1.0
    powers = np.polynomial.legendre.legvander(2 * (grid - grid[0]) / reach - 1, min(MOST_DEGREE, len(grid) - 1))
    orthogonal, triangle = np.linalg.qr(root[:, None] * powers)
    values = orthogonal / root[:, None] * np.sign(np.diag(triangle))
    return np.asarray(values[np.searchsorted(grid, column)])


def _term(of_axis: Sequence[NDArray[np.float64]], degrees: Sequence[int]) -> NDArray[np.float64]:
    product = np.ones(len(of_axis[0]))
    for values, degree in zip(of_axis, degrees, strict=True):
        if degree:
            product = product * values[:, degree]
    return product


def _choose(table: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[list[int], float]:
    """The candidates of the fit, and the mean square error of points left out over the variance.

    As many are taken as predict points best that had no part in choosing them: a fifth of them at a time.
    """
    count = len(values)
    paths = []
    for fold in range(FOLDS):
        tests = np.arange(count) % FOLDS == fold
        rows = np.concatenate([np.flatnonzero(~tests), np.flatnonzero(tests)])
        _, errors = _pursue(table[rows], values[rows], int((~tests).sum()), table.shape[1])
        paths.append(errors)
    shortest = min(map(len, paths))
    errors = np.add.reduce([path[:shortest] for path in paths]) / FOLDS / float(np.var(values))
    terms = int(np.argmin(errors))
    order, _ = _pursue(table, values, count, terms)
    return order, float(errors[terms])


def _pursue(
    table: NDArray[np.float64], values: NDArray[np.float64], fitted_rows: int, most: int
) -> tuple[list[int], NDArray[np.float64]]:
    """At most so many candidates in the order in which they are taken, and the error of other points after each.

    The first `fitted_rows` rows are fitted, the others predicted: their mean square errors begin with that of the mean.
    Each time that candidate is taken which the residual is most like (orthogonal matching pursuit).
    """
    lengths = np.linalg.norm(table[:fitted_rows], axis=0)
    scaled_table = table / np.where(lengths > 0, lengths, np.inf)
    basis = np.full((len(values), 1), fitted_rows**-0.5)
    residual = values - values[:fitted_rows].mean()
    error_floor = NOTHING_LEFT * float(np.mean(residual[:fitted_rows] ** 2))
    order: list[int] = []
    errors = [_mean_square(residual[fitted_rows:])]
    while len(order) < min(most, int(MOST_SHARE * fitted_rows)):
        likeness = np.abs(residual[:fitted_rows] @ scaled_table[:fitted_rows])
        likeness[order] = -1.0
        number = int(np.argmax(likeness))
        column = scaled_table[:, number]
        for _ in range(2):  # once more, for what rounding leaves
            column = column - basis @ (basis[:fitted_rows].T @ column[:fitted_rows])
        length = float(np.linalg.norm(column[:fitted_rows]))
        if likeness[number] <= 0 or length < ALIKE:
            break
        column = column / length
        order.append(number)
        basis = np.column_stack([basis, column])
        residual = residual - column * float(column[:fitted_rows] @ residual[:fitted_rows])
        errors.append(_mean_square(residual[fitted_rows:]))
        over = len(order) - int(np.argmin(errors)) >= PATIENCE if fitted_rows < len(values) else False
        if over or float(np.mean(residual[:fitted_rows] ** 2)) < error_floor:
            break
    return order, np.asarray(errors)


def _mean_square(values: NDArray[np.float64]) -> float:
    return float(np.mean(values**2)) if len(values) else 0.0
