"""The supersteps of a split product, as arrays: over candidates to choose one, over cohorts to build the chosen one."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from podsim.model.chip import Chip
from podsim.tiles import partials
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES, PARTIAL_BYTES, up
from podsim.tiles.problem import VECTOR_BYTES, Array, Copy, Problem, Tile, Vertex
from podsim.tiles.supersteps import TileRates, sram_rates, superstep_cycles

BROADCAST = "broadcast inputs"


@dataclass(frozen=True, slots=True)
class Splits:
    """Parts each dimension is cut into, as arrays; `serial` parts follow each other on the same tiles."""

    groups: Array
    field: Array
    kernel: Array
    inputs: Array
    outputs: Array
    serial: Array

    @property
    def depth(self) -> Array:
        """Partial sums of one output."""
        return self.kernel * self.inputs

    @property
    def tiles(self) -> Array:
        """Tiles that work."""
        return self.groups * self.field * self.depth * self.outputs

    def take(self, which: npt.NDArray[np.intp]) -> "Splits":
        """Some of them."""
        return Splits(*(getattr(self, name)[which] for name in Splits.__slots__))


@dataclass(frozen=True, slots=True)
class Serial:
    """How serial parts run: over outputs or over inputs, and whether the inputs are broadcast once before."""

    over: str
    once: bool = False


@dataclass(frozen=True, slots=True)
class SuperstepArray:
    """One superstep as arrays of what a tile does in it [cycles, B]; `repeat` is 0 where it is left out.

    `load` and `store` are 0 where SRAM delivers more than the vertices can ask for.
    """

    name: str
    purpose: str
    repeat: Array
    compute: Array
    receive: Array
    shared: Array
    send: Array
    load: Array | float = 0.0
    store: Array | float = 0.0


@dataclass(frozen=True, slots=True)
class TileElements:
    """Elements one tile holds of each operand during one serial part, and its outputs when all are summed."""

    inputs: Array
    weights: Array
    partials: Array
    results: Array


def tile_elements(problem: Problem, vertex: Vertex, tile: Tile, splits: Splits) -> TileElements:
    """Elements a tile holds, channels and groups padded to the vertex's grains, the field with its halo."""
    groups = up(tile.groups, vertex.group_grain) * vertex.group_grain
    channels_in = up(tile.inputs, vertex.in_grain) * vertex.in_grain
    channels_out = up(tile.outputs, vertex.out_grain) * vertex.out_grain
    height = halo(tile.height, tile.kernel_height, problem, 0)
    width = halo(tile.width, tile.kernel_width, problem, 1)
    sums = groups * tile.field * channels_out
    return TileElements(
        inputs=groups * tile.batch * height * width * channels_in,
        weights=groups * channels_in * channels_out * tile.kernel_height * tile.kernel_width,
        partials=sums,
        results=np.ceil(sums / splits.depth),
    )


def halo(outputs: Array, kernel: Array, problem: Problem, edge: int) -> Array:
    """Inputs that a run of outputs needs along one edge: 0 the rows, 1 the columns."""
    stride, spread = problem.stride[edge], problem.spread[edge]
    if stride == spread == problem.kernel_height == problem.kernel_width == 1:
        return outputs
    return np.ceil(((outputs - 1) * stride + (kernel - 1) * problem.dilation + 1) / spread)


def sequence(
    problem: Problem,
    vertex: Vertex,
    tile: Tile,
    splits: Splits,
    serial: Serial | None,
    chip: Chip,
    *,
    hold: TileElements,
    overhead_cycles: float,
    price_copies: bool = True,
) -> tuple[SuperstepArray, ...]:
    """All supersteps of the operator in order; copies may go unpriced while plans are compared."""
    none = np.zeros_like(hold.inputs)
    before = [copy for copy in problem.copied if copy.operand != "output"]
    after = [copy for copy in problem.copied if copy.operand == "output"]
    return (
        *(_rearrangement(copy, vertex, splits, none, chip, price_copies) for copy in before),
        *_multiplication(problem, vertex, tile, hold, splits, serial, chip=chip),
        *_summation(vertex, hold, splits, serial),
        *_cast(vertex, hold, splits),
        *(_rearrangement(copy, vertex, splits, none, chip, price_copies) for copy in after),
        SuperstepArray("overhead", "overhead", none + 1, none + overhead_cycles, none, none, none),
    )


def _rearrangement(copy: Copy, vertex: Vertex, splits: Splits, none: Array, chip: Chip, priced: bool) -> SuperstepArray:
    """An operand exchanged and copied on its tile."""
    size = (OUTPUT_BYTES if copy.operand == "output" else ELEMENT_BYTES)[vertex.precision]
    elements = copy.elements / splits.tiles
    cycles = partials.copy_cycles(elements, copy.run, size, chip) if priced else none
    moved_bytes = elements * size
    return SuperstepArray(f"rearrange {copy.operand}", "rearrange", none + 1, cycles, moved_bytes, none, moved_bytes)


def _multiplication(
    problem: Problem,
    vertex: Vertex,
    tile: Tile,
    hold: TileElements,
    splits: Splits,
    serial: Serial | None,
    *,
    chip: Chip,
) -> list[SuperstepArray]:
    """Operands exchanged, then multiplied; in serial parts their slices are taken first."""
    size = ELEMENT_BYTES[vertex.precision]
    none = np.zeros_like(hold.inputs)
    here, own_weights = np.floor(hold.inputs / splits.outputs), np.floor(hold.weights / splits.field)
    incoming_bytes = (hold.inputs - here) * size
    shared_bytes = np.where(splits.outputs % 2 == 0, incoming_bytes, 0.0)
    inputs = (incoming_bytes - shared_bytes, shared_bytes, np.where(splits.outputs > 1, here * size, 0.0))
    weights, weight_send_bytes = (
        (hold.weights - own_weights) * size,
        np.where(splits.field > 1, own_weights * size, 0.0),
    )
    arrays = []
    if serial and serial.once:
        arrays.append(SuperstepArray(BROADCAST, "input", none + 1, none, *inputs))
        inputs = (none, none, none)
    if serial:
        cycles = partials.slice_cycles(np.ceil(hold.weights / splits.field), size)
        if serial.over == "inputs":
            cycles = cycles + partials.slice_cycles(np.ceil(hold.inputs / splits.outputs), size)
        arrays.append(SuperstepArray("slice", "slice", splits.serial, cycles, none, none, none))
    receive, shared_bytes, send = inputs
    traffic = receive + weights, shared_bytes, send + weight_send_bytes
    through_sram = _through_sram(problem, vertex, tile, hold, chip)
    cycles = vertex.cycles(problem, tile)
    arrays.append(SuperstepArray("multiply", "multiply", splits.serial, cycles, *traffic, *through_sram))
    return arrays


def broadcast_each_time(arrays: tuple[SuperstepArray, ...]) -> tuple[SuperstepArray, ...]:
    """The supersteps of the same cuts where inputs broadcast once are sent again in every serial part."""
    broadcast = next(step for step in arrays if step.name == BROADCAST)
    return tuple(
        step
        if step.purpose != "multiply"
        else replace(
            step, receive=broadcast.receive + step.receive, shared=broadcast.shared, send=broadcast.send + step.send
        )
        for step in arrays
        if step is not broadcast
    )


def accesses(problem: Problem, vertex: Vertex, tile: Tile, hold: TileElements) -> tuple[Array, Array]:
    """Bytes a tile loads and stores while it multiplies: a block reads its inputs and sums, and writes the sums."""
    size, partial = ELEMENT_BYTES[vertex.precision], PARTIAL_BYTES[vertex.precision]
    times = vertex.sums(problem, tile)
    load = (hold.inputs * up(tile.outputs, vertex.out_grain) + hold.weights) * size
    return load + hold.partials * partial * np.maximum(times - 1, 0.0), hold.partials * partial * times


def _through_sram(
    problem: Problem, vertex: Vertex, tile: Tile, hold: TileElements, chip: Chip
) -> tuple[Array | float, Array | float]:
    """Bytes a tile loads and stores while it multiplies; 0 where SRAM delivers what instructions ask for at most."""
    load, store = sram_rates(chip)
    if load >= 2 * VECTOR_BYTES and store >= VECTOR_BYTES:
        return 0.0, 0.0
    return accesses(problem, vertex, tile, hold)


def _summation(vertex: Vertex, hold: TileElements, splits: Splits, serial: Serial | None) -> list[SuperstepArray]:
    """Partial sums exchanged and added in one to three stages; serial parts are put back or accumulated.

    A single partial sum is exchanged as well: that delivers the output to where it is wanted.
    """
    size = PARTIAL_BYTES[vertex.precision]
    none = np.zeros_like(hold.partials)
    sums = hold.partials
    arrays = []
    for index, depth in enumerate(partials.stages(splits.depth)):
        if index and not np.any(depth > 1):
            break
        moved_bytes, sums = sums * size, np.ceil(sums / depth)
        cycles = partials.reduce_cycles(sums, depth, size)
        repeat = splits.serial if index == 0 else np.where(depth > 1, splits.serial, 0.0)
        name = f"reduce, stage {index + 1}" if index else "reduce"
        arrays.append(SuperstepArray(name, "reduce", repeat, cycles, moved_bytes, none, moved_bytes))
    if serial and serial.over == "inputs":
        cycles = partials.add_cycles(hold.results, size)
        arrays.append(SuperstepArray("accumulate", "slice", splits.serial, cycles, none, none, none))
    elif serial:
        cycles = partials.slice_cycles(hold.results, OUTPUT_BYTES[vertex.precision])
        arrays.append(SuperstepArray("put back", "slice", splits.serial, cycles, none, none, none))
    return arrays


def _cast(vertex: Vertex, hold: TileElements, splits: Splits) -> list[SuperstepArray]:
    """Partial sums to the type of the output, where they differ."""
    if PARTIAL_BYTES[vertex.precision] == OUTPUT_BYTES[vertex.precision]:
        return []
    none = np.zeros_like(hold.results)
    return [
        SuperstepArray("cast", "cast", none + 1, partials.cast_cycles(hold.results * splits.serial), none, none, none)
    ]


def total_cycles(arrays: tuple[SuperstepArray, ...], chip: Chip) -> Array:
    """Cycles of the operator: the same sum as `supersteps.total` makes of the chosen plan."""
    rates = TileRates.of(chip)
    whole = np.zeros_like(arrays[-1].compute)
    for step in arrays:
        # Most supersteps that exchange nothing hold one array of zeros three times.
        still = step.send is step.receive is step.shared and not step.send.any()
        compute, exchange, sync = superstep_cycles(
            rates,
            step.compute,
            send=0.0 if still else step.send,
            receive=0.0 if still else step.receive,
            shared_receive=0.0 if still else step.shared,
            load=step.load,
            store=step.store,
        )
        whole = whole + step.repeat * (compute + exchange + sync)
    return whole


def memory_bytes(
    problem: Problem, vertex: Vertex, hold: TileElements, splits: Splits, serial: Serial | None
) -> dict[str, Array]:
    """Temporary bytes of the most loaded tile by category; rearranging and multiplying do not overlap."""
    size, partial = ELEMENT_BYTES[vertex.precision], PARTIAL_BYTES[vertex.precision]
    memory_bytes = {"inputs": hold.inputs * size, "weights": hold.weights * size, "partials": hold.partials * partial}
    if serial and serial.over == "inputs":
        memory_bytes["accumulator"] = hold.results * partial
    copy_bytes = max((copy.elements for copy in problem.copied), default=0.0) * size
    if copy_bytes:
        memory_bytes["rearranged"] = np.maximum(2 * copy_bytes / splits.tiles - sum(memory_bytes.values()), 0.0)
    return memory_bytes
