"""SI floats that carry their unit in the type, and where a number came from."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Annotated, Final

NINETY_PERCENT = 0.9
"""Confidence level of intervals, unless another is asked for."""
NINETY: Final = 1.6449
"""Standard deviations to either side that hold 90 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit in which a field is stored, "" for a plain number; `positive` says whether zero is refused.

    Files may state no negative number where a `Unit` stands.
    """

    symbol: str
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Key:
    """The file key of a field, where it is not the field name less its unit."""

    name: str


NOT_IN_FILES: Final = {"file": False}
"""Metadata of a field that no file states: what reads a file fills it."""

Seconds = Annotated[float, Unit("s", positive=False)]
Hertz = Annotated[float, Unit("Hz")]
Bytes = Annotated[float, Unit("B")]
BytesPerS = Annotated[float, Unit("B/s")]
BytesPerCycle = Annotated[float, Unit("B/cycle")]
Cycles = Annotated[float, Unit("cycles", positive=False)]
FlopPerS = Annotated[float, Unit("FLOP/s")]
Watts = Annotated[float, Unit("W")]
Dollars = Annotated[float, Unit("USD")]
SamplesPerS = Annotated[float, Unit("samples/s")]
Count = Annotated[int, Unit("")]
Whole = Annotated[int, Unit("", positive=False)]
Positive = Annotated[float, Unit("")]
NotNegative = Annotated[float, Unit("", positive=False)]


class SourceKind(StrEnum):
    """How a number came about."""

    MEASURED = "measured"
    DATASHEET = "datasheet"
    DERIVED = "derived"
    FITTED = "fitted"
    GIVEN = "given"  # by the user: a flag, --set, a file of their own
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where one value of a file came from, as its source prints it."""

    path: str
    text: str
    kind: SourceKind
    source: str
    locator: str = ""
    note: str = ""


_DAY: Final = re.compile(r"\d{4}(?:-\d\d){0,2}", re.ASCII)


def check_day(key: str, text: str) -> None:
    """Raise ValueError, under the key of a file, where a text is no day, month or year of the calendar; "" is none."""
    if not text:
        return
    if _DAY.fullmatch(text):
        with suppress(ValueError):
            date.fromisoformat(text + "-01" * (2 - text.count("-")))
            return
    raise ValueError(f'{key}: must be a day as "2021-07-01", a month as "2021-07" or a year, not "{text}"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One document that numbers are taken from."""

    id: str
    title: str
    publisher: str
    url: str
    licence: str = ""
    retrieved: str = ""
    commit: str = ""
    trust: str = ""

    def __post_init__(self) -> None:
        check_day("retrieved", self.retrieved)


class Grade(StrEnum):
    """How far an answer stands from a measurement; the worst input wins.

    What the user states is `given`: podsim does not judge it, so it makes no answer worse than its other inputs do.
    """

    MEASURED = "measured"
    GIVEN = "given"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    ASSUMED = "assumed"

    @property
    def rank(self) -> int:
        """0 is best."""
        return tuple(Grade).index(self)


class Cause(StrEnum):
    """Why an answer is not certain."""

    PARAMETERS = "parameters"  # fitted numbers have errors
    MODEL = "model"  # what no value of them explains
    FORM = "form"  # other forms of the model explain the same points nearly as well
    NOISE = "noise"  # runs of one submission differ in pace
    TENSOR_PARALLEL = "tensor_parallel"  # no measurement has a collective of tensor shards
    DISTANCE = "distance"  # doublings beyond the machines fitted
    CHIP = "chip"  # a chip or a workload without a point
    RELEASE = "release"  # software without published runs
    SEEDS = "seeds"  # samples to converge differ from seed to seed
    CONVERGENCE = "convergence"  # doubt of their mean
    EVALUATION = "evaluation"  # a run ends at an evaluation
    OUTSIDE = "outside"  # start-up and what follows training


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its interval, grade and the factor by which it leaves the calibrated range.

    `causes` are shares of the variance behind the interval; `smaller` is whether it leaves that range on a machine
    smaller than any calibrated, rather than on a larger one.
    """

    value: float
    low: float
    high: float
    grade: Grade
    beyond: float = 1.0
    causes: Mapping[Cause, float] = field(default_factory=dict)
    smaller: bool = False
