"""Products are planned apart from vector operators, which need nothing of what plans them."""

import pytest

from podsim.files import catalog
from podsim.model.workload import Pass, Stream
from podsim.tiles import operator_plans, product_plans
from podsim.tiles.planner import PlanTarget


@pytest.mark.parametrize("run", [Pass.FORWARD, Pass.BACKWARD])
def test_operators_that_touch_a_product_are_planned_with_products(gc200, run):
    workload = catalog.workload("bert").value
    target = PlanTarget(gc200, workload.precision)
    touching = [
        operator
        for operator in workload.units[1].operators
        if not isinstance(operator.shape, Stream) or operator.shape.between
    ]
    assert len(touching) >= 5
    for operator in touching:
        assert operator_plans.plans(operator, run, 2, target) == product_plans.plans(operator, run, 2, target)
