"""Same padding, counted pair by pair."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.padding import share_in_image


def counted(size, outputs, kernel, stride):
    """Pairs of an output and a kernel position that meet a pixel, one by one."""
    before = max((outputs - 1) * stride + kernel - size, 0) // 2
    return sum(0 <= at * stride - before + tap < size for at, tap in product(range(outputs), range(kernel)))


@given(st.integers(1, 30), st.integers(1, 7), st.integers(1, 4), st.integers(1, 30), st.integers(1, 5))
def test_the_share_is_that_of_pairs_counted_one_by_one(size, kernel, stride, other, short):
    edges = [(size, kernel, stride), (other, short, 1)]
    outputs = [math.ceil(length / step) for length, _, step in edges]
    met = math.prod(counted(length, out, taps, step) for (length, taps, step), out in zip(edges, outputs, strict=True))
    share = share_in_image((size, other), outputs, (kernel, short), (stride, 1))
    assert share == pytest.approx(met / math.prod((*outputs, kernel, short)), rel=1e-12)


def test_a_kernel_of_one_pixel_is_never_outside():
    assert share_in_image((7, 9), (7, 9), (1, 1), (1, 1)) == 1.0


def test_three_taps_of_a_row_of_four_lose_one_at_each_end():
    assert share_in_image((4,), (4,), (3,), (1,)) == 10 / 12
