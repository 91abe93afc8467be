"""Limits that an answer must keep with a stated chance: "time_to_train<5min@0.9", as a pipeline states them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podsim.errors import InputError
from podsim.units import count, dollars, duration, parse, share

DEFAULT_CHANCE: Final = 0.9
LEAST_CHANCE, MOST_CHANCE = 0.5, 0.99
EXAMPLE: Final = "time_to_train<5min@0.9"
SERVING_EXAMPLE: Final = "p99<5ms"
_FORM: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*(<=|>=|<|>)\s*([^<>=@]+?)\s*(?:@\s*([^<>=@]+?)\s*)?")
_WATT_HOURS: Final = re.compile(r"(.*[0-9\s][kMG]?W)h", re.DOTALL)
_A_SECOND: Final = re.compile(r"(.+?)\s*(?:samples|tokens|requests)?\s*/\s*s", re.DOTALL)
HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A quantity that has to be below a limit, or above it, with a chance of at least so much.

    `limit` is in the SI unit of the quantity [s, W, J, 1/s, USD]; `chance` is None where the quantity has no interval.
    """

    text: str
    quantity: str
    is_ceiling: bool
    limit: float
    chance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementCheck:
    """Whether a requirement is met.

    `chance` is that of keeping the limit, `at_chance` the value that is kept with the chance required, in the unit of
    the limit, and `nearest` the strictest requirement of three digits that would be met; None and "" where the quantity
    is not known, and `reason` says why. A quantity without an interval has no chance, and `at_chance` is its value.
    """

    requirement: str
    quantity: str
    limit: float
    required_chance: float | None
    is_met: bool
    chance: float | None = None
    at_chance: float | None = None
    nearest: str = ""
    reason: str = ""


OF_TOKENS: Final = ("ttft", "tpot")
"""Quantities of an answer whose tokens are generated one after the other."""
LATENCIES: Final = ("mean", "p50", "p99", *OF_TOKENS)
WITHOUT_INTERVAL: Final = ("power", *LATENCIES)
"""Quantities of which one number is known, and no chance."""
ECONOMIC_QUANTITIES: Final = ("cost", "energy", "power")
"""Quantities that need what the machine costs and draws."""


def _energy_j(text: str) -> float:
    watt_hours = _WATT_HOURS.fullmatch(text)
    return parse(watt_hours[1], "W") * HOUR_S if watt_hours else parse(text, "J")


def _per_second(text: str) -> float:
    rate = _A_SECOND.fullmatch(text)
    return count(rate[1] if rate else text)


READERS: Final[Mapping[str, Callable[[str], float]]] = {
    "time_to_train": duration,
    "step": lambda text: parse(text, "s"),
    "throughput": _per_second,
    "tokens_per_s": _per_second,
    "cost": dollars,
    "energy": _energy_j,
    "power": lambda text: parse(text, "W"),
}
"""How the limit of each quantity is read."""
SERVING_QUANTITIES: Final[Mapping[str, Callable[[str], float]]] = {
    "rate": _per_second,
    **dict.fromkeys(LATENCIES, lambda text: parse(text, "s")),
}
"""The same of a workload that is served."""


def requirement(text: str, readers: Mapping[str, Callable[[str], float]] = READERS) -> Requirement:
    """The requirement of a text such as "time_to_train<5min@0.9"; the chance is 0.9 where none is stated.

    `readers` has the quantities that the answer has, with what reads their limits. ValueError for any other text.
    """
    parts = _FORM.fullmatch(text)
    if parts is None:
        raise ValueError(
            f'"{text}" is not QUANTITY<LIMIT@CHANCE or QUANTITY>LIMIT@CHANCE; write for example "{_example(readers)}"'
        )
    name, comparison, limit, chance_text = parts[1].lower().replace("-", "_"), parts[2], parts[3], parts[4]
    if name not in readers:
        raise ValueError(f'"{parts[1]}" is no quantity of this answer; they are {", ".join(readers)}')
    value = readers[name](limit)
    if not value > 0:
        raise ValueError(f'"{text}": the limit must be above 0')
    chance = _chance(name, chance_text, text)
    return Requirement(
        text=f"{name}{comparison}{limit}{at(chance)}",
        quantity=name,
        is_ceiling=comparison.startswith("<"),
        limit=value,
        chance=chance,
    )


def _example(readers: Mapping[str, Callable[[str], float]]) -> str:
    """A requirement on quantities of that kind of answer."""
    return SERVING_EXAMPLE if readers is SERVING_QUANTITIES else EXAMPLE


def at(chance: float | None) -> str:
    """The end of a requirement that states its chance."""
    return "" if chance is None else f"@{chance:g}"


def _chance(name: str, chance_text: str | None, text: str) -> float | None:
    """The chance of a requirement; ValueError out of range, and for a quantity that has none."""
    if name in WITHOUT_INTERVAL:
        if chance_text is not None:
            raise ValueError(f'"{text}": {name} has no interval, so no chance is known; leave out @{chance_text}')
        return None
    chance = DEFAULT_CHANCE if chance_text is None else share(chance_text)
    if not LEAST_CHANCE <= chance <= MOST_CHANCE:
        raise ValueError(f'"{text}": the chance must be from {LEAST_CHANCE:g} to {MOST_CHANCE:g}, not {chance_text}')
    return chance


def read(require: Sequence[str], readers: Mapping[str, Callable[[str], float]] = READERS) -> tuple[Requirement, ...]:
    """The requirements of texts on those quantities; InputError with all that cannot be read."""
    requirements, faults = [], []
    for text in require:
        try:
            requirements.append(requirement(text, readers))
        except ValueError as error:
            faults.append(str(error))
    if faults:
        hint = f'--require "{_example(readers)}"'
        raise InputError("--require cannot be read", code="bad-value", context=faults, hint=hint)
    return tuple(requirements)


def needs_money(require: Sequence[str]) -> bool:
    """Whether a requirement is about cost, energy or power; InputError as `read`."""
    return any(each.quantity in ECONOMIC_QUANTITIES for each in read(require))
