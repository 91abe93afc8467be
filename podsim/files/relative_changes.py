"""Changes relative to the value of a file: "2x", "+20%", "-10%"."""

import re
from collections.abc import Hashable, Mapping
from typing import Any, Final, cast

from podsim.files.keys import entries
from podsim.files.locate import Path
from podsim.units import factor, split_unit

DIGITS: Final = 12
"""Significant digits of a product: 1.2 times 1.325 is 1.59."""
BARE: Final = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
"""A number and nothing else."""


def absolute(text: str, old: object, unit: str = "") -> str:
    """The value that a change means, in the unit of the old one; a text that is no factor as it is.

    `old` is a text with its unit as a file has it, or a number in `unit`. Raises ValueError where there is none to
    multiply, a factor that leaves nothing, or a number without the unit that the old one has.
    """
    ratio = factor(text)
    if ratio is None:
        own = _number(old, "")[1] if unit == "s" else ""  # a year and a microsecond are far apart
        if own and BARE.fullmatch(text.strip()):
            raise ValueError(f'"{text}" needs a unit; write for example "{text.strip()} {own}"')
        return text
    if ratio <= 0:
        raise ValueError("a relative change has to leave more than nothing: -50% is half")
    number, own = _number(old, unit)
    if not number:
        state = "the value before is 0" if number == 0 else "there is no number before"
        raise ValueError(f"a relative change multiplies, and {state}: write the value itself")
    value = f"{number * ratio:.{DIGITS}g}"
    whole = isinstance(old, int) and float(value).is_integer()
    return str(int(float(value))) if whole else f"{value} {own}".rstrip()


def _number(old: object, unit: str) -> tuple[float | None, str]:
    """A stated number and its unit; None for what is no number."""
    if isinstance(old, str):
        try:
            return split_unit(old)
        except ValueError:
            return None, ""
    return (float(old), unit) if isinstance(old, int | float) and not isinstance(old, bool) else (None, "")


def current_value(tables: Any, value: Any, path: Path) -> object:
    """What stands at a path: as the file has it, else the default of what was read, None where there is neither."""
    for part in path:
        here = tables.get(part) if isinstance(tables, Mapping) else tables[part] if tables else None
        tables, value = here, _member(value, part)
    return value if tables is None else tables


def _member(value: Any, part: str | int) -> Any:
    """A field, a key or an item of what was read; None where it has none."""
    if value is None or isinstance(part, int):
        return None if value is None else value[part]
    if isinstance(value, Mapping):
        return value.get(part)
    entry = entries(cast("Hashable", type(value))).get(part)
    return getattr(value, entry.name) if entry else None


def note(text: str, old: object) -> str:
    """A note on how a changed number was computed."""
    if factor(text) is not None:
        return f"given with --set: {text} of {old}"
    return "given with --set" if old is None else f"given with --set, was {number_text(old)}"


def number_text(old: object) -> str:
    """A number or a truth value of a file as a note names it, which is as the file has it."""
    if isinstance(old, bool):
        return str(old).lower()
    return f"{old:g}" if isinstance(old, float) else str(old)
