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
    return text("microbenchmarks", {
        "families": [
            {"family": one.family.key, "title": one.family.title, "bars": plain(one.family.bars),
             "verdict": one.verdict, **{name: plain(getattr(one, name)) for name in errors},
             "why": one.family.why if one.misses else "", "pools": list(one.family.pools), "fitted": one.fitted,
             "median_abs_fitted": plain(one.median_abs_fitted),
             "median_abs_not_fitted": plain(one.median_abs_not_fitted)}
            for one in report.summaries
        ],
        "constants": [
            {"constant": one.family.key, **{name: plain(getattr(one, name)) for name in errors}}
            for one in report.by_constant
        ],
        "outside_bar": [
            {"family": one.family.key, "statistic": bar.statistic.value, "size": plain(one.size(bar.statistic)),
             "limit": bar.limit}
            for one, bar in report.misses
        ],
        "rows": [
            {**_measurement(one.row), "family": one.family, "measured": one.row.value,
             "predicted": plain(one.predicted), "error": plain(one.error),
             "predicted_otherwise": plain(one.otherwise), "fitted": one.fitted}
            for one in report.compared
        ],
        "left_out": [{**_measurement(one.row), "measured": one.row.value, "reason": one.reason}
                     for one in report.left_out],
    })  # fmt: skip


def _measurement(row: Microbenchmark) -> dict[str, Json]:
    told = ("id", "chip", "category", "what", "shape", "precision", "unit", "source", "locator")
    return {name: plain(getattr(row, name)) for name in told}
