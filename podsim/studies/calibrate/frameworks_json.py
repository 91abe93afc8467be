"""Constants of frameworks as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.calibration.frameworks import FrameworkFit


def report(fit: FrameworkFit) -> str:
    """`podsim calibrate --frameworks --json`; errors of rates are fractions."""
    return text(
        "frameworks",
        {
            "costs": plain(fit.costs),
            "groups": plain(fit.groups),
            "frameworks": {str(name): plain(errors) for name, errors in fit.by_framework.items()},
            "path": fit.path,
        },
    )
