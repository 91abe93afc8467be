"""Quantities with units: what is accepted can be written and read back as the same number."""

import math

from fuzz.choices import Choices
from fuzz.judge import ACCEPTED, REFUSED, Violation

from podsim import units

NUMBERS = (
    "1",
    "0",
    "1.5",
    ".5",
    "100",
    "1,000",
    "1_000",
    "1e3",
    "1E-3",
    "-1",
    "+2",
    "1e308",
    "1e-308",
    "9" * 400,
    "inf",
    "nan",
    "-inf",
    "\u0661",
    "²",
    "1.",
    "1,00",
    "0x1",
    "1e",
    "",
    "1 000",
    "1e400",
    "12,345.678",
)
SPACES = ("", " ", " ", "  ", "\t", "\u00a0", "\n", "\u202e")
KNOWN = ("s", "Hz", "B", "B/s", "FLOP/s", "W", "bit/s")
SPELLED = tuple(
    prefix + base
    for base in (*units.BASES, *units.FIXED_UNITS, "bps", "b/s", "Bps", "", "x", "%", "S")
    for prefix in ("", "k", "M", "G", "T", "Ki", "m", "u", "µ", "n", "E")
)


def one_input(data: bytes) -> str:
    """One text read as each unit that fields have."""
    draw = Choices(data)
    if draw.chance(60):
        text = draw.of(NUMBERS[:9]) + draw.of(SPACES[:3]) + draw.of(("k", "M", "", "G", "m", "u")) + draw.of(KNOWN)
    else:
        text = draw.of(SPACES[:3]) + draw.of(NUMBERS) + draw.of(SPACES) + draw.of(SPELLED) + draw.of(("", "", "", "x"))
    accepted = False
    for unit in units.WHAT:
        try:
            value = units.parse(text, unit)
        except ValueError as error:
            if not str(error):
                raise Violation(f"{text!r} is refused without a word") from None
            continue
        accepted = True
        if not math.isfinite(value) or units.parse(units.spell(value, unit), unit) != value:
            raise Violation(f"{text!r} is {value!r} {unit}, which is not read back")
    for read in (units.whole, units.decimal):
        result = read(text)
        if result is not None and not math.isfinite(result):
            raise Violation(f"{text!r} is {result}")
    return ACCEPTED if accepted else REFUSED
