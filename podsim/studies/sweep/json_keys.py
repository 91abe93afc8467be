"""The keys of `podsim sweep --json`: points in the order of the design, whoever computed them."""

from typing import Final

from podsim.report.json_document import JsonDocument

SWEEP: Final = JsonDocument(
    "sweep-report",
    {
        "SweepReport": """
            file workload design seed fixed axes answered=len(answers) refused=refusals alike most?None is_settled?most
            spread points
        """
    },
    rows="points",
)
