"""How often parts fail, what a restart costs, and what is left of the time of a long run."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.displayable import Displayable
from podsim.model.fault import FaultReport
from podsim.model.note import AnswerNote
from podsim.model.quantity import BytesPerS, Estimate, Key, Seconds, Unit
from podsim.model.sums import sum_in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingPart:
    """One kind of part: mean time between failures of one of them, and how long one is out of service."""

    mtbf_s: Annotated[float, Unit("s")]
    repair_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """What lies between a failure and the reload of the last checkpoint."""

    detect_s: Seconds
    init_s: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPath:
    """What a checkpoint costs beside the links of the machine: its fixed part, and the storage of one server."""

    start_s: Seconds
    storage_bytes_per_s: BytesPerS


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Failure rates and the costs around them."""

    ipu: FailingPart
    machine: FailingPart
    ipu_link: Annotated[FailingPart, Key("ipu-link")]
    gw_link: Annotated[FailingPart, Key("gw-link")]
    host: FailingPart
    switch: FailingPart
    power: FailingPart
    restart: Restart
    checkpoint: CheckpointPath


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCount:
    """How many of a part a run needs; `spared` where a spare machine stands in for it."""

    name: str
    count: int
    mtbf_s: float
    repair_s: float
    spared: bool

    @property
    def failures_per_s(self) -> float:
        """Failures of all of them [1/s]."""
        return self.count / self.mtbf_s


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCost:
    """One checkpoint: bytes of one copy of the training state, and seconds of each part of its way.

    What it passes through works at the same time, so the slowest counts; `start_s` comes before.
    """

    state_bytes: float
    start_s: float
    way_s: dict[str, float]

    @property
    def load_s(self) -> float:
        """Reading it back [s]."""
        return max(self.way_s.values())

    @property
    def total_s(self) -> float:
        """Writing it, during which no step runs [s]."""
        return self.start_s + self.load_s


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptedRun:
    """A run that parts interrupt: useful work, checkpoints, failures and what they cost."""

    work_s: float
    checkpoint_s: float
    detect_s: float
    restart_s: float
    parts: tuple[PartCount, ...]
    spares: int = 0

    @property
    def failures_per_s(self) -> float:
        """Failures of all parts [1/s]."""
        return sum_in_order(part.failures_per_s for part in self.parts)

    @property
    def mean_time_between_failures_s(self) -> float:
        """Of all parts together [s]."""
        return 1 / self.failures_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """A simulated quantity: mean and 5, 50 and 95 % quantiles over histories."""

    mean: float
    p5: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LostTime:
    """Where the mean history goes beside useful work [s]."""

    checkpoints_s: float
    lost_work_s: float
    restarts_s: float
    repairs_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedInterval:
    """One checkpoint interval that was simulated, and where its time goes beside useful work.

    `earliest_s` and `latest_s` are the 5 and 95 % quantiles of the time to finish over histories of failures.
    """

    interval_s: float
    goodput: float
    lost: LostTime
    earliest_s: float
    latest_s: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GoodputReport(Displayable):
    """Duration of a run on a machine whose parts fail, and the share of that time which is useful.

    `finish_s` is over histories of failures at the mean of the work; `time_to_finish_s` adds the uncertainty of that
    work [s]. The mean of `goodput` is useful time over mean time, as that of each interval tried.
    `predicted_work_s` is the work with its interval [s], None where its duration was given.
    """

    workload: str
    workload_title: str
    topology: str
    topology_title: str
    chip: str
    ipus: int
    step_s: float
    run: InterruptedRun
    cost: CheckpointCost
    init_s: float
    interval_s: float
    searched: bool
    tried: tuple[TriedInterval, ...]
    runs: int
    seed: int
    finish_s: Quantiles
    time_to_finish_s: Estimate
    predicted_work_s: Estimate | None
    goodput: Quantiles
    failures: Quantiles
    lost: LostTime
    assumptions: tuple[AnswerNote, ...]
    faults: FaultReport | None = None
