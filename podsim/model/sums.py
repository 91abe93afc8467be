"""Sums of floats: the last digit does not depend on the Python that runs, and rounding is told from a small part."""

from collections.abc import Hashable, Iterable, Mapping
from functools import reduce
from operator import add
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)

RESIDUE: Final = 1e-9
"""Share of a whole below which a part is rounding: sums of thousands of terms err by some 1e-13 of it, and no mechanism
that podsim models takes so little of a step."""


def sum_in_order(values: Iterable[float]) -> float:
    """Sum of `values`, added one after the other, in their unit; 0 without any.

    The built-in `sum` carries the rounding errors of floats along from Python 3.12 on and does not on 3.11.
    """
    return reduce(add, values, 0)


def clean(part: float, whole: float) -> float:
    """A part, exactly 0 where it is rounding beside the whole."""
    return part if abs(part) > RESIDUE * abs(whole) else 0.0


def clean_residue(parts: Mapping[Key, float], whole: float) -> dict[Key, float]:
    """Parts of a whole, those that are rounding exactly 0; together they miss the whole by no more than before."""
    return {key: clean(part, whole) for key, part in parts.items()}
