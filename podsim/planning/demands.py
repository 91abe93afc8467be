"""Demands as texts of flags: times and powers with units, budgets with k and M; what contradicts is refused."""

import math
import re
from typing import Final

from podsim.errors import InputError
from podsim.files.failures import time_s
from podsim.model.plan import Demand, Objective
from podsim.planning.asking import one_of
from podsim.units import parse

LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.99  # beyond, 400 simulated scores say nothing
USUAL_CONFIDENCE: Final = 0.9
_DOLLARS: Final = re.compile(r"\$?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([kKM]?)\s*(?:USD)?", re.ASCII)
_THOUSANDS: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}


def demand(
    *,
    within: str | None = None,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: str = "cost",
) -> Demand:
    """What flags demand; InputError for what is no quantity, none at all, or says nothing beside the others."""
    chosen = one_of("objective", objective, tuple(Objective))
    if confidence is not None and within is None:
        raise InputError("--confidence is that of a time, and none is demanded", code="conflicting-flags",
                         hint="--within 5min --confidence 0.9, or leave out --confidence")  # fmt: skip
    return Demand(
        within_s=time_s("within", within), budget_usd=None if budget is None else dollars("budget", str(budget)),
        most_power_w=_power_w(max_power), confidence=sure(confidence), objective=Objective(chosen),
    )  # fmt: skip


def sure(confidence: float | None) -> float:
    """A confidence as asked, or the usual; InputError where simulated scores have none such."""
    if confidence is None:
        return USUAL_CONFIDENCE
    if not LEAST_CONFIDENCE <= confidence <= MOST_CONFIDENCE:
        raise InputError(
            f"confidence is from {LEAST_CONFIDENCE:g} to {MOST_CONFIDENCE:g}, not {confidence:g}", code="bad-value",
            hint="--confidence 0.9; 400 scores behind it say nothing of rarer ends",
        )  # fmt: skip
    return confidence


def dollars(name: str, text: str) -> float:
    """US dollars of a text such as "3M", "250k" or "149,000"; InputError for any other [USD]."""
    match = _DOLLARS.fullmatch(text.strip())
    value = float(match[1].replace(",", "")) * _THOUSANDS[match[2]] if match else math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(f'--{name} wants US dollars above 0, not "{text}"', code="bad-value",
                         hint=f"--{name} 3M, 250k or 149000")  # fmt: skip
    return value


def _power_w(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        watts = parse(text, "W")
    except ValueError as error:
        raise InputError(f"--max-power: {error}", code="bad-value", hint="--max-power 100kW") from None
    if watts <= 0:
        raise InputError(f"--max-power must be above 0, not {text}", code="bad-value", hint="--max-power 100kW")
    return watts
