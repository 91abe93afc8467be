"""The answer and its evidence."""

import math
from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.model.displayable import Displayable
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import Part, StepTimeline
from podsim.model.quantity import NINETY_PERCENT, Estimate, Grade
from podsim.model.run_cost import TrainingPace
from podsim.model.sums import sum_in_order
from podsim.model.training import Division

if TYPE_CHECKING:  # few predictions are of broken machines or noisy steps, or say what they cost
    from podsim.model.activity import StepActivity
    from podsim.model.fault import FaultReport
    from podsim.model.goodput import GoodputReport
    from podsim.model.noise import NoiseReport
    from podsim.model.requirement import RequirementCheck
    from podsim.model.run_cost import Money
    from podsim.model.wall_clock import WallClock

AGREE = 1e-9  # share of a step below which formula and events differ by rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class StageMemory:
    """What one IPU of a replica holds, by category [B], were all its tiles as full as that of peak SRAM.

    Those are the `tiles` that run `largest`, the operator and pass that needs most exchange buffers; others have none.
    """

    ipu: int
    stages: tuple[int, ...]
    by_category: MappingType[str, float]
    tiles: int
    largest: str

    @property
    def used_bytes(self) -> float:
        """All categories [B]."""
        return sum_in_order(self.by_category.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFit:
    """Whether each IPU's share fits its SRAM."""

    capacity_bytes: float
    ipus: tuple[StageMemory, ...]
    streaming_bytes_per_ipu: float
    streaming_capacity_bytes_per_ipu: float

    @property
    def fullest(self) -> StageMemory:
        """The IPU of a replica that holds most."""
        return max(self.ipus, key=lambda stage: stage.used_bytes)

    @property
    def fraction(self) -> float:
        """Peak share of SRAM over the IPUs of a replica."""
        return self.fullest.used_bytes / self.capacity_bytes

    @property
    def fits(self) -> bool:
        """Whether SRAM and streaming memory both hold what they must."""
        return self.needed_share <= 1

    @property
    def streaming_fraction(self) -> float:
        """Share of streaming memory taken; infinite where there is none and some is needed."""
        used_bytes, capacity_bytes = self.streaming_bytes_per_ipu, self.streaming_capacity_bytes_per_ipu
        return used_bytes / capacity_bytes if capacity_bytes else math.inf if used_bytes else 0.0

    @property
    def needed_share(self) -> float:
        """What is needed of SRAM or of streaming memory over what there is: of the one that is shorter."""
        return max(self.fraction, self.streaming_fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run around its steps: counts and seconds."""

    steps: int
    evaluations: int
    interval_samples: float | None
    startup_s: float
    training_s: float
    evaluation_s: float
    checkpoint_s: float

    @property
    def outside_steps_s(self) -> float:
        """Start-up, evaluations and checkpoints [s]."""
        return self.startup_s + self.evaluation_s + self.checkpoint_s

    @property
    def total_s(self) -> float:
        """run_start to run_stop [s]."""
        return self.startup_s + self.training_s + self.evaluation_s + self.checkpoint_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsideredMapping:
    """One mapping that was evaluated against the chosen one.

    `estimate` is its time to train as `predict` answers it, where it differs from the chosen one in its batch alone.
    `larger_than_searched` says that its replicas have more IPUs than those from which the search chooses.
    """

    mapping: Mapping
    time_to_train_s: float
    step_s: float
    samples: float
    bubble: float
    memory: float
    estimate: Estimate | None = None
    larger_than_searched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Why this mapping: how many were evaluated, what was rejected, what came close."""

    given: str  # "flags", "preset NAME" or "search"
    legal: int
    rejected: MappingType[str, int]
    considered: tuple[ConsideredMapping, ...]
    reason: AnswerNote
    preset: str | None = None  # whose mapping it is

    @property
    def larger_replicas(self) -> ConsideredMapping | None:
        """A mapping with larger replicas than the search takes that is quicker by more than the model's error."""
        return next((item for item in self.considered if item.larger_than_searched), None)

    @property
    def all_ipus(self) -> AnswerNote | None:
        """What a run on all IPUs would do, where a search left some idle because a part of them is quicker."""
        why = dict(self.reason.values).get("why") if self.reason.code is NoteCode.SOME_IDLE else None
        return why if isinstance(why, AnswerNote) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """How far one figure stands from a measurement, and the factor by which it leaves what is calibrated."""

    grade: Grade
    beyond: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """The grade of each figure shown, and shares of the time to train by the grade of their inputs."""

    figures: MappingType[str, Figure]
    shares: MappingType[Grade, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvents:
    """A step run as events, from the supersteps of tiles to flows that share links, beside its formula.

    `formula_s` is the longest path with the closed form of every superstep and each transfer alone on its links.
    `tiles_idle` is the share of a micro-batch in which the mean tile of the busiest IPU waits for others. `stalls_s` is
    what stalls of single IPUs hold all others at the all-reduce of a step, on average; it is in no step time.
    """

    step_s: float
    formula_s: float
    tiles_idle: float
    stalls_s: float

    @property
    def stalls(self) -> float:
        """Share of a step that stalls of single IPUs take."""
        return self.stalls_s / self.step_s

    @property
    def difference(self) -> float:
        """What events make of the step beyond the formula, as a share of the formula; 0 where both say the same."""
        value = self.step_s / self.formula_s - 1
        return value if abs(value) > AGREE else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAnswer:
    """What another form of the model answers, whose chi-square is `above` the least by so much."""

    form: str
    above: float
    step_s: float
    time_to_train_s: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prediction(Displayable):
    """How long a training run takes, what limits it, how sure the answer is.

    Of a run in phases it is their sum: `phases` are its own predictions, a step is the mean of all steps, and what has
    no sum (`mapping`, `choice`, `memory`) is that of the phase that takes longest.
    """

    workload: str
    workload_title: str
    target: str
    topology: str
    topology_title: str
    chip: str
    ipus: int
    sdk: str
    division: Division | None  # none where the length of a run is stated, as outside MLPerf
    optimizer: str
    hosts: int
    engine: str
    mapping: Mapping
    choice: Choice
    timeline: StepTimeline
    step_s: Estimate
    throughput_samples_per_s: Estimate
    samples_to_converge: Estimate
    time_to_train_s: Estimate
    run: Run
    mfu: float
    memory: MemoryFit
    memory_relief: str = ""
    limited_by: AnswerNote
    assumptions: tuple[AnswerNote, ...]
    calibration: str
    grades: Grades = field(default_factory=lambda: Grades(figures={}, shares={}))
    interval: float = NINETY_PERCENT
    events: StepEvents | None = None  # none where the formula alone was asked for
    forms: tuple[FormAnswer, ...] | None = None  # those that the fit cannot rule out; None where none was fitted
    noise: "NoiseReport | None" = None
    faults: "FaultReport | None" = None
    activity: "StepActivity | None" = None  # what its IPUs draw power for
    money: "Money | None" = None
    requirements: "tuple[RequirementCheck, ...]" = ()
    phases: tuple["Prediction", ...] = ()
    goodput: "GoodputReport | None" = None
    wall_clock: "WallClock | None" = None
    row_tokens: int | None = None  # of a language model that says the next token
    ends_with_samples: bool = False  # whether `target` is a number of samples
    length_default: bool = False  # whether the workload states the length of the run, not a flag
    length_flags: tuple[str, ...] = ()  # those that would give a time to train, where no length of the run is stated

    @property
    def with_larger_replicas(self) -> tuple[Mapping, float] | None:
        """A mapping with larger replicas than the search takes, and its time to train over that of the answer.

        None where the answer is as quick, the length of the run is not stated, or the run has phases: each phase has a
        mapping of its own.
        """
        if self.phases:
            return None
        other = self.choice.larger_replicas
        chosen_candidate = next((item for item in self.choice.considered if item.mapping == self.mapping), None)
        if other is None or chosen_candidate is None:
            return None
        share = other.time_to_train_s / chosen_candidate.time_to_train_s
        return (other.mapping, share) if share < 1 else None

    @property
    def global_batch_tokens(self) -> float | None:
        """Tokens of a weight update of a language model, padding included."""
        return None if self.row_tokens is None else self.mapping.rows_per_step * self.row_tokens

    @property
    def tokens_per_s(self) -> Estimate | None:
        """Tokens per second inside training, of a language model."""
        if self.global_batch_tokens is None:
            return None
        step = self.step_s
        return replace(
            step,
            value=self.global_batch_tokens / step.value,
            low=self.global_batch_tokens / step.high,
            high=self.global_batch_tokens / step.low,
        )

    @property
    def throughput_per_ipu_samples_per_s(self) -> float:
        """Throughput of one IPU of the machine [samples/s]."""
        return self.throughput_samples_per_s.value / self.ipus

    @property
    def pace(self) -> TrainingPace:
        """How long a weight update and a sample in training take [s]."""
        rate = self.throughput_samples_per_s
        return TrainingPace(
            step_s=self.step_s,
            sample_s=replace(rate, value=1 / rate.value, low=1 / rate.high, high=1 / rate.low),
        )

    @property
    def has_length(self) -> bool:
        """Whether the length of the run is known; without one what follows from it is NaN."""
        return not self.length_flags

    @property
    def breakdown_s(self) -> MappingType[Part, float]:
        """Where a step goes; adds up to `step_s` [s]."""
        return self.timeline.breakdown_s
