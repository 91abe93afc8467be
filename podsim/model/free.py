"""Free parameters of the fit: where each starts, how far it may go, what it means."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.parameters import SHARDING
from podsim.model.quantity import Key, Positive


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
    """Everything a fit may move, and the log error of a step time that it may not explain.

    Each of the `alternatives` may take the place of the parameter of sharded state: a form of the model of its own.
    """

    model_error: Positive
    parameters: Annotated[tuple[FreeParameter, ...], Key("parameter")]
    alternatives: Annotated[tuple[FreeParameter, ...], Key("alternative")] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names in the order of the file."""
        return tuple(free.name for free in self.parameters)

    @property
    def form(self) -> str:
        """The parameter of sharded state, which names the form."""
        return next((name for name in self.names if name in SHARDING), "")

    @property
    def forms(self) -> "tuple[FreeParameters, ...]":
        """The forms to choose among, that of the file first; each has no alternatives."""
        own = self.form
        swapped = (
            tuple(other if parameter.name == own else parameter for parameter in self.parameters)
            for other in self.alternatives
        )
        return tuple(
            FreeParameters(model_error=self.model_error, parameters=parameters)
            for parameters in (self.parameters, *swapped)
        )
