"""Plans of matrix products: worked examples of poplibs' planner, measured products, and what every plan must hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.workload import Matmul
from podsim.tiles import product, supersteps

GC200 = catalog.chip("gc200").value
BOW = catalog.chip("bow").value
C600 = catalog.chip("c600").value


def _total(plan, chip):
    return supersteps.total(plan.supersteps, chip).total


# (m, k, n), precision, cycles of poplibs' cost model on GC200 at 0.6 of the SRAM; a whole operator takes 1,000 more.
@pytest.mark.parametrize(
    ("shape", "precision", "cycles"),
    [
        ((4096, 4096, 4096), Precision.FP16_16, 1_136_690),
        ((1024, 1024, 4096), Precision.FP16_16, 89_516),
        ((1024, 4096, 1024), Precision.FP16_16, 94_110),
        ((1024, 1024, 4096), Precision.FP16_32, 155_937),
        ((4096, 4096, 4096), Precision.FP32, 4_345_808),
    ],
)
def test_worked_examples(shape, precision, cycles):
    m, k, n = shape
    plan = product.plan(Matmul(m=m, k=k, n=n), precision, GC200)
    assert _total(plan, GC200) == pytest.approx(cycles + 1000, rel=0.02)


def test_the_square_product_runs_in_four_parts_with_the_splits_of_poplibs():
    plan = product.plan(Matmul(m=4096, k=4096, n=4096), Precision.FP16_16, GC200)
    assert plan.splits == {"field": 14, "outputs": 8, "inputs": 13, "serial outputs": 4}
    assert plan.sram_bytes_per_tile == {"inputs": 187_520, "weights": 81_920, "partials": 75_008}
    assert plan.tiles_used == 1456


def test_the_feed_forward_product_counted_by_hand():
    plan = product.plan(Matmul(m=1024, k=1024, n=4096), Precision.FP16_16, GC200)
    multiply, reduce, overhead = plan.supersteps
    assert plan.splits == {"field": 23, "outputs": 16, "inputs": 4}
    busiest = multiply.cohorts[0]
    assert busiest.compute_cycles == 59_659
    assert busiest.shared_receive_bytes == 42_960 * 2  # 179 rows of 256, less the sixteenth that is there
    assert busiest.receive_bytes == 7_836 * 4  # 256 x 64 weights, less their 23rd
    assert (reduce.cohorts[0].compute_cycles, reduce.cohorts[0].receive_bytes) == (5_553, 5_728 * 4)
    assert [cohort.tiles for cohort in multiply.cohorts] == [128, 1344]  # 2 of 23 parts of 4,096 columns have 179
    assert overhead.phase == "overhead"


# Dense products of poplin on Bow: PopSparse, arXiv:2303.16999, figure "dense_ipu_gpu", read off the plot to 1.3 %.
@pytest.mark.parametrize(
    ("edge", "n", "precision", "tflop_per_s"),
    [
        (1024, 64, Precision.FP16_16, 45.9),
        (1024, 16384, Precision.FP16_16, 224.3),
        (2048, 2048, Precision.FP16_16, 201.4),
        (4096, 256, Precision.FP16_16, 176.0),
        (4096, 2048, Precision.FP16_16, 224.3),
        (8192, 256, Precision.FP16_16, 224.3),
        (1024, 16, Precision.FP32, 11.1),
        (1024, 2048, Precision.FP32, 49.9),
        (2048, 256, Precision.FP32, 44.8),
        (4096, 4096, Precision.FP32, 58.6),
        (8192, 64, Precision.FP32, 48.6),
    ],
)
def test_dense_products_measured_on_bow(edge, n, precision, tflop_per_s):
    plan = product.plan(Matmul(m=edge, k=edge, n=n), precision, BOW)
    measured = plan.flop / (tflop_per_s * 1e12) * BOW.clock_hz
    assert _total(plan, BOW) == pytest.approx(measured, rel=0.07)


# Longest tile of the multiplying compute set in a Poplar profile on C600: ipu-stack, SDK_ONNX_PROFILE_ANALYSIS.md.
@pytest.mark.parametrize(
    ("shape", "precision", "measured"),
    [
        (Matmul(m=729, k=1152, n=3456), Precision.FP16_16, 37_277),
        (Matmul(groups=16, m=729, k=72, n=729, weights=False), Precision.FP16_16, 8_488),
        (Matmul(groups=16, m=729, k=729, n=72, weights=False), Precision.FP16_16, 12_900),
        (Matmul(m=729, k=1152, n=1152), Precision.FP16_16, 14_153),
        (Matmul(m=729, k=4304, n=1152), Precision.FP16_16, 52_187),
        (Matmul(m=729, k=1152, n=4304), Precision.FP8_16, 26_425),
    ],
)
def test_multiplying_measured_on_c600(shape, precision, measured):
    plan = product.plan(shape, precision, C600)
    cycles = sum(supersteps.cycles(step, C600).compute for step in plan.supersteps if step.phase == "multiply")
    assert cycles == pytest.approx(measured, rel=0.12)


SIZES = st.integers(1, 3000)


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(st.integers(1, 40), SIZES, SIZES, SIZES, st.sampled_from([Precision.FP16_16, Precision.FP16_32, Precision.FP32]))
def test_every_plan_holds_its_promises(groups, m, k, n, precision):
    shape = Matmul(groups=groups, m=m, k=k, n=n)
    plan = product.plan(shape, precision, GC200, relax=True)
    assert plan == product.plan(shape, precision, GC200, relax=True)
    assert 0 < plan.tiles_used <= GC200.tiles
    for step in plan.supersteps:
        assert sum(cohort.tiles for cohort in step.cohorts) == GC200.tiles
    assert _total(plan, GC200) > plan.flop / (GC200.tiles * GC200.amp.flop_per_cycle[precision])
    assert all("cycles more" in rival.why or "do not fit" in rival.why for rival in plan.alternatives)


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(SIZES, SIZES, SIZES, st.floats(0.1, 1.0))
def test_temporary_bytes_stay_within_the_share_of_sram(m, k, n, share):
    plan = product.plan(Matmul(m=m, k=k, n=n), Precision.FP16_16, GC200, available_memory=share)
    assert sum(plan.sram_bytes_per_tile.values()) <= share * GC200.sram.bytes_per_tile


def test_less_memory_means_serial_parts_and_more_cycles():
    shape = Matmul(m=2048, k=2048, n=4096)
    totals = []
    for share in (0.6, 0.2, 0.05):
        plan = product.plan(shape, Precision.FP16_16, GC200, available_memory=share)
        totals.append(_total(plan, GC200))
    assert any(name.startswith("serial") for name in plan.splits)
    assert totals == sorted(totals)
    assert len(set(totals)) == 3


def test_a_product_that_fits_no_split_is_refused_unless_the_bound_may_be_relaxed():
    shape = Matmul(m=60_000, k=60_000, n=60_000)
    with pytest.raises(Infeasible, match=r"no split over 1472 tiles fits 6,390 B per tile"):
        product.plan(shape, Precision.FP16_16, GC200, available_memory=0.01)
    assert product.plan(shape, Precision.FP16_16, GC200, available_memory=0.01, relax=True).tiles_used > 1000


def test_operands_in_another_order_are_copied_first():
    shape = Matmul(m=1024, k=1024, n=4096)
    ready = product.plan(shape, Precision.FP16_16, GC200)
    copied = product.plan(shape, Precision.FP16_16, GC200, rearranged_operands=("left", "right"))
    assert [step.name for step in copied.supersteps[:2]] == ["rearrange left", "rearrange right"]
    exchanged = [step.cohorts[0].receive_bytes for step in copied.supersteps[:2]]
    assert exchanged == pytest.approx([1024 * 1024 * 2 / 1472, 4096 * 1024 * 2 / 1472])
    assert _total(copied, GC200) > _total(ready, GC200)
    assert copied == product.plan(shape, Precision.FP16_16, GC200, operand_ready=False)


def test_odd_channels_are_copied_element_by_element():
    even, odd = (
        product.plan(Matmul(m=728, k=k, n=728), Precision.FP16_16, GC200, rearranged_operands=("left",)).supersteps[0]
        for k in (728, 727)
    )
    assert odd.cohorts[0].compute_cycles > 7 * even.cohorts[0].compute_cycles


def test_rivals_differ_in_kind_and_say_why_they_lost():
    plan = product.plan(Matmul(m=4096, k=4096, n=4096), Precision.FP16_16, GC200)
    assert len(plan.alternatives) >= 5
    assert any("operands in order" in rival.why for rival in plan.alternatives)
    assert any("do not fit 383,386 B" in rival.why for rival in plan.alternatives)


@pytest.mark.parametrize(
    ("chip", "shape", "precision"),
    [(GC200, (36, 3239, 1888), Precision.FP16_16), (C600, (16, 3848, 1793), Precision.FP32)],
)
def test_a_part_that_is_no_whole_number_of_vectors_is_no_slower_than_the_largest(chip, shape, precision):
    """Seen: the sums of the smaller parts took the longer loop, and the plan came out slower than its rivals."""
    m, k, n = shape
    plan = product.plan(Matmul(m=m, k=k, n=n), precision, chip)
    summed = next(step for step in plan.supersteps if step.name == "reduce")
    largest = max(summed.cohorts, key=lambda cohort: cohort.receive_bytes)
    assert max(cohort.compute_cycles for cohort in summed.cohorts) == largest.compute_cycles
    assert all(other.cycles >= _total(plan, chip) for other in plan.alternatives if "fit" not in other.why)


def test_a_single_input_channel_may_run_as_outer_or_dot_product():
    plan = product.plan(Matmul(m=48, k=1, n=48), Precision.FP16_16, GC200)
    assert plan.method in {"outer product", "dot product"}


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01, float("nan")])
def test_a_share_of_memory_outside_its_range_is_refused(share):
    with pytest.raises(InputError, match="available memory"):
        product.plan(Matmul(m=16, k=16, n=16), Precision.FP16_16, GC200, available_memory=share)


def test_an_unknown_operand_is_refused():
    with pytest.raises(InputError, match="a product has operands left, right, output, not middle"):
        product.plan(Matmul(m=16, k=16, n=16), Precision.FP16_16, GC200, rearranged_operands=("middle",))
