"""What an IPU holds during some supersteps only: activations alive beside the operator that runs, and its buffers.

A variable is live from where it is written to where it is last read (memory-performance-optimisation). So the most that
one point of the program holds counts, not the most activations and the largest buffers of different points.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import Infeasible
from podsim.model.mapping import Mapping, Stage
from podsim.model.training import Recompute
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Pass, Stream
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES
from podsim.tiles.planner import Planner, number_operators, same_plans

TRAINING_PASSES: Final = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
PRODUCTS: Final = (Matmul, Conv, Gather)
"""Operators whose own output no pass of theirs reads again; that of an activation function or a norm is."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """What the plans of one pass hold beside operands on each of their tiles, and their vertices there."""

    bytes_per_tile: float
    tiles: int
    vertices: int


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the program: activations alive beside an operator that runs [B], and the buffers of that operator."""

    alive_bytes: float
    buffers: Buffers
    operator: str
    run: Pass

    def total(self, tiles: int) -> float:
        """Bytes of an IPU of so many tiles, were all as full as those of the operator [B]."""
        return self.alive_bytes + self.buffers.bytes_per_tile * tiles


Signature = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """What runs from one checkpoint to the next: operators with their units, which are held so that ids stay theirs.

    The signature has the number of each operator and the elements per row alive in each of its passes: segments of the
    same signature hold the same.
    """

    operators: tuple[Operator, ...]
    signature: Signature


@dataclass(slots=True)
class LiveBuffers:
    """Of one target and micro-batch: buffers of operators by number and pass, peaks of segments, stages by units."""

    buffers: dict[tuple[int, Pass], Buffers] = field(default_factory=dict)
    peaks: dict[Signature, tuple[int, Point]] = field(default_factory=dict)
    stages: Table[object, tuple[Point, int]] = field(default_factory=lambda: Table(MOST_STAGES))


MOST_STAGES: Final = 1024
"""Stages, or several on one IPU, whose peak is kept for one target and micro-batch."""
_SEGMENTS: Final = TABLES.add("segments", Table[tuple[object, ...], Segment](20_000))


def fullest(
    planner: Planner, mapping: Mapping, stages: Sequence[Stage], live_buffers: LiveBuffers, *, served: bool
) -> tuple[Point, int]:
    """The point at which stages that share an IPU hold most, and the vertices of a tile.

    `live_buffers` grows by both.
    """
    units = tuple([stage.numbers for stage in stages])
    configuration = mapping.configuration

    def compute() -> tuple[Point, int]:
        point = (served_peak if served else peak)(planner, mapping, stages, live_buffers)
        return point, vertices(planner, mapping, stages, live_buffers, (Pass.FORWARD,) if served else TRAINING_PASSES)

    return live_buffers.stages.remember((units, configuration.recompute, configuration.attention_dropout), compute)


def peak(planner: Planner, mapping: Mapping, stages: Sequence[Stage], live_buffers: LiveBuffers) -> Point:
    """The point of training at which stages that share an IPU hold most [B].

    Parameters: `planner`, for a chip and a precision; `mapping`, with its micro-batch [rows] and recomputation;
    `stages` of that IPU; `live_buffers`, which grows by the buffers planned here. Result: the operator and pass,
    activations alive meanwhile [B] and the exchange buffers of the pass [B per tile].

    Equation: activations = micro_batch × element_bytes × elements of a row alive in the segment (Eq. 22), and the
    buffers beside them. Validity: stages run one at a time, buffers of different operators are never alive together; no
    operator overwrites the output of another. Source: chen-2016; memory-performance-optimisation for lifetimes. That
    gradients of weights come before that of the input is assumed.
    """
    segments = (segment for stage in stages for segment in _segments(mapping, stage))
    points = (_of_segment(planner, segment, mapping.micro_batch, live_buffers) for segment in segments)
    return max(points, key=lambda point: point.total(planner.target.chip.tiles))


def served_peak(planner: Planner, mapping: Mapping, stages: Sequence[Stage], live_buffers: LiveBuffers) -> Point:
    """The point at which stages that share an IPU hold most where nothing is trained [B].

    Parameters: `planner`, for a chip and a precision; `mapping`, with its micro-batch [rows]; `stages` of that IPU;
    `live_buffers`, which grows by the buffers planned here. Result: the operator, activations alive meanwhile [B] and
    the exchange buffers of its forward pass [B per tile].

    Equation: micro-batch × (what came into the unit + what the operator reads and writes) (Eq. 86), and the buffers
    beside them. Validity: only what comes into a unit outlives the operators of the unit; an elementwise operator
    writes where it reads; of a recurrent layer all positions count. Source: memory-performance-optimisation for
    lifetimes, else podsim's own assumption (Eq. 86 of the model).
    """
    rows, size = mapping.micro_batch, OUTPUT_BYTES[planner.target.precision]
    points = []
    for stage in stages:
        for unit in stage.units:
            active, numbers = number_operators(unit, mapping.configuration)
            for place, (operator, number) in enumerate(zip(active, numbers, strict=True)):
                buffers = _buffers(planner, operator, number, Pass.FORWARD, rows, live_buffers)
                alive = float(rows * size * _while_served(active, place))
                points.append(Point(alive, buffers, operator.name, Pass.FORWARD))
    return max(points, key=lambda point: point.total(planner.target.chip.tiles))


def buffers_at(
    planner: Planner, mapping: Mapping, stages: Sequence[Stage], live_buffers: LiveBuffers, point: str
) -> Buffers | None:
    """What the operator and pass of that name hold; None where several of the stages have the name, or none."""
    passes = {point.removesuffix(f" {run}"): run for run in TRAINING_PASSES if point.endswith(f" {run}")}
    active = (number_operators(unit, mapping.configuration) for stage in stages for unit in stage.units)
    matches = [
        (operator, number, passes[operator.name])
        for operators, numbers in active
        for operator, number in zip(operators, numbers, strict=True)
        if operator.name in passes
    ]
    if len(matches) != 1:
        return None
    operator, number, run = matches[0]
    return _buffers(planner, operator, number, run, mapping.micro_batch, live_buffers)


def vertices(
    planner: Planner, mapping: Mapping, stages: Sequence[Stage], live_buffers: LiveBuffers, passes: Sequence[Pass]
) -> int:
    """Vertices of a tile, one a superstep of each plan that differs; `live_buffers` grows by what is planned here."""
    units = (number_operators(unit, mapping.configuration) for stage in stages for unit in stage.units)
    operators = {
        number: operator for active, numbers in units for operator, number in zip(active, numbers, strict=True)
    }
    # A number may have been forgotten and given anew, so what is counted once is told by content.
    distinct = {same_plans(operator): (number, operator) for number, operator in operators.items()}
    rows = mapping.micro_batch
    return sum(
        [
            _buffers(planner, operator, number, run, rows, live_buffers).vertices
            for number, operator in distinct.values()
            for run in passes
        ]
    )


def _of_segment(planner: Planner, segment: Segment, rows: int, live_buffers: LiveBuffers) -> Point:
    """The point of a segment that holds most."""
    peak = live_buffers.peaks.get(segment.signature)
    if peak is None:
        size, tiles = rows * ELEMENT_BYTES[planner.target.precision], planner.target.chip.tiles
        points = [
            (
                place,
                Point(float(size * elements), _buffers(planner, operator, number, run, rows, live_buffers), "", run),
            )
            for place, (operator, (number, *alive)) in enumerate(zip(segment.operators, segment.signature, strict=True))
            for run, elements in zip(TRAINING_PASSES, alive, strict=True)
        ]
        peak = live_buffers.peaks[segment.signature] = max(points, key=lambda item: item[1].total(tiles))
    place, point = peak
    return replace(point, operator=segment.operators[place].name)


def _segments(mapping: Mapping, stage: Stage) -> Iterator[Segment]:
    """What runs from one checkpoint to the next; all of a stage where nothing is recomputed."""
    recomputes = mapping.recompute is not Recompute.NONE
    first, units = 0, stage.units
    for last, unit in enumerate(units, 1):
        if (unit.checkpoint and recomputes) or last == len(units):
            own = units[first:last]
            first = last
            key = (recomputes, mapping.configuration.attention_dropout, *(unit.number for unit in own))
            segment = _SEGMENTS.get(key)
            if segment is None:
                result = tuple(_alive(mapping, own, recomputes))
                operators, signature = tuple(operator for operator, _ in result), tuple(alive for _, alive in result)
                segment = _SEGMENTS.keep(key, Segment(operators, signature))
            yield segment


def _alive(
    mapping: Mapping, units: Sequence[LayerUnit], recomputes: bool
) -> Iterator[tuple[Operator, tuple[int, ...]]]:
    """Every operator of a segment with its number and the elements a row that are alive in each of its passes.

    Forward, which recomputation runs again: what operators before it have left for backward. Backward: the same, what
    its own backward reads of its output, the gradient that comes in, and the one of the sum around the unit. The
    gradient that goes out is a buffer of the pass that makes it. That of the weights is made before it: either order
    gives the same numbers, and this one holds less.
    """
    before = 0
    for unit in units:
        for operator, number in zip(*number_operators(unit, mapping.configuration), strict=True):
            stash_elements = operator.stash_elements if operator.stashed and recomputes else 0
            own = 0 if isinstance(operator.shape, PRODUCTS) else stash_elements
            comes_in = 0 if operator.kind is Kind.LOSS else operator.outputs  # that of a loss is one number
            gradient = comes_in + (unit.out_elements if operator is not unit.operators[-1] else 0)
            backward = before + own + gradient
            weights = backward if operator.shape.parameters else 0
            yield operator, (number, before, backward if operator.input_gradient else 0, weights)
            before += stash_elements


def _while_served(active: Sequence[Operator], place: int) -> int:
    """Elements a row alive while an operator of a unit runs: what came into the unit, what it reads and writes."""
    operator, shape = active[place], active[place].shape
    in_place = isinstance(shape, Stream) and shape.out_elements is None
    own = max(shape.inputs, shape.outputs) if in_place else shape.inputs + shape.outputs
    return _at_once(operator) * own + (0 if operator is active[0] else _at_once(active[0]) * active[0].shape.inputs)


def _at_once(operator: Operator) -> int:
    """Repeats of an operator whose inputs and outputs are alive together: all positions of a recurrent layer."""
    return 1 if operator.again else operator.repeats


def _buffers(
    planner: Planner, operator: Operator, number: int, run: Pass, rows: int, live_buffers: LiveBuffers
) -> Buffers:
    """What one pass of an operator holds; where no tile can hold its part, operands and result spread evenly."""
    buffers = live_buffers.buffers.get((number, run))
    if buffers is None:
        chip, precision = planner.target.chip, planner.target.precision
        try:
            pass_cost = planner.pass_cost(operator, run, rows)
            buffers = Buffers(pass_cost.buffer_bytes_per_tile, pass_cost.tiles or chip.tiles, pass_cost.vertices)
        except Infeasible:
            shape = operator.shape.at(rows)
            buffers = Buffers(ELEMENT_BYTES[precision] * (shape.inputs + shape.outputs) / chip.tiles, chip.tiles, 0)
        live_buffers.buffers[number, run] = buffers
    return buffers
