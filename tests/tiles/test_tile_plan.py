"""Which plans serve an operator, and what they take from one another."""

import math
from dataclasses import replace
from functools import partial

import pytest

from podsim.caches.tables import TABLES
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.model.workload import Gather, Kind, Matmul, Operator, Pass
from podsim.tiles import composite, product
from podsim.tiles.attention import Heads, around_softmax
from podsim.tiles.operator_plans import plans
from podsim.tiles.planner import Planner, PlanTarget
from podsim.workloads import vector_operators

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
    operator = vector_operators.softmax("softmax", scores.outputs, 64, (scores, context))
    *_, to_rows, _, from_rows = plans(operator, Pass.FORWARD, 1, PlanTarget(gc200, FP16))
    made, taken = (product.plan(matmul, FP16, gc200).splits for matmul in (scores, context))
    assert to_rows.splits["before"] == math.prod(made.get(name, 1) for name in ("groups", "field", "outputs"))
    assert to_rows.splits["before"] <= gc200.tiles
    assert from_rows.splits["after"] <= gc200.tiles
    assert from_rows.splits["after"] % taken.get("groups", 1) == 0
    content = -(-heads // made.get("groups", 1)) * -(-64 // made["field"]) * -(-64 // made["outputs"])
    assert to_rows.sram_bytes_per_tile["operands"] >= content * 2


ROWS, COLUMNS = 300, 48


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("operator", "planned"),
    [
        (vector_operators.softmax("o", ROWS * COLUMNS, COLUMNS), composite.softmax),
        (vector_operators.loss("o", ROWS * COLUMNS, COLUMNS), composite.loss),
        (vector_operators.layer_norm("o", ROWS * COLUMNS, COLUMNS), partial(composite.norm, "layer")),
        (vector_operators.batch_norm("o", ROWS * COLUMNS, COLUMNS), partial(composite.norm, "batch")),
    ],
)
def test_rows_are_rows_and_columns_are_columns(operator, planned, backward, gc200: Chip):
    run = Pass.BACKWARD if backward else Pass.FORWARD
    (plan,) = plans(operator, run, 1, PlanTarget(gc200, FP16))
    target = planned(ROWS, COLUMNS, FP16, gc200, backward=backward, name="o")
    assert plan.supersteps == target.supersteps
    assert plan.supersteps != planned(COLUMNS, ROWS, FP16, gc200, backward=backward, name="o").supersteps
    assert plan == target


def test_backward_the_products_around_a_softmax_change_places(gc200: Chip):
    """What the gradient of the context leaves goes to softmax, and from there to what makes the gradient of queries."""
    scores, context = attention(4, 256, 64)
    operator = vector_operators.softmax("softmax", scores.outputs, 256, (scores, context))
    *_, to_rows, _, from_rows = plans(operator, Pass.BACKWARD, 1, PlanTarget(gc200, FP16))
    made = product.plan(Matmul(groups=4, m=256, k=64, n=256, weights=False), FP16, gc200, relax=True)
    taken = product.plan(Matmul(groups=4, m=256, k=256, n=64, weights=False), FP16, gc200, relax=True)
    heads = Heads(groups=4, queries=256, keys=256, width=64)
    before, after = around_softmax(heads, made, taken, FP16, gc200, name="softmax")
    assert (to_rows, from_rows) == (before, after)


def changed(chip: Chip, path: str, factor: float) -> Chip:
    """The chip with so many times one of its numbers."""
    part, _, name = path.rpartition(".")
    inner = getattr(chip, part) if part else chip
    was = getattr(inner, name)
    now = {FP16: was[FP16] * factor} if isinstance(was, dict) else type(was)(was * factor)
    made = replace(inner, **{name: now})
    return replace(chip, **{part: made}) if part else made


SAME = ["clock_hz", "power_w", "ipu_links", "sync.global_cycles", "amp.flop_per_cycle", "name"]
OTHER = [
    "tiles",
    "worker_threads",
    "sram.bytes_per_tile",
    "sram.load_bytes_per_cycle",
    "sram.store_bytes_per_cycle",
    "exchange.send_bytes_per_cycle",
    "exchange.receive_bytes_per_cycle",
    "exchange.shared_receive_bytes_per_cycle",
    "exchange.start_cycles",
    "sync.on_chip_cycles",
]
OPERATORS = [
    Operator(name="product", kind=Kind.MATMUL, shape=Matmul(m=384, k=1024, n=1024)),
    Operator(name="look-up", kind=Kind.GATHER, shape=Gather(table=30528, width=1024, lookups=384)),
    vector_operators.softmax("softmax", 16 * 384 * 384, 384, attention(16, 384, 64)),
]


def planned(chip: Chip) -> list[object]:
    """What is planned where nothing is known."""
    TABLES.clear()
    planner = Planner(PlanTarget(chip, FP16))
    return [planner.pass_cost(operator, run, 2) for operator in OPERATORS for run in (Pass.FORWARD, Pass.BACKWARD)]


@pytest.mark.parametrize("path", SAME)
def test_chips_that_plan_alike_differ_in_what_no_plan_rests_on(path, gc200: Chip):
    other = replace(gc200, name="another") if path == "name" else changed(gc200, path, 1.01 if "amp" in path else 2)
    assert other != gc200
    assert PlanTarget(other, FP16).plan_key == PlanTarget(gc200, FP16).plan_key
    assert planned(other) == planned(gc200)


@pytest.mark.parametrize("path", OTHER)
def test_what_plans_rest_on_tells_chips_apart(path, gc200: Chip):
    assert PlanTarget(changed(gc200, path, 2), FP16).plan_key != PlanTarget(gc200, FP16).plan_key


def test_a_bandwidth_stated_for_the_chip_brings_the_clock_back_in(gc200: Chip):
    stated = replace(gc200, exchange=replace(gc200.exchange, bandwidth_bytes_per_s=gc200.exchange_bytes_per_s))
    assert PlanTarget(changed(stated, "clock_hz", 2), FP16).plan_key != PlanTarget(stated, FP16).plan_key


@pytest.mark.parametrize("path", OTHER)
def test_cuts_laid_out_for_one_chip_change_no_plan_of_another(path, gc200: Chip):
    other = changed(gc200, path, 2)
    expected = planned(other)
    planned(gc200)
    result = [
        Planner(PlanTarget(other, FP16)).pass_cost(operator, run, 2)
        for operator in OPERATORS
        for run in (Pass.FORWARD, Pass.BACKWARD)
    ]
    assert result == expected


@pytest.mark.parametrize("weights", [True, False])
def test_operands_are_cast_to_fp8_and_weights_lie_there_so(weights):
    chip = catalog.chip("c600").value
    shape = Matmul(groups=1 if weights else 4, m=256, k=128, n=512, weights=weights)
    operator = Operator(name="o", kind=Kind.MATMUL, shape=shape)
    cast, product_plan = plans(operator, Pass.FORWARD, 1, PlanTarget(chip, Precision.FP8_16))
    entering = 256 * 128 if weights else 4 * (256 * 128 + 128 * 512)
    loaded = sum(cohort.tiles * cohort.load_bytes for step in cast.supersteps for cohort in step.cohorts)
    assert loaded == pytest.approx(2 * entering, rel=0.02)
    assert product_plan.flop == shape.flop
    assert len(plans(operator, Pass.FORWARD, 1, PlanTarget(chip, FP16))) == 1
