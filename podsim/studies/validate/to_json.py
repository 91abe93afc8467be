"""What `--json` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import fields_of, plain, text

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.validation import CoverageReport, FreezeReport, HeldIntervals, Validation


def validation(result: Validation) -> str:
    """`podsim validate --json`, schema podsim.validation/1; errors are fractions."""
    return text(
        "validation",
        {
            "points": plain(result.points),
            "summary": plain(result.summary),
            "held_out": plain(result.held_out),
            "intervals": held_intervals(result.intervals),
            "outside_tolerance": [
                {"quantity": quantity, "which": which, "size": plain(size), "tolerance": limit}
                for quantity, which, size, limit in result.misses
            ],
            "convergence": plain(result.convergence),
        },
    )


def held_intervals(intervals: Mapping[str, Mapping[str, HeldIntervals]]) -> Json:
    """How many 90 % intervals hold what was measured, by what was left out and quantity."""
    return {
        by: {name: {**fields_of(quantity), "share": plain(quantity.share)} for name, quantity in quantities.items()}
        for by, quantities in intervals.items()
    }


def coverage(report: CoverageReport) -> str:
    """`podsim validate --coverage --json`, schema podsim.coverage/1; shares are fractions, widths high over low."""
    return text(
        "coverage",
        {
            "rows": [{**fields_of(row), "share": plain(row.share)} for row in report.rows],
            "points": [{**fields_of(point), "held": point.held} for point in report.points],
            "distance": plain(report.distance),
            "outside_bar": [
                {"quantity": quantity, "which": which, "size": plain(size), "bar": bar}
                for quantity, which, size, bar in report.misses
            ],
        },
    )


def frozen(report: FreezeReport) -> str:
    """`podsim validate --freeze --json`, schema podsim.frozen-report/1."""
    return text(
        "frozen-report",
        {
            "predictions": plain(report.after),
            "moved": [{"before": plain(was), "after": plain(now)} for was, now in report.moved],
            "path": report.path,
        },
    )
