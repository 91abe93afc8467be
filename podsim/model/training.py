"""What a training run of a workload needs beside its operators: rules, reference points, published configurations."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Annotated, Final, Self

from podsim.model.framework import Framework, of_configuration
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Bytes, Count, Cycles, Key, NotNegative, Positive, Whole

AVAILABLE_MEMORY = 0.6  # poplibs' default for availableMemoryProportion
ROUNDING_DOUBT: Final = 0.05  # share by which a mapping may miss the batch of a recipe; published ones miss it by 2 %
COUNTS_STEPS: Final = re.compile(r"\b(steps|updates)\b")  # in the target of a run of stated length


class Division(StrEnum):
    """MLPerf division; open lets the submitter choose the hyper-parameters."""

    CLOSED = "closed"
    OPEN = "open"


class Schedule(StrEnum):
    """Order of micro-batches on the stages of a pipeline."""

    GROUPED = "grouped"
    ONE_F_ONE_B = "1f1b"
    SEQUENTIAL = "sequential"
    PHASED = "phased"  # a layer at a time on all IPUs of a replica, the rest in streaming memory


class Recompute(StrEnum):
    """What backward recomputes instead of keeping."""

    NONE = "none"
    CHECKPOINTS = "checkpoints"  # keep what enters each recomputation segment


class StatePlace(StrEnum):
    """Where the optimizer state lives between steps."""

    ON_CHIP = "on-chip"
    STREAMING = "streaming"


class EvaluationStyle(StrEnum):
    """When a run evaluates."""

    INTERVAL = "interval"  # every so many samples, inside the run, which stops at the first that passes
    EPOCHS = "epochs"  # a fixed number of epochs, checkpoints evaluated afterwards
    FIXED = "fixed"  # a stated number of samples at a stated global batch, whatever quality they reach
    POINTS = "points"  # as many samples as reference points say; when it evaluates is not stated


REQUIRED_FIELDS = {
    EvaluationStyle.INTERVAL: (
        "evaluation_samples",
        "interval_fraction",
        "interval_per_batch",
        "interval_base",
        "interval_grain",
    ),
    EvaluationStyle.EPOCHS: ("evaluation_samples", "dataset_samples", "checkpoint_epochs"),
    EvaluationStyle.FIXED: (),
    EvaluationStyle.POINTS: (),
}
"""What a benchmark of each style has to state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The rules by which a run is evaluated and scored, or how long it is where no target ends it."""

    target: str
    style: EvaluationStyle
    evaluation_samples: Whole = 0
    runs_scored: Count = 1
    run_samples: Count | None = None
    global_batch: Count | None = None  # of the recipe that a fixed length belongs to
    global_batch_tokens: Positive | None = None  # of a step of a language model, as its paper states it
    dataset_samples: Count | None = None
    checkpoint_epochs: Count | None = None
    interval_fraction: Positive | None = None
    interval_per_batch: Positive | None = None
    interval_base: Positive | None = None
    interval_grain: Count | None = None

    def target_at(self, batch: float) -> str:
        """What ends a run at a global batch [samples]: the target, or the samples of a run whose target counts steps.

        Steps that a target counts are of the published batch; at another the same samples take other steps.
        """
        return f"{self.run_samples:,} samples" if self.counts_samples_at(batch) else self.target

    def counts_samples_at(self, batch: float) -> bool:
        """Whether a run at a global batch [samples] ends with its samples, since its target counts steps of another."""
        global_batch = self.global_batch
        if not (self.run_samples and global_batch and COUNTS_STEPS.search(self.target)):
            return False
        return abs(batch / global_batch - 1) > ROUNDING_DOUBT

    @property
    def evaluates_checkpoints(self) -> bool:
        """Whether checkpoints are written every so many epochs and evaluated after training."""
        return self.style in (EvaluationStyle.EPOCHS, EvaluationStyle.FIXED) and all(
            getattr(self, name) for name in REQUIRED_FIELDS[EvaluationStyle.EPOCHS]
        )

    def __post_init__(self) -> None:
        for name in REQUIRED_FIELDS[self.style]:
            value = getattr(self, name)
            if value is None or not value > 0:
                raise ValueError(f'{name}: style = "{self.style}" needs a value above 0')


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePoint:
    """Samples to converge at one global batch, over several seeds."""

    batch: Count
    samples: Positive
    std: NotNegative
    runs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """Reference convergence points of a workload, in ascending batch."""

    points: Annotated[tuple[ReferencePoint, ...], Key("point")]
    optimizer: str
    source: str

    def __post_init__(self) -> None:
        batches = [point.batch for point in self.points]
        if len(batches) < 2 or batches != sorted(set(batches)):
            raise ValueError("point: at least two points with ascending batch are needed")
        if any(p.batch < 1 or not p.samples > 0 or p.std < 0 or p.runs < 1 for p in self.points):
            raise ValueError("point: batch, samples and runs must be above 0 and std at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPoint:
    """One reference point of one MLPerf round; `mean` and `std` are in `unit`, `in_fit` whether the rules use it."""

    round: str
    benchmark: str
    name: str
    batch: Count
    unit: str
    mean: Positive
    std: NotNegative
    runs: Count
    in_fit: bool
    source: str
    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRound:
    """Which reference points of the shipped table a workload takes, and what their log counts of one sample."""

    benchmark: str
    round: str
    units_per_sample: Positive
    optimizer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLayout:
    """One pipeline stage: the IPU of the replica that holds it and how many units of each group it takes, in order."""

    ipu: Whole
    units: Mapping[str, Whole]


WHERE_CONFIGURATIONS_APPLY: Final = frozenset(
    ("name", "source", "locator", "chips", "ipus_per_replica", "most_replicas", "preset_only", "sdks")
)
"""Keys of a configuration that say whose it is and where it applies, not what the program does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareConfiguration:
    """How published submissions store and order this workload; applied where `chip` and `ipus_per_replica` match."""

    name: str
    source: str
    locator: str = ""
    chips: tuple[str, ...]
    ipus_per_replica: tuple[Count, ...]
    most_replicas: Count | None = None
    preset_only: bool = False
    sdks: tuple[str, ...] = ()
    schedule: Schedule
    recompute: Recompute
    state: StatePlace
    state_sharded: bool
    moment_bytes: tuple[Count, ...]
    gradient_bytes: Count
    checkpoint_bytes: Count
    attention_dropout: bool = False
    merged_collectives: bool = False
    collective_buffer_bytes: Annotated[Bytes, Key("collective_buffer")] | None = None
    forward_evaluation: bool = False
    separate_evaluation: bool = False  # checkpoints are evaluated by a process of its own, started after training
    norm_span: Count = 1  # replicas that share batch-norm statistics
    returns_to_host: bool = False  # the framework returns to its host program after every weight update
    call_updates: Count = 1  # weight updates of all replicas together for which it returns once; each runs its share
    framework: Framework | None = None  # None where it adds nothing or is not stated
    prefetch: Whole = 1  # micro-batches whose input is loaded ahead of use; 0 loads in line with compute
    overlaps_reduction: bool = False  # an IPU reduces its gradients while others still run backward
    operator_call_cycles: Annotated[Cycles, Key("operator_call")] = 0.0  # of each pass of an operator, beyond its plan
    io_tiles: Whole = 0  # tiles set aside for traffic that runs beside compute
    streams_in_line: bool = False  # phased: activations are streamed before and after compute, IO tiles or not
    tensor_shards: Count = 1  # phased: IPUs over which the outputs of a product are cut, the rest cut its inputs
    attention_parts: Count = 1  # phased: blocks of queries that attention takes one after the other
    half_layers: bool = False  # phased: attention is a phase of its own, and so is what follows it in a layer
    available_memory: Positive | None = None  # share of SRAM for temporary data of a product; None: not stated
    layout: tuple[StageLayout, ...] = ()

    def __post_init__(self) -> None:
        phased_settings = {
            "tensor_shards": self.tensor_shards > 1,
            "attention_parts": self.attention_parts > 1,
            "half_layers": self.half_layers,
            "streams_in_line": self.streams_in_line,
        }
        for name, is_in_use in phased_settings.items():
            if is_in_use and self.schedule is not Schedule.PHASED:
                raise ValueError(f'{name}: goes with schedule = "phased"')
        if any(size % self.tensor_shards for size in self.ipus_per_replica):
            raise ValueError(f"tensor_shards: {self.tensor_shards} do not divide the IPUs of a replica")
        if self.available_memory is not None and not 0 < self.available_memory <= 1:
            raise ValueError(f"available_memory: is a share of the SRAM up to 1, not {self.available_memory:g}")

    def features_beyond(self, other: Self) -> tuple[tuple[str, ...], int]:
        """What this program does and another does not, in words; in how many ways it differs, those included."""
        features = {
            "forward_evaluation": "forward-only evaluations",
            "merged_collectives": "merged collectives",
            "attention_dropout": "attention dropout",
            "separate_evaluation": "evaluations apart from training",
            "overlaps_reduction": "gradients reduced during the backward pass",
            "returns_to_host": "returns to the host program",
        }
        differ = {item.name for item in fields(self) if getattr(self, item.name) != getattr(other, item.name)}
        differ -= WHERE_CONFIGURATIONS_APPLY | {name for name in features if getattr(other, name)}
        return tuple(text for name, text in features.items() if name in differ), len(differ)

    @property
    def framework_named(self) -> Framework | None:
        """The framework that is stated, else the one that the configuration is named after."""
        return self.framework or of_configuration(self.name)

    @property
    def memory_proportion(self) -> float:
        """Share of SRAM that temporary data of one product or convolution may take: as stated, else the default."""
        return AVAILABLE_MEMORY if self.available_memory is None else self.available_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """The fewest IPUs that a source says a run of the workload needs."""

    ipus: Count
    source: str
    locator: str = ""

    def note(self, ipus: int) -> AnswerNote | None:
        """What to say of a run on so many IPUs, None where they are enough."""
        if ipus >= self.ipus:
            return None
        return AnswerNote.of(
            NoteCode.MINIMUM_IPUS, least=self.ipus, ipus=ipus, source=self.source, locator=self.locator
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LargePodSettings:
    """Software that a submitter would use on machines of more than `above` IPUs, where nothing is published.

    By name instead of a preset; the mapping is still searched for.
    """

    name: str
    source: str
    locator: str = ""
    above: Count
    merged_collectives: bool
    forward_evaluation: bool

    def of(self, configuration: SoftwareConfiguration) -> SoftwareConfiguration:
        """A configuration with this software; itself where it has it already."""
        variant = replace(
            configuration,
            merged_collectives=configuration.merged_collectives or self.merged_collectives,
            forward_evaluation=configuration.forward_evaluation or self.forward_evaluation,
        )
        return (
            configuration if variant == configuration else replace(variant, name=f"{configuration.name}, {self.name}")
        )

    @property
    def text(self) -> str:
        """What it does."""
        parts = {
            "collectives merged into one": self.merged_collectives,
            "evaluations by a forward-only program": self.forward_evaluation,
        }
        return " and ".join(text for text, does in parts.items() if does)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One published mapping by name."""

    name: str
    topology: str
    replicas: Count
    ipus_per_replica: Count
    micro_batch: Count
    accumulation: Count
    configuration: str
    division: Division | None = None  # none outside MLPerf
    optimizer: str
    sdk: str
    hosts: Count
    framework: Framework | None = None  # that of the configuration unless stated
    source: str
    locator: str = ""
