"""Attention as separate operators and fused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.model.workload import Matmul
from podsim.tiles import attention, composite, product, vector
from podsim.tiles.attention import Heads
from podsim.tiles.supersteps import cycles, total

FP8, FP16 = Precision.FP8_16, Precision.FP16_16
C600 = catalog.chip("c600").value
PROFILED = Heads(groups=16, queries=729, keys=729, width=72)  # ipu-stack, SDK_ONNX_PROFILE_ANALYSIS.md


def rearranging(plan, chip) -> float:
    return sum(cycles(step, chip).total for step in plan.supersteps if step.phase == "rearrange")


def test_layouts_cost_more_than_the_products_they_stand_between():
    plan = attention.separate(PROFILED, FP16, C600)
    multiply = sum(cycles(step, C600).compute for step in plan.supersteps if step.phase == "multiply")
    # the profile: 8,488 + 12,900 cycles of products, and 126,283 + 4,477 to bring the scores into rows
    assert multiply == pytest.approx(8_488 + 12_900, rel=0.05)
    assert rearranging(plan, C600) == pytest.approx(126_283 + 4_477 + 2_936, rel=0.15)


def test_fp8_makes_the_products_cheaper_and_the_whole_dearer():
    # as the profile shows: 17.8 M cycles for an encoder in FP8 against 16.0 M in FP16
    eight, half = (attention.separate(PROFILED, precision, C600) for precision in (FP8, FP16))
    assert total(eight.supersteps, C600).total > total(half.supersteps, C600).total
    assert rearranging(eight, C600) > rearranging(half, C600) + 30_000


def test_512_tokens_are_rearranged_in_less_than_they_are_multiplied(gc200: Chip):
    plan = attention.separate(Heads(groups=32, queries=512, keys=512, width=64), FP16, gc200)
    products = sum(cycles(step, gc200).total for step in plan.supersteps if step.phase == "multiply")
    assert rearranging(plan, gc200) < products


LAYER = (  # of the profiled vision encoder, SigLIP So400m/14: 729 tokens of 1,152, feed-forward 4,304
    ("qkv", 1152, 3456),
    ("output", 1152, 1152),
    ("up", 1152, 4304),
    ("down", 4304, 1152),
)


def copies(precision):
    made = [product.plan(matmul, precision, C600) for matmul in (PROFILED.scores, PROFILED.context)]
    return attention.around_heads(PROFILED, *made, precision, C600)


def test_heads_of_729_tokens_are_taken_apart_element_by_element():
    """Three of four change the dimension that lies together; 729 rows are no multiple of 4."""
    queries, keys, values, merged = (total(plan.supersteps, C600).total for plan in copies(FP16))
    elements = -(-16 * 729 * 72 // C600.tiles)
    assert min(queries, keys, merged) > 21 * elements
    assert values < 0.1 * queries


def test_heads_of_even_tokens_are_transposed_in_blocks(gc200: Chip):
    heads = Heads(groups=16, queries=512, keys=512, width=64)
    made = [product.plan(matmul, FP16, gc200) for matmul in (heads.scores, heads.context)]
    plans = attention.around_heads(heads, *made, FP16, gc200)
    elements = -(-16 * 512 * 64 // gc200.tiles)
    assert max(total(plan.supersteps, gc200).compute for plan in plans) < 3 * elements


def test_a_layer_of_the_profiled_encoder():
    """15,987,659 cycles for 27 layers and the pooling (ipu-stack); without the copies of heads, 19 % less."""
    dense = [product.plan(Matmul(m=729, k=k, n=n), FP16, C600) for _, k, n in LAYER]
    norms = composite.norm("layer", 729, 1152, FP16, C600)
    passes = vector.plan(729 * 4304, ("bias", "gelu"), FP16, C600)
    parts = [*dense, norms, norms, passes, attention.separate(PROFILED, FP16, C600), *copies(FP16)]
    layer = sum(total(plan.supersteps, C600).total for plan in parts)
    assert 27 * layer == pytest.approx(15_987_659, rel=0.12)


def test_fused_attention_changes_no_layout():
    plan = attention.plan_fused(PROFILED, FP16, C600)
    assert {step.phase for step in plan.supersteps} == {"multiply"}
    assert total(plan.supersteps, C600).total < total(attention.separate(PROFILED, FP16, C600).supersteps, C600).total
    assert plan.flop == attention.separate(PROFILED, FP16, C600).flop


def test_little_memory_takes_more_blocks_and_none_is_refused():
    much, little = (attention.plan_fused(PROFILED, FP16, C600, available_memory=share) for share in (0.6, 0.1))
    assert little.splits["serial keys"] > much.splits["serial keys"]
    assert little.sram_bytes_per_tile["temporary"] <= 0.1 * C600.sram.bytes_per_tile
    with pytest.raises(Infeasible, match="are allowed"):
        attention.plan_fused(PROFILED, FP16, C600, available_memory=0.001)


@settings(max_examples=20)
@given(groups=st.integers(1, 3000), tokens=st.integers(1, 300), width=st.sampled_from([8, 64, 80]))
def test_any_number_of_heads_stays_on_the_chip(groups, tokens, width):
    heads = Heads(groups=groups, queries=tokens, keys=tokens, width=width)
    plan = attention.plan_fused(heads, FP16, C600, available_memory=1.0)
    assert 0 < plan.tiles_used <= C600.tiles
    assert plan.supersteps[0].repeat == plan.splits["serial keys"]


def test_sizes_are_checked():
    with pytest.raises(InputError, match="cannot be planned"):
        attention.plan_fused(Heads(groups=0, queries=1, keys=1, width=1), FP16, C600)
