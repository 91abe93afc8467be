"""How long programs take to compile and weights to reach the IPUs, and the wall clock of a job that has both."""

from dataclasses import dataclass
from enum import StrEnum

from podsim.model.goodput import GoodputReport
from podsim.model.note import AnswerNote
from podsim.model.quantity import Count, Estimate, NotNegative, Positive, Seconds
from podsim.model.sums import sum_in_order


class ProgramStart(StrEnum):
    """How a job comes by its program."""

    FRESH = "fresh"  # compiled before the first step
    CACHED = "cached"  # an executable that an earlier run left is loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTime:
    """Seconds a unit, fitted to published times as a proportion: value, its log error, and the range it was fitted in.

    `scatter` is the log standard deviation of a network about it; networks weigh the same, however many rows each has.
    """

    value: Positive
    error: NotNegative
    scatter: NotNegative
    networks: Count
    rows: Count
    least: Positive
    most: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimes:
    """What lies before the first step: seconds per operator compiled, seconds per byte of state, the load of a program.

    `frameworks` are those whose compile times it was fitted to.
    """

    operator: UnitTime
    weights: UnitTime
    cached_s: Seconds
    frameworks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRow:
    """One published time before a first step [s], and what is compiled or loaded in it.

    `what` is "compile", "weights" or "load". `layers` are the first so many of each kind where not all are there,
    `compiled_on` the IPUs on which each is compiled anew, `programs` how many a time covers. `left_out` says why no
    fit has it, "" where one has.
    """

    id: str
    what: str
    family: str
    network: str
    workload: str
    framework: str
    layers: int | None
    trains: bool
    compiled_on: int
    programs: int
    seconds: float
    left_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WallClock:
    """A job from its start to its trained model [s]: compile, weights to the IPUs, training, the last checkpoint.

    `compile_s` is the load of the executable where it is cached. `failures` has what checkpoints, lost work and
    repairs add to a run long enough to see any, nothing for others. `total_s` is None where no length is stated.
    """

    start: ProgramStart
    operators: int
    compile_s: Estimate
    state_bytes: float
    weights_s: Estimate
    checkpoint_s: float
    failures: tuple[GoodputReport, ...]
    total_s: Estimate | None
    assumptions: tuple[AnswerNote, ...]

    @property
    def failures_s(self) -> float:
        """Mean time of checkpoints, lost work, restarts and repairs [s]."""
        return sum_in_order(report.finish_s.mean - report.run.work_s for report in self.failures)
