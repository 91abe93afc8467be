"""Machines that IPU systems are compared with: published results of other chips."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from podsim.model.calibration import SamplesFactor
from podsim.model.displayable import Displayable
from podsim.model.error_summary import ErrorSummary
from podsim.model.note import AnswerNote
from podsim.model.prediction import Run
from podsim.model.quantity import Bytes, Count, Estimate, Hertz, Key, NotNegative, Positive, Seconds, Watts, Whole
from podsim.model.run_cost import Money
from podsim.model.training import Division

MOST_HELD_OUT = 0.10  # the held-out error of the judged chip that still passes
CHIP_OF_BARS = "a100"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorResult:
    """One published result of another chip, as its logs and its system description have it; None where they are silent.

    `minutes` is the official score, `measured_minutes` what the clock read. `samples_per_s` leaves evaluations out,
    `steady_samples_per_s` warm-up and checkpoints too; `overall_samples_per_s` is samples over the whole run. Seconds
    of evaluations, training blocks and start-up are means over runs.
    """

    id: str
    round: str
    division: Division
    submitter: str
    system: str
    chip: str
    accelerator: str
    interconnect: str
    chips: int
    nodes: int
    servers: int
    workload: str
    optimizer: str
    software: str
    global_batch: int
    runs: int
    minutes: float
    measured_minutes: float
    minutes_std: float | None
    samples_to_converge: float | None
    samples_std: float | None
    epochs: float | None
    samples_per_s: float | None
    steady_samples_per_s: float | None
    overall_samples_per_s: float | None
    step_s: float | None
    evaluations: float | None
    evaluation_s: float | None
    startup_s: float | None
    train_s: float | None
    samples_scaling: float
    samples_basis: str
    status: str
    source: str
    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorMachine:
    """A machine of comparator chips by name: how many chips it has unless said otherwise, and in which portions."""

    name: str
    title: str
    chips: Count
    multiple: Count
    interconnect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorChip:
    """A chip that is no IPU: what results call it, what system descriptions say, the machines that hold it."""

    name: str
    title: str
    accelerators: tuple[str, ...]
    clock_hz: Hertz | None = None
    memory_bytes: Bytes | None = None
    power_w: Watts | None = None
    machines: Annotated[tuple[ComparatorMachine, ...], Key("machine")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingLaw:
    """What a workload takes on a number of chips of one kind (docs/explanation/model.md).

    `machine` counts the chips of one machine, beyond which `network_s` is paid. `batches` holds usual global batches by
    number of chips, `rounds` how much longer work took than in `newest`, `overheads` all else of a step;
    `smallest` and `largest` count chips, `least_each` and `most_each` samples of a step a chip.
    `covariance` is that of the logs of rate, fixed, network and doubling. `error` is the held-out rms of log time to
    train, over `held_out` chip counts, `model_error` the part of it that the covariance does not explain; with 0 chip
    counts they are those of other chips.
    """

    samples_per_s: Positive
    fixed_s: Seconds
    network_s: Seconds
    doubling_s: Seconds
    machine: Count
    startup_s: Seconds
    evaluation_s: Seconds
    evaluation_samples: NotNegative
    newest: str
    optimizer: str
    rounds: Mapping[str, Positive]
    overheads: Mapping[str, Positive]
    covariance: Mapping[str, Mapping[str, float]]
    batches: Mapping[str, Count]
    smallest: Count
    largest: Count
    least_each: Positive
    most_each: Positive
    results: Count
    error: NotNegative
    model_error: NotNegative
    held_out: Whole

    @property
    def sizes(self) -> dict[int, int]:
        """Usual global batch by number of chips, smallest first."""
        return {int(chips): self.batches[chips] for chips in sorted(self.batches, key=int)}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadLaws:
    """The laws of one workload by chip, and samples to converge over the reference's by optimizer and division.

    `per_doubling` is the log error for each doubling of the chips beyond those fitted, where the large ones were left
    out, less what the covariance explains.
    """

    chip: Mapping[str, ScalingLaw]
    per_doubling: NotNegative
    samples: Mapping[str, Mapping[str, SamplesFactor]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Laws:
    """Everything that `calibrate --comparators` learns, by workload."""

    workload: Mapping[str, WorkloadLaws]
    results: Whole


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparatorPrediction(Displayable):
    """How long a training run takes on chips that are no IPUs: the headline of a Prediction, without a mapping."""

    workload: str
    workload_title: str
    target: str
    topology: str
    topology_title: str
    chip: str
    chip_title: str
    chips: int
    division: Division
    optimizer: str
    round: str
    global_batch: int
    step_s: Estimate
    breakdown_s: Mapping[str, float]
    throughput_samples_per_s: Estimate
    samples_to_converge: Estimate
    time_to_train_s: Estimate
    run: Run
    limited_by: AnswerNote
    assumptions: tuple[AnswerNote, ...]
    calibration: str
    money: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorPoint:
    """One published result beside the law, with the run's own samples and with predicted ones; errors are signed.

    None where no other number of chips of the kind is published, or where podsim does not know the workload.
    """

    id: str
    chip: str
    workload: str
    chips: int
    measured_s: float
    predicted_s: float
    error: float
    held_out_error: float | None
    predicted_samples_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedResult:
    """A published result that no law is fitted to, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorSummary:
    """Errors of one chip and workload: in sample, held out with own samples and with predicted ones."""

    chip: str
    workload: str
    in_sample: ErrorSummary
    held_out: ErrorSummary | None
    predicted_samples: ErrorSummary | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LargerPoint:
    """A result on more chips than laws were fitted to, and their answer with a batch and samples of its own.

    `error` is signed, `inside` says whether the interval of the answer holds the result.
    """

    id: str
    chip: str
    workload: str
    chips: int
    beyond: float
    global_batch: int
    measured_s: float
    predicted_s: float
    low_s: float
    high_s: float
    error: float
    inside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Larger:
    """Laws fitted to results of at most `fitted` chips against all larger ones, of which `refused` get no answer."""

    fitted: int
    points: tuple[LargerPoint, ...]
    refused: int
    errors: ErrorSummary
    inside: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparatorReport(Displayable):
    """What fitting laws to results of other chips gave; `path` is where it was written, "" where it was not."""

    points: tuple[ComparatorPoint, ...]
    left_out: tuple[ExcludedResult, ...]
    summaries: tuple[ComparatorSummary, ...]
    judged: ErrorSummary
    larger: Larger
    path: str = ""

    @property
    def misses(self) -> bool:
        """Whether the judged chip's held-out error is outside its bar."""
        return not self.judged.mean_abs <= MOST_HELD_OUT

    @property
    def passes(self) -> bool:
        """Whether it is within its bar."""
        return not self.misses
