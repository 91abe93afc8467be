"""Answers as tables: an object of their JSON a row, so that the two cannot disagree."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from podsim.report.digits import Json
from podsim.report.json_text import Tree

Plain: TypeAlias = str | int | float | bool | None
HEAD: Final = ("schema", "podsim", "inputs")
"""What a document says of itself before its answer."""


def columns(each: list[dict[str, Plain]]) -> list[str]:
    """The names of all records, in the order in which they come."""
    return list(dict.fromkeys(key for record in each for key in record))


def records(document: Tree, rows: str = "") -> list[dict[str, Plain]]:
    """The table of a document, a record a row; `rows` is the key of its list of objects.

    Without such a list the document itself is the row, its answer before what it was asked and read. Nested keys are
    joined by dots; where one row has them, another that has nothing there has no column of its own for it. Lists of
    plain values are one text, semicolons between; other lists are left out.
    """
    items = document.get(rows)
    items = items if isinstance(items, list) and items else [_answer_first(document)]
    each = [dict(flat(record)) for record in items if isinstance(record, dict)]
    key_prefixes = {key.rpartition(".")[0] for record in each for key in record}
    return [{key: value for key, value in record.items() if key not in key_prefixes} for record in each]


def _answer_first(document: Tree) -> Json:
    head = {key: document[key] for key in HEAD if key in document}
    return {key: value for key, value in document.items() if key not in head} | head


def flat(value: Mapping[str, Json], before: str = "") -> Iterator[tuple[str, Plain]]:
    """The values of a record by the name of their column."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, Mapping):
            yield from flat(item, f"{name}.")
        elif not isinstance(item, list):
            yield name, item
        elif all(not isinstance(each, list | dict) for each in item):
            yield name, "; ".join(_plain(each) for each in item)


def _plain(value: Json) -> str:
    """A value of a list; truth is as JSON writes it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
