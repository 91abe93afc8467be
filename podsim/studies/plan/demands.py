"""Demands of flags in SI units; what contradicts is refused."""

from dataclasses import replace
from typing import Final

from podsim.errors import InputError
from podsim.model.arguments import BUDGET, MAX_POWER, WITHIN
from podsim.model.currency import DOLLARS, Currency
from podsim.model.wall_clock import ProgramStart
from podsim.studies.plan.result import Deadline, Demand, Objective

USUAL_CONFIDENCE: Final = 0.9


def demand(
    *,
    within: str | None = None,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: str | None = None,
    currency: Currency = DOLLARS,
    deadline: str | None = None,
    program: str = ProgramStart.FRESH,
) -> Demand:
    """What flags demand, a budget in `currency`; InputError for a confidence or a deadline without a time."""
    for flag, value in (("confidence", confidence), ("deadline", deadline)):
        if value is not None and within is None:
            raise InputError(
                f"--{flag} is that of a time, and none is demanded",
                code="conflicting-flags",
                hint=f"--within 5min --{flag} {value}, or leave out --{flag}",
            )
    limits = Demand(
        within_s=WITHIN.given_si(within),
        budget_usd=usd(budget, currency),
        most_power_w=MAX_POWER.given_si(max_power),
        confidence=sure(confidence),
        deadline=Deadline(deadline or Deadline.TRAINING),
        program=ProgramStart(program),
    )
    return replace(limits, objective=usual_objective(limits) if objective is None else Objective(objective))


def usual_objective(limits: Demand) -> Objective:
    """What is least where no flag says: what is not limited (docs/decisions/032-objectives.md)."""
    if limits.within_s is not None:
        return Objective.CAPITAL
    return Objective.TIME if limits.is_limited else Objective.PRICE_PERFORMANCE


def usd(budget: str | float | None, currency: Currency) -> float | None:
    """A budget in US dollars: one that names them is not in the currency of the other flags [USD]."""
    amount = BUDGET.given_si(budget)
    if amount is None or (isinstance(budget, str) and ("$" in budget or "USD" in budget)):
        return amount
    return currency.usd(amount)


def sure(confidence: float | None) -> float:
    """A confidence as stated, or the usual."""
    return USUAL_CONFIDENCE if confidence is None else confidence
