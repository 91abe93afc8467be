"""What floating point leaves of a difference that is zero, told apart from a small part."""

from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)

RESIDUE: Final = 1e-9
"""Share of a whole below which a part is rounding: sums of thousands of terms err by some 1e-13 of it, and no mechanism
that podsim models takes so little of a step."""


def clean(part: float, whole: float) -> float:
    """A part, exactly 0 where it is rounding beside the whole."""
    return part if abs(part) > RESIDUE * abs(whole) else 0.0


def clean_residue(parts: Mapping[Key, float], whole: float) -> dict[Key, float]:
    """Parts of a whole, those that are rounding exactly 0; together they miss the whole by no more than before."""
    return {key: clean(part, whole) for key, part in parts.items()}
