"""The keys of `podsim trace --json`; the viewers want podsim.report.chrome_trace instead."""

from typing import Final

from podsim.report.json_document import JsonDocument

TRACE: Final = JsonDocument("trace", {"Trace": "* -faults -left faults? left?"})
