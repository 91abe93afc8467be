"""Workload files as TOML text: what importers found, written so that a person can read and edit it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from podsim.files.load import SCHEMAS
from podsim.files.write import key_text, leaf_text

ROW_KEYS: Final = ("operator",)
"""Arrays of tables that are written a line each."""


def workload_text(tables: Mapping[str, Any], comments: tuple[str, ...] = ()) -> str:
    """The text of a workload file; texts, numbers, arrays, tables and arrays of tables in the order given."""
    head = [*(f"# {line}" for line in comments), f'schema = "{SCHEMAS["workload"]}"']
    return "\n".join([*head, *_table(tables, ())]) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inner = [(key, value) for key, value in table.items() if _is_inner(key, value)]
    for key, value in table.items():
        if not _is_inner(key, value):
            yield from _entry(key, value)
    for key, value in inner:
        here = (*path, key_text(key))
        for member in value if isinstance(value, list) else [value]:
            header = ".".join(here)
            yield ""
            yield f"[[{header}]]" if isinstance(value, list) else f"[{header}]"
            yield from _table(member, here)


def _is_inner(key: str, value: object) -> bool:
    return isinstance(value, Mapping) or (_is_tables(value) and key not in ROW_KEYS)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _entry(key: str, value: Any) -> Iterator[str]:
    if _is_tables(value) or (isinstance(value, list) and value and isinstance(value[0], str) and key == "notes"):
        yield f"{key_text(key)} = ["
        yield from (f"    {_value(item)}," for item in value)
        yield "]"
    else:
        yield f"{key_text(key)} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return leaf_text(value)
