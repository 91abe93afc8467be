"""Answers as CSV: what their JSON says, an object a line, so that the two cannot disagree."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any


def text(document: str, rows: str = "") -> str:
    """A JSON document as CSV with one header line; `rows` is the key of its list of objects, "" the document itself.

    Nested keys are joined by dots. Lists of plain values stay in one cell, spaces between; other lists are left out.
    """
    whole = json.loads(document)
    records = [dict(flat(record)) for record in (whole[rows] if rows else [whole])]
    header = list(dict.fromkeys(key for record in records for key in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, header, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str | int | float]]:
    """The cells of a record by the name of their column."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, Mapping):
            yield from flat(item, f"{name}.")
        elif isinstance(item, list):
            if all(not isinstance(one, list | dict) for one in item):
                yield name, " ".join(str(_cell(one)) for one in item)
        else:
            yield name, _cell(item)


def _cell(value: str | float | None) -> str | int | float:
    """None is an empty cell, truth is as JSON writes it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
