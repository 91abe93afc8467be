"""Axes of a sweep to its points."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.sweep import Design, Spacing, SweepAxis, SweepFile
from podsim.units import parted

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
            f"the sweep has {count:,} points, of at most {most:,}",
            code="too-many-points",
            hint=f"--most {count}, or fewer values on its axes",
        )
    if file.design is Design.GRID:
        return tuple(itertools.product(*map(_steps, file.axes)))
    return tuple(
        tuple(_at(axis, float(share)) for axis, share in zip(file.axes, row, strict=True))
        for row in _shares(file.design, count, len(file.axes), file.seed)
    )


def _count(file: SweepFile) -> int:
    if file.design is Design.GRID:
        return math.prod(len(axis.values) or axis.count or 0 for axis in file.axes)
    return file.points or 0


def _shares(design: Design, count: int, axes: int, seed: int) -> "NDArray[np.float64]":
    """Points of the unit cube: independent, or one in each of `count` slices of every axis.

    Source: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21(2), 1979, for the Latin hypercube.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    if design is Design.RANDOM:
        return generator.random((count, axes))
    from scipy.stats import qmc

    return qmc.LatinHypercube(d=axes, rng=generator).random(count)  # type: ignore[no-any-return]


def _steps(axis: SweepAxis) -> Sequence[str]:
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
    (low, unit), (high, _) = parted(axis.first), parted(axis.last)
    value = low * (high / low) ** share if axis.spacing is Spacing.LOG else low + share * (high - low)
    text = str(round(value)) if axis.whole else f"{value:.{FIGURES}g}"
    return f"{text} {unit}".rstrip()


def distinct(values: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Points less those that were there before."""
    yield from dict.fromkeys(values)
