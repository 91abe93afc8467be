"""Changes of layout, against a profile of attention on a C600 and copies timed there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.tiles import rearrange
from podsim.tiles.supersteps import cycles, total

FP8, FP16 = Precision.FP8_16, Precision.FP16_16
C600 = catalog.chip("c600").value
TOKENS = 729  # 16 heads of 729 tokens (ipu-stack, SDK_ONNX_PROFILE_ANALYSIS.md)


def test_scores_of_an_odd_length_are_taken_apart_element_by_element():
    made = rearrange.product_result(16, TOKENS, TOKENS, field=2, outputs=46, group_parts=16, swapped=True)
    assert (made.rows, made.columns) == (16, 365)  # the measured grid
    rows = rearrange.whole_rows(16, TOKENS, TOKENS, C600, pitch=736)
    moved, apart, padded = rearrange.plan(TOKENS, TOKENS, made, rows, FP16, C600).supersteps
    assert cycles(moved, C600).exchange == pytest.approx(4_477, rel=0.2)
    assert cycles(apart, C600).compute == pytest.approx(126_283, rel=0.04)
    assert cycles(padded, C600).compute == pytest.approx(2_936, rel=0.08)


def test_fp8_rows_of_an_odd_length_are_copied_byte_by_byte():
    rows = rearrange.whole_rows(16, TOKENS, TOKENS, C600)
    operand = rearrange.product_operand(16, TOKENS, TOKENS, field=9, inputs=10, group_parts=16, grain=32)
    eight, half = (
        max(cycles(step, C600).compute for step in rearrange.plan(TOKENS, TOKENS, rows, to, width, C600).supersteps)
        for to, width in (
            (operand, FP8),
            (rearrange.product_operand(16, TOKENS, TOKENS, field=9, inputs=10, group_parts=16), FP16),
        )
    )
    assert eight == pytest.approx(52_333, rel=0.05)
    assert half < eight / 4


@pytest.mark.parametrize(("moved_bytes", "measured"), [(0, 288), (8192, 1308)])
def test_one_aligned_range(moved_bytes, measured):
    # ipu-stack, crates/ipu-codegen/src/cost.rs: a call, and a panel of 8 KiB; the sync ends both
    value = rearrange.copy_cycles(1, moved_bytes, 8, C600) + C600.sync.on_chip_cycles
    assert value == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_rows_of_512_need_no_copy_and_transposing_them_few_cycles(rows, gc200: Chip):
    groups = 16 * rows
    kept, turned = (
        rearrange.product_result(groups, 512, 512, field=2, outputs=32, swapped=swapped, group_parts=16)
        for swapped in (False, True)
    )
    whole = rearrange.whole_rows(groups, 512, 512, gc200)
    straight = rearrange.plan(512, 512, kept, whole, FP16, gc200).supersteps
    assert [cycles(step, gc200).compute for step in straight] == [0.0]
    _, block = rearrange.plan(512, 512, turned, whole, FP16, gc200).supersteps
    assert cycles(block, gc200).compute < 2 * whole.elements


def test_the_same_layout_costs_nothing(gc200: Chip):
    whole = rearrange.whole_rows(12, 512, 512, gc200)
    assert rearrange.plan(512, 512, whole, whole, FP16, gc200).supersteps == ()


@given(rows=st.integers(1, 600), columns=st.integers(1, 600), swapped=st.booleans())
def test_everything_arrives(rows, columns, swapped):
    made = rearrange.product_result(4, rows, columns, field=3, outputs=5, group_parts=4, swapped=swapped)
    whole = rearrange.whole_rows(4, rows, columns, C600)
    plan = rearrange.plan(rows, columns, made, whole, FP16, C600)
    arrived = sum(step.cohorts[0].receive_bytes for step in plan.supersteps)
    assert arrived == 2 * whole.elements
    assert whole.tiles * whole.elements >= 4 * rows * columns
    assert total(plan.supersteps, C600).total > 0


@given(pieces=st.integers(1, 5000), size=st.integers(0, 64))
def test_worse_alignment_and_more_pieces_cost_more(pieces, size):
    costs = [rearrange.copy_cycles(pieces, size, aligned, C600) for aligned in (8, 4, 2, 1)]
    assert costs == sorted(costs)
    assert rearrange.copy_cycles(pieces + 6, size, 2, C600) > costs[2]


def test_a_layout_without_room_is_refused(gc200: Chip):
    small = rearrange.whole_rows(1, 10, 10, gc200)
    with pytest.raises(InputError, match="cannot hold"):
        rearrange.plan(20, 20, small, small, FP16, gc200)


@given(groups=st.integers(1, 64), parts=st.integers(1, 64), swapped=st.booleans())
def test_groups_that_share_tiles_lie_on_them_together(groups, parts, swapped):
    """A product that cuts 64 groups in 16 leaves four matrices a tile, and the next one takes as many."""
    parts = min(groups, parts)
    made = rearrange.product_result(groups, 96, 64, field=3, outputs=2, group_parts=parts, swapped=swapped)
    taken = rearrange.product_operand(groups, 96, 64, field=3, inputs=2, group_parts=parts)
    for layout in (made, taken):
        assert layout.tiles == parts * 6
        assert layout.matrices == -(-groups // parts)
        assert layout.tiles * layout.elements >= groups * 96 * 64
