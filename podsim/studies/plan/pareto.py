"""The Pareto-optimal ones of several answers."""

from collections.abc import Sequence

Merits = tuple[float | None, ...]
"""What is to be small, in one order; None where it is not known."""


def dominates(values: Merits, other: Merits) -> bool:
    """Whether `one` is nowhere worse than `other` and somewhere better (Eq. 64).

    What is known of one alone cannot be compared: then neither dominates the other.
    """
    if any((a is None) != (b is None) for a, b in zip(values, other, strict=True)):
        return False
    pairs = [(a, b) for a, b in zip(values, other, strict=True) if a is not None and b is not None]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def front(merits: Sequence[Merits]) -> list[int]:
    """The Pareto-optimal ones, in their order; equals stay side by side."""
    return [at for at, merit in enumerate(merits) if not any(dominates(other, merit) for other in merits)]
