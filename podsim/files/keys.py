"""How dataclass fields are called in files: the field name without its unit, or its `Key`."""

import types
from collections.abc import Hashable, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from podsim.model.note import AnswerNote
from podsim.model.quantity import NOT_IN_FILES, Key, Unit

SUFFIXES: Final = {
    "s": "_s",
    "Hz": "_hz",
    "B": "_bytes",
    "B/s": "_bytes_per_s",
    "B/cycle": "_bytes_per_cycle",
    "cycles": "_cycles",
    "FLOP/s": "_flop_per_s",
    "W": "_w",
    "USD": "_usd",
    "samples/s": "_samples_per_s",
    "": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of a table, the field it fills and that field's type."""

    key: str
    name: str
    annotated: Any


@cache
def bare(kind: Hashable) -> tuple[Any, tuple[Any, ...]]:
    """The type under `Annotated` and `| None`, and the annotations found on the way."""
    notes: tuple[Any, ...] = ()
    while True:
        if get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            notes += tuple(more)
        elif get_origin(kind) in (Union, types.UnionType):
            (kind,) = (member for member in get_args(kind) if member is not types.NoneType)
        else:
            return kind, notes


@cache
def unit_of(kind: Hashable) -> Unit | None:
    """The unit a type carries."""
    return next((note for note in bare(kind)[1] if isinstance(note, Unit)), None)


@cache
def entries(cls: Hashable) -> Mapping[str, Entry]:
    """The keys of the table that fills `cls`, in declared order."""
    in_files = (field for field in fields(cast(Any, cls)) if field.metadata != NOT_IN_FILES)
    return {entry.key: entry for entry in map(_entry, in_files)}


def _entry(field: Field[Any]) -> Entry:
    annotated_type: Any = field.type
    unit = unit_of(annotated_type)
    explicit_key = next((note.name for note in bare(annotated_type)[1] if isinstance(note, Key)), None)
    key = explicit_key or field.name.removesuffix(SUFFIXES[unit.symbol] if unit else "")
    return Entry(key=key, name=field.name, annotated=annotated_type)


@cache
def is_table(kind: Hashable) -> bool:
    """Whether a file states the type as a table of its own."""
    return (is_dataclass(kind) and kind is not AnswerNote) or get_origin(kind) is Mapping


@cache
def is_text(kind: Hashable) -> bool:
    """Whether a file states the type as a text or as texts, which are no numbers and no choices."""
    return kind is str or kind in {tuple[str, ...], tuple[AnswerNote, ...]}


def member(kind: Any) -> Any:
    """What an array, or the values of a mapping, hold."""
    return get_args(kind)[1 if get_origin(kind) is Mapping else 0]


@cache
def is_array_of_tables(kind: Hashable) -> bool:
    """Whether a file states the type as `[[name]]`."""
    return get_origin(kind) is tuple and is_table(bare(member(kind))[0])
