"""How published results are read: what podsim is asked about each, or why nothing is."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.quantity import Count, Key

MOST_COMBINED = 64
"""Ways to read one row; each is predicted."""


class Mode(StrEnum):
    """Which question a row answers."""

    TRAIN = "train"  # samples per second, or the time of a run
    INFER = "infer"
    LATENCY = "latency"  # of one batch, where so many clients each send the next request at once
    TILES = "tiles"  # a program without a network, which the tile model predicts by itself
    KERNEL = "kernel"  # calls a second of one operator
    RATIO = "ratio"  # training, over published results of one chip of another kind
    POWER = "power"  # of one IPU that calls an operator or does nothing, or of a machine that trains
    SOFTWARE = "software"  # training under one release over an earlier one


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to read what a row leaves unsaid: keys that take the place of those of the reading, and why it may be."""

    name: str
    reason: str
    workload: str = ""
    machine: str = ""
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
class Interpretations:
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

    `family` groups rows, by default of the name that the row has. `samples` is the length of a run that is a time,
    `clients` ask at once where a row is a latency, `operator` and `sizes` are those of `podsim op`, `calls_row` is the
    row with how often it was called while power was measured. `unsaid` names what
    the row does not say and may be read in several ways, `assumed` what else it does not say, `why` is the mechanism
    suspected where podsim is far off. `input_on_chip` says that the program makes its inputs itself, so that its
    framework fetches none. `later` names a release and `factor_row` the row with what is
    claimed of it: both are compared with the row.
    """

    row: str
    mode: Mode | None = None
    family: str = ""
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
    clients: Count | None = None
    samples: Count | None = None
    input_on_chip: bool = False
    operator: str = ""
    sizes: tuple[str, ...] = ()
    calls_row: str = ""
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
        if self.mode not in (None, Mode.TILES, Mode.KERNEL, Mode.POWER) and not self.workload:
            raise ValueError("workload: is missing")
        if self.mode is not Mode.POWER and (self.mode is Mode.KERNEL) != bool(self.operator):
            raise ValueError("operator: goes with the modes kernel and power")
        if (self.mode is Mode.POWER and bool(self.operator)) != bool(self.calls_row):
            raise ValueError("calls_row: goes with an operator in the mode power")
        if (self.mode is Mode.LATENCY) != (self.clients is not None and self.batch is not None):
            raise ValueError("clients: go, with a batch, with the mode latency")
        if bool(self.later) != bool(self.factor_row):
            raise ValueError("later: goes with factor_row")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutRows:
    """Rows that are not predicted for the same `reason`."""

    rows: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingsFile:
    """All readings, what several of them leave unsaid, and rows that nothing is asked about."""

    unsaid: tuple[Interpretations, ...] = ()
    readings: Annotated[tuple[RowReading, ...], Key("reading")]
    left_out: tuple[LeftOutRows, ...] = ()
