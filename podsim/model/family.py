"""Workloads as files describe them: a family with its sizes, from which the operators are built."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.chip import Precision
from podsim.model.given import GivenUnit
from podsim.model.quantity import Bytes, Count, Key, Positive, Whole
from podsim.model.training import Benchmark, Convergence, Practice, Preset
from podsim.model.vision import MobileCnn, VisionTransformer, WindowTransformer


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformer:
    """An encoder-only transformer with masked-token and sentence heads."""

    layers: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    sequence: Count
    vocabulary: Count
    positions: Count
    segments: Whole
    masked_tokens: Count

    def __post_init__(self) -> None:
        for name in (
            "layers",
            "hidden",
            "heads",
            "feed_forward",
            "sequence",
            "vocabulary",
            "positions",
            "masked_tokens",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1")
        if self.segments < 0:
            raise ValueError("segments: must be at least 0")
        if self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads do not divide hidden = {self.hidden}")


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


FAMILIES = ("transformer", "residual_cnn", "mobile_cnn", "vision_transformer", "window_transformer", "unit")
"""The tables of which a workload file holds one: a family with its sizes, or units operator by operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralPractice:
    """How models are stored and ordered of which nobody has published a run, and how long one is taken to be."""

    benchmark: Benchmark
    practices: Annotated[tuple[Practice, ...], Key("practice")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFile:
    """What a workload file says."""

    name: str
    title: str = ""
    notes: tuple[str, ...] = ()
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
    unit: tuple[GivenUnit, ...] | None = None
    benchmark: Benchmark | None = None
    convergence: Convergence | None = None
    practices: Annotated[tuple[Practice, ...], Key("practice")] = ()
    presets: Annotated[tuple[Preset, ...], Key("preset")] = ()

    def __post_init__(self) -> None:
        if sum(getattr(self, family) is not None for family in FAMILIES) != 1:
            raise ValueError(f"family: give exactly one of {' and '.join(map(_header, FAMILIES))}")
        for name in ("samples_per_row", "packing"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: must be above 0")


def _header(family: str) -> str:
    return "[[unit]]" if family == "unit" else f"[{family}]"
