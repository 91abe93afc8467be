"""What `--json` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.digits import DRAWN, rounded
from podsim.report.json_text import fields_of, plain, text
from podsim.studies.calibrate import own_verdict

if TYPE_CHECKING:  # an answer of one kind does not load the types of the others
    from podsim.model.noise import NoiseFit
    from podsim.model.own_logs import OwnLogsReport
    from podsim.model.validation import FitReport


def noise_fit(fit: NoiseFit) -> str:
    """`podsim calibrate --noise --json`, schema podsim.noise-fit/1."""
    return text("noise-fit", {name: rounded(value, DRAWN) for name, value in fields_of(fit).items()})


def fit(report: FitReport) -> str:
    """`podsim calibrate --json`, schema podsim.fit/1."""
    body = plain(report)
    return text("fit", body if isinstance(body, dict) else {})


def own_logs(report: OwnLogsReport) -> str:
    """`podsim calibrate --logs --json`, schema podsim.own-logs/1; errors are fractions.

    `warnings` has what speaks against the fit, `measure_next` which runs would tell the causes apart.
    """
    warnings, measure_next = plain(own_verdict.warnings(report)), own_verdict.measure_next(report)
    return text("own-logs", {**fields_of(report), "warnings": warnings, "measure_next": measure_next})
