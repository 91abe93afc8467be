"""One workload on machines of growing size, and the laws that its throughput follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote
from podsim.model.program import Part
from podsim.planning.competitors import Competitor

if TYPE_CHECKING:
    from podsim.model.prediction import Prediction


class Scaling(StrEnum):
    """What becomes of the global batch where the machine grows."""

    BEST = "best"  # the best for each machine
    STRONG = "strong"  # that of the first machine
    WEAK = "weak"  # that of the first machine times the machines of its size


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTime:
    """What a published run of this workload took on a machine, by its own clock [s]."""

    point: str
    round: str
    global_batch: int
    time_to_train_s: float
    throughput_samples_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleRow:
    """One machine: its prediction, or why there is none; `efficiency` is the throughput an IPU over the first's.

    `time_efficiency` is the speed-up in time to train over the first, divided by how many times its IPUs there are.
    """

    topology: str
    ipus: int
    prediction: "Prediction | None" = None
    refused: str = ""
    refusal: str = ""  # `refused` without what is too large
    efficiency: float | None = None
    time_efficiency: float | None = None
    published: tuple[PublishedTime, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingCurve:
    """Throughput against size by the universal scalability law; with no coherency it is Amdahl's.

    Sizes are counted in machines of `unit_ipus`, the smallest one; `contention` is the share of its work that is
    serial, `coherency` what each pair of machines adds; `error` is the rms log error over `machines` answers.
    """

    unit_ipus: int
    unit_samples_per_s: float
    contention: float
    coherency: float
    error: float
    machines: int

    def at(self, ipus: float) -> float:
        """Throughput on so many IPUs [samples/s] (Eq. 57)."""
        size = ipus / self.unit_ipus
        loss = 1 + self.contention * (size - 1) + self.coherency * size * (size - 1)
        return self.unit_samples_per_s * size / loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubling:
    """Two machines in a row and what each doubling between them gains, as shares: 1 is twice as much."""

    from_ipus: int
    to_ipus: int
    throughput: float
    time: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScaleReport(Displayable):
    """How a run scales: a row a machine, the laws fitted, the knee, and what of a step grows.

    `knee_ipus` is the size from which a doubling gains less than `knee_gain` by the universal law, `peak_ipus` the one
    that no larger machine beats; None where the law has neither. `grown` are the parts of a step by what they add to
    the IPU time of a sample from the first machine to the last, as shares of the first's. `preset` names
    the published mappings, "" where mappings were searched for; `notes` say which machines asked for there are not, and
    what was never measured.
    """

    workload: str
    workload_title: str
    target: str
    scaling: Scaling
    interval: float
    rows: tuple[ScaleRow, ...]
    doublings: tuple[Doubling, ...]
    amdahl: ScalingCurve | None
    universal: ScalingCurve | None
    knee_gain: float
    knee_ipus: float | None
    peak_ipus: float | None
    grown: Mapping[Part, float]
    preset: str = ""
    notes: tuple[AnswerNote, ...] = ()
    against: tuple[Competitor, ...] = ()

    @property
    def has_length(self) -> bool:
        """Whether the length of the run is known; without one times are NaN."""
        return all(prediction.has_length for prediction in self.predictions)

    @property
    def predictions(self) -> tuple["Prediction", ...]:
        """The predictions there are, machines in the order asked."""
        return tuple(row.prediction for row in self.rows if row.prediction)
