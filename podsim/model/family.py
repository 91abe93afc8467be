"""Workloads as files describe them: a family with its sizes, from which the operators are built."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.chip import Precision
from podsim.model.framework import INTERFACES
from podsim.model.graphs import Dlrm, SchNet
from podsim.model.language import Deberta, EncoderDecoder
from podsim.model.note import AnswerNote
from podsim.model.operator_list import GivenUnit
from podsim.model.quantity import Bytes, Count, Key, Positive, Whole
from podsim.model.speech import Conformer, DeepVoice, RecurrentTransducer, Transducer
from podsim.model.training import (
    Benchmark,
    Convergence,
    EvaluationStyle,
    LargePodSettings,
    Minimum,
    Preset,
    ReferenceRound,
    SoftwareConfiguration,
)
from podsim.model.vision import MobileCnn, VisionTransformer, WindowTransformer, Yolo

LARGEST_PACK = 3  # sequences a packed row may hold, each with its own sentence head (mlperf-training-v1-1)


class NetworkKind(StrEnum):
    """What kind of network a chain of units is, as far as the configuration of its software goes."""

    CONVOLUTIONAL = "convolutional"
    VISION_TRANSFORMER = "vision-transformer"
    LANGUAGE = "language"


class Head(StrEnum):
    """What a transformer is asked at its end."""

    MLM = "mlm"  # masked tokens, and sentences where there are any
    LM = "lm"  # the next token, at every token
    SPAN = "span"  # begin and end of an answer
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """A transformer: an encoder with masked-token, sentence or span heads, or a decoder that says the next token.

    Attention of a decoder is computed in full and masked, as it is for packed rows.
    """

    layers: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    sequence: Count
    vocabulary: Count
    positions: Whole
    segments: Whole = 0
    masked_tokens: Whole = 0
    sentences: Whole = LARGEST_PACK
    head: Head = Head.MLM
    pre_norm: bool = False
    rms_norm: bool = False
    rotary: bool = False
    gated: bool = False
    biases: bool = True
    dropout: bool = True
    tied: bool = True
    key_value_heads: Count | None = None
    parallel: bool = False
    rotary_width: Count | None = None
    attention_biases: bool = True
    head_bias: bool = False

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "heads", "feed_forward", "sequence", "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1")
        for name, least in (("positions", not self.rotary), ("masked_tokens", self.head is Head.MLM)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: must be at least {least:d}")
        if min(self.segments, self.sentences) < 0:
            raise ValueError(f"{'segments' if self.segments < 0 else 'sentences'}: must be at least 0")
        if self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads do not divide hidden = {self.hidden}")
        if self.shared_heads < 1 or self.heads % self.shared_heads:
            raise ValueError(f"key_value_heads: {self.shared_heads} do not divide {self.heads} heads")
        if self.rotary_width is not None and not 0 < self.rotary_width <= self.hidden // self.heads:
            raise ValueError(f"rotary_width: is at most the {self.hidden // self.heads} elements of a head")
        if self.parallel and not self.pre_norm:
            raise ValueError("parallel: halves side by side share the norm before them: pre_norm = true")

    @property
    def shared_heads(self) -> int:
        """Heads of keys and values, each shared by equally many heads of queries."""
        return self.heads if self.key_value_heads is None else self.key_value_heads


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualCnn:
    """A residual network of bottleneck blocks; stride sits on the 3 x 3 convolution (v1.5).

    Batch norm where `norm_groups` is 0, else a group norm of so many groups of channels.
    """

    image: Count
    stem_channels: Count
    widths: tuple[Count, ...]
    blocks: tuple[Count, ...]
    expansion: Count
    classes: Count
    checkpoint_blocks: tuple[Whole, ...]
    cardinality: Count = 1
    norm_groups: Whole = 0

    def __post_init__(self) -> None:
        if len(self.widths) != len(self.blocks) or not self.widths:
            raise ValueError("blocks: must have one entry for each of widths")
        sizes = (self.image, self.stem_channels, self.expansion, self.classes, *self.widths, *self.blocks)
        if min(sizes) < 1:
            raise ValueError("image: every size must be at least 1")
        for width in self.widths:
            if self.cardinality < 1 or width % self.cardinality:
                raise ValueError(f"cardinality: {self.cardinality} groups do not divide {width} channels")
        for channels in (self.stem_channels, *self.widths):
            if self.norm_groups and channels % self.norm_groups:
                raise ValueError(f"norm_groups: {self.norm_groups} groups do not divide {channels} channels")


FAMILIES = (
    "transformer",
    "residual_cnn",
    "mobile_cnn",
    "vision_transformer",
    "window_transformer",
    "conformer",
    "transducer",
    "recurrent_transducer",
    "deep_voice",
    "encoder_decoder",
    "deberta",
    "yolo",
    "schnet",
    "dlrm",
    "unit",
)
"""The tables of which a workload file holds one: a family with its sizes, or units operator by operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceNetworks:
    """Shipped workloads of one kind of network whose configuration a user's network of that kind may take."""

    kind: NetworkKind
    workloads: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralConfiguration:
    """How models without a published run are stored and ordered, and the global batch of a step."""

    benchmark: Benchmark
    configurations: Annotated[tuple[SoftwareConfiguration, ...], Key("configuration")]
    references: Annotated[tuple[ReferenceNetworks, ...], Key("reference")] = ()

    def networks_of(self, kind: NetworkKind | None) -> tuple[str, ...]:
        """Names of the shipped workloads of a kind."""
        return tuple(name for each in self.references if each.kind is kind for name in each.workloads)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFile:
    """What a workload file says."""

    name: str
    title: str = ""
    notes: tuple[AnswerNote, ...] = ()
    sample: str = "sample"
    row: str = "sample"
    samples_per_row: Positive = 1.0
    packing: Positive = 1.0
    precision: Precision = Precision.FP16_16
    optimizer: str = "adam"
    row_bytes: Annotated[Bytes, Key("row_size")] | None = None
    transformer: Transformer | None = None
    residual_cnn: ResidualCnn | None = None
    mobile_cnn: MobileCnn | None = None
    vision_transformer: VisionTransformer | None = None
    window_transformer: WindowTransformer | None = None
    conformer: Conformer | None = None
    transducer: Transducer | None = None
    recurrent_transducer: RecurrentTransducer | None = None
    deep_voice: DeepVoice | None = None
    encoder_decoder: EncoderDecoder | None = None
    deberta: Deberta | None = None
    yolo: Yolo | None = None
    schnet: SchNet | None = None
    dlrm: Dlrm | None = None
    unit: tuple[GivenUnit, ...] | None = None
    minimum: Minimum | None = None
    benchmark: Benchmark | None = None
    convergence: Convergence | None = None
    reference: ReferenceRound | None = None
    configurations: Annotated[tuple[SoftwareConfiguration, ...], Key("configuration")] = ()
    presets: Annotated[tuple[Preset, ...], Key("preset")] = ()
    large_pods: Annotated[tuple[LargePodSettings, ...], Key("large_pod")] = ()

    def __post_init__(self) -> None:
        if sum(getattr(self, family) is not None for family in FAMILIES) != 1:
            raise ValueError(f"family: give exactly one of {' and '.join(map(_header, FAMILIES))}")
        for name in ("samples_per_row", "packing"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: must be above 0")
        if self.reference and self.convergence:
            raise ValueError("reference: [convergence] states points already; give one of the two")
        if self.reference and (not self.benchmark or self.benchmark.style is EvaluationStyle.FIXED):
            raise ValueError('reference: its points end no run of a stated length; [benchmark] style = "points"')
        named_frameworks = (
            *((each.name, each.framework) for each in self.configurations),
            *((each.name, each.framework) for each in self.presets),
        )
        for name, framework in named_frameworks:
            if framework and not INTERFACES[framework].trains:
                raise ValueError(f"framework: {framework} of {name} runs trained models and trains none")


def _header(family: str) -> str:
    return "[[unit]]" if family == "unit" else f"[{family}]"
