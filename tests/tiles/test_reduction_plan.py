"""Sums over tiles, against popops on Mk1."""

import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.tiles import reduction
from podsim.tiles.supersteps import total

FP16, FP32 = Precision.FP16_16, Precision.FP32
GC2 = catalog.chip("gc2").value

# tiles, float values on each, microseconds: jia-2019, tables 4.16 and 4.17 (bandwidths turned into times)
MEASURED = [
    (1, 1216, 1.69),
    (1, 4864, 3.97),
    (1, 19456, 13.1),
    (1216, 1, 1.97),
    (1216, 16, 2.1),
    (1000, 1216, 2.911),
    (1000, 4864, 5.192),
    (1000, 19456, 14.327),
    (2, 25000, 16.667),
    (38, 25000, 16.964),
    (304, 25000, 17.185),
    (1216, 25000, 17.999),
]


def predicted_us(tiles: int, share: int, straight: bool | None) -> float:
    plan = reduction.plan(tiles * share, 1, FP32, GC2, tiles=tiles, straight=straight)
    return total(plan.supersteps, GC2).total / 1600


@pytest.mark.parametrize(("straight", "median", "worst"), [(True, 0.03, 0.22), (None, 0.05, 0.26)])
def test_measured_sums(straight, median, worst):
    errors = [abs(predicted_us(tiles, share, straight) / measured - 1) for tiles, share, measured in MEASURED]
    assert statistics.median(errors) <= median
    assert max(errors) <= worst


def test_one_tile_reads_a_float_a_cycle():
    # 6.03 GB/s from one tile (jia-2019, table 4.17)
    longer, shorter = (predicted_us(1, share, None) for share in (50_000, 25_000))
    assert (longer - shorter) * 1600 / 25_000 == pytest.approx(1.0, rel=0.01)


def test_many_sources_meet_in_two_stages(gc200: Chip):
    straight, staged = (reduction.plan(1472, 1, FP32, gc200, straight=how, overhead_cycles=0) for how in (True, None))
    assert total(staged.supersteps, gc200).total < total(straight.supersteps, gc200).total
    few = reduction.plan(16, 1, FP32, gc200, tiles=16, overhead_cycles=0)
    assert few == reduction.plan(16, 1, FP32, gc200, tiles=16, straight=True, overhead_cycles=0)


def test_nothing_crosses_tiles_where_each_holds_its_own_outputs(gc200: Chip):
    plan = reduction.plan(1472 * 640, 1472 * 64, FP16, gc200, footprint=64, overhead_cycles=0)
    assert not any(step.exchanges for step in plan.supersteps)


@given(tiles=st.integers(2, 1472), held=st.integers(1, 64))
def test_every_partial_sum_arrives_somewhere(tiles, held):
    chip = catalog.chip("gc200").value
    values = reduction.ScatteredSum(elements=tiles * held * 8, share=held * 8, tiles=tiles, resident=held, outputs=held)
    steps = reduction.across(values, chip, straight=True)
    arrived = sum(cohort.tiles * cohort.receive_bytes for cohort in steps[0].cohorts)
    assert arrived >= tiles * held * 4


def test_one_value_is_its_own_sum(gc200: Chip):
    assert reduction.plan(1, 1, FP32, gc200, overhead_cycles=0).supersteps == ()


def test_sizes_are_checked(gc200: Chip):
    with pytest.raises(InputError, match="cannot be planned"):
        reduction.plan(0, 1, FP32, gc200)


@pytest.mark.parametrize(
    ("elements", "outputs"), [(80_535, 16_107), (195_090, 21), (339_350, 55), (5000, 1), (48_240, 804)]
)
def test_more_tiles_never_make_a_slower_sum(elements: int, outputs: int, gc200: Chip):
    took = [
        total(reduction.plan(elements, outputs, FP16, replace(gc200, tiles=tiles)).supersteps, gc200).total
        for tiles in (40, 159, 349, 700, 1105, 1472)
    ]
    assert took == sorted(took, reverse=True)


def test_the_number_of_tiles_is_the_best_of_all_and_says_what_the_others_spend_more_on(gc200: Chip):
    plan = reduction.plan(20_000, 21, FP16, gc200)
    every = [reduction.plan(20_000, 21, FP16, replace(gc200, tiles=tiles), tiles=tiles) for tiles in range(1, 1473, 7)]
    least = total(plan.supersteps, gc200).total
    assert least <= min(total(item.supersteps, gc200).total for item in every)
    assert plan.tiles_used < gc200.tiles
    assert all(other.cycles >= least for other in plan.alternatives)
    assert {other.why.split()[-1] for other in plan.alternatives} <= {"compute", "exchange", "sync", "cycles"}
    most = max(plan.alternatives, key=lambda other: other.splits["elements"])
    assert most.why.endswith(("sync", "exchange"))
    assert min(plan.alternatives, key=lambda other: other.splits["elements"]).why.endswith("compute")
