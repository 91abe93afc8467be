"""Published results beside predictions as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.readings import LEAST_NEAR, MOST_MEDIAN, MOST_SPREAD, NEAR
from podsim.report.json_text import plain, text
from podsim.report.views.published import asked

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.readings import Option, PublishedReport, ReadRow, RowReading, Summary
    from podsim.report.digits import Json


def published(report: PublishedReport) -> str:
    """`podsim validate --published --json`, schema podsim.published/1; errors are fractions."""
    return text("published", {
        "rows": [_compared(one) for one in report.compared],
        "left_out": [{**_row(one.row), "reason": one.reason} for one in report.left_out],
        "summary": {
            **_summary(report.all_rows), "most_median": MOST_MEDIAN, "near": NEAR, "least_share_near": LEAST_NEAR,
            "most_spread": MOST_SPREAD,
        },
        "determined": _summary(report.determined),
        "undetermined": _summary(report.undetermined),
        "networks": _summary(report.networks),
        "programs": _summary(report.programs),
    })  # fmt: skip


def _compared(one: ReadRow) -> dict[str, Json]:
    """A row at its stated choice, and every other reading of it."""
    return {
        **_row(one.row), "asked": _asked(one.reading), "predicted": plain(one.predicted), "error": plain(one.error),
        "determined": one.determined, "low": plain(one.low), "high": plain(one.high), "inside": one.inside,
        "choices": [_option(option) for option in one.options],
        "others": [
            {"choices": [_option(option) for option in other.options], "asked": _asked(other.reading),
             "predicted": None if other.refused else plain(other.predicted), "refused": other.refused}
            for other in one.others
        ],
        "assumed": list(one.reading.assumed), "why": one.reading.why, "conflict": one.conflict,
    }  # fmt: skip


def _asked(reading: RowReading) -> str:
    return asked(reading) if reading.workload else ""


def _option(option: Option) -> dict[str, Json]:
    return {"name": option.name, "reason": option.reason}


def _summary(found: Summary) -> dict[str, Json]:
    return {
        "rows": len(found.rows), "median_absolute_error": plain(found.median_abs), "mean_error": plain(found.mean),
        "worst_error": plain(found.worst), "share_near": plain(found.share_near), "inside": found.inside,
        "misses": list(found.misses),
    }  # fmt: skip


def _row(row: Microbenchmark) -> dict[str, Json]:
    return {
        "id": row.id, "what": row.what, "category": row.category, "chip": row.chip, "shape": dict(row.shape),
        "precision": row.precision, "measured": row.value, "unit": row.unit, "note": row.note, "source": row.source,
    }  # fmt: skip
