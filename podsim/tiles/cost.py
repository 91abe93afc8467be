"""The one interface through which an operator's time on a chip is asked: a roofline of AMP, exchange and SRAM.

An IPU is bulk-synchronous: exchange and compute of one operator never overlap, so their times add (docs/model.md,
Eq. 1 to 4). Planning over tiles replaces the inside of `cost` without touching its callers.
"""

import math
from dataclasses import dataclass

from podsim.errors import MissingParameter
from podsim.model.chip import Chip, Precision
from podsim.model.program import Cut, Part
from podsim.model.workload import Conv, Gather, Matmul, Operator, OperatorShape, Pass, Stream
from podsim.physics.sram import sram_s

ELEMENT_BYTES = {Precision.FP16_16: 2, Precision.FP16_32: 2, Precision.FP32: 4}
MATMUL_SUPERSTEPS = 3  # bring the operands, multiply, reduce (poplibs lib/poplin/ConvPlan.cpp)


@dataclass(frozen=True, slots=True)
class Rates:
    """What of a chip's peak is reached: the fitted efficiencies of the roofline."""

    chip: Chip
    precision: Precision
    compute_efficiency: float
    sram_efficiency: float


@dataclass(frozen=True, slots=True)
class TileCost:
    """Seconds of one operator by what they are spent on."""

    compute_s: float = 0.0
    exchange_s: float = 0.0
    sync_s: float = 0.0

    def __add__(self, other: "TileCost") -> "TileCost":
        return TileCost(
            self.compute_s + other.compute_s, self.exchange_s + other.exchange_s, self.sync_s + other.sync_s
        )

    @property
    def total_s(self) -> float:
        """All of it [s]."""
        return self.compute_s + self.exchange_s + self.sync_s

    @property
    def cut(self) -> Cut:
        """The seconds by part of a step."""
        return ((Part.COMPUTE, self.compute_s), (Part.EXCHANGE, self.exchange_s), (Part.SYNC, self.sync_s))


def cost(operator: Operator, run: Pass, rows: int, rates: Rates) -> TileCost:
    """Time of one pass of an operator over `rows` rows."""
    shape = operator.shape.at(rows)
    if run in (Pass.FORWARD, Pass.RECOMPUTE):
        return _forward(shape, rates)
    if run is Pass.WEIGHT_GRADIENT:
        return _weight_gradient(shape, rates)
    if not operator.input_gradient:
        return TileCost()
    return _backward(shape, rates)


def _forward(shape: OperatorShape, rates: Rates) -> TileCost:
    if isinstance(shape, Matmul):
        return _product(shape.groups, shape.m, shape.k, shape.n, rates)
    if isinstance(shape, Conv):
        return _convolution(shape, rates)
    if isinstance(shape, Stream):
        return _vector(shape.elements * (shape.reads + shape.writes), shape.reads, rates)
    return _gather(shape, rates)


def _backward(shape: OperatorShape, rates: Rates) -> TileCost:
    if isinstance(shape, Matmul):
        inputs = _product(shape.groups, shape.m, shape.n, shape.k, rates)
        other = TileCost() if shape.weights else _product(shape.groups, shape.k, shape.m, shape.n, rates)
        return inputs + other
    if isinstance(shape, Conv):
        return _convolution(shape, rates)
    if isinstance(shape, Stream):
        return _vector(shape.elements * (shape.back_reads + shape.back_writes), shape.back_reads, rates)
    return TileCost()


def _weight_gradient(shape: OperatorShape, rates: Rates) -> TileCost:
    """The gradient of the weights and its addition to the accumulator (read both, write one)."""
    if not shape.parameters:
        return TileCost()
    if isinstance(shape, Gather):
        return _gather(shape, rates)
    added = _vector(3 * shape.parameters, 1, rates)
    if isinstance(shape, Matmul):
        return added + _product(shape.groups, shape.k, shape.m, shape.n, rates)
    if isinstance(shape, Conv):
        return added + _convolution(shape, rates)
    return added


def _product(groups: int, m: int, k: int, n: int, rates: Rates) -> TileCost:
    """Eq. 1 and 2: padded FLOP over the AMP rate reached, and the least traffic of a product split over tiles."""
    group = rates.chip.amp.channel_group
    padded = 2.0 * groups * m * _up(k, group) * _up(n, group)
    return _amp(padded, float(groups) * m * k * n, rates)


def _convolution(shape: Conv, rates: Rates) -> TileCost:
    """A convolution as the product of its pixels, its reduction and its outputs; few inputs pack kernel rows."""
    group = rates.chip.amp.channel_group
    channels = shape.in_channels // shape.channel_groups
    packed = next((size for size in (4, 8) if channels <= size), _up(channels, group))
    reduction = _up(packed * shape.kernel**2, group)
    outputs = _up(shape.out_channels // shape.channel_groups, group) * shape.channel_groups
    pixels = shape.batch * shape.out_size**2
    return _amp(2.0 * pixels * reduction * outputs, float(pixels) * shape.reduction * shape.out_channels, rates)


def _amp(padded_flop: float, products: float, rates: Rates) -> TileCost:
    chip = rates.chip
    peak = _peak(chip, rates.precision)
    exchange_s = product_bytes(products, chip, rates.precision) / (chip.exchange_bytes_per_s * chip.exchange.efficiency)
    return TileCost(padded_flop / (peak * rates.compute_efficiency), exchange_s, _supersteps_s(MATMUL_SUPERSTEPS, chip))


def product_bytes(products: float, chip: Chip, precision: Precision) -> float:
    """Operands and results all tiles together hold for a product of so many multiplications [B] (Eq. 2).

    A tile that multiplies x products needs at least 3 x^(2/3) operand and result elements. Source: irony-2004.
    """
    a_tile = math.pow(products / chip.tiles, 2 / 3)
    return 3.0 * a_tile * chip.tiles * ELEMENT_BYTES[precision]


def _vector(accesses: float, passes: int, rates: Rates) -> TileCost:
    """Eq. 3: bytes read and written over the SRAM rate reached; each pass over the data is a superstep."""
    moved = accesses * ELEMENT_BYTES[rates.precision]
    return TileCost(sram_s(moved, rates.chip, rates.sram_efficiency), 0.0, _supersteps_s(max(1, passes), rates.chip))


def _gather(shape: Gather, rates: Rates) -> TileCost:
    """Rows looked up are read, exchanged once, and written (Eq. 3)."""
    moved = shape.outputs * ELEMENT_BYTES[rates.precision]
    chip = rates.chip
    exchange_s = moved / (chip.exchange_bytes_per_s * chip.exchange.efficiency)
    return TileCost(sram_s(2 * moved, chip, rates.sram_efficiency), exchange_s, _supersteps_s(2, chip))


def _supersteps_s(count: int, chip: Chip) -> float:
    """Eq. 4: each superstep pays a sync and the start of an exchange."""
    return count * (chip.sync.on_chip_cycles + chip.exchange.start_cycles) / chip.clock_hz


def _peak(chip: Chip, precision: Precision) -> float:
    if precision not in chip.amp.flop_per_cycle:
        known = ", ".join(chip.amp.flop_per_cycle)
        raise MissingParameter(
            f"{chip.name} has no AMP rate for precision {precision}", hint=f"its chip file states {known}"
        )
    return chip.peak_flop_per_s(precision)


def _up(size: int, grain: int) -> int:
    return math.ceil(size / grain) * grain
