"""The plans of products, convolutions and look-ups, and of vector operators between two products."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible
from podsim.model.messages import AllPairs, NodeGather, ScatterAdd
from podsim.model.workload import Conv, Gather, Matmul, Operator, OperatorShape, Pass, Stream
from podsim.tiles import attention, composite, gather, nearest_neighbours, product, vector
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.tile_plan import TilePlan
    from podsim.tiles.planner import PlanTarget

RELAXATION = 1.05  # how much more memory a gather is given at a time, where what is allowed does not hold it


def plans(operator: Operator, run: Pass, rows: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The plans of one pass of a product, a convolution, a look-up or messages, in order."""
    shape = operator.shape.at(rows)
    if run is Pass.WEIGHT_GRADIENT:
        return _weight_gradient(operator, shape, target)
    backward = run is Pass.BACKWARD
    if isinstance(shape, Matmul):
        products = _product_backward(operator, shape, target) if backward else (_product(operator, shape, target),)
        return *_casts(operator, shape.outputs if backward else shape.inputs, target), *products
    if isinstance(shape, Conv):
        plan = _convolution(operator, shape, Pass.BACKWARD if backward else Pass.FORWARD, target)
        return *_casts(operator, shape.outputs if backward else shape.inputs, target), plan
    if isinstance(shape, Stream):
        return _between_products(operator, shape, backward, target)
    return _looked_up(operator, shape, backward, target)


def _casts(operator: Operator, elements: int, target: PlanTarget) -> tuple[TilePlan, ...]:
    """What enters a product, narrowed to the type that it multiplies; weights lie there narrow (Eq. 90)."""
    if ELEMENT_BYTES[target.precision] == OUTPUT_BYTES[target.precision]:
        return ()
    return (vector.plan(elements, ("cast",), target.precision, target.chip, name=f"{operator.name} operands cast"),)


def _product(
    operator: Operator, shape: Matmul, target: PlanTarget, rearranged_operands: tuple[str, ...] = (), suffix: str = ""
) -> TilePlan:
    return product.plan(
        shape,
        target.precision,
        target.chip,
        available_memory=target.available_memory,
        rearranged_operands=rearranged_operands,
        relax=True,
        rivals=False,
        name=operator.name + suffix,
    )


def _product_backward(operator: Operator, shape: Matmul, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The gradient of the left operand, and of the right one where it is no weight."""
    plans = (_product(operator, _turn(shape), target, ("right",), " gradient"),)
    if shape.weights:
        return plans
    right = Matmul(groups=shape.groups, m=shape.k, k=shape.m, n=shape.n, weights=False)
    return (*plans, _product(operator, right, target, ("left", "right"), " gradient of the right operand"))


def _weight_gradient(operator: Operator, shape: OperatorShape, target: PlanTarget) -> tuple[TilePlan, ...]:
    """The gradient of the weights, and its addition to what the micro-batches before have left."""
    if not shape.parameters:
        return ()
    if isinstance(shape, Gather):
        title = f"{operator.name} gradient"
        return (_within_share(gather.scatter_add, shape, target, title),)
    if isinstance(shape, Stream | AllPairs | NodeGather | ScatterAdd):
        return ()
    if isinstance(shape, Matmul):
        gradient_shape = Matmul(groups=shape.groups, m=shape.k, k=shape.m, n=shape.n)
        gradient = _product(operator, gradient_shape, target, ("left", "right"), " weight gradient")
    else:
        gradient = _convolution(operator, shape, Pass.WEIGHT_GRADIENT, target)
    accumulation = vector.plan(
        shape.parameters, ("add",), target.precision, target.chip, in_place=True, name=f"{operator.name} accumulate"
    )
    return gradient, accumulation


def _convolution(operator: Operator, shape: Conv, run: Pass, target: PlanTarget) -> TilePlan:
    from podsim.tiles import convolution  # with what it needs a twentieth of all that a transformer loads

    return convolution.plan(
        shape,
        run,
        target.precision,
        target.chip,
        available_memory=target.available_memory,
        relax=True,
        rivals=False,
        name=operator.name,
    )


def _looked_up(
    operator: Operator, shape: Gather | AllPairs | NodeGather | ScatterAdd, backward: bool, target: PlanTarget
) -> tuple[TilePlan, ...]:
    """Rows of a table or of nodes, or rows of edges summed into nodes; the last two are each other's gradient.

    The gradient of a table is one of weights (Eq. 96).
    """
    if isinstance(shape, Gather):
        return () if backward else (_within_share(gather.plan, shape, target, operator.name),)
    if isinstance(shape, AllPairs):
        return () if backward else nearest_neighbours.plans(shape, target.precision, target.chip, name=operator.name)
    make = gather.scatter_add if isinstance(shape, ScatterAdd) is not backward else gather.plan
    lookup = Gather(table=shape.nodes, width=shape.width, lookups=shape.edges, trained=False)
    return (_within_share(make, lookup, target, f"{operator.name} gradient" if backward else operator.name),)


def _within_share(make: Callable[..., TilePlan], shape: Gather, target: PlanTarget, name: str) -> TilePlan:
    """A plan in the share of SRAM allowed, or where none fits in the least share that holds one, up to the usual.

    Where that is not enough either, the table is cut by rows and its parts follow each other, as PopART's BERT does
    with embedding_serialization_vocab_steps: each goes through all look-ups.
    """
    share, parts = target.available_memory, 1
    refusal: Infeasible | None = None
    while parts <= shape.table:
        try:
            plan = make(
                replace(shape, table=-(-shape.table // parts)),
                target.precision,
                target.chip,
                available_memory=share,
                overhead_cycles=0.0,
                rivals=False,
                name=name,
            )
            return plan if parts == 1 else _in_turn(plan, parts)
        except Infeasible as no:
            refusal = refusal or no
            parts = parts if share < product.AVAILABLE_MEMORY else 2 * parts
            share = min(product.AVAILABLE_MEMORY, share * RELAXATION)
    assert refusal is not None, "a table has a row at least"
    raise refusal


def _in_turn(plan: TilePlan, parts: int) -> TilePlan:
    """The plan of one part of a table, for so many parts one after the other."""
    supersteps = tuple(replace(step, repeat=step.repeat * parts) for step in plan.supersteps)
    return replace(plan, splits={**plan.splits, "table parts in turn": parts}, supersteps=supersteps)


def _between_products(operator: Operator, shape: Stream, backward: bool, target: PlanTarget) -> tuple[TilePlan, ...]:
    """A softmax: rows brought together from where one product leaves them, and handed to the next; or backward."""
    rows, precision, chip = shape.elements // shape.row, target.precision, target.chip
    softmax = composite.softmax(rows, shape.row, precision, chip, backward=backward, name=operator.name)
    first, last = shape.between
    if backward:
        first, last = _turn(last), _turn(first)
    heads = attention.Heads(groups=first.groups, queries=first.m, keys=first.n, width=first.k)
    scores, context = _product(operator, first, target), _product(operator, last, target)
    around = heads, scores, context, target.precision, target.chip
    before, after = attention.around_softmax(*around, name=operator.name)
    return *attention.around_heads(*around, name=operator.name), before, softmax, after


def _turn(shape: Matmul) -> Matmul:
    """The product that makes the gradient of the left operand."""
    return Matmul(groups=shape.groups, m=shape.m, k=shape.n, n=shape.k, weights=shape.weights)
