"""The keys of `podsim diff --json`: changes are fractions, effects factors on the headline figures.

`interaction` is what inputs do together, in the units of those figures.
"""

from typing import Final

from podsim.report.json_document import JsonDocument

DIFFERENCE: Final = JsonDocument(
    "diff",
    {
        "Difference": """
            compared=what identical old_hash new_hash moved headline singles chosen causes remainder interaction notes
        """,
        "ChangedValue": "figure=path old new change",
        "Headline": "figure=name labels unit old new change",
        "SingleFigure": "figure=name unit old new",
    },
)
