"""Published results beside predictions as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.published import Sample, Stated
from podsim.model.published_bars import bars
from podsim.report.json_text import plain, text
from podsim.studies.validate.published_report import MODES
from podsim.studies.validate.published_rows import question_text

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.published import FrameworkErrors, LeftOutRow, PublishedReport, ReadRow, RowGroup, Summary
    from podsim.model.published_bars import BarResult
    from podsim.model.readings import Option, RowReading
    from podsim.report.digits import Json


def published(report: PublishedReport) -> str:
    """`podsim validate --published --json`, schema podsim.published/1; errors are fractions."""
    return text(
        "published",
        {
            "rows": [*(_compared(row) for row in report.compared), *(_left_out(row) for row in report.left_out)],
            "families": [_group(group) for group in report.groups],
            "summary": {
                **{name: _summary(summary) for name, summary in report.summaries.items()},
                "all": _summary(report.all_rows),
                "left_out": {"count": len(report.left_out)},
            },
            "frameworks": [_framework(framework) for framework in report.frameworks],
            "outdated": list(report.outdated),
            "bars": [_bar(bar) for bar in bars(report)],
        },
    )


def _compared(row: ReadRow) -> dict[str, Json]:
    """A row at its stated choice, and every other reading of it."""
    return {
        **_row(row.row),
        "family": row.family,
        "framework": row.framework,
        "mode": MODES[row.mode],
        "configuration": row.stated.value,
        "predicted": plain(row.predicted),
        "low_90": plain(row.low_90) if row.has_interval else None,
        "high_90": plain(row.high_90) if row.has_interval else None,
        "error": plain(row.error),
        "inside": row.inside if row.has_interval else None,
        "reason": "",
        "sample": row.sample.value,
        "fitted": list(row.fit.constants),
        "reference": list(row.fit.reference),
        "error_held_out": None if math.isnan(row.fit.held_out) else plain(row.fit.held_out),
        "asked": _question_text(row.reading),
        "chips": _chips(row),
        "least": plain(row.low),
        "most": plain(row.high),
        "in_range": row.in_range,
        "determined": row.determined,
        "choices": [_option(option) for option in row.options],
        "others": [
            {
                "choices": [_option(option) for option in other.options],
                "asked": _question_text(other.reading),
                "predicted": None if other.refused else plain(other.predicted),
                "refused": other.refused,
            }
            for other in row.others
        ],
        "assumed": list(row.reading.assumed),
        "why": row.reading.why,
        "conflict": row.conflict,
    }


def _left_out(row: LeftOutRow) -> dict[str, Json]:
    """A row without a prediction: the same keys as far as they have a value."""
    return {
        **_row(row.row),
        "family": row.family,
        "framework": row.framework,
        "mode": row.mode,
        "configuration": "",
        "predicted": None,
        "low_90": None,
        "high_90": None,
        "error": None,
        "inside": None,
        "reason": row.reason,
        "sample": None,
        "fitted": [],
        "reference": [],
        "error_held_out": None,
        "refused": row.refused,
    }


def _chips(row: ReadRow) -> Json:
    """The row on every chip it could be on, where none is stated."""
    return [_chip(each) for each in row.each_chip] if row.stated is Stated.NO_CHIP else []


def _chip(row: ReadRow) -> dict[str, Json]:
    """What a row of unknown chip would be on one that it could be."""
    machine = next(option.name for option in row.options if option.machine)
    return {
        "chip": machine,
        "predicted": plain(row.predicted),
        "low_90": plain(row.low_90),
        "high_90": plain(row.high_90),
        "error": plain(row.error),
        "inside": row.inside,
    }


def _question_text(reading: RowReading) -> str:
    return question_text(reading) if reading.workload or reading.operator else ""


def _option(option: Option) -> dict[str, Json]:
    return {"name": option.name, "reason": option.reason}


def _group(group: RowGroup) -> dict[str, Json]:
    return {
        "family": group.family,
        "framework": group.framework,
        "mode": MODES[group.mode],
        "configuration": group.stated.value,
        **_summary(group.summary),
    }


def _summary(summary: Summary) -> dict[str, Json]:
    """`inside_90` counts rows inside their interval, `with_interval` those that have one."""
    return {
        "count": len(summary.rows),
        "median_abs": plain(summary.median_abs),
        "mean_signed": plain(summary.mean),
        "worst": plain(summary.worst),
        "share_near": plain(summary.share_near),
        "inside_90": summary.inside,
        "with_interval": summary.with_interval,
        "samples": {kind.value: summary.samples.get(kind, 0) for kind in Sample},
        "held_out": {
            "count": len(summary.held_out.errors),
            "median_abs": plain(summary.held_out.median_abs),
            "mean_signed": plain(summary.held_out.mean),
        },
    }


def _framework(errors: FrameworkErrors) -> dict[str, Json]:
    return {
        "framework": errors.framework,
        "families": errors.families,
        "rows": len(errors.summary.rows),
        "constants": list(errors.constants),
        "median_abs": plain(errors.summary.median_abs),
        "mean_signed": plain(errors.summary.mean),
        "held_out_median_abs": plain(errors.summary.held_out.median_abs),
        "held_out_mean_signed": plain(errors.summary.held_out.mean),
        "judged": plain(errors.judged),
    }


def _bar(result: BarResult) -> dict[str, Json]:
    return {
        "name": result.name,
        "statistic": result.statistic,
        "rows": result.rows,
        "in_sample": result.in_sample,
        "value": plain(result.value),
        "least": plain(result.least),
        "most": plain(result.most),
        "verdict": result.verdict,
    }


def _row(row: Microbenchmark) -> dict[str, Json]:
    return {
        "id": row.id,
        "what": row.what,
        "category": row.category,
        "chip": row.chip,
        "shape": dict(row.shape),
        "precision": row.precision,
        "measured": row.value,
        "unit": row.unit,
        "note": row.note,
        "source": row.source,
        "locator": row.locator,
    }
