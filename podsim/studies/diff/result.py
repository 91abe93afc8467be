"""Two saved answers of one verb: what moved, and which input did it."""

import math
from dataclasses import dataclass

from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedValue:
    """One figure or text of two documents, by path; None where a document does not have it."""

    path: str
    old: object
    new: object

    @property
    def change(self) -> float | None:
        """Relative change of a number; None for anything else, and where it is beyond floats."""
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (self.old, self.new))
        if not numbers or not self.old:
            return None
        change = float(self.new) / float(self.old) - 1  # type: ignore[arg-type]
        return change if math.isfinite(change) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A figure that both answers are about, in `unit` ("s" or "USD").

    `labels` are the names of a case in both answers where the two compare different cases, ("", "") elsewhere.
    """

    name: str
    unit: str
    old: float
    new: float
    labels: tuple[str, str] = ("", "")

    @property
    def change(self) -> float:
        """Relative change."""
        return self.new / self.old - 1

    def effect(self, factor: float) -> float:
        """What an input adds whose old state would make the figure new / `factor` [`unit`]."""
        return self.new - self.new / factor


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleFigure:
    """A figure that only one of the two answers has, in `unit`: a machine or an alternative more or less."""

    name: str
    unit: str
    old: float | None
    new: float | None

    @property
    def value(self) -> float:
        """The figure in the answer that has it [unit]."""
        return (self.old if self.new is None else self.new) or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChange:
    """One input that differs, with its effect on the headline figures as factors, in their order.

    Empty where its old state is not carried, so that nothing can be predicted again with it: then `why` says so.
    """

    what: str
    old: str
    new: str
    effects: tuple[float, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference(Displayable):
    """What moved between two answers, the inputs that differ, and what they leave unexplained, as factors.

    `chosen` are the machines that two plans recommend, ("", "") of other answers; `singles` the machines and
    alternatives of which only one answer has a time.
    """

    what: str
    old_hash: str
    new_hash: str
    moved: tuple[ChangedValue, ...]
    headline: tuple[Headline, ...]
    causes: tuple[InputChange, ...]
    remainder: tuple[float, ...]
    notes: tuple[AnswerNote, ...]
    chosen: tuple[str, str] = ("", "")
    singles: tuple[SingleFigure, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether no figure moved and no input differs."""
        return not self.moved and not self.causes

    @property
    def interaction(self) -> tuple[float, ...]:
        """What inputs do together beyond what each does on its own, of each headline figure in its unit."""
        if not self.remainder:
            return ()
        effects = [cause.effects for cause in self.causes if cause.effects]
        return tuple(
            figure.new - figure.old - math.fsum(figure.effect(each[at]) for each in effects)
            for at, figure in enumerate(self.headline)
        )
