"""Dataclasses as bare JSON values without names, and back; and any content as one text, to tell two apart."""

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]


def content_key(value: Any) -> str:
    """One text for one content, whoever spells it; TypeError for what may hide content."""
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        inside = ",".join(content_key(getattr(value, name)) for name in _names(type(value)))
        return f"{type(value).__qualname__}({inside})"
    if isinstance(value, tuple | list):
        return f"[{','.join(map(content_key, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{content_key(key)}:{content_key(item)}' for key, item in value.items()))}}}"
    raise TypeError(f"the content of a {type(value).__qualname__} cannot be told")


def pack(value: Any) -> Any:
    """`value` in JSON's own types, a dataclass as the list of its fields; TypeError for anything else."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [pack(getattr(value, name)) for name in _names(type(value))]
    if isinstance(value, tuple):
        return [pack(item) for item in value]
    if isinstance(value, Mapping):
        return {pack(key): pack(item) for key, item in value.items()}
    raise TypeError(f"a {type(value).__qualname__} is not packed")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def reader(kind: Any) -> Reader:
    """The way back of `pack` for one type; TypeError or ValueError for whatever is not of that type."""
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass_reader(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple and inside[1:] == (...,):
        return _tuple_reader(reader(inside[0]))
    if origin is Mapping:
        return _mapping_reader(*map(reader, inside))
    if origin in {types.UnionType, Union} and len(inside) == 2 and inside[1] is type(None):
        some = reader(inside[0])
        return lambda plain: None if plain is None else some(plain)
    if kind in {int, float, str, bool}:
        return _scalar_reader(kind)
    raise TypeError(f"{kind} is not packed")


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    parts = [(name, reader(hints[name])) for name in _names(kind)]

    def read(plain: Any) -> Any:
        return kind(**{name: part(item) for (name, part), item in zip(parts, _a(list, plain), strict=True)})

    return read


def _tuple_reader(function: Reader) -> Reader:
    def read(plain: Any) -> Any:
        return tuple(map(function, _a(list, plain)))

    return read


def _mapping_reader(key: Reader, item: Reader) -> Reader:
    def read(plain: Any) -> Any:
        return {key(name): item(value) for name, value in _a(dict, plain).items()}

    return read


def _scalar_reader(kind: Any) -> Reader:
    def read(plain: Any) -> Any:
        if kind is float and type(plain) is int:
            return plain  # as it was packed: a count in the place of a float
        return _a(kind, plain)

    return read


def _a(kind: type[T], plain: Any) -> T:
    """`plain` where it is exactly of that type: True is no count."""
    if type(plain) is not kind:
        raise TypeError(f"a {type(plain).__qualname__} where a {kind.__qualname__} was packed")
    return plain
