"""Elements over tiles and threads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip
from podsim.tiles.shares import call, check_fit, check_sizes, spread, vectors, vertex


@given(elements=st.integers(1, 10**7), tiles=st.integers(1, 1472), grain=st.integers(1, 16))
def test_a_spread_loses_nothing_and_the_last_tile_has_least(elements, tiles, grain):
    shares = spread(elements, tiles, grain)
    assert sum(count * share for count, share in shares) == elements
    assert sum(count for count, _ in shares) <= tiles
    assert all(share % grain == 0 for _, share in shares[:-1])
    assert shares[0][1] == max(share for _, share in shares)


def test_the_busiest_thread_rounds_up_twice(gc200: Chip):
    # 64 float elements: 11 for the busiest of six threads, in vectors of two
    assert vectors(64, 4, gc200) == 6
    assert vectors(64, 2, gc200) == 3
    assert vertex(20 + 3 * 6, gc200) == 11 + 6 * 38


def test_what_a_tile_cannot_hold_is_refused(gc200: Chip):
    assert check_fit("copy", {"operands": 638_976.0}, gc200) == {"operands": 638_976.0}
    with pytest.raises(Infeasible, match="638,976 B"):
        check_fit("copy", {"operands": 638_976.0, "result": 1.0}, gc200)


def test_every_size_that_cannot_be_is_named():
    with pytest.raises(InputError) as refused:
        check_sizes("softmax", rows=0, columns=-3, tiles=1)
    assert [line.split()[0] for line in refused.value.context] == ["rows", "columns"]


def test_a_free_call_adds_no_superstep():
    assert call(0.0, 10) == ()
    assert call(400.0, 10)[0].phase == "overhead"
