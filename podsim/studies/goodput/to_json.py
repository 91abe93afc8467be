"""`podsim goodput --json`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.json_text import drawn, plain, text

if TYPE_CHECKING:
    from podsim.model.goodput import GoodputReport


def document(report: GoodputReport) -> str:
    """`podsim goodput --json`, schema podsim.goodput/1; shares are fractions."""
    run, cost = report.run, report.cost
    parts = {each.name: plain(getattr(cost, each.name)) for each in fields(cost)}
    names = ("workload", "topology", "chip", "ipus", "step_s", "interval_s", "searched", "runs", "seed")
    simulated = ("goodput", "finish_s", "failures", "lost")
    return text(
        "goodput",
        {
            **{name: plain(getattr(report, name)) for name in names},
            "work_s": plain(run.work_s),
            **{name: drawn(getattr(report, name)) for name in simulated},
            "time_to_finish_s": drawn(report.time_to_finish_s),
            "predicted_work_s": plain(report.predicted_work_s),
            "checkpoint": {"total_s": plain(cost.total_s), "load_s": plain(cost.load_s), **parts},
            "restart": {
                "detect_s": plain(run.detect_s),
                "init_s": plain(report.init_s),
                "total_s": plain(run.restart_s),
            },
            "spares": run.spares,
            "mean_time_between_failures_s": plain(1 / run.failures_per_s),
            "parts": plain(run.parts),
            "grade": "assumed",
            "tried": drawn(report.tried),
            "assumptions": plain(report.assumptions),
            **({"faults": plain(report.faults)} if report.faults else {}),
        },
    )
