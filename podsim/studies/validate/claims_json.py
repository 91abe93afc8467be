"""Claims and their verdicts as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.claims import Verdict, Worth
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.claims import ClaimAnswer, ClaimsReport
    from podsim.report.digits import Json


def claims(report: ClaimsReport) -> str:
    """`podsim validate --claims --json`, schema podsim.claims-report/1; errors are fractions."""
    return text(
        "claims-report",
        {
            "claims": [_claim(answer) for answer in report.answers],
            "count": {verdict.value: report.count(verdict) for verdict in Verdict},
            "count_by_worth": {
                worth.value: {
                    verdict.value: report.count(verdict, worth) for verdict in (Verdict.AGREES, Verdict.DISAGREES)
                }
                for worth in Worth
            },
        },
    )


def _claim(answer: ClaimAnswer) -> dict[str, Json]:
    """One claim; `claimed`, `podsim` and `error` are those of the number that decides, `parts` has them all."""
    claim, deciding = answer.claim, answer.deciding
    return {
        "id": claim.id,
        "claim": claim.claim,
        "source": claim.source,
        "metric": claim.metric.value,
        "claimed": plain(deciding.part.claimed),
        "podsim": plain(deciding.podsim),
        "unit": claim.unit,
        "error": plain(deciding.error),
        "tolerance": claim.tolerance,
        "verdict": answer.verdict.value,
        "worth": answer.worth.value if answer.worth else None,
        "reason": answer.reason,
        "note": claim.note,
        "estimated": claim.estimated,
        "parts": [
            {
                "about": part.part.label,
                "claimed": plain(part.part.claimed),
                "podsim": plain(part.podsim),
                "error": plain(part.error),
                "verdict": part.verdict.value,
                "why": part.why,
                "conflict": part.conflict,
                "worth": part.worth.value if part.worth else None,
                "remark": part.remark,
            }
            for part in answer.parts
        ],
    }
