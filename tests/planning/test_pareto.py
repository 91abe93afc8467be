"""The front against its definition, counted out."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from podsim.studies.plan.pareto import dominates, front

known = st.lists(st.tuples(*[st.integers(0, 3).map(float)] * 4), min_size=1, max_size=12)
unknown = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 2).map(float))] * 3), min_size=1, max_size=10)


@given(known)
def test_the_front_is_what_brute_force_finds(rows: list[tuple[float, ...]]) -> None:
    """A row is beaten if and only if another lies in the box below it and is another point."""
    boxes = [set(product(*(range(int(value) + 1) for value in row))) for row in rows]
    expected = [
        at
        for at, row in enumerate(rows)
        if not any(tuple(map(int, other)) in boxes[at] and other != row for other in rows)
    ]
    assert front(rows) == expected


@given(known)
def test_whatever_is_left_out_is_beaten_by_the_front(rows: list[tuple[float, ...]]) -> None:
    kept = front(rows)
    assert kept
    assert all(any(dominates(rows[at], row) for at in kept) for row in (r for i, r in enumerate(rows) if i not in kept))


@given(unknown)
def test_what_nobody_knows_neither_beats_nor_is_beaten(rows: list[tuple[float | None, ...]]) -> None:
    for values, other in product(rows, rows):
        if [value is None for value in values] != [value is None for value in other]:
            assert not dominates(values, other)
        assert not (dominates(values, other) and dominates(other, values))


def test_equals_stay_side_by_side() -> None:
    assert front([(1.0, 2.0), (1.0, 2.0), (2.0, 1.0), (2.0, 2.0)]) == [0, 1, 2]
