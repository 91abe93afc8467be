"""Published results beside predictions as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.published import Sample, Stated
from podsim.model.published_bars import bars
from podsim.report.json_text import plain, text
from podsim.report.views.published import MODES, asked

if TYPE_CHECKING:
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.published import FrameworkErrors, Group, LeftOutRow, PublishedReport, ReadRow, Summary
    from podsim.model.published_bars import BarResult
    from podsim.model.readings import Option, RowReading
    from podsim.report.digits import Json


def published(report: PublishedReport) -> str:
    """`podsim validate --published --json`, schema podsim.published/1; errors are fractions."""
    return text("published", {
        "rows": [*(_compared(one) for one in report.compared), *(_left_out(one) for one in report.left_out)],
        "families": [_group(one) for one in report.groups],
        "summary": {**{name: _summary(one) for name, one in report.summaries.items()},
                    "all": _summary(report.all_rows), "left_out": {"count": len(report.left_out)}},
        "frameworks": [_framework(one) for one in report.frameworks],
        "outdated": list(report.outdated),
        "bars": [_bar(one) for one in bars(report)],
    })  # fmt: skip


def _compared(one: ReadRow) -> dict[str, Json]:
    """A row at its stated choice, and every other reading of it."""
    return {
        **_row(one.row), "family": one.family, "framework": one.framework, "mode": MODES[one.mode],
        "configuration": one.stated.value, "predicted": plain(one.predicted),
        "low_90": plain(one.low_90) if one.has_interval else None,
        "high_90": plain(one.high_90) if one.has_interval else None,
        "error": plain(one.error), "inside": one.inside if one.has_interval else None, "reason": "",
        "sample": one.sample.value, "fitted": list(one.fit.constants), "reference": list(one.fit.reference),
        "error_held_out": None if math.isnan(one.fit.held_out) else plain(one.fit.held_out),
        "asked": _asked(one.reading), "chips": _chips(one),
        "least": plain(one.low), "most": plain(one.high), "in_range": one.in_range,
        "determined": one.determined, "choices": [_option(option) for option in one.options],
        "others": [
            {"choices": [_option(option) for option in other.options], "asked": _asked(other.reading),
             "predicted": None if other.refused else plain(other.predicted), "refused": other.refused}
            for other in one.others
        ],
        "assumed": list(one.reading.assumed), "why": one.reading.why, "conflict": one.conflict,
    }  # fmt: skip


def _left_out(one: LeftOutRow) -> dict[str, Json]:
    """A row without a prediction: the same keys as far as they have a value."""
    return {
        **_row(one.row), "family": one.family, "framework": one.framework, "mode": one.mode, "configuration": "",
        "predicted": None, "low_90": None, "high_90": None, "error": None, "inside": None, "reason": one.reason,
        "sample": None, "fitted": [], "reference": [], "error_held_out": None,
        "refused": one.refused,
    }  # fmt: skip


def _chips(one: ReadRow) -> Json:
    """The row on every chip it could be on, where none is stated."""
    return [_chip(each) for each in one.each_chip] if one.stated is Stated.NO_CHIP else []


def _chip(one: ReadRow) -> dict[str, Json]:
    """What a row of unknown chip would be on one that it could be."""
    machine = next(option.name for option in one.options if option.machine)
    return {"chip": machine, "predicted": plain(one.predicted), "low_90": plain(one.low_90),
            "high_90": plain(one.high_90), "error": plain(one.error), "inside": one.inside}  # fmt: skip


def _asked(reading: RowReading) -> str:
    return asked(reading) if reading.workload or reading.operator else ""


def _option(option: Option) -> dict[str, Json]:
    return {"name": option.name, "reason": option.reason}


def _group(one: Group) -> dict[str, Json]:
    return {
        "family": one.family, "framework": one.framework, "mode": MODES[one.mode], "configuration": one.stated.value,
        **_summary(one.summary),
    }  # fmt: skip


def _summary(found: Summary) -> dict[str, Json]:
    """`inside_90` counts rows inside their interval, `with_interval` those that have one."""
    return {
        "count": len(found.rows), "median_abs": plain(found.median_abs), "mean_signed": plain(found.mean),
        "worst": plain(found.worst), "share_near": plain(found.share_near), "inside_90": found.inside,
        "with_interval": found.with_interval,
        "samples": {kind.value: found.samples.get(kind, 0) for kind in Sample},
        "held_out": {"count": len(found.held_out.errors), "median_abs": plain(found.held_out.median_abs),
                     "mean_signed": plain(found.held_out.mean)},
    }  # fmt: skip


def _framework(one: FrameworkErrors) -> dict[str, Json]:
    return {
        "framework": one.framework, "families": one.families, "rows": len(one.summary.rows),
        "constants": list(one.constants), "median_abs": plain(one.summary.median_abs),
        "mean_signed": plain(one.summary.mean), "held_out_median_abs": plain(one.summary.held_out.median_abs),
        "held_out_mean_signed": plain(one.summary.held_out.mean), "judged": plain(one.judged),
    }  # fmt: skip


def _bar(one: BarResult) -> dict[str, Json]:
    return {
        "name": one.name, "statistic": one.statistic, "rows": one.rows, "in_sample": one.in_sample,
        "value": plain(one.value), "least": plain(one.least), "most": plain(one.most), "verdict": one.verdict,
    }  # fmt: skip


def _row(row: Microbenchmark) -> dict[str, Json]:
    return {
        "id": row.id, "what": row.what, "category": row.category, "chip": row.chip, "shape": dict(row.shape),
        "precision": row.precision, "measured": row.value, "unit": row.unit, "note": row.note, "source": row.source,
        "locator": row.locator,
    }  # fmt: skip
