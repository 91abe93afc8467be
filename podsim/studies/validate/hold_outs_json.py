"""Errors of what was left out of a fit, as JSON."""

from podsim.model.validation import HoldOuts
from podsim.report.json_text import plain, text
from podsim.studies.validate.to_json import held_intervals


def hold_outs(report: HoldOuts) -> str:
    """`podsim validate --hold-outs --json`, schema podsim.hold-outs/1; errors are fractions."""
    names = ("count", "mean_abs", "mean_signed", "worst")
    return text(
        "hold-outs",
        {
            "hold_outs": {
                by: {
                    quantity: {name: plain(getattr(summary, name)) for name in names}
                    for quantity, summary in hold_out.items()
                }
                for by, hold_out in report.hold_outs.items()
            },
            "forms": plain(report.forms),
            "intervals": held_intervals(report.intervals),
        },
    )
