"""Cycles of one tile's multiplication vertices on the AMP: the 1 x 1 vertex and the n x 1 vertex (Eq. 4).

Counts are those of poplibs (lib/poplin/PerformanceEstimation.hpp), in tile cycles: six threads take turns, so a
thread cycle is six tile cycles. Every function takes arrays of equal shape and returns one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podsim.errors import MissingParameter
from podsim.model.chip import Chip, Precision

Array = npt.NDArray[np.float64]

THREADS = 6  # issue slots of a tile, on every generation so far
LOADS_PER_GROUP = 4  # a unit chains four loads, so an input group is four loads wide
UNIT_BYTES = 32  # weights one unit holds (lib/poplin/ConvVertexType.cpp)
WEIGHT_LOAD_BYTES = 8  # a cycle, 64-bit weight loads (lib/poplin/ConvOptions.hpp: use128BitConvUnitLoad is off)
LEAST_LOADED = 14  # tile cycles the supervisor needs after the least loaded thread is back

ELEMENT_BYTES = {Precision.FP8_16: 1, Precision.FP16_16: 2, Precision.FP16_32: 2, Precision.FP32: 4}
PARTIAL_BYTES = {Precision.FP8_16: 2, Precision.FP16_16: 2, Precision.FP16_32: 4, Precision.FP32: 4}
OUTPUT_BYTES = {Precision.FP8_16: 2, Precision.FP16_16: 2, Precision.FP16_32: 2, Precision.FP32: 4}
LOAD_ELEMENTS = {Precision.FP8_16: 8, Precision.FP16_16: 4, Precision.FP16_32: 4, Precision.FP32: 2}
UNIT_MACS = {Precision.FP8_16: 8, Precision.FP16_16: 4, Precision.FP16_32: 4, Precision.FP32: 1}  # a cycle and unit


@dataclass(frozen=True, slots=True)
class AmpVertex:
    """The AMP as one vertex uses it: operand types, units working, channels in and out of a block."""

    precision: Precision
    units: int
    in_group: int
    out_group: int

    @property
    def passes(self) -> int:
        """Times a block of inputs is streamed for one group of outputs."""
        return self.out_group // self.units

    @property
    def weight_load(self) -> int:
        """Cycles to load the weights of one pass."""
        return self.units * UNIT_BYTES // WEIGHT_LOAD_BYTES

    @property
    def float_input(self) -> bool:
        """Operands of 4 B."""
        return ELEMENT_BYTES[self.precision] == 4

    @property
    def float_partials(self) -> bool:
        """Partial sums of 4 B."""
        return PARTIAL_BYTES[self.precision] == 4

    @property
    def wide(self) -> bool:
        """Half operands with 16 units or float partial sums: another inner loop."""
        return not self.float_input and (self.units == 16 or self.float_partials)


def input_group(precision: Precision) -> int:
    """Input channels of a full block: four loads of 4 half, 2 float or 8 FP8 values."""
    return LOADS_PER_GROUP * LOAD_ELEMENTS[precision]


def float_operands(precision: Precision) -> bool:
    """Operands of 4 B."""
    return ELEMENT_BYTES[precision] == 4


def units(chip: Chip, precision: Precision) -> int:
    """AMP units of a tile at a precision.

    Raises
    ------
    MissingParameter
        The chip states no AMP rate for the precision.

    """
    if precision not in chip.amp.flop_per_cycle:
        precisions = ", ".join(chip.amp.flop_per_cycle)
        raise MissingParameter(
            f"{chip.name} has no AMP rate for precision {precision}", hint=f"its chip file states {precisions}"
        )
    return max(1, round(chip.amp.flop_per_cycle[precision] / 2 / UNIT_MACS[precision]))


def shapes(chip: Chip, precision: Precision, outputs: int) -> tuple[AmpVertex, ...]:
    """AMP shapes of full blocks worth trying: all units; two passes of 8; 8 of 16 for few outputs."""
    most = units(chip, precision)
    group = input_group(precision)
    full = AmpVertex(precision, most, group, most)
    if most < 16:
        return (full, AmpVertex(precision, most, group, 2 * most))
    return (full, AmpVertex(precision, most // 2, group, most // 2)) if outputs <= most // 2 else (full,)


def up(size: Array, grain: float) -> Array:
    """Groups of `grain` that hold `size`."""
    return np.ceil(size / grain)


def _row_cycles(amp: AmpVertex, rows: Array, *, zeroing: bool) -> Array:
    """Thread cycles to stream `rows` rows through one block; nothing for no rows."""
    if amp.float_input:
        cycles: Array = np.where(rows >= 3, 46 + 8 * (rows - 3), np.where(rows == 1, 47, 46))
        if zeroing:
            cycles = cycles + 2 + (8 if amp.units == 16 else 4) * rows
    else:
        less = (1 if zeroing else 0) + (7 if amp.wide else 0)
        cycles = np.where(rows >= 3, (26 - less) + 4 * rows, np.where(rows == 1, 33 - less, 42 - less))
    return np.where(rows > 0, cycles, 0.0)


def block_cycles(amp: AmpVertex, field: Array, *, zeroing: bool) -> Array:
    """Tile cycles of one block for a field of rows dealt to six threads; the supervisor waits for the slowest."""
    busy = THREADS * _row_cycles(amp, np.ceil(field / THREADS), zeroing=zeroing)
    light = THREADS * _row_cycles(amp, np.floor(field / THREADS), zeroing=zeroing)
    cycles: Array = np.maximum(busy, np.minimum(busy, light) + LEAST_LOADED)
    return cycles


def one_by_one(amp: AmpVertex, field: Array, channels_in: Array, channels_out: Array, groups: Array) -> Array:
    """Tile cycles of the 1 x 1 vertex: `field` rows, channels padded to full blocks.

    About 4 cycles per row and block of half operands plus 90 to 95 a block. Source: poplibs
    getConvPartial1x1SupervisorCycleEstimate; 402 cycles measured for 16 rows on Bow, 399 here.
    """
    blocks_in = up(channels_in, amp.in_group)
    blocks_out = up(channels_out, amp.out_group)
    loop = 0 if not (amp.float_input or amp.wide) else 1
    start = 50 + (THREADS * (7 + 3 * (blocks_in * groups - 1)) if amp.wide else 0)
    load = amp.weight_load
    first = blocks_out * (19 - loop + amp.passes * (7 + load + block_cycles(amp, field, zeroing=True)))
    other = blocks_out * (19 + amp.passes * (6 + load + block_cycles(amp, field, zeroing=False)))
    return start + groups * (12 + loop + 11 + first + (blocks_in - 1) * (16 - loop + other))


def kernel_rows(amp: AmpVertex) -> int:
    """Kernel rows packed into one block where the input group is a part of a full one: 1, 2 or 4."""
    return max(1, input_group(amp.precision) // amp.in_group)


def n_by_one(
    amp: AmpVertex,
    field: tuple[Array, Array],
    kernel: tuple[Array, Array],
    channels: tuple[Array, Array],
    groups: Array,
    spread: tuple[int, int] = (1, 1),
) -> Array:
    """Tile cycles of the n x 1 vertex: weights of one input group and kernel column, then every row of the field.

    The outputs of a field (rows, columns) are dealt in raster order; `kernel` is (height, width), `channels` (in, out).
    With a `spread` above 1, the gradient of a strided convolution, a kernel position meets one output in so many.
    Source: poplibs getConvPartialnx1SupervisorCycleEstimate.
    """
    rows, columns = field
    blocks_in, blocks_out = up(channels[0], amp.in_group), up(channels[1], amp.out_group)
    rows_per_block = kernel_rows(amp)
    load = amp.weight_load + 3 + {1: 15, 2: 46, 4: 60}.get(rows_per_block, 60)
    outer = up(kernel[0], rows_per_block)
    thread = THREADS * _segments(amp, np.ceil(rows / spread[0]), np.ceil(columns / spread[1]))
    inner = outer * (14 + kernel[1] * (12 + amp.passes * load)) + thread * amp.passes * outer * kernel[1]
    start_cycles = 109 + 54 + THREADS * (9 if amp.float_partials else 10)
    heads = groups * (17 * blocks_out + THREADS * (blocks_out - 1) + 1) + THREADS * (groups - 1) + 1
    body = groups * (16 + blocks_in * (14 + blocks_out * (14 + inner)))
    return start_cycles + heads + body + groups * blocks_out * _zeroing(rows * columns * amp.out_group)


def _segments(amp: AmpVertex, rows: Array, columns: Array) -> Array:
    """Thread cycles of the busiest of six threads, each with an equal run of outputs cut at the ends of rows."""
    field = rows * columns
    worst = np.zeros_like(field)
    for thread in range(THREADS):
        begin, end = np.floor(field * thread / THREADS), np.floor(field * (thread + 1) / THREADS)
        outputs = end - begin
        pieces = np.maximum(np.floor((end - 1) / columns) - np.floor(begin / columns) + 1, 0)
        worst = np.maximum(worst, _segment_cycles(amp, outputs, pieces))
    return worst + 17 + (0 if amp.float_partials else 1)


def _segment_cycles(amp: AmpVertex, outputs: Array, pieces: Array) -> Array:
    """Thread cycles of `pieces` row segments with `outputs` between them, taken as equally long."""
    length = outputs / np.maximum(pieces, 1)
    if amp.float_input:
        each = np.where(length >= 3, 45 + 8 * (length - 3), np.where(length >= 2, 44, 33))
    else:
        pair = 1 if amp.units == (8 if amp.float_partials else 16) else 0
        each = np.where(length >= 3, 34 + 4 * (length - 3), np.where(length >= 2, 33 + pair, 29))
    cycles: Array = pieces * (each - 6)
    return cycles


def _zeroing(elements: Array) -> Array:
    """Tile cycles to clear partial sums before they are added to."""
    cycles: Array = THREADS * (np.ceil(np.ceil(elements / THREADS) / 2) + 5)
    return cycles
