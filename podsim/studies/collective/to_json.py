"""What `--json` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import fields_of, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.collective import CollectiveReport


def collective(value: CollectiveReport) -> str:
    """`podsim collective --json`, schema podsim.collective/1."""
    table = {name: item for name, item in fields_of(value).items() if name != "faults" or item is not None}
    return text("collective", table)
