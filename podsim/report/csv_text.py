"""Answers as CSV: what their JSON says, an object a line, so that the two cannot disagree."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from podsim.report.escape import cell

Plain: TypeAlias = str | int | float | bool | None
HEAD: Final = ("schema", "podsim", "inputs")
"""What a document says of itself before its answer."""


def text(document: str, rows: str = "") -> str:
    """A JSON document as CSV with one header line; `rows` is the key of its list of objects.

    Rows and columns are those of `records`. A text that a spreadsheet would take for a formula stands behind an
    apostrophe; control characters are escaped.
    """
    each = records(document, rows)
    header = list(dict.fromkeys(key for record in each for key in record))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell(key) for key in header])
    writer.writerows([_cell(record.get(key)) for key in header] for record in each)
    return out.getvalue()


def records(document: str, rows: str = "") -> list[dict[str, Plain]]:
    """The table of a JSON document, a record a row; `rows` is the key of its list of objects.

    Without such a list the document itself is the row, its answer before what it was asked and read. Nested keys are
    joined by dots; where one row has them, another that has nothing there has no column of its own for it. Lists of
    plain values are one text, semicolons between; other lists are left out.
    """
    whole = json.loads(document)
    each = [dict(flat(record)) for record in (whole.get(rows) or [_answer_first(whole)])]
    nested = {key.rpartition(".")[0] for record in each for key in record}
    return [{key: value for key, value in record.items() if key not in nested} for record in each]


def _answer_first(whole: Mapping[str, Any]) -> dict[str, Any]:
    head = {key: whole[key] for key in HEAD if key in whole}
    return {key: value for key, value in whole.items() if key not in head} | head


def flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Plain]]:
    """The values of a record by the name of their column."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, Mapping):
            yield from flat(item, f"{name}.")
        elif isinstance(item, list):
            if all(not isinstance(item, list | dict) for item in item):
                yield name, "; ".join(_plain(item) for item in item)
        else:
            yield name, item


def _plain(value: Plain) -> str:
    """A value of a list; truth is as JSON writes it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _cell(value: Plain) -> str | int | float:
    """None is an empty cell, truth is as JSON writes it; texts are escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return cell(value) if isinstance(value, str) else value
