"""Demands of flags in SI units; what contradicts is refused."""

from typing import Final

from podsim.errors import InputError
from podsim.model.arguments import BUDGET, MAX_POWER, WITHIN
from podsim.model.plan import Demand, Objective

USUAL_CONFIDENCE: Final = 0.9


def demand(
    *,
    within: str | None = None,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: str = "cost",
) -> Demand:
    """What flags demand; InputError for a confidence without a time."""
    if confidence is not None and within is None:
        raise InputError(
            "--confidence is that of a time, and none is demanded",
            code="conflicting-flags",
            hint="--within 5min --confidence 0.9, or leave out --confidence",
        )
    return Demand(
        within_s=WITHIN.given_si(within),
        budget_usd=BUDGET.given_si(budget),
        most_power_w=MAX_POWER.given_si(max_power),
        confidence=sure(confidence),
        objective=Objective(objective),
    )


def sure(confidence: float | None) -> float:
    """A confidence as stated, or the usual."""
    return USUAL_CONFIDENCE if confidence is None else confidence
