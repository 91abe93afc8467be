"""The vertices a multiplication can run on, each with its grains and the cycles of one tile."""

from dataclasses import dataclass

import numpy as np

from podsim.model.chip import Precision
from podsim.tiles import amp, narrow_vertices
from podsim.tiles.amp import AmpVertex
from podsim.tiles.problem import Array, Problem, Tile


@dataclass(frozen=True, slots=True)
class _AmpBlocks:
    """Blocks of the multiplier of a chip, which give the grain of channels."""

    amp: AmpVertex

    @property
    def precision(self) -> Precision:
        """Operands and partial sums."""
        return self.amp.precision

    @property
    def in_grain(self) -> int:
        """Input channels of a block."""
        return self.amp.in_group

    @property
    def out_grain(self) -> int:
        """Output channels of a block."""
        return self.amp.out_group


@dataclass(frozen=True, slots=True)
class OneByOne(_AmpBlocks):
    """Full AMP blocks over a field without a kernel."""

    method: str = "AMP 1x1"
    group_grain: int = 1

    def cycles(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Tile cycles."""
        return amp.one_by_one(self.amp, tile.field, tile.inputs, tile.outputs, tile.groups)

    def sums(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Once a block of inputs."""
        return amp.up(tile.inputs, self.in_grain)


@dataclass(frozen=True, slots=True)
class NByOne(_AmpBlocks):
    """AMP blocks over rows of a field, one kernel column at a time."""

    method: str = "AMP n x 1"
    group_grain: int = 1

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles; rows of all images follow each other."""
        field = (tile.batch * tile.height, tile.width)
        channels = (tile.inputs, tile.outputs)
        return amp.n_by_one(self.amp, field, tile.kernel, channels, tile.groups, problem.spread)

    def sums(self, problem: Problem, tile: Tile) -> Array:
        """Once a block of inputs and position of the kernel, of which some share a block."""
        positions = amp.up(tile.kernel_height, amp.kernel_rows(self.amp)) * tile.kernel_width
        return amp.up(tile.inputs, self.in_grain) * positions / problem.spread_positions


@dataclass(frozen=True, slots=True)
class Slic:
    """Some groups of one channel, two of two, or one of four, over windows of four kernel columns."""

    precision: Precision
    in_grain: int
    group_grain: int
    chains: int
    method: str = "SLIC"

    @property
    def out_grain(self) -> int:
        """Output channels of a block."""
        return self.in_grain

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles; rows of all images follow each other."""
        blocks = amp.up(tile.groups, self.group_grain) * amp.up(tile.inputs, self.in_grain)
        blocks = blocks * amp.up(tile.outputs, self.out_grain)
        field = (tile.batch * tile.height, tile.width)
        return narrow_vertices.slic(
            field, tile.kernel, self.in_grain, blocks, stride=problem.stride[1], chains=self.chains
        )

    def sums(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Once a block of inputs and window of the kernel."""
        return amp.up(tile.inputs, self.in_grain) * narrow_vertices.windows(tile.kernel)


@dataclass(frozen=True, slots=True)
class Vmac:
    """Depthwise channels, eight at a time on the vector unit."""

    precision: Precision
    method: str = "VMAC"
    group_grain: int = narrow_vertices.VMAC_GROUPS
    in_grain: int = 1
    out_grain: int = 1

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles."""
        return narrow_vertices.vmac(tile.field / problem.spread_positions, tile.kernel, tile.groups)

    def sums(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Sums stay in registers."""
        return np.ones_like(tile.inputs)


@dataclass(frozen=True, slots=True)
class Dot:
    """Plain dot products over the input channels: any shape."""

    precision: Precision
    in_grain: int
    method: str = "dot product"
    group_grain: int = 1
    out_grain: int = 1

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles."""
        channels = (tile.inputs, tile.outputs)
        return narrow_vertices.dot(
            tile.field / problem.spread_positions, tile.kernel, channels, tile.groups, self.in_grain
        )

    def sums(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Sums stay in registers."""
        return np.ones_like(tile.inputs)


@dataclass(frozen=True, slots=True)
class Outer:
    """Products with a single input channel."""

    precision: Precision
    out_grain: int = 4
    method: str = "outer product"
    group_grain: int = 1
    in_grain: int = 1

    def cycles(self, problem: Problem, tile: Tile) -> Array:
        """Tile cycles."""
        return narrow_vertices.outer(tile.field / problem.spread_positions, tile.outputs, tile.groups)

    def sums(self, problem: Problem, tile: Tile) -> Array:  # noqa: ARG002
        """Sums stay in registers."""
        return np.ones_like(tile.inputs)
