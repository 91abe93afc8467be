"""What `--json` writes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.trace import Trace


def trace(value: Trace) -> str:
    """`podsim trace --json`, schema podsim.trace/1; the viewers want podsim.report.chrome_trace instead."""
    table = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return text("trace", {name: item for name, item in table.items() if item or name not in ("faults", "left")})
