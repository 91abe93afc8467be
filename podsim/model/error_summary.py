"""How far predictions are from measurements, in four figures."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSummary:
    """Errors of one quantity over its points, as fractions; `worst` keeps its sign."""

    count: int
    mean_abs: float
    mean_signed: float
    worst: float
    held_out: "ErrorSummary | None" = None
