"""The plans of operators: of vector operators here, of products and look-ups where those are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.model.workload import Kind, Operator, Pass, Stream
from podsim.tiles import composite, proxy_norm, reduction, vector

if TYPE_CHECKING:
    from podsim.model.tile_plan import TilePlan
    from podsim.tiles.planner import PlanTarget

NORMS: Final[Mapping[Kind, composite.NormKind]] = {
    Kind.LAYER_NORM: "layer",
    Kind.BATCH_NORM: "batch",
    Kind.GROUP_NORM: "group",
}
"""What each norm takes its statistics of."""


def plans(operator: Operator, run: Pass, rows: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The plans of one pass of an operator over `rows` rows, in order, without rivals; none where it has no work.

    Repeats are of the same supersteps: one program that runs so many times; gradients of its weights likewise.
    """
    once = _once(operator, run, rows, target)
    return once if operator.repeats == 1 else tuple(_repeat(plan, operator.repeats) for plan in once)


def _repeat(plan: TilePlan, repeats: int) -> TilePlan:
    steps = tuple(replace(step, repeat=step.repeat * repeats) for step in plan.supersteps)
    return replace(plan, supersteps=steps, flop=plan.flop * repeats)


def _once(operator: Operator, run: Pass, rows: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    shape = operator.shape
    if run is Pass.BACKWARD and not operator.input_gradient:
        return ()
    if isinstance(shape, Stream) and not (shape.between and operator.kind is Kind.SOFTMAX):
        return () if run is Pass.WEIGHT_GRADIENT else _vector(operator, shape.at(rows), run is Pass.BACKWARD, target)
    from podsim.tiles import product_plans  # a tenth of a command that finds its plans stored

    return product_plans.plans(operator, run, rows, target)


def _vector(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> tuple[TilePlan, ...]:
    precision, chip, name = target.precision, target.chip, operator.name
    if operator.kind is Kind.SOFTMAX:
        rows = shape.elements // shape.row
        return (composite.softmax(rows, shape.row, precision, chip, backward=backward, name=name),)
    if operator.kind in NORMS or operator.kind is Kind.PROXY_NORM:
        return (_norm(operator, shape, backward, target),)
    if operator.kind is Kind.LOSS:
        return (composite.loss(shape.elements // shape.row, shape.row, precision, chip, backward=backward, name=name),)
    if operator.kind is Kind.POOL:
        return (composite.pool(shape.outputs, shape.window, precision, chip, backward=backward, name=name),)
    if operator.kind in (Kind.BIAS, Kind.MEAN, Kind.GATE):
        return _of_channels(operator, shape, backward, target)
    operations = shape.back_operations if backward else shape.operations
    arriving_operands = 1 if operator.kind is Kind.COPY else 0
    return (vector.plan(shape.elements, operations, precision, chip, arriving_operands=arriving_operands, name=name),)


def _norm(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> TilePlan:
    precision, chip, name = target.precision, target.chip, operator.name
    if operator.kind is Kind.PROXY_NORM:
        function = shape.operations[0]
        return proxy_norm.plan(
            shape.elements, shape.row, precision, chip, function=function, backward=backward, name=name
        )
    kind, rows, own = NORMS[operator.kind], shape.elements // shape.row, max(1, shape.statistics)
    return composite.norm(kind, rows, shape.row, precision, chip, channel_groups=own, backward=backward, name=name)


def _of_channels(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> tuple[TilePlan, ...]:
    """What channels have of their own: added to each, their mean, or what they are multiplied by (Eq. 69)."""
    precision, chip, name = target.precision, target.chip, operator.name
    operations = shape.back_operations if backward else shape.operations
    passes = (vector.plan(shape.elements, operations, precision, chip, name=name),) if operations else ()
    if (operator.kind is Kind.MEAN) is backward:
        return passes
    bias = operator.kind is Kind.BIAS
    sum_plan = reduction.plan(
        shape.elements,
        shape.row if bias else shape.statistics,
        precision,
        chip,
        footprint=None if bias else composite.CHANNELS_ON_A_TILE,
        tiles=chip.tiles,  # where the operator before has left them
        overhead_cycles=0.0,
        name=f"{name} gradient" if bias else f"{name} sum",
    )
    return (*passes, sum_plan)
