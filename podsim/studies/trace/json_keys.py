"""The keys of `podsim trace --json`; the viewers want podsim.report.chrome_trace instead."""

from typing import Final

from podsim.report.json_document import JsonDocument

TRACE: Final = JsonDocument("trace", {"Trace": "* -faults -left faults? left?"})
DIFFERENCE: Final = JsonDocument(
    "trace_diff", {"TraceDifference": "old new change_s parts segments", "TraceChange": "* change_s"}
)
"""Parts and segments with the largest change first."""
