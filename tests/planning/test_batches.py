"""The global batch near that of a recipe, in closed form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.planning.batches import GLOBAL_BATCHES_TRIED, ROUNDING_DOUBT, accumulation, nearest


@given(st.floats(1, 1e6), st.floats(1, 1e4))
def test_accumulation_misses_the_batch_by_half_a_row_at_most(batch, rows):
    count, kept = accumulation(batch, rows)
    assert count >= 1
    assert abs(count * rows - batch) <= rows / 2 * (1 + 1e-9) or count == 1
    assert kept == (abs(count * rows / batch - 1) <= ROUNDING_DOUBT)


@pytest.mark.parametrize(
    ("batch", "rows", "expected"),
    [(65536, 512, (128, True)), (100, 30, (3, False)), (100, 32, (3, True)), (10, 100, (1, False))],
)
def test_micro_batches_of_a_step_by_hand(batch, rows, expected):
    assert accumulation(batch, rows) == expected


def test_batches_are_tried_by_their_ratio_to_the_recipe_not_their_distance():
    """50 is a half of 100 and 180 less than twice it, 400 four times."""
    assert nearest([400, 50, 180, 95, 10], 100) == (95, 180, 50)
    assert len(nearest(range(1, 50), 20)) == GLOBAL_BATCHES_TRIED
    assert nearest([200, 50], 100) == (50, 200)
