"""Sizes of the models that see images, beside residual networks: mobile networks, transformers, object detection."""

from dataclasses import dataclass
from typing import Final

from podsim.model.quantity import Count, Positive, Whole

HEADS: Final = 3  # scales at which objects are looked for, the last three of the backbone


@dataclass(frozen=True, slots=True, kw_only=True)
class MobileCnn:
    """Inverted bottlenecks with squeeze-and-excitation, scaled in width and depth; `group_width` 1 is depthwise."""

    image: Count
    stem_channels: Count
    kernels: tuple[Count, ...]
    strides: tuple[Count, ...]
    widths: tuple[Count, ...]
    blocks: tuple[Count, ...]
    expansions: tuple[Count, ...]
    head_channels: Count
    classes: Count
    width: Positive
    depth: Positive
    squeeze: Count
    group_width: Count
    norm_groups: Whole = 0
    proxy_norm: bool = False
    checkpoint_blocks: tuple[Whole, ...] = ()

    def __post_init__(self) -> None:
        if self.proxy_norm and not self.norm_groups:
            raise ValueError("proxy_norm: stands for the batch where a norm has none: norm_groups must be above 0")
        per_group = (self.kernels, self.strides, self.widths, self.blocks, self.expansions)
        if len({len(numbers) for numbers in per_group}) != 1 or not self.widths:
            raise ValueError("widths: kernels, strides, widths, blocks and expansions must have as many entries")
        sizes = (self.image, self.stem_channels, self.head_channels, self.classes, self.squeeze, self.group_width)
        if min(*sizes, *(size for numbers in per_group for size in numbers)) < 1:
            raise ValueError("image: every size must be at least 1")
        if not (self.width > 0 and self.depth > 0):
            raise ValueError("width: width and depth must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionTransformer:
    """Patches of an image and a class token through layers with their norm first."""

    image: Count
    patch: Count
    layers: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    classes: Count

    def __post_init__(self) -> None:
        for name in ("image", "patch", "layers", "hidden", "heads", "feed_forward", "classes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1")
        if self.image % self.patch:
            raise ValueError(f"patch: patches of {self.patch} do not divide an image of {self.image}")
        if self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads do not divide hidden = {self.hidden}")

    @property
    def patches(self) -> int:
        """Of an image."""
        return (self.image // self.patch) ** 2

    @property
    def sequence(self) -> int:
        """Tokens: the patches and the class token."""
        return self.patches + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTransformer:
    """Attention within windows that shift from layer to layer; each later stage has a quarter of the tokens."""

    image: Count
    patch: Count
    window: Count
    hidden: Count
    layers: tuple[Count, ...]
    heads: tuple[Count, ...]
    expansion: Count
    classes: Count

    def __post_init__(self) -> None:
        if len(self.layers) != len(self.heads) or not self.layers:
            raise ValueError("heads: must have one entry for each of layers")
        sizes = (self.image, self.patch, self.window, self.hidden, self.expansion, self.classes)
        if min(*sizes, *self.layers, *self.heads) < 1:
            raise ValueError("image: every size must be at least 1")
        edge = self.patch * 2 ** (len(self.layers) - 1) * self.window
        if self.image % edge:
            raise ValueError(f"image: windows of {self.window} need an image of a multiple of {edge}, not {self.image}")
        for stage, heads in enumerate(self.heads):
            if (self.hidden << stage) % heads:
                raise ValueError(
                    f"heads: {heads} heads do not divide the {self.hidden << stage} channels of stage {stage}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Yolo:
    """Scaled-YOLOv4 with three scales: cross-stage partial blocks down, a pooling neck, up and down again, heads.

    `widths` and `residuals` are those of the backbone's blocks, each of half the edge of the one before.
    """

    image: Count
    stem_channels: Count
    widths: tuple[Count, ...]
    residuals: tuple[Count, ...]
    neck_residuals: Count
    anchors: Count
    classes: Count
    norm_groups: Whole = 0

    def __post_init__(self) -> None:
        if len(self.widths) != len(self.residuals) or len(self.widths) < HEADS + 1:
            raise ValueError(f"widths: as many entries as residuals, and at least {HEADS + 1}")
        sizes = (self.image, self.stem_channels, self.neck_residuals, self.anchors, self.classes)
        if min(*sizes, *self.widths, *self.residuals) < 1:
            raise ValueError("image: every size must be at least 1")
        if self.image % 2 ** len(self.widths):
            raise ValueError(f"image: must be a multiple of {2 ** len(self.widths)}, not {self.image}")
        if any(width % 4 for width in self.widths):
            raise ValueError("widths: must be multiples of 4")
        if self.norm_groups < 0 or (self.norm_groups and any(width // 4 % self.norm_groups for width in self.widths)):
            raise ValueError(f"norm_groups: {self.norm_groups} groups do not divide the channels of every norm")

    @property
    def outputs(self) -> int:
        """Channels of a head: a box, whether there is anything in it, and the classes, for each anchor."""
        return self.anchors * (4 + 1 + self.classes)
