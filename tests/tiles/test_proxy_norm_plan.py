"""Proxy norm on the tiles: passes by hand count, statistics that no image has a part in (Eq. 92)."""

import pytest

from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.tiles import proxy_norm
from podsim.tiles.supersteps import total

CHIP = catalog.chip("gc200").value


def plan(elements=380 * 380 * 48, channels=48, **more):
    return proxy_norm.plan(elements, channels, Precision.FP16_16, CHIP, function="swish", **more)


def compute(made, name):
    return [max(c.compute_cycles for c in step.cohorts) for step in made.supersteps if step.name == name]


def test_points_cost_the_same_however_many_images():
    item, four = plan(), plan(4 * 380 * 380 * 48)
    assert compute(item, "swish") == compute(four, "swish")
    assert compute(four, "bias")[-1] == pytest.approx(4 * compute(item, "bias")[-1], rel=0.05)


def test_a_pass_over_the_elements_by_hand():
    """4,709 half elements a tile, 1,180 whole vectors, 197 a thread: 11 + 6 x (19 + 2 x 197); twice, to apply."""
    last = [max(c.compute_cycles for c in step.cohorts) for step in plan().supersteps[-2:]]
    assert last == [11 + 6 * (19 + 2 * 197)] * 2


def test_the_activation_of_the_points_by_hand():
    """48 x 256 points on 1,472 tiles: 9 floats a tile, two for a thread, one vector of 11 cycles and 22 before it."""
    assert compute(plan(), "swish") == [11 + 6 * (22 + 11)]


def test_backward_has_two_sums_of_the_elements_and_two_of_the_points():
    made = plan(backward=True)
    sums = {step.name.split(" on tile")[0] for step in made.supersteps if step.name.endswith("on tile")}
    assert sums == {"mean and deviation", "points"}
    assert compute(made, "swish_grad")
    assert total(made.supersteps, CHIP).total > total(plan().supersteps, CHIP).total


def test_what_does_not_fit_is_refused():
    with pytest.raises(Infeasible):
        plan(10**10)
