"""Ways to multiply a convolution and its gradients: every one does all products, with the copies that it needs."""

from dataclasses import replace

import pytest

from podsim.model.chip import Precision
from podsim.model.workload import Conv
from podsim.tiles.gradients import of_input, of_weights
from podsim.tiles.problem import Copy
from podsim.tiles.transforms import Layer, forward, pad_channels
from podsim.tiles.vertices import Dot, NByOne, OneByOne, Outer, Slic, Vmac

WIDE = Conv(batch=2, size=8, in_channels=32, out_channels=16, kernel=3)
POINT = replace(WIDE, kernel=1)
STRIDED = replace(WIDE, stride=2)
STRIDED_POINT = replace(POINT, stride=2)
SEQUENCE = Conv(size=1, width=12, in_channels=16, out_channels=32, kernel=1, kernel_width=3)
GROUPED = replace(WIDE, channel_groups=4)
DEPTHWISE = Conv(size=8, in_channels=32, out_channels=32, kernel=3, channel_groups=32)
NARROW = Conv(batch=2, size=8, in_channels=3, out_channels=16, kernel=3)
ALL = (WIDE, POINT, STRIDED, STRIDED_POINT, SEQUENCE, GROUPED, DEPTHWISE, NARROW)


@pytest.fixture(scope="module")
def layer_of(gc200):
    return lambda shape, precision=Precision.FP16_16: Layer(shape, precision, gc200)


def products(problem):
    """Multiply-adds of a problem; of a spread one, those that meet anything."""
    kernel = problem.kernel_height * problem.kernel_width
    return problem.groups * problem.field * kernel * problem.inputs * problem.outputs / problem.spread_positions


def of(ways, transform):
    return next(problem for problem, _ in ways if problem.transform == transform)


def copies(problem):
    return {copy.operand: copy.elements for copy in problem.copied}


@pytest.mark.parametrize("shape", ALL)
@pytest.mark.parametrize("precision", [Precision.FP16_16, Precision.FP32])
@pytest.mark.parametrize("direction", [forward, of_input, of_weights])
def test_every_way_does_every_product_once(layer_of, shape, precision, direction):
    """Groups that are taken as one multiply zeros besides, as many times as they are."""
    ways = list(direction(layer_of(shape, precision)))
    assert ways
    for problem, _ in ways:
        together = int(problem.transform.split()[0]) if problem.transform.endswith("as one") else 1
        assert products(problem) == pytest.approx(together * shape.outputs * shape.reduction)


def test_sizes_of_a_layer_are_those_of_one_group(layer_of):
    layer = layer_of(GROUPED)
    assert (layer.inputs, layer.outputs, layer.positions, layer.pixels) == (8, 4, 9, 128)
    assert (layer.group, layer.run_in, layer.run_out) == (16, 8, 4)
    assert layer_of(STRIDED).pixels == 2 * 16
    assert layer_of(NARROW).run_in == 1


def test_a_kernel_of_one_position_is_a_product_over_pixels(layer_of):
    (problem, vertex), *_ = forward(layer_of(POINT))
    assert isinstance(vertex, OneByOne)
    assert (problem.width, problem.inputs, problem.outputs, problem.copied) == (128, 32, 16, ())


def test_a_stride_copies_the_pixels_that_it_keeps(layer_of):
    """32 of 128 pixels, of 32 channels; the convolution as it stands copies nothing."""
    ways = list(forward(layer_of(STRIDED_POINT)))
    assert copies(of(ways, "pixels in one row")) == {"input": 32 * 32}
    standing = of(ways, "as it stands")
    assert (standing.stride, standing.height, copies(standing)) == ((2, 2), 4, {})


def test_a_kernel_in_channels_copies_every_pixel_for_every_position(layer_of):
    ways = list(forward(layer_of(WIDE)))
    kernel, columns = of(ways, "kernel in channels"), of(ways, "kernel columns in channels")
    assert (kernel.inputs, kernel.width) == (9 * 32, 128)
    assert copies(kernel) == {"input": 128 * 9 * 32, "weights": 9 * 32 * 16}
    assert (columns.inputs, columns.height, columns.width, columns.kernel_height) == (3 * 32, 8, 16, 3)
    assert copies(columns) == {"input": 128 * 3 * 32, "weights": 9 * 32 * 16}


def test_channels_that_fill_no_block_are_padded(layer_of):
    """3 of 16 channels; outputs of groups of 4 channels are copied, of a single group never."""
    assert pad_channels(layer_of(NARROW), 16) == (Copy("input", 128.0 * 16, 1),)
    assert pad_channels(layer_of(NARROW), 4) == (Copy("input", 128.0 * 4, 1),)
    assert pad_channels(layer_of(WIDE), 16) == ()
    assert pad_channels(layer_of(replace(WIDE, out_channels=32, channel_groups=2)), 16) == ()
    assert pad_channels(layer_of(Conv(size=8, in_channels=32, out_channels=16, kernel=3, channel_groups=2)), 16) == ()
    assert pad_channels(layer_of(GROUPED), 16) == (Copy("input", 128.0 * 4 * 16, 8), Copy("output", 128.0 * 16, 4))


def test_groups_are_combined_as_far_as_a_block_has_room(layer_of):
    """8 channels a group: two fill 16; of depthwise, up to 16 of 32."""
    names = [problem.transform for problem, _ in forward(layer_of(GROUPED)) if "as one" in problem.transform]
    assert set(names) == {"2 groups as one"}
    deep = [problem for problem, _ in forward(layer_of(DEPTHWISE)) if "as one" in problem.transform]
    assert {(problem.transform, problem.groups, problem.inputs) for problem in deep} == {
        (f"{2**power} groups as one", 32 // 2**power, 2**power) for power in (1, 2, 3, 4)
    }
    assert copies(deep[0])["weights"] == 2 * 9 * 32


def test_narrow_vertices_take_few_channels_of_half_operands(layer_of):
    def kinds(shape, precision=Precision.FP16_16):
        return {type(vertex) for _, vertex in forward(layer_of(shape, precision))}

    assert kinds(WIDE) == {NByOne, OneByOne}
    assert kinds(NARROW) == {NByOne, OneByOne, Dot}
    assert kinds(DEPTHWISE) == {NByOne, OneByOne, Dot, Slic, Vmac}
    assert not {Slic, Vmac} & kinds(DEPTHWISE, Precision.FP32)
    assert Slic not in kinds(replace(DEPTHWISE, size=9, stride=3))
    assert Outer in kinds(replace(DEPTHWISE, kernel=1))
    assert Outer not in kinds(DEPTHWISE)


def test_the_gradient_of_the_input_exchanges_channels_and_turns_the_kernels(layer_of):
    for problem, _ in of_input(layer_of(WIDE)):
        assert problem.outputs == 32
        assert copies(problem)["weights"] == 9 * 32 * 16
        assert sum(copy.operand == "weights" for copy in problem.copied) == 1


def test_a_stride_spreads_the_gradient_over_the_image(layer_of):
    spread = of(of_input(layer_of(STRIDED)), "as it stands")
    assert (spread.spread, spread.height, spread.inputs) == ((2, 2), 8, 16)
    product = of(of_input(layer_of(STRIDED_POINT)), "pixels in one row")
    assert (product.width, product.inputs, product.outputs) == (32, 16, 32)
    assert copies(product) == {"weights": 32 * 16, "output": 128 * 32}
    assert "pixels in one row" not in {problem.transform for problem, _ in of_input(layer_of(STRIDED))}


def test_few_channels_of_a_spread_gradient_have_vertices_of_their_own(layer_of):
    depth = replace(DEPTHWISE, stride=2)
    assert {type(vertex) for _, vertex in of_input(layer_of(depth))} == {NByOne, Dot, Vmac}
    assert {type(vertex) for _, vertex in of_input(layer_of(depth, Precision.FP32))} == {NByOne, Dot}
    few = Conv(size=8, in_channels=16, out_channels=4, kernel=3, stride=2)
    assert {type(vertex) for _, vertex in of_input(layer_of(few))} == {NByOne, Dot}


def test_the_gradient_of_the_weights_sums_over_pixels(layer_of):
    """The input is copied for each kernel position, by rows for each of its columns, or once."""
    ways = list(of_weights(layer_of(WIDE)))
    whole, swapped = of(ways, "pixels in channels"), of(ways, "pixels in channels, operands swapped")
    assert (whole.inputs, whole.width, whole.outputs) == (128, 9 * 32, 16)
    assert (swapped.width, swapped.outputs) == (16, 9 * 32)
    assert copies(whole) == {"input": 128 * 9 * 32, "weights": 128 * 16}
    rows, images = of(ways, "pixel rows in channels"), of(ways, "images in channels")
    assert (rows.inputs, rows.kernel_height, rows.kernel_width) == (2 * 8, 8, 1)
    assert copies(rows)["input"] == 128 * 3 * 32
    assert (images.inputs, images.batch, images.kernel_width) == (2, 32, 8)
    assert copies(images)["input"] == 128 * 32
    assert {problem.dilation for problem, _ in of_weights(layer_of(STRIDED))} == {1, 2}
    assert len({problem.transform for problem, _ in of_weights(layer_of(POINT))}) == 2
