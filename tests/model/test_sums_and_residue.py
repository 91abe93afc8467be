"""What floating point does to sums and differences, and what podsim keeps of it."""

import pytest

from podsim.model.sums import RESIDUE, clean, clean_residue, sum_in_order


def test_a_sum_is_rounded_after_each_term_on_every_python():
    """The built-in sum of Python 3.12 gives 0.6 here, and 1.0 where the first sum is lost beside 1e16."""
    assert sum_in_order([0.1, 0.2, 0.3]) == 0.1 + 0.2 + 0.3 == 0.6000000000000001
    assert sum_in_order([1e16, 1.0, -1e16]) == 0.0
    assert sum_in_order(iter(())) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_part_is_rounding_up_to_a_billionth_of_the_whole(sign):
    whole = 3.0
    assert clean(sign * whole * RESIDUE, -whole) == 0.0
    assert clean(sign * whole * RESIDUE * 1.001, whole) == sign * whole * RESIDUE * 1.001


def test_the_difference_of_equal_sums_is_no_part():
    parts = {"work": 0.6, "rest": (0.1 + 0.2 + 0.3) - 0.6}
    assert parts["rest"] != 0
    assert clean_residue(parts, 0.6) == {"work": 0.6, "rest": 0.0}
