"""Answers as CSV: what their JSON says, an object a line, so that the two cannot disagree."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from podsim.report.escape import cell, escaped


def text(document: str, rows: str = "") -> str:
    """A JSON document as CSV with one header line; `rows` is the key of its list of objects, "" the document itself.

    Nested keys are joined by dots. Lists of plain values stay in one cell, spaces between; other lists are left out.
    A text that a spreadsheet would take for a formula stands behind an apostrophe; control characters are escaped.
    """
    whole = json.loads(document)
    records = [dict(flat(record)) for record in (whole[rows] if rows else [whole])]
    header = list(dict.fromkeys(key for record in records for key in record))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell(key) for key in header])
    writer.writerows([_guarded(record.get(key, "")) for key in header] for record in records)
    return out.getvalue()


def flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str | int | float]]:
    """The cells of a record by the name of their column."""
    for key, item in value.items():
        name = f"{before}{key}"
        if isinstance(item, Mapping):
            yield from flat(item, f"{name}.")
        elif isinstance(item, list):
            if all(not isinstance(item, list | dict) for item in item):
                yield name, " ".join(str(_cell(item)) for item in item)
        else:
            yield name, _cell(item)


def _guarded(value: str | float) -> str | int | float:
    return cell(value) if isinstance(value, str) else value


def _cell(value: str | float | None) -> str | int | float:
    """None is an empty cell, truth is as JSON writes it; texts are escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return escaped(value) if isinstance(value, str) else value
