"""Machines side by side, and how sure their difference is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.comparator import ComparatorPrediction
from podsim.model.displayable import Displayable
from podsim.model.prediction import Prediction
from podsim.model.quantity import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonCase:
    """One of what is compared, and what tells it from the others; the rest is how the question names its machine."""

    label: str
    answer: Prediction | ComparatorPrediction
    topology: str = ""
    chip: str | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDifference:
    """Seconds of one part of a run before and after [s]."""

    part: str
    before_s: float
    after_s: float

    @property
    def difference_s(self) -> float:
        """What the part adds to the run [s]."""
        return self.after_s - self.before_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A quotient with the interval that is to hold it."""

    value: float
    low: float
    high: float


class PowerBasis(StrEnum):
    """At which power of both cases performance per watt is."""

    TRAINING = "training"
    PEAK = "peak"
    TYPICAL = "typical"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerWatt:
    """Performance per watt over that of the first case, and the power that it is at."""

    value: float
    basis: PowerBasis


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDifference:
    """A side over the first: its time to train, were doubts of both shared as they are, and were they `unshared`.

    `causes` are shares of the variance behind the interval; `parts` add up to the difference of two runs, each at its
    mean samples. `per_dollar` and `per_watt` are performance over that of the first; None where not published.
    """

    label: str
    time: Ratio
    unshared: Ratio
    throughput: float
    samples: float
    causes: Mapping[Cause, float]
    parts: tuple[PartDifference, ...]
    per_dollar: Ratio | None
    per_watt: PerWatt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InfeasibleSide:
    """A side that has no answer: why, and what would work, as its error has them."""

    label: str
    code: str
    message: str
    context: tuple[str, ...]
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Displayable):
    """The cases that fit, each after the first compared with it, and those that do not."""

    workload: str
    workload_title: str
    target: str
    sides: tuple[ComparisonCase, ...]
    differences: tuple[CaseDifference, ...]
    interval: float
    seed: int
    infeasible: tuple[InfeasibleSide, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether a side does not fit."""
        return bool(self.infeasible)
