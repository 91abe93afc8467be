"""A product as the planner sees it: a convolution over groups, a field, a kernel and channels; and one tile's part."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from podsim.model.chip import Precision

Array = npt.NDArray[np.float64]

VECTOR_BYTES = 8
RUN = 16  # channels of a group in the layouts of poplibs


def run_of(channels: int, element_bytes: int, least_bytes: int = VECTOR_BYTES) -> int:
    """Channels copied together: groups of up to 16 of whole vectors of `least_bytes`, else each by itself."""
    return math.gcd(channels, RUN) if channels * element_bytes % least_bytes == 0 else 1


@dataclass(frozen=True, slots=True)
class Copy:
    """An operand that is not in the planner's order: its elements, zeros of the padding included, copied in runs."""

    operand: str
    elements: float
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is multiplied after a transform; sizes of the whole chip. A matrix product is a field of one row.

    A field of height and width comes from a strided or padded image; with a `spread` above 1 (the gradient of a
    strided convolution) one kernel position meets one output in so many, down and along. `copied` must be rearranged.
    """

    transform: str
    groups: int = 1
    batch: int = 1
    height: int = 1
    width: int
    kernel_height: int = 1
    kernel_width: int = 1
    inputs: int
    outputs: int
    stride: tuple[int, int] = (1, 1)
    dilation: int = 1
    spread: tuple[int, int] = (1, 1)
    copied: tuple[Copy, ...] = ()
    channels_in: str = "input channels"
    channels_out: str = "output channels"

    @property
    def spread_positions(self) -> int:
        """Outputs of which a kernel position meets one."""
        return self.spread[0] * self.spread[1]

    @property
    def flat(self) -> bool:
        """Whether the field is one row."""
        return self.batch == 1 and self.height == 1

    @property
    def field(self) -> int:
        """Outputs of one channel."""
        return self.batch * self.height * self.width


@dataclass(frozen=True, slots=True)
class Tile:
    """Sizes of one tile's part, as arrays over candidates or over cohorts."""

    groups: Array
    batch: Array
    height: Array
    width: Array
    kernel_height: Array
    kernel_width: Array
    inputs: Array
    outputs: Array

    @property
    def field(self) -> Array:
        """Outputs of one channel."""
        return self.batch * self.height * self.width

    @property
    def kernel(self) -> tuple[Array, Array]:
        """Kernel height and width."""
        return self.kernel_height, self.kernel_width


class Vertex(Protocol):
    """What multiplies on a tile: the grains it works in and its cycles."""

    @property
    def method(self) -> str:
        """Name on screen."""

    @property
    def precision(self) -> Precision:
        """Operands and partial sums."""

    @property
    def group_grain(self) -> int:
        """Groups taken together."""

    @property
    def in_grain(self) -> int:
        """Input channels of a block."""

    @property
    def out_grain(self) -> int:
        """Output channels of a block."""

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles."""

    def sums(self, problem: Problem, tile: Tile) -> Array:
        """Times each partial sum is read and written back; 1 where it stays in registers."""
