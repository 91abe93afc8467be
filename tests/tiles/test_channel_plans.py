"""Which plans serve what channels have of their own: group norms, means, gates, and copies across the exchange."""

import pytest

from podsim.model.chip import Chip, Precision
from podsim.model.workload import Operator, Pass
from podsim.tiles import composite, reduction, vector
from podsim.tiles.operator_plans import plans
from podsim.tiles.planner import PlanTarget
from podsim.tiles.supersteps import total
from podsim.workloads import vector_operators as made

EDGE, CHANNELS, ROWS = 24, 672, 3
ELEMENTS = EDGE**2 * CHANNELS
HALF = Precision.FP16_16


def cycles(chip: Chip, operator: Operator, run: Pass, rows: int = ROWS) -> float:
    return sum(total(plan.supersteps, chip).total for plan in plans(operator, run, rows, PlanTarget(chip, HALF)))


def test_a_group_norm_is_planned_with_sums_for_each_group_of_each_image(gc200: Chip):
    operator = made.group_norm("norm", ELEMENTS, CHANNELS, 4)
    for run, backward in ((Pass.FORWARD, False), (Pass.BACKWARD, True)):
        (plan,) = plans(operator, run, ROWS, PlanTarget(gc200, HALF))
        straight = composite.norm(
            "group", ROWS * EDGE**2, CHANNELS, HALF, gc200, images=ROWS, channel_groups=4, backward=backward
        )
        assert plan.supersteps == straight.supersteps


def test_a_group_norm_costs_less_to_sum_than_a_batch_norm_where_groups_are_few(gc200: Chip):
    """A tile adds its values to one sum instead of to each of its channels."""
    groups, batch = made.group_norm("norm", ELEMENTS, CHANNELS, 4), made.batch_norm("norm", ELEMENTS, CHANNELS)
    assert cycles(gc200, groups, Pass.FORWARD) < cycles(gc200, batch, Pass.FORWARD)


def test_a_mean_is_a_sum_forward_and_one_pass_backward(gc200: Chip):
    operator = made.mean("mean", ELEMENTS, CHANNELS)
    summed = reduction.plan(
        ROWS * ELEMENTS, ROWS * CHANNELS, HALF, gc200, footprint=16, tiles=gc200.tiles, overhead_cycles=0.0
    )
    one_pass = vector.plan(ROWS * ELEMENTS, ("bias",), HALF, gc200)
    assert cycles(gc200, operator, Pass.FORWARD) == total(summed.supersteps, gc200).total
    assert cycles(gc200, operator, Pass.BACKWARD) == total(one_pass.supersteps, gc200).total
    assert plans(operator, Pass.WEIGHT_GRADIENT, ROWS, PlanTarget(gc200, HALF)) == ()


def test_a_gate_is_one_pass_forward_and_two_with_a_sum_backward(gc200: Chip):
    gate, mean = made.gate("gate", ELEMENTS, CHANNELS), made.mean("mean", ELEMENTS, CHANNELS)
    two = vector.plan(ROWS * ELEMENTS, ("bias", "multiply"), HALF, gc200)
    assert cycles(gc200, gate, Pass.FORWARD) == cycles(gc200, mean, Pass.BACKWARD)
    assert cycles(gc200, gate, Pass.BACKWARD) == pytest.approx(
        total(two.supersteps, gc200).total + cycles(gc200, mean, Pass.FORWARD)
    )


def test_a_copy_crosses_the_exchange_and_a_scale_does_not(gc200: Chip):
    for run in (Pass.FORWARD, Pass.BACKWARD):
        (copied,) = plans(made.copy("copy", ELEMENTS), run, ROWS, PlanTarget(gc200, HALF))
        (scaled,) = plans(made.scale("scale", ELEMENTS), run, ROWS, PlanTarget(gc200, HALF))
        assert any(step.exchanges for step in copied.supersteps)
        assert not any(step.exchanges for step in scaled.supersteps)
