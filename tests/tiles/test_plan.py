"""Which plans serve an operator, and what they take from one another."""

import math

import pytest

from podsim.model.chip import Chip, Precision
from podsim.model.workload import Matmul, Pass
from podsim.tiles import product
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
