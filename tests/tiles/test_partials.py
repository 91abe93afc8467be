"""Sums of partial products in stages, against what they must add up to."""

import numpy as np
import pytest

from podsim.tiles.narrow_vertices import dot, outer, vmac, windows
from podsim.tiles.partials import accumulators, cast_cycles, reduce_cycles, stages


def test_stages_multiply_to_the_whole_depth_and_are_as_few_as_poplibs_takes():
    depth = np.arange(1.0, 600.0)
    values = stages(depth)
    assert np.all(values[0] * values[1] * values[2] >= depth)
    assert np.array_equal(
        sum(part > 1 for part in values), np.where(depth < 2, 0, np.where(depth < 16, 1, np.where(depth < 125, 2, 3)))
    )


@pytest.mark.parametrize(("depth", "expected"), [(15, (15, 1, 1)), (16, (4, 4, 1)), (64, (8, 8, 1)), (125, (5, 5, 5))])
def test_a_power_is_summed_in_its_roots(depth, expected):
    assert tuple(float(part[0]) for part in stages(np.array([float(depth)]))) == expected


def test_one_partial_is_no_sum():
    assert reduce_cycles(np.array([64.0, 5.0]), np.array([1.0, 1.0]), 4).tolist() == [0.0, 0.0]


def test_deeper_sums_and_more_outputs_never_take_less():
    outputs, depth = np.meshgrid(np.arange(1.0, 200.0) * 4, np.arange(2.0, 20.0))
    cycles = reduce_cycles(outputs, depth, 4)
    assert np.all(np.diff(cycles, axis=0) > 0)
    assert np.all(np.diff(cycles, axis=1) >= 0)


def test_a_thread_adds_128_bits_at_once():
    assert (accumulators(4), accumulators(2)) == (4, 8)


def test_two_values_are_cast_at_a_time_by_each_of_six_threads():
    cycles = cast_cycles(np.array([12.0, 24.0, 1200.0]))
    assert np.diff(cycles).tolist() == [6.0, 6 * 98.0]


def test_a_kernel_is_cut_into_windows_of_four_columns():
    assert windows((np.array([3.0, 3.0, 1.0]), np.array([3.0, 5.0, 4.0]))).tolist() == [3.0, 6.0, 1.0]


def test_eight_depthwise_groups_take_as_long_as_one():
    field, kernel = np.full(3, 36.0), (np.full(3, 3.0), np.full(3, 3.0))
    item, eight, nine = vmac(field, kernel, np.array([1.0, 8.0, 9.0]))
    assert item == eight
    assert nine - 100 == 2 * (item - 100)


def test_groups_are_multiplied_one_after_the_other():
    field, kernel, channels = np.full(2, 12.0), (np.full(2, 3.0), np.full(2, 3.0)), (np.full(2, 16.0), np.full(2, 4.0))
    item, four = dot(field, kernel, channels, np.array([1.0, 4.0]), 4) - 100
    assert four == 4 * item
    once, twice = outer(np.full(2, 12.0), np.full(2, 32.0), np.array([1.0, 2.0])) - 6 * 25
    assert twice == 2 * once
