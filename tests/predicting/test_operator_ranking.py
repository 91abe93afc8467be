"""Operators ranked: equal ones of all layers together, cycles by hand, and what bounds each."""

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.model.workload import Pass
from podsim.studies.explain.ranking import ranking
from podsim.studies.explain.ranking_result import Bound


@pytest.fixture(scope="module")
def question():
    """A chip of 1 GHz with 100 cycles a sync, 24 B of SRAM path and 1 B of exchange a cycle."""
    return world(model(unit("a0")), pod()).question(analytic.run)


def plan(operator, method="AMP 1x1", repeat=1, **work):
    step = Superstep(name="s", phase="multiply", cohorts=(Cohort(tiles=10, **work),), repeat=repeat)
    return TilePlan(
        operator=operator, method=method, splits={}, supersteps=(step,), flop=1.0, sram_bytes_per_tile={}, tiles_used=10
    )


def ranking_of(question, *plans):
    return ranking(question, 3, [(plan.operator, Pass.FORWARD, plan) for plan in plans])


def test_equal_operators_of_all_layers_are_one_the_longest_first(question):
    result = ranking_of(
        question,
        plan("head", compute_cycles=2900.0),
        plan("layer0.dense", compute_cycles=1900.0),
        plan("layer11.dense", compute_cycles=1900.0),
    )
    assert [(item.name, item.times) for item in result.operators] == [("layer*.dense", 2), ("head", 1)]
    assert [item.share for item in result.operators] == pytest.approx([4 / 7, 3 / 7])
    assert result.total_s == pytest.approx(result.stretch * 7000e-9)
    assert result.operators[0].total_s == pytest.approx(result.stretch * 4000e-9)
    assert (result.operators[0].compute_s, result.operators[0].sync_s) == pytest.approx(
        (result.stretch * 3800e-9, result.stretch * 200e-9)
    )
    assert (result.micro_batch, result.stretch) == (3, 2.0)


def test_the_number_of_a_layer_is_left_out_and_that_of_an_operator_stays(question):
    result = ranking_of(question, plan("layer12.conv2", compute_cycles=1.0))
    assert result.operators[0].name == "layer*.conv2"


def test_passes_are_apart_and_alike_ones_in_the_order_of_names(question):
    one = plan("b", compute_cycles=10.0)
    result = ranking(
        question,
        1,
        [("b", Pass.FORWARD, one), ("b", Pass.BACKWARD, one), ("a", Pass.FORWARD, plan("", compute_cycles=10.0))],
    )
    assert [(item.name, item.run) for item in result.operators] == [
        ("a", "forward"),
        ("b", "backward"),
        ("b", "forward"),
    ]


def bound(question, method="AMP 1x1", **work):
    return ranking_of(question, plan("o", method, **work)).operators[0].bound


def test_what_takes_most_bounds(question):
    assert bound(question, compute_cycles=1000.0) is Bound.COMPUTE
    assert bound(question, compute_cycles=10.0) is Bound.SYNC
    assert bound(question, compute_cycles=1000.0, send_bytes=5000.0, receive_bytes=5000.0) is Bound.EXCHANGE


def test_vector_work_that_keeps_half_the_sram_path_busy_waits_for_it(question):
    """24 B a cycle for 1,000 cycles: above 12,000 B."""
    assert bound(question, "vector", compute_cycles=1000.0, load_bytes=8000.0, store_bytes=4001.0) is Bound.SRAM
    assert bound(question, "vector", compute_cycles=1000.0, load_bytes=8000.0, store_bytes=3999.0) is Bound.COMPUTE
    assert bound(question, compute_cycles=1000.0, load_bytes=8000.0, store_bytes=4001.0) is Bound.COMPUTE
    assert bound(question, "gather", repeat=3, compute_cycles=1000.0, load_bytes=12001.0) is Bound.SRAM
