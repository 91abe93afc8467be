"""Plans of convolutions: measured layers on GC2, gradients, and what every plan must hold."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.chip import Library, Precision
from podsim.model.workload import Conv, Matmul, Pass
from podsim.tiles import convolution, product, supersteps

GC2 = catalog.chip("gc2").value
GC200 = catalog.chip("gc200").value
COUNTING = replace(GC2, library=Library(counts_copies=True))
GRADIENTS = (Pass.BACKWARD, Pass.WEIGHT_GRADIENT)


def _total(plan, chip):
    return supersteps.total(plan.supersteps, chip).total


def _measured(shape, tflop_per_s, chip=GC2):
    return shape.flop_in_image / (tflop_per_s * 1e12) * chip.clock_hz


def _forward(shape, chip=GC2):
    return convolution.plan(shape, Pass.FORWARD, Precision.FP16_32, chip, relax=True)


def _copied(plan):
    return [step.name for step in plan.supersteps if step.phase == "rearrange"]


# Forward convolutions of half operands, float partial sums (the library's default): jia-2019, tables 5.3 and 5.5, GC2.
@pytest.mark.parametrize(
    ("batch", "tflop_per_s"), [(1, 11.85), (2, 18.92), (4, 26.73), (8, 36.84), (16, 46.03), (128, 59.29)]
)
def test_a_pointwise_layer_over_batches(batch, tflop_per_s):
    shape = Conv(batch=batch, size=56, in_channels=64, out_channels=64, kernel=1)
    assert _total(_forward(shape), GC2) == pytest.approx(_measured(shape, tflop_per_s), rel=0.08)


@pytest.mark.parametrize(
    ("shape", "tflop_per_s"),
    [
        (Conv(batch=1, size=56, in_channels=64, out_channels=64, kernel=3), 34.44),
        (Conv(batch=16, size=28, in_channels=128, out_channels=128, kernel=3), 56.63),
        (Conv(batch=2, size=112, in_channels=64, out_channels=64, kernel=3, stride=2), 39.87),
        (Conv(batch=2, size=224, in_channels=64, out_channels=128, kernel=3), 72.0),
        (Conv(batch=2, size=27, in_channels=96, out_channels=256, kernel=5), 57.3),
        (Conv(batch=4, size=7, in_channels=512, out_channels=512, kernel=3), 32.88),
    ],
)
def test_spatial_layers(shape, tflop_per_s):
    assert _total(_forward(shape), GC2) == pytest.approx(_measured(shape, tflop_per_s), rel=0.2)


# Three input channels: the kernel moves into the channels element by element, which the library's choice left out.
@pytest.mark.parametrize(
    ("batch", "shape", "tflop_per_s"),
    [
        (1, Conv(size=224, in_channels=3, out_channels=64, kernel=7, stride=2), 7.45),
        (8, Conv(size=224, in_channels=3, out_channels=64, kernel=3), 7.08),
        (8, Conv(size=299, in_channels=3, out_channels=32, kernel=3, stride=2), 3.17),
        (4, Conv(size=227, in_channels=3, out_channels=96, kernel=11, stride=4), 11.14),
    ],
)
def test_first_layers_pay_for_copies_of_single_elements(batch, shape, tflop_per_s):
    shape = shape.at(batch)
    plan = _forward(shape)
    assert _copied(plan) == ["rearrange input", "rearrange weights"]
    assert _total(plan, GC2) == pytest.approx(_measured(shape, tflop_per_s), rel=0.35)
    assert _total(_forward(shape, COUNTING), GC2) < _total(plan, GC2)


@pytest.mark.parametrize(
    ("shape", "tflop_per_s"),
    [
        (Conv(batch=16, size=56, in_channels=128, out_channels=256, kernel=1, channel_groups=32), 1.10),
        (Conv(batch=32, size=56, in_channels=128, out_channels=128, kernel=3, channel_groups=32), 2.58),
        (Conv(batch=32, size=28, in_channels=256, out_channels=256, kernel=1, channel_groups=32), 6.90),
        (Conv(batch=32, size=28, in_channels=256, out_channels=256, kernel=3, channel_groups=32), 36.13),
        (Conv(batch=16, size=14, in_channels=512, out_channels=512, kernel=3, channel_groups=32), 41.61),
        (Conv(batch=32, size=7, in_channels=1024, out_channels=2048, kernel=1, channel_groups=32), 33.41),
    ],
)
def test_grouped_layers(shape, tflop_per_s):
    plan = _forward(shape)
    assert _total(plan, GC2) == pytest.approx(_measured(shape, tflop_per_s), rel=0.3)


@pytest.mark.parametrize(
    ("size", "batch", "in_channels", "out_channels", "stride", "tflop_per_s"),
    [(3, 4, 128, 256, 1, 4.62), (5, 8, 128, 256, 1, 14.83), (10, 1, 512, 512, 2, 14.78), (13, 8, 256, 384, 1, 52.25)],
)
def test_small_fields_multiply_padding_that_does_not_count(size, batch, in_channels, out_channels, stride, tflop_per_s):
    """On 3 x 3 pixels under 3 x 3, 49 of 81 multiplications meet a pixel: with all of them, 66 % too fast."""
    shape = Conv(batch=batch, size=size, in_channels=in_channels, out_channels=out_channels, kernel=3, stride=stride)
    assert _total(_forward(shape), GC2) == pytest.approx(_measured(shape, tflop_per_s), rel=0.15)


@given(
    size=st.integers(1, 30), kernel=st.integers(1, 11), stride=st.integers(1, 4), width=st.none() | st.integers(1, 30)
)
def test_multiplications_in_the_image_one_by_one(size, kernel, stride, width):
    shape = Conv(size=size, width=width, in_channels=1, out_channels=1, kernel=kernel, stride=stride)

    def met(edge, kernel, stride, outputs):
        before = max((outputs - 1) * stride + kernel - edge, 0) // 2
        return sum(0 <= o * stride + k - before < edge for o in range(outputs) for k in range(kernel))

    edges = zip(shape.edges, shape.kernel_edges, shape.strides, shape.out_edges, strict=True)
    assert shape.flop_in_image == pytest.approx(2 * math.prod(met(*edge) for edge in edges))
    assert shape.flop_in_image <= shape.flop


def test_a_pointwise_convolution_is_a_product_of_its_pixels():
    shape = Conv(batch=4, size=28, in_channels=128, out_channels=512, kernel=1)
    plan = convolution.plan(shape, Pass.FORWARD, Precision.FP16_16, GC200)
    same = product.plan(Matmul(m=512, k=128, n=4 * 28 * 28), Precision.FP16_16, GC200)
    assert (plan.splits, plan.supersteps) == (same.splits, same.supersteps)


def test_the_gradient_of_the_input_is_the_forward_pass_with_turned_kernels():
    shape = Conv(batch=4, size=56, in_channels=64, out_channels=64, kernel=3)
    forward, backward = (
        convolution.plan(shape, run, Precision.FP16_16, GC200) for run in (Pass.FORWARD, Pass.BACKWARD)
    )
    assert _copied(backward) == ["rearrange weights"]
    assert backward.supersteps[1:] == forward.supersteps


def test_the_gradient_of_a_stride_costs_no_more_than_that_of_every_position():
    strided = Conv(batch=4, size=56, in_channels=128, out_channels=128, kernel=3, stride=2)
    dense = Conv(batch=4, size=56, in_channels=128, out_channels=128, kernel=3)
    costs = [
        _total(convolution.plan(shape, Pass.BACKWARD, Precision.FP16_16, GC200), GC200) for shape in (strided, dense)
    ]
    assert costs[0] < 0.6 * costs[1]


@pytest.mark.parametrize("kernel", [1, 3])
def test_the_gradient_of_the_weights_sums_over_all_pixels(kernel):
    shape = Conv(batch=8, size=28, in_channels=128, out_channels=128, kernel=kernel)
    plan = convolution.plan(shape, Pass.WEIGHT_GRADIENT, Precision.FP16_16, GC200)
    assert {"rearrange input", "rearrange weights"} <= set(_copied(plan))
    assert plan.splits["inputs"] * plan.splits.get("kernel", 1) > 1  # pixels are cut over tiles, so sums follow
    assert any(step.phase == "reduce" and step.cohorts[0].compute_cycles > 0 for step in plan.supersteps)


def test_depthwise_layers_leave_the_amp_where_their_operands_allow():
    shape = Conv(batch=4, size=56, in_channels=144, out_channels=144, kernel=3, channel_groups=144)
    half = convolution.plan(shape, Pass.FORWARD, Precision.FP16_16, GC200)
    whole = convolution.plan(shape, Pass.FORWARD, Precision.FP32, GC200)
    assert half.method in {"SLIC", "VMAC"}
    assert whole.method not in {"SLIC", "VMAC"}
    assert _total(half, GC200) < _total(whole, GC200)


@st.composite
def _convolutions(draw):
    groups = draw(st.sampled_from([1, 1, 2, 8, 32]))
    return Conv(
        batch=draw(st.integers(1, 9)),
        size=draw(st.integers(1, 60)),
        in_channels=groups * draw(st.integers(1, 70)),
        out_channels=groups * draw(st.integers(1, 70)),
        kernel=draw(st.sampled_from([1, 3, 5])),
        stride=draw(st.sampled_from([1, 2])),
        channel_groups=groups,
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(
    _convolutions(), st.sampled_from([Pass.FORWARD, *GRADIENTS]), st.sampled_from([Precision.FP16_16, Precision.FP32])
)
def test_every_plan_holds_its_promises(shape, run, precision):
    plan = convolution.plan(shape, run, precision, GC200, relax=True)
    assert plan == convolution.plan(shape, run, precision, GC200, relax=True)
    assert 0 < plan.tiles_used <= GC200.tiles
    for step in plan.supersteps:
        assert sum(cohort.tiles for cohort in step.cohorts) == GC200.tiles
    # A position outside the image costs nothing in a strided gradient: only the inner ones are sure to be multiplied.
    inner = max(0, shape.out_size - shape.kernel) / shape.out_size
    assert _total(plan, GC200) > inner**2 * plan.flop / (GC200.tiles * GC200.amp.flop_per_cycle[precision])


def test_rivals_cover_several_transforms():
    plan = convolution.plan(
        Conv(batch=4, size=28, in_channels=128, out_channels=128, kernel=3), Pass.FORWARD, Precision.FP16_16, GC200
    )
    ways = {rival.why.split(",")[0] for rival in plan.alternatives}
    assert len(plan.alternatives) >= 5
    assert {"as it stands", "kernel in channels"} <= ways


def test_groups_that_do_not_divide_the_channels_are_refused():
    shape = Conv(size=8, in_channels=6, out_channels=8, kernel=3, channel_groups=4)
    with pytest.raises(InputError, match="4 groups do not divide 6 input and 8 output channels"):
        convolution.plan(shape, Pass.FORWARD, Precision.FP16_16, GC200)


def test_a_share_of_memory_outside_its_range_is_refused():
    shape = Conv(size=8, in_channels=16, out_channels=16, kernel=3)
    with pytest.raises(InputError, match="above 0 and at most 1, not 2"):
        convolution.plan(shape, Pass.FORWARD, Precision.FP16_16, GC200, available_memory=2)


def test_a_library_without_slic_fills_blocks_with_several_groups():
    """Groups of 4 channels run on SLIC, or else with zeros and copies on the AMP: never faster."""
    shape = Conv(batch=16, size=56, in_channels=128, out_channels=256, kernel=1, channel_groups=32)
    newer, older = (
        convolution.plan(shape, Pass.FORWARD, Precision.FP16_16, replace(GC200, library=Library(slic=slic)))
        for slic in (True, False)
    )
    assert newer.method == "SLIC"
    assert older.method == "AMP 1x1"
    assert not any("SLIC" in rival.why for rival in older.alternatives)
    assert supersteps.total(newer.supersteps, GC200).total < supersteps.total(older.supersteps, GC200).total
