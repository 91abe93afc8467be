"""What podsim keeps in memory between questions: tables of results by content, with one policy and one owner.

A full table forgets what it has kept longest. What a table holds never changes an answer: its keys are all that a
result depends on, so `TABLES.clear()` costs time alone.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cached_property, wraps
from itertools import count
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

Key = TypeVar("Key")
Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])


class Table(dict[Key, Value]):
    """Results by key, at most so many."""

    __slots__ = ("most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def keep(self, key: Key, value: Value) -> Value:
        """The value, kept under the key; what was kept longest makes room for it."""
        if len(self) >= self.most and key not in self:
            self.pop(next(iter(self)), None)
        self[key] = value
        return value

    def remember(self, key: Key, compute: Callable[[], Value]) -> Value:
        """What is kept under the key, computed and kept where nothing is."""
        try:
            return self[key]
        except KeyError:
            pass  # an error of `compute` is not one of looking up
        return self.keep(key, compute())


class ObjectTable(WeakKeyDictionary[Key, Value]):
    """Results about objects that are told apart by identity, such as fabrics, for at most so many.

    They are forgotten with the object, or when the table is full.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def remember(self, key: Key, compute: Callable[[], Value]) -> Value:
        """What is kept about the object, computed and kept where nothing is."""
        try:
            return self[key]
        except KeyError:
            pass
        value = compute()
        if len(self) >= self.most:
            del self[next(self.keys())]
        self[key] = value
        return value


AnyTable = TypeVar("AnyTable", bound=Table[Any, Any] | ObjectTable[Any, Any])


class Tables:
    """The owner of all tables of a process, by name."""

    def __init__(self) -> None:
        self._tables: dict[str, Table[Any, Any] | ObjectTable[Any, Any]] = {}

    def add(self, name: str, table: AnyTable) -> AnyTable:
        """The table, owned from now on; ValueError for a name that is taken."""
        if name in self._tables:
            raise ValueError(f"there is a table {name!r} already")
        self._tables[name] = table
        return table

    def function(self, name: str, most: int) -> Callable[[Function], Function]:
        """A decorator: at most so many results of a function are kept, by its positional arguments."""
        table = self.add(name, Table[tuple[object, ...], object](most))

        def decorate(function: Function) -> Function:
            @wraps(function)
            def lookup(*arguments: object) -> object:
                return table.remember(arguments, lambda: function(*arguments))

            return lookup  # type: ignore[return-value]

        return decorate

    def all(self) -> tuple[Table[Any, Any] | ObjectTable[Any, Any], ...]:
        """All tables, in the order they were added."""
        return tuple(self._tables.values())

    def clear(self) -> None:
        """Forget everything."""
        for table in self._tables.values():
            table.clear()


TABLES: Final = Tables()


class Numbers:
    """Numbers that stand for contents in this process: equal ones have the same, and none is given twice."""

    def __init__(self, name: str, most: int) -> None:
        self._known: Table[object, int] = TABLES.add(name, Table(most))
        self._next = count()

    def of(self, content: object) -> int:
        """The number of a content."""
        return self._known.remember(content, lambda: next(self._next))


_CONTENTS: Final = Numbers("numbers of contents", 100_000)
_FRESH: Final = count(1)


def fresh_number() -> int:
    """A number that nothing in this process has yet."""
    return next(_FRESH)


class ByNumber:
    """A frozen dataclass of much content, told apart by its number: sooner than by comparing all of it."""

    @cached_property
    def number(self) -> int:
        """Equal ones share it, no other has it, and it holds in this process alone."""
        return _CONTENTS.of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Fields alone: what was summed up and numbered stays in this process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
