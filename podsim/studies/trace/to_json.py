"""What `--json` writes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.json_text import fields_of, plain, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.trace import Trace
    from podsim.studies.trace.difference_result import TraceDifference


def trace(value: Trace) -> str:
    """`podsim trace --json`, schema podsim.trace/1; the viewers want podsim.report.chrome_trace instead."""
    table = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return text("trace", {name: item for name, item in table.items() if item or name not in ("faults", "left")})


def difference(value: TraceDifference) -> str:
    """`podsim trace --diff --json`, schema podsim.trace_diff/1; parts and segments with the largest change first."""
    return text(
        "trace_diff",
        {
            "old": plain(value.old),
            "new": plain(value.new),
            "change_s": value.change_s,
            "parts": [{**fields_of(change), "change_s": change.change_s} for change in value.parts],
            "segments": [{**fields_of(change), "change_s": change.change_s} for change in value.segments],
        },
    )
