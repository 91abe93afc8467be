"""How many digits of a number are written where programs read them."""

from __future__ import annotations

from typing import Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
KNOWN_DIGITS: Final = 12
"""Significant digits of a number that follows from its inputs; those beyond depend on the processor and libraries."""
SIMULATED_DIGITS: Final = 6
"""Significant digits of a statistic of random draws, whose own error is far larger."""


def round_floats(value: Json, digits: int = KNOWN_DIGITS) -> Json:
    """`value` with every float at so many significant digits and no −0; integers stay exact."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") + 0.0
    if isinstance(value, dict):
        return {key: round_floats(item, digits) for key, item in value.items()}
    return [round_floats(item, digits) for item in value] if isinstance(value, list) else value
