"""Every claim held against what podsim says: numbers and a stated tolerance decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.calibrate.claims.evaluate import EVALUATORS
from podsim.errors import PodsimError
from podsim.model.claims import ClaimAnswer, ClaimsReport, PartAnswer, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.calibrate.claims.evaluate import Found
    from podsim.calibrate.claims.world import World
    from podsim.model.claims import Claim, ClaimPart

EXACT: Final = 1e-9


def report(
    claims: Sequence[Claim], world: World, on_progress: Callable[[int, int], None] | None = None
) -> ClaimsReport:
    """An answer to every claim, in their order."""
    answers = []
    for done, claim in enumerate(claims, 1):
        answers.append(ClaimAnswer(claim=claim, parts=tuple(_part(claim, part, world) for part in claim.parts)))
        if on_progress:
            on_progress(done, len(claims))
    return ClaimsReport(answers=tuple(answers))


def _part(claim: Claim, part: ClaimPart, world: World) -> PartAnswer:
    try:
        found = EVALUATORS[claim.metric](claim, part, world)
    except PodsimError as no:  # what the catalogue does not know yet, or what does not fit
        return PartAnswer(part=part, podsim=None, error=None, verdict=Verdict.CANNOT, why=no.message)
    if part.claimed is None or found.compared is None:
        why = "; ".join(text for text in ("answered", found.basis) if text)
        return PartAnswer(part=part, podsim=found.value, error=None, verdict=Verdict.ANSWERED, why=why)
    if claim.estimated:
        why = "; ".join(text for text in (f"answered, not judged: {claim.estimated}", found.basis) if text)
        return PartAnswer(part=part, podsim=found.value, error=None, verdict=Verdict.ANSWERED, why=why)
    error = found.compared(found.value) / found.compared(part.claimed) - 1
    agrees = abs(error) <= claim.tolerance + EXACT
    return PartAnswer(
        part=part, podsim=found.value, error=error, worth=found.worth,
        verdict=Verdict.AGREES if agrees and not found.conflict else Verdict.DISAGREES,
        why=_why(claim, part, found, error, agrees=agrees), conflict=found.conflict, remark=found.remark,
    )  # fmt: skip


def _why(claim: Claim, part: ClaimPart, found: Found, error: float, *, agrees: bool) -> str:
    off = f"{100 * error:+.1f} %".replace("-", "−")
    within = f"{off}, {'within' if agrees else 'beyond'} {100 * claim.tolerance:g} %" if claim.tolerance else off
    basis = f"; {found.basis}" if found.basis else ""
    return f"{part.label}: {within}{basis}"
