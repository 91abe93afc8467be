"""Free parameters of the fit: where each starts, how far it may go, what it means."""

from dataclasses import dataclass
from typing import Annotated, Final

from podsim.model.quantity import Key, Positive

NEEDED: Final = ("program.stretch", "collective.efficiency", "collective.start", "step.host")
"""Parameters that a step cannot be priced without; `sdk-2.1.program` and its like come on top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeParameter:
    """One free parameter: prior, how far (log) it may plausibly lie from there, and bounds, in SI."""

    name: str
    prior: Positive
    prior_error: Positive
    least: Positive
    most: Positive
    unit: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeParameters:
    """Everything a fit may move, and the log error of a step time that it may not explain."""

    model_error: Positive
    parameters: Annotated[tuple[FreeParameter, ...], Key("parameter")]

    @property
    def names(self) -> tuple[str, ...]:
        """Names in the order of the file."""
        return tuple(free.name for free in self.parameters)
