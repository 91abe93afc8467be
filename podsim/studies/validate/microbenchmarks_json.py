"""Published microbenchmarks beside predictions as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark, MicrobenchmarkReport
    from podsim.report.digits import Json


def microbenchmarks(report: MicrobenchmarkReport) -> str:
    """`podsim validate --microbenchmarks --json`, schema podsim.microbenchmarks/1; errors are fractions."""
    errors = ("count", "median_abs", "nine_in_ten_abs", "mean_abs", "mean_signed", "worst")
    return text(
        "microbenchmarks",
        {
            "families": [
                {
                    "family": summary.family.key,
                    "title": summary.family.title,
                    "bars": plain(summary.family.bars),
                    "verdict": summary.verdict,
                    **{name: plain(getattr(summary, name)) for name in errors},
                    "why": summary.family.why if summary.misses else "",
                    "pools": list(summary.family.pools),
                    "fitted": summary.fitted,
                    "median_abs_fitted": plain(summary.median_abs_fitted),
                    "median_abs_not_fitted": plain(summary.median_abs_not_fitted),
                }
                for summary in report.summaries
            ],
            "constants": [
                {"constant": summary.family.key, **{name: plain(getattr(summary, name)) for name in errors}}
                for summary in report.by_constant
            ],
            "outside_bar": [
                {
                    "family": summary.family.key,
                    "statistic": bar.statistic.value,
                    "size": plain(summary.size(bar.statistic)),
                    "limit": bar.limit,
                }
                for summary, bar in report.misses
            ],
            "rows": [
                {
                    **_measurement(comparison.row),
                    "family": comparison.family,
                    "measured": comparison.row.value,
                    "predicted": plain(comparison.predicted),
                    "error": plain(comparison.error),
                    "predicted_otherwise": plain(comparison.otherwise),
                    "fitted": comparison.fitted,
                }
                for comparison in report.compared
            ],
            "left_out": [
                {**_measurement(measurement.row), "measured": measurement.row.value, "reason": measurement.reason}
                for measurement in report.left_out
            ],
        },
    )


def _measurement(row: Microbenchmark) -> dict[str, Json]:
    names = ("id", "chip", "category", "what", "shape", "precision", "unit", "source", "locator")
    return {name: plain(getattr(row, name)) for name in names}
