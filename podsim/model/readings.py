"""How published results are read: what podsim is asked about each, and what it answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.microbenchmark import LeftOut, Microbenchmark, quantile
from podsim.model.quantity import Count, Key

MOST_MEDIAN = 0.20  # absolute error
NEAR = 0.40  # an absolute error up to which a row is near
LEAST_NEAR = 0.80  # of the rows


class Mode(StrEnum):
    """Which question a row answers."""

    TRAIN = "train"  # samples a second, or the time of a run
    PHASES = "phases"  # the time of several runs, one after the other
    INFER = "infer"
    TILES = "tiles"  # a program without a network, which the tile model predicts by itself
    RATIO = "ratio"  # training, over published results of one chip of another kind
    SOFTWARE = "software"  # training under one release over an earlier one


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReading:
    """What is asked about one published row; or the `reason` why nothing is.

    `assumed` is what the row does not say, `why` the mechanism suspected where podsim is far off. `later` names a
    release and `factor_row` the row with what is claimed of it: both are held against the row.
    """

    row: str
    mode: Mode | None = None
    workload: str = ""
    machine: str = ""
    chip: str = ""
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
    """All readings."""

    readings: Annotated[tuple[RowReading, ...], Key("reading")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """A published row beside its prediction, in its own unit; `conflict` is what speaks against another row."""

    row: Microbenchmark
    reading: RowReading
    predicted: float
    conflict: str = ""

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.value - 1

    @property
    def near(self) -> bool:
        """Whether the error is one of those of which most have to be."""
        return abs(self.error) <= NEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReport:
    """Every published row: beside its prediction, or left out for a reason."""

    compared: tuple[ReadRow, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def median_abs(self) -> float:
        """Half of the rows are at most so far off; NaN where there is none."""
        sizes = sorted(abs(one.error) for one in self.compared)
        return quantile(sizes, 0.5) if sizes else float("nan")

    @property
    def share_near(self) -> float:
        """Of the rows, those that are near; NaN where there is none."""
        return sum(one.near for one in self.compared) / len(self.compared) if self.compared else float("nan")

    @property
    def misses(self) -> tuple[str, ...]:
        """Bars that are not cleared; without a row none is."""
        median, near = self.median_abs <= MOST_MEDIAN, self.share_near >= LEAST_NEAR
        return tuple(name for name, passed in (("median", median), ("near", near)) if not passed)
