"""Whether a prediction meets what a pipeline requires of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import MissingParameter
from podsim.model.requirement import (
    DEFAULT_CHANCE,
    ECONOMIC_QUANTITIES,
    HOUR_S,
    LATENCIES,
    Requirement,
    RequirementCheck,
    at,
    read,
)
from podsim.predicting import intervals
from podsim.studies.argument_check import check_arguments

if TYPE_CHECKING:
    from podsim.model.prediction import Prediction
    from podsim.model.quantity import Estimate

OF_RUNS: Final = ("time_to_train", "cost", "energy")
"""Quantities that need the length of a run."""
UNITS: Final = {
    "s": ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    "W": ((1e6, "MW"), (1e3, "kW"), (1.0, "W")),
    "J": ((1e6 * HOUR_S, "MWh"), (1e3 * HOUR_S, "kWh"), (HOUR_S, "Wh")),
    "1/s": ((1.0, "/s"),),
    "USD": ((1.0, ""),),
}
OF_QUANTITY: Final = {
    "time_to_train": "s",
    "step": "s",
    "throughput": "1/s",
    "tokens_per_s": "1/s",
    "cost": "USD",
    "energy": "J",
    "power": "W",
    "rate": "1/s",
    **dict.fromkeys(LATENCIES, "s"),
}
DIGITS: Final = 3


@check_arguments
def gate(answer: Prediction, *, require: Sequence[str]) -> Prediction:
    """Predict a run and check requirements on the answer, such as "cost<3000@0.9".

    Cost, energy and power are those of `podsim.price`. Raises InputError where a requirement cannot be read,
    MissingParameter where the answer does not have the figure that a requirement names.
    """
    return replace(answer, requirements=tuple(_check_requirement(each, answer) for each in read(require)))


def _check_requirement(each: Requirement, answer: Prediction) -> RequirementCheck:
    if each.quantity in OF_RUNS and not answer.has_length:
        raise MissingParameter(f"{each.quantity} needs the length of the run", hint=" or ".join(answer.length_flags))
    if each.quantity in ECONOMIC_QUANTITIES and answer.money is None:
        raise MissingParameter(f"{each.quantity} needs the terms of ownership", hint="podsim.price(answer)")
    if each.quantity == "power":
        return _of_power(each, answer)
    estimate = _estimate(each.quantity, answer)
    if estimate is None:
        return _check(each, reason=f"not known: {_unknown_quantity(each.quantity)}")
    return of_estimate(each, estimate, answer.interval)


def _unknown_quantity(quantity: str) -> str:
    if quantity == "tokens_per_s":
        return "the workload counts no tokens"
    return "the machine has no published price or power (--prices)"


def _estimate(quantity: str, answer: Prediction) -> Estimate | None:
    money = answer.money
    values = {
        "time_to_train": answer.time_to_train_s,
        "step": answer.step_s,
        "throughput": answer.throughput_samples_per_s,
        "tokens_per_s": answer.tokens_per_s,
        "cost": money.run_usd if money else None,
        "energy": money.energy_j if money else None,
    }
    return values[quantity]


def of_estimate(each: Requirement, estimate: Estimate, level: float) -> RequirementCheck:
    """A requirement of a value with a lognormal interval of that level (Eq. 32)."""
    required_chance = DEFAULT_CHANCE if each.chance is None else each.chance
    if each.is_ceiling:
        chance = intervals.chance(estimate, each.limit, level)
        at_chance = intervals.below(estimate, required_chance, level)
    else:
        inverse = replace(estimate, value=1 / estimate.value, low=1 / estimate.high, high=1 / estimate.low)
        chance = intervals.chance(inverse, 1 / each.limit, level)
        at_chance = 1 / intervals.below(inverse, required_chance, level)
    return _check(each, chance=chance, at_chance=at_chance, is_met=chance >= required_chance)


def _of_power(each: Requirement, answer: Prediction) -> RequirementCheck:
    """A requirement of the power in training at the high end of its interval; else of the peak, without an interval."""
    draw = answer.money.owned.draw if answer.money else None
    if draw is None:
        return _check(each, reason="not known: the machine has no published power (--prices)")
    if draw.predicted:
        return of_number(each, draw.most_w, "high end of the power in training")
    return of_number(each, draw.most_w, "" if draw.peak_w is not None else "peak power not published; typical used")


def of_number(each: Requirement, value: float, reason: str = "") -> RequirementCheck:
    """A requirement of a value without an interval, which is kept or not; `reason` is a remark on it."""
    is_met = value < each.limit if each.is_ceiling else value > each.limit
    return _check(each, at_chance=value, is_met=is_met, reason=reason)


def _check(
    each: Requirement,
    *,
    chance: float | None = None,
    at_chance: float | None = None,
    is_met: bool = False,
    reason: str = "",
) -> RequirementCheck:
    comparison = "<" if each.is_ceiling else ">"
    nearest = "" if at_chance is None else f"{each.quantity}{comparison}{_limit(each, at_chance)}{at(each.chance)}"
    return RequirementCheck(
        requirement=each.text,
        quantity=each.quantity,
        limit=each.limit,
        required_chance=each.chance,
        is_met=is_met,
        chance=chance,
        at_chance=at_chance,
        nearest=nearest,
        reason=reason,
    )


def _limit(each: Requirement, value: float) -> str:
    """A limit of three digits that the value keeps, as `--require` takes it."""
    units = UNITS[OF_QUANTITY[each.quantity]]
    factor, unit = next((pair for pair in units if value >= pair[0]), units[-1])
    number = value / factor
    places = DIGITS - 1 - math.floor(math.log10(number))
    step = 10.0**-places
    rounded_limit = (math.floor(number / step) + 1 if each.is_ceiling else math.ceil(number / step) - 1) * step
    return f"{round(rounded_limit, max(places, 0)):.{max(places, 0)}f}{unit}"
