"""How published results are read: what podsim is asked about each, and what it answers."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.microbenchmark import LeftOut, Microbenchmark, quantile
from podsim.model.quantity import Count, Key
from podsim.model.sums import sum_in_order

MOST_MEDIAN = 0.20  # absolute error
NEAR = 0.40  # an absolute error up to which a row is near
LEAST_NEAR = 0.80  # of the rows
MOST_SPREAD = 1.0 + NEAR
"""A row is determined where what it leaves unsaid moves the answer by less: beyond, it alone could make a row near."""
MOST_COMBINED = 64
"""Ways to read one row; each is predicted."""


class Mode(StrEnum):
    """Which question a row answers."""

    TRAIN = "train"  # samples a second, or the time of a run
    INFER = "infer"
    TILES = "tiles"  # a program without a network, which the tile model predicts by itself
    RATIO = "ratio"  # training, over published results of one chip of another kind
    SOFTWARE = "software"  # training under one release over an earlier one


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to read what a row leaves unsaid: keys that take the place of those of the reading, and why it may be."""

    name: str
    reason: str
    workload: str = ""
    preset: str = ""
    sdk: str = ""
    baseline: str = ""
    round: str = ""
    replicas: Count | None = None
    ipus_per_replica: Count | None = None
    micro_batch: Count | None = None
    accumulation: Count | None = None
    batch: Count | None = None
    changes: Annotated[tuple[str, ...], Key("set")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid:
    """Something that rows leave unsaid, with every way to read it that is plausible before an answer is known.

    The first is the stated choice: the best supported one.
    """

    name: str
    what: str
    options: Annotated[tuple[Option, ...], Key("option")]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise ValueError("option: give the stated choice and at least one other")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReading:
    """What is asked about one published row; or the `reason` why nothing is.

    `unsaid` names what the row does not say and may be read in several ways, `assumed` what else it does not say, `why`
    is the mechanism suspected where podsim is far off. `later` names a release and `factor_row` the row with what is
    claimed of it: both are held against the row.
    """

    row: str
    mode: Mode | None = None
    workload: str = ""
    machine: str = ""
    preset: str = ""
    sdk: str = ""
    sdk_before: str = ""
    precision: str = ""
    baseline: str = ""
    round: str = ""
    replicas: Count | None = None
    ipus_per_replica: Count | None = None
    micro_batch: Count | None = None
    accumulation: Count | None = None
    batch: Count | None = None
    changes: Annotated[tuple[str, ...], Key("set")] = ()
    unsaid: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    reason: str = ""
    why: str = ""
    later: str = ""
    factor_row: str = ""

    def __post_init__(self) -> None:
        if (self.mode is None) != bool(self.reason):
            raise ValueError("mode: give one of mode and reason")
        if self.mode not in (None, Mode.TILES) and not self.workload:
            raise ValueError("workload: is missing")
        if bool(self.later) != bool(self.factor_row):
            raise ValueError("later: goes with factor_row")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingsFile:
    """All readings, and what several of them leave unsaid."""

    unsaid: tuple[Unsaid, ...] = ()
    readings: Annotated[tuple[RowReading, ...], Key("reading")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherReading:
    """One more way to read a row: what was taken, and the answer in the unit of the row; NaN where it is `refused`."""

    reading: RowReading
    options: tuple[Option, ...]
    predicted: float = math.nan
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """A published row beside its prediction, in its own unit; `conflict` is what speaks against another row.

    `options` are the stated choices of `reading`, `others` every other way to combine what the row leaves unsaid.
    """

    row: Microbenchmark
    reading: RowReading
    predicted: float
    conflict: str = ""
    options: tuple[Option, ...] = ()
    others: tuple[OtherReading, ...] = ()

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.value - 1

    @property
    def near(self) -> bool:
        """Whether the error is one of those of which most have to be."""
        return abs(self.error) <= NEAR

    @property
    def _answers(self) -> tuple[float, ...]:
        return (self.predicted, *(one.predicted for one in self.others if not one.refused))

    @property
    def low(self) -> float:
        """The least that podsim answers under any reading, in the unit of the row."""
        return min(self._answers)

    @property
    def high(self) -> float:
        """The most that podsim answers under any reading, in the unit of the row."""
        return max(self._answers)

    @property
    def determined(self) -> bool:
        """Whether what the row leaves unsaid hardly moves the answer (Eq. 91); the measured value has no part."""
        return self.high < MOST_SPREAD * self.low

    @property
    def inside(self) -> bool:
        """Whether the measured value lies from the least to the most that podsim answers."""
        return self.low <= self.row.value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How far off some rows are at their stated choices; figures of no row are NaN."""

    rows: tuple[ReadRow, ...]

    @property
    def median_abs(self) -> float:
        """Half of the rows are at most so far off."""
        sizes = sorted(abs(one.error) for one in self.rows)
        return quantile(sizes, 0.5) if sizes else math.nan

    @property
    def mean(self) -> float:
        """Mean of the signed errors."""
        return sum_in_order(one.error for one in self.rows) / len(self.rows) if self.rows else math.nan

    @property
    def worst(self) -> float:
        """The signed error that is largest in size."""
        return max((one.error for one in self.rows), key=abs, default=math.nan)

    @property
    def share_near(self) -> float:
        """Of the rows, those that are near."""
        return sum(one.near for one in self.rows) / len(self.rows) if self.rows else math.nan

    @property
    def inside(self) -> int:
        """Rows whose measured value lies within the range of readings."""
        return sum(one.inside for one in self.rows)

    @property
    def misses(self) -> tuple[str, ...]:
        """Bars that are not cleared; without a row none is."""
        median, near = self.median_abs <= MOST_MEDIAN, self.share_near >= LEAST_NEAR
        return tuple(name for name, passed in (("median", median), ("near", near)) if not passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReport:
    """Every published row: beside its prediction, or left out for a reason."""

    compared: tuple[ReadRow, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def all_rows(self) -> Summary:
        """Every row that can be modelled."""
        return Summary(rows=self.compared)

    @property
    def determined(self) -> Summary:
        """Rows that say enough to be held against an answer."""
        return Summary(rows=tuple(one for one in self.compared if one.determined))

    @property
    def undetermined(self) -> Summary:
        """Rows whose answer hangs on what they leave unsaid."""
        return Summary(rows=tuple(one for one in self.compared if not one.determined))

    @property
    def networks(self) -> Summary:
        """Rows of a workload: training, inference and ratios of them."""
        return Summary(rows=tuple(one for one in self.compared if one.reading.mode is not Mode.TILES))

    @property
    def programs(self) -> Summary:
        """Rows of programs without a network: stencils and streams, on which the tile model is measured as well."""
        return Summary(rows=tuple(one for one in self.compared if one.reading.mode is Mode.TILES))

    @property
    def missed(self) -> bool:
        """Whether a bar is not cleared by all rows, or by the determined ones."""
        return bool(self.all_rows.misses or self.determined.misses)
