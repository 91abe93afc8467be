"""Every claim compared with what podsim says: numbers and a stated tolerance decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.calibration.claims.claim_metrics import EVALUATORS
from podsim.errors import PodsimError
from podsim.model.claims import ClaimAnswer, ClaimsReport, PartAnswer, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.calibration.claims.claim_metrics import ClaimValue
    from podsim.calibration.claims.environment import Environment
    from podsim.model.claims import Claim, ClaimPart

EXACT: Final = 1e-9


def report(
    claims: Sequence[Claim], environment: Environment, on_progress: Callable[[int, int], None] | None = None
) -> ClaimsReport:
    """An answer to every claim, in their order."""
    answers = []
    for number, claim in enumerate(claims, 1):
        answers.append(ClaimAnswer(claim=claim, parts=tuple(_part(claim, part, environment) for part in claim.parts)))
        if on_progress:
            on_progress(number, len(claims))
    return ClaimsReport(answers=tuple(answers))


def _part(claim: Claim, part: ClaimPart, environment: Environment) -> PartAnswer:
    try:
        claim_value = EVALUATORS[claim.metric](claim, part, environment)
    except PodsimError as no:  # what the catalogue does not know yet, or what does not fit
        return PartAnswer(part=part, podsim=None, error=None, verdict=Verdict.CANNOT, why=no.message)
    if part.claimed is None or claim_value.compared is None:
        why = "; ".join(text for text in ("answered", claim_value.basis) if text)
        return PartAnswer(part=part, podsim=claim_value.value, error=None, verdict=Verdict.ANSWERED, why=why)
    if claim.estimated:
        why = "; ".join(text for text in (f"answered, not judged: {claim.estimated}", claim_value.basis) if text)
        return PartAnswer(part=part, podsim=claim_value.value, error=None, verdict=Verdict.ANSWERED, why=why)
    error = claim_value.compared(claim_value.value) / claim_value.compared(part.claimed) - 1
    agrees = abs(error) <= claim.tolerance + EXACT
    return PartAnswer(
        part=part,
        podsim=claim_value.value,
        error=error,
        worth=claim_value.worth,
        verdict=Verdict.AGREES if agrees and not claim_value.conflict else Verdict.DISAGREES,
        why=_why(claim, part, claim_value, error, agrees=agrees),
        conflict=claim_value.conflict,
        remark=claim_value.remark,
    )


def _why(claim: Claim, part: ClaimPart, claim_value: ClaimValue, error: float, *, agrees: bool) -> str:
    off = f"{100 * error:+.1f} %".replace("-", "−")
    within = f"{off}, {'within' if agrees else 'beyond'} {100 * claim.tolerance:g} %" if claim.tolerance else off
    basis = f"; {claim_value.basis}" if claim_value.basis else ""
    return f"{part.label}: {within}{basis}"
