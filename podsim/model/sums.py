"""Sums whose last digit does not depend on the Python that runs."""

from collections.abc import Iterable
from functools import reduce
from operator import add


def sum_in_order(values: Iterable[float]) -> float:
    """Sum of `values`, added one after the other, in their unit; 0 without any.

    The built-in `sum` carries the rounding errors of floats along from Python 3.12 on and does not on 3.11.
    """
    return reduce(add, values, 0)
