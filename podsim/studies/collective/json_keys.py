"""The keys of `podsim collective --json`."""

from typing import Final

from podsim.report.json_document import JsonDocument

COLLECTIVE: Final = JsonDocument("collective", {"CollectiveReport": "* -faults faults?None"})
