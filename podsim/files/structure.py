"""Tables of a file to the model's own types, without coercion."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory
from cattrs.errors import BaseValidationError
from cattrs.gen import make_dict_structure_fn, override

from podsim.files.file_faults import Fault, unknown_choice, value_text
from podsim.files.keys import bare, entries, unit_of
from podsim.files.structure_faults import from_error
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Unit
from podsim.units import EXAMPLE, LARGEST, WHAT, parse

T = TypeVar("T")


def structure(tables: Mapping[str, Any], cls: type[T]) -> tuple[T | None, list[Fault]]:
    """The value that the tables of a file describe, or what is wrong with them."""
    with suppress(Exception):  # whatever it is, it is said with all others below
        return _converter(every_fault=False).structure(tables, cls), []
    try:
        return _converter(every_fault=True).structure(tables, cls), []
    except BaseValidationError as error:
        return None, from_error(error)


@cache
def _converter(*, every_fault: bool) -> Converter:
    """One converter for all files; cattrs alone would turn "64" into 64.0, 3.7 into 3 and "no" into True.

    The one that collects every fault takes twice as long to make, which a sound file need not wait for.
    """
    converter = Converter(forbid_extra_keys=True, detailed_validation=every_fault)
    add: Any = converter.register_structure_hook_factory
    for leaf, hook in ((int, _whole), (float, _number), (str, _text), (bool, _truth), (StrEnum, _choice)):
        converter.register_structure_hook(leaf, hook)
    converter.register_structure_hook(AnswerNote, _note)
    add(_has_origin(Literal), lambda _: _literal)
    add(lambda kind: unit_of(kind) is not None, lambda _: _quantity)
    add(_has_origin(tuple), _array_hook)
    add(_has_origin(Mapping), _mapping_hook)
    add(is_dataclass, _class_hook)
    return converter


def _has_origin(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


def _type_error(what: str, raw: object) -> ValueError:
    return ValueError(f"must be {what}, not {value_text(raw)}")


def _whole(raw: object, _: Any = None) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise _type_error("a whole number", raw)
    if abs(raw) > LARGEST:
        raise ValueError(f"{value_text(raw)} is too large")
    return raw


def _number(raw: object, _: Any = None) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _type_error("a number", raw)
    if isinstance(raw, int):
        return float(_whole(raw))
    if not math.isfinite(raw):
        raise _type_error("a finite number", raw)
    return raw


def _text(raw: object, _: Any = None) -> str:
    if not isinstance(raw, str):
        raise _type_error("a text", raw)
    return raw


def _note(raw: object, _: Any = None) -> AnswerNote:
    """A note of a file is a text; one that podsim adds to what files say is a note already."""
    return raw if isinstance(raw, AnswerNote) else AnswerNote.of(NoteCode.FILE_TEXT, text=_text(raw))


def _truth(raw: object, _: Any = None) -> bool:
    if not isinstance(raw, bool):
        raise _type_error("true or false", raw)
    return raw


def _choice(raw: object, cls: type[StrEnum]) -> StrEnum:
    choices = [str(choice) for choice in cls]
    if not isinstance(raw, str):
        raise _type_error("one of " + ", ".join(f'"{choice}"' for choice in choices), raw)
    if raw not in choices:
        raise ValueError(unknown_choice(raw, choices))
    return cls(raw)


def _literal(raw: object, kind: Any) -> object:
    if raw not in get_args(kind):
        raise ValueError(unknown_choice(str(raw), [str(choice) for choice in get_args(kind)]))
    return raw


def _quantity(raw: object, kind: Any) -> float:
    """A number or a quantity in SI, inside the bound of its unit."""
    unit = unit_of(kind)
    assert unit is not None
    if unit.symbol:
        value: float = _si(raw, unit)
    else:
        value = _whole(raw) if bare(kind)[0] is int else _number(raw)
    if value < 0 or (unit.positive and value == 0):
        bound = ("at least 1" if isinstance(value, int) else "above 0") if unit.positive else "at least 0"
        raise ValueError(f"must be {bound}, not {value_text(raw)}")
    return value


def _si(raw: object, unit: Unit) -> float:
    if isinstance(raw, str):
        return parse(raw, unit.symbol)
    bare_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    needs = f'{value_text(raw)} needs a unit; write for example "{EXAMPLE[unit.symbol]}"'
    raise ValueError(needs) if bare_number else _type_error(f"{WHAT[unit.symbol]} ({unit.symbol})", raw)


def _array_hook(kind: Any, converter: Converter) -> Any:
    inner = homogenous_tuple_structure_factory(kind, converter)

    def hook(raw: object, _: Any) -> Any:
        if not isinstance(raw, list):
            raise _type_error("an array", raw)
        return inner(raw, kind)

    return hook


def _mapping_hook(kind: Any, converter: Converter) -> Any:
    inner = mapping_structure_factory(kind, converter)

    def hook(raw: object, _: Any) -> Any:
        if not isinstance(raw, dict):
            raise _type_error("a table", raw)
        return inner(raw, kind)

    return hook


def _class_hook(cls: Any, converter: Converter) -> Any:
    keys = {entry.name: entry.key for entry in entries(cls).values()}
    names = {
        field.name: override(rename=keys[field.name]) if field.name in keys else override(omit=True)
        for field in fields(cls)
    }
    inner = make_dict_structure_fn(cls, converter, _cattrs_use_linecache=False, **names)  # type: ignore[arg-type]

    def hook(raw: object, _: Any) -> Any:
        if not isinstance(raw, dict):
            raise _type_error("a table", raw)
        return inner(raw, cls)

    return hook
