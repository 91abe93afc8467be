"""Errors of what was left out of a fit, as JSON."""

from podsim.model.validation import HeldIntervals, HoldOuts
from podsim.report.digits import Json
from podsim.report.json_text import plain, text


def hold_outs(report: HoldOuts) -> str:
    """`podsim validate --hold-outs --json`, schema podsim.hold-outs/1; errors are fractions."""
    names = ("count", "mean_abs", "mean_signed", "worst")
    return text("hold-outs", {
        "hold_outs": {
            by: {quantity: {name: plain(getattr(one, name)) for name in names} for quantity, one in found.items()}
            for by, found in report.hold_outs.items()
        },
        "forms": plain(report.forms),
        "intervals": {
            by: {quantity: _interval(one) for quantity, one in found.items()} for by, found in report.intervals.items()
        },
    })  # fmt: skip


def _interval(found: HeldIntervals) -> dict[str, Json]:
    """How many 90 % intervals hold what was measured; widths are high over low."""
    widths = {"median_width": plain(found.median_width), "widest": plain(found.widest)}
    return {"count": found.count, "held": found.held, "share": plain(found.share), **widths}
