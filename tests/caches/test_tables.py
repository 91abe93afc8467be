"""Tables of results in memory: what they keep, forget and let pass."""

import gc

import pytest

from podsim.caches.tables import ObjectTable, Table, Tables


class Thing:
    """Something that is told apart by identity."""


@pytest.mark.parametrize("table", [Table(2), ObjectTable(2)])
def test_an_error_of_a_computation_is_not_one_of_looking_up(
    table: Table[Thing, None] | ObjectTable[Thing, None],
) -> None:
    """Whoever sees it sees no KeyError of the table before it."""

    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as error:
        table.remember(Thing(), refuse)
    assert error.value.__context__ is None
    assert len(table) == 0


def test_what_is_known_of_an_object_goes_with_it_or_when_the_table_is_full() -> None:
    table: ObjectTable[Thing, int] = ObjectTable(2)
    first, second, third = Thing(), Thing(), Thing()
    assert [table.remember(thing, lambda: 1) for thing in (first, second, first)] == [1, 1, 1]
    table.remember(third, lambda: 3)
    assert [thing in table for thing in (first, second, third)] == [False, True, True]
    del second
    gc.collect()
    assert len(table) == 1


def test_results_of_a_function_are_kept_by_its_arguments_and_can_be_forgotten() -> None:
    tables, calls = Tables(), list[tuple[int, int]]()

    @tables.function("sums", 2)
    def add(a: int, b: int) -> int:
        """A sum."""
        calls.append((a, b))
        return a + b

    assert [add(1, 2), add(1, 2), add(2, 1)] == [3, 3, 3]
    assert calls == [(1, 2), (2, 1)]
    tables.clear()
    assert add(1, 2) == 3
    assert len(calls) == 3
    assert add.__doc__ == "A sum."
    with pytest.raises(ValueError, match="sums"):
        tables.function("sums", 2)
