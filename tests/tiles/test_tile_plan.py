"""Which plans serve an operator, and what they take from one another."""

import math
from functools import partial

import pytest

from podsim.model.chip import Chip, Precision
from podsim.model.workload import Matmul, Pass
from podsim.tiles import composite, product
from podsim.tiles.attention import Heads, around_softmax
from podsim.tiles.plan import Target, plans
from podsim.workloads import vector

FP16 = Precision.FP16_16


def attention(heads: int, tokens: int, width: int) -> tuple[Matmul, Matmul]:
    """The products before and after a softmax."""
    return (
        Matmul(groups=heads, m=tokens, k=width, n=tokens, weights=False),
        Matmul(groups=heads, m=tokens, k=tokens, n=width, weights=False),
    )


@pytest.mark.parametrize("heads", [16, 2000])
def test_rows_between_products_come_from_the_tiles_that_hold_them(heads, gc200: Chip):
    """A tile has several heads where they are more than the tiles."""
    scores, context = attention(heads, 64, 64)
    operator = vector.softmax("softmax", scores.outputs, 64, (scores, context))
    to_rows, _, from_rows = plans(operator, Pass.FORWARD, 1, Target(gc200, FP16))
    made, taken = (product.plan(one, FP16, gc200).splits for one in (scores, context))
    assert to_rows.splits["before"] == math.prod(made.get(name, 1) for name in ("groups", "field", "outputs"))
    assert to_rows.splits["before"] <= gc200.tiles
    assert from_rows.splits["after"] <= gc200.tiles
    assert from_rows.splits["after"] % taken.get("groups", 1) == 0
    held = -(-heads // made.get("groups", 1)) * -(-64 // made["field"]) * -(-64 // made["outputs"])
    assert to_rows.sram_bytes_per_tile["operands"] >= held * 2


ROWS, COLUMNS = 300, 48


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("operator", "planned"),
    [
        (vector.softmax("o", ROWS * COLUMNS, COLUMNS), composite.softmax),
        (vector.loss("o", ROWS * COLUMNS, COLUMNS), composite.loss),
        (vector.layer_norm("o", ROWS * COLUMNS, COLUMNS), partial(composite.norm, "layer")),
        (vector.batch_norm("o", ROWS * COLUMNS, COLUMNS), partial(composite.norm, "batch")),
    ],
)
def test_rows_are_rows_and_columns_are_columns(operator, planned, backward, gc200: Chip):
    run = Pass.BACKWARD if backward else Pass.FORWARD
    (found,) = plans(operator, run, 1, Target(gc200, FP16))
    wanted = planned(ROWS, COLUMNS, FP16, gc200, backward=backward, name="o")
    assert found.supersteps == wanted.supersteps
    assert found.supersteps != planned(COLUMNS, ROWS, FP16, gc200, backward=backward, name="o").supersteps
    assert found == wanted


def test_backward_the_products_around_a_softmax_change_places(gc200: Chip):
    """What the gradient of the context leaves goes to softmax, and from there to what makes the gradient of queries."""
    scores, context = attention(4, 256, 64)
    operator = vector.softmax("softmax", scores.outputs, 256, (scores, context))
    to_rows, _, from_rows = plans(operator, Pass.BACKWARD, 1, Target(gc200, FP16))
    made = product.plan(Matmul(groups=4, m=256, k=64, n=256, weights=False), FP16, gc200, relax=True)
    taken = product.plan(Matmul(groups=4, m=256, k=256, n=64, weights=False), FP16, gc200, relax=True)
    heads = Heads(groups=4, queries=256, keys=256, width=64)
    before, after = around_softmax(heads, made, taken, FP16, gc200, name="softmax")
    assert (to_rows, from_rows) == (before, after)
