"""The screen of an answer whose study has none of its own: its fields, with the units that their names end in."""

from dataclasses import fields
from typing import Any, Final

from podsim.model.quantity import Estimate
from podsim.report import numbers
from podsim.report.doc import Doc, Fact, Facts, Heading
from podsim.report.views.grades_view import in_words

UNITS: Final = {"_per_s": "/s", "_bytes": "B", "_usd": "USD", "_w": "W", "_j": "J", "_s": "s"}
"""Endings of the names of fields, and the unit of their numbers; the longest that fits counts."""

COUNT_UNITS: Final = {"flop": "FLOP", "bytes": "B"}
"""How what a rate counts is written, where not as in the name of its field."""


def document(answer: Any, *, verbose: bool = False) -> Doc:  # noqa: ANN401  (any dataclass)
    """A fact for each field that is a number or a text; `verbose` lists the others too, by how many they have."""
    rows = [row for field in fields(answer) if (row := _fact(field.name, getattr(answer, field.name), verbose=verbose))]
    return Doc(((Heading(type(answer).__name__),), (Facts(tuple(rows)),)))


def answer(answer: Any) -> str:  # noqa: ANN401  (any dataclass)
    """The first number of the answer that has a unit, else the first, with its name."""
    rows = [
        row
        for field in fields(answer)
        if isinstance(getattr(answer, field.name), int | float | Estimate)
        and (row := _fact(field.name, getattr(answer, field.name), verbose=False))
    ]
    row = next((row for row in rows if row.unit), rows[0] if rows else None)
    return f"{row.label} {row.number} {row.unit}".rstrip() if row else type(answer).__name__


def _fact(name: str, value: object, *, verbose: bool) -> Fact | None:
    if isinstance(value, Estimate):
        low, high = (_number(name, end)[0] for end in (value.low, value.high))
        return Fact(_label(name), *_number(name, value.value), f"90 %: {low} – {high}", in_words(value.grade))
    if isinstance(value, bool) or value is None:
        return Fact(_label(name), {True: "yes", False: "no", None: "none"}[value])
    if isinstance(value, int | float):
        return Fact(_label(name), *_number(name, value))
    if isinstance(value, str):
        return Fact(_label(name), value)
    if verbose and isinstance(value, tuple | dict):
        return Fact(_label(name), f"{len(value):,}", "entries")
    return None


def _unit(name: str) -> str:
    return next((ending for ending in UNITS if name.endswith(ending)), "")


def _label(name: str) -> str:
    """The words of a field without its unit; of a rate without what is counted, where more is said of it."""
    words = name.removesuffix(_unit(name)).split("_")
    return " ".join(words[:-1] if _unit(name) == "_per_s" and len(words) > 1 else words)


def _number(name: str, value: float) -> tuple[str, str]:
    """A number and its unit as a table shows them."""
    ending = _unit(name)
    if ending == "_s":
        return numbers.split_unit(numbers.time(value))
    if ending == "_bytes":
        return numbers.split_unit(numbers.amount(value))
    if ending == "_per_s":
        item_name = name.removesuffix(ending).split("_")[-1]
        return numbers.split_unit(numbers.rate(value, f"{COUNT_UNITS.get(item_name, item_name)}/s"))
    return (f"{value:,}" if isinstance(value, int) else numbers.count(value)), UNITS.get(ending, "")
