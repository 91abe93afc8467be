"""Published results beside predictions as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.readings import LEAST_NEAR, MOST_MEDIAN, NEAR
from podsim.report.json_text import plain, text
from podsim.report.views.published import asked

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.readings import PublishedReport
    from podsim.report.json_text import Json


def published(report: PublishedReport) -> str:
    """`podsim validate --published --json`, schema podsim.published/1; errors are fractions."""
    return text("published", {
        "rows": [
            {**_row(one.row), "asked": asked(one) if one.reading.workload else "", "predicted": plain(one.predicted),
             "error": plain(one.error), "assumed": list(one.reading.assumed), "why": one.reading.why,
             "conflict": one.conflict}
            for one in report.compared
        ],
        "left_out": [{**_row(one.row), "reason": one.reason} for one in report.left_out],
        "summary": {
            "rows": len(report.compared),
            "median_absolute_error": plain(report.median_abs),
            "most_median": MOST_MEDIAN,
            "near": NEAR,
            "share_near": plain(report.share_near),
            "least_share_near": LEAST_NEAR,
            "misses": list(report.misses),
        },
    })  # fmt: skip


def _row(row: Microbenchmark) -> dict[str, Json]:
    return {
        "id": row.id, "what": row.what, "category": row.category, "chip": row.chip, "shape": dict(row.shape),
        "precision": row.precision, "measured": row.value, "unit": row.unit, "note": row.note, "source": row.source,
    }  # fmt: skip
