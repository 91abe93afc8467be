"""Compile times as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.calibration.start_times import StartFit


def report(fit: StartFit) -> str:
    """`podsim calibrate --compile-times --json`; errors of times are fractions."""
    return text(
        "compile_times",
        {
            "times": plain(fit.times),
            "form": fit.form,
            "scatter": plain(fit.scatter),
            "families": plain(fit.by_family),
            "networks": plain(fit.by_network),
            "left_out": [{"row": row, "reason": reason} for row, reason in fit.left_out],
            "path": fit.path,
        },
    )
