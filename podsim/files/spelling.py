"""Flags in one spelling, so that two command lines that ask the same are seen to."""

from collections.abc import Mapping
from typing import Any, Final

from podsim import units
from podsim.errors import InputError
from podsim.model import arguments as a
from podsim.model.argument import Argument
from podsim.model.fault import FaultyPart
from podsim.topology import fault_text

DIGITS: Final = 12
"""Significant digits of a number: 0.1 ms and 100 us differ in the seventeenth."""
AMOUNTS: Final[Mapping[str, Argument]] = {
    argument.name: argument
    for argument in (
        *(a.WITHIN, a.BUDGET, a.MAX_POWER, a.WORK, a.CHECKPOINT_EVERY),
        *(a.RATE, a.WAIT, a.BYTES, a.STREAM, a.STREAM_RATE),
    )
}
"""Flags that are a number with a unit, by name."""
COUNTS: Final = {
    f"{prefix}{per}": size / seconds
    for prefix, size in {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}.items()
    for per, seconds in {"": 1.0, "/s": 1.0, "/min": 60.0, "/h": 3600.0}.items()
}
"""What follows a number without a unit, US dollars and a rate of requests."""


def canonical(flags: Mapping[str, Any]) -> dict[str, Any]:
    """The flags of a command in one spelling: quantities in SI units, repeated flags in order.

    `flags` are in the types of JSON. What cannot be read stays as it was typed.
    """
    return {name: _canonical(name, value) for name, value in flags.items()}


def _canonical(name: str, value: Any) -> Any:
    """A saved answer may hold anything, so only texts are read."""
    if isinstance(value, float):
        return float(_number(value))
    if isinstance(value, list):
        texts = name in _EACH and all(isinstance(item, str) for item in value)
        return sorted(map(_EACH[name], value)) if texts else value
    return _amount(AMOUNTS[name], value) if name in AMOUNTS and isinstance(value, str) else value


def _amount(argument: Argument, text: str) -> str:
    """A quantity in SI units, where its argument takes it: "5m" of a time to plan with is 300 s."""
    try:
        return _number(argument.si(text))
    except ValueError:
        return quantity(text)


def quantity(text: str) -> str:
    """A number, with or without its unit, as the number in SI units: "1500 MHz" as "1500000000"; other texts as is."""
    try:
        number, unit = units.split_unit(text)
        return _number(number * COUNTS[unit] if unit in COUNTS else units.si(text))
    except ValueError:
        return text.strip()


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _change(text: str) -> str:
    """PATH=VALUE with its value in SI units."""
    path, _, value = text.partition("=")
    value = value.strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return f"{path.strip()}={quantity(value[1:-1] if is_quoted else value)}"


def _fault(text: str) -> str:
    """KIND:NAME=STATE with its state as a number; a link without a direction has its ends in order."""
    try:
        (fault,) = fault_text.parse([text])
    except InputError:
        return text.strip()
    ends = fault.name.split("-")
    both_ways = fault.part is FaultyPart.LINK and ">" not in fault.name
    return f"{fault.link or fault.part}:{'-'.join(sorted(ends)) if both_ways else fault.name}={_number(fault.rate)}"


def _shape(text: str) -> str:
    """INPUT=SIZES without blanks."""
    return "".join(text.split())


_EACH: Final = {"set": _change, "fault": _fault, "shape": _shape}
