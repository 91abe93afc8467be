"""Tables as CSV."""

import csv
import io

from podsim.report.escape import cell
from podsim.report.records import Plain, columns


def text(each: list[dict[str, Plain]]) -> str:
    """Records as CSV with one header line.

    A text that a spreadsheet would take for a formula stands behind an apostrophe; control characters are escaped.
    """
    header = columns(each)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell(key) for key in header])
    writer.writerows([_cell(record.get(key)) for key in header] for record in each)
    return out.getvalue()


def _cell(value: Plain) -> str | int | float:
    """None is an empty cell, truth is as JSON writes it; texts are escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return cell(value) if isinstance(value, str) else value
