"""Axes of a sweep to its points."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.sweep import Design, Spacing, SweepAxis, SweepFile
from podsim.units import split_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIGURES = 6  # significant digits of a value between two ends: more would say nothing


def points(file: SweepFile, most: int) -> tuple[tuple[str, ...], ...]:
    """The values of every point, an axis each, in an order that the file alone decides.

    Raises InputError: more than `most` points.
    """
    count = _count(file)
    if count > most:
        raise InputError(
            f"the sweep has {count:,} points, more than {most:,}",
            code="too-many-points",
            hint=f"--most {count}, or fewer values on its axes",
        )
    if file.design is Design.GRID:
        return tuple(itertools.product(*map(steps, file.axes)))
    return tuple(
        tuple(_at(axis, float(share)) for axis, share in zip(file.axes, row, strict=True))
        for row in _shares(file.design, count, len(file.axes), file.seed)
    )


def _count(file: SweepFile) -> int:
    if file.design is Design.GRID:
        return math.prod(len(axis.values) or axis.count or 0 for axis in file.axes)
    return file.points or 0


def _shares(design: Design, count: int, axes: int, seed: int) -> "NDArray[np.float64]":
    """Points of the unit cube: independent, one in each of `count` slices of every axis, or a sequence that fills it.

    Only a sequence begins alike whatever its length. Source: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics
    21(2), 1979, for the Latin hypercube; I. M. Sobol, USSR Computational Mathematics and Mathematical Physics 7(4),
    1967, for the sequence; A. B. Owen, Journal of Complexity 14(4), 1998, for scrambling it.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    if design is Design.RANDOM:
        return generator.random((count, axes))
    from scipy.stats import qmc

    if design is Design.ADAPTIVE:
        whole = qmc.Sobol(d=axes, rng=generator).random_base2(math.ceil(math.log2(max(count, 1))))
        return whole[:count]  # type: ignore[no-any-return]
    return qmc.LatinHypercube(d=axes, rng=generator).random(count)  # type: ignore[no-any-return]


def steps(axis: SweepAxis) -> Sequence[str]:
    """The values of an axis of a grid; two steps of whole numbers may be the same number, which is there once."""
    if axis.values:
        return axis.values
    last = max((axis.count or 1) - 1, 1)
    return tuple(dict.fromkeys(_at(axis, step / last) for step in range(axis.count or 1)))


def _at(axis: SweepAxis, share: float) -> str:
    """The value that so much of an axis, 0 to 1, lies below."""
    if axis.values:
        return axis.values[min(int(share * len(axis.values)), len(axis.values) - 1)]
    assert axis.first is not None and axis.last is not None, "the file was checked"  # noqa: PT018
    (low, unit), (high, _) = split_unit(axis.first), split_unit(axis.last)
    value = low * (high / low) ** share if axis.spacing is Spacing.LOG else low + share * (high - low)
    text = str(round(value)) if axis.whole else f"{value:.{FIGURES}g}"
    sign = "+" if unit == "%" and value >= 0 else ""  # a change of an axis in per cent is relative
    return f"{sign}{text} {unit}".rstrip()


def place(axis: SweepAxis, text: str) -> float:
    """Where a value stands on its axis: its number in a list from 0 on, or the share of a range below it, 0 to 1."""
    if axis.values:
        return float(axis.values.index(text))
    assert axis.first is not None and axis.last is not None, "the file was checked"  # noqa: PT018
    low, value, high = (split_unit(each)[0] for each in (axis.first, text, axis.last))
    share = (
        math.log(value / low) / math.log(high / low) if axis.spacing is Spacing.LOG else (value - low) / (high - low)
    )
    return min(max(share, 0.0), 1.0)


def distinct(values: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Points less those that were there before."""
    yield from dict.fromkeys(values)
