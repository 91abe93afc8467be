"""Ways to multiply the gradients of a convolution: of its input and of its weights."""

import math
from collections.abc import Iterator
from dataclasses import replace

from podsim.model.workload import Conv
from podsim.tiles import amp
from podsim.tiles.problem import Copy, Problem
from podsim.tiles.product_search import Way
from podsim.tiles.transforms import Layer, forward, pad_channels
from podsim.tiles.vertices import Dot, NByOne, OneByOne, Vmac


def of_input(layer: Layer) -> Iterator[Way]:
    """The gradient of the output convolved with the kernels turned round, input and output channels exchanged.

    The turned kernels are a copy of the weights. A stride spreads the gradient: a kernel position then meets one
    output in stride squared.
    """
    shape = layer.shape
    weight_copy = Copy("weights", float(shape.parameters), min(layer.run_in, layer.run_out))
    stride_one = Conv(
        batch=shape.batch,
        size=shape.size,
        in_channels=shape.out_channels,
        out_channels=shape.in_channels,
        kernel=shape.kernel,
        channel_groups=shape.channel_groups,
        width=shape.width,
        kernel_width=shape.kernel_width,
    )
    back = Layer(stride_one, layer.precision, layer.chip)
    if shape.strides == (1, 1):
        for problem, vertex in forward(back):
            yield _with(problem, weight_copy), vertex
        return
    for item in amp.shapes(layer.chip, layer.precision, back.outputs):
        if layer.positions == 1:
            spread = Copy("output", float(shape.inputs), layer.run_in)
            yield _strided_product(layer, (weight_copy, spread)), OneByOne(item)
        yield _spread(back, shape.strides, (weight_copy, *pad_channels(back, layer.group))), NByOne(item)
    if back.inputs < layer.group:
        narrow = _spread(back, shape.strides, (weight_copy,))
        yield narrow, Dot(layer.precision, amp.LOAD_ELEMENTS[layer.precision])
        if back.inputs == back.outputs == 1 and not amp.float_operands(layer.precision):
            yield narrow, Vmac(layer.precision)


def _with(problem: Problem, copy: Copy) -> Problem:
    others = tuple(item for item in problem.copied if item.operand != copy.operand)
    return replace(problem, copied=(*others, copy))


def _strided_product(layer: Layer, copies: tuple[Copy, ...]) -> Problem:
    """A kernel of one position: a product over the pixels of the gradient, then spread over the image."""
    return Problem(
        transform="pixels in one row",
        groups=layer.shape.channel_groups,
        width=layer.pixels,
        inputs=layer.outputs,
        outputs=layer.inputs,
        copied=copies,
    )


def _spread(back: Layer, strides: tuple[int, int], copies: tuple[Copy, ...]) -> Problem:
    shape = back.shape
    (height, width), (kernel_height, kernel_width) = shape.edges, shape.kernel_edges
    return Problem(
        transform="as it stands",
        groups=shape.channel_groups,
        batch=shape.batch,
        height=height,
        width=width,
        kernel_height=kernel_height,
        kernel_width=kernel_width,
        inputs=back.inputs,
        outputs=back.outputs,
        spread=strides,
        copied=copies,
    )


def of_weights(layer: Layer) -> Iterator[Way]:
    """Input channels by kernel positions are the field, the pixels of all images what is summed over.

    Pixels become channels whole ("pixels in channels"), by rows, or not at all: then the images are the channels and
    the field of the output is a kernel.
    """
    shape = layer.shape
    gradient = Copy("weights", float(layer.pixels * shape.out_channels), layer.run_out)
    whole = (_channel_copy(layer, layer.pixels * layer.positions), gradient)
    kernels = layer.inputs * layer.positions
    for width, outputs in ((kernels, layer.outputs), (layer.outputs, kernels)):
        problem = Problem(
            transform="pixels in channels" if width == kernels else "pixels in channels, operands swapped",
            groups=shape.channel_groups,
            width=width,
            inputs=layer.pixels,
            outputs=outputs,
            copied=whole,
        )
        for vertex in amp.shapes(layer.chip, layer.precision, outputs):
            yield problem, OneByOne(vertex)
    for vertex in amp.shapes(layer.chip, layer.precision, layer.outputs):
        if layer.positions > 1:
            rows = shape.batch * shape.size * shape.out_edges[1] * shape.kernel_edges[1]
            yield _field_as_kernel(layer, (_channel_copy(layer, rows), gradient), by_rows=True), NByOne(vertex)
            yield (
                _field_as_kernel(
                    layer, (_channel_copy(layer, shape.batch * math.prod(shape.edges)), gradient), by_rows=False
                ),
                NByOne(vertex),
            )


def _channel_copy(layer: Layer, positions: int) -> Copy:
    """The input with the dimension summed over made its channels."""
    return Copy("input", float(positions * layer.shape.in_channels), layer.run_in)


def _field_as_kernel(layer: Layer, copies: tuple[Copy, ...], *, by_rows: bool) -> Problem:
    """The weight gradient with the output field as a kernel, dilated by the stride; its rows may be channels."""
    shape = layer.shape
    (rows, columns), (kernel_rows, kernel_columns) = shape.out_edges, shape.kernel_edges
    return Problem(
        transform="pixel rows in channels" if by_rows else "images in channels",
        groups=shape.channel_groups,
        batch=1 if by_rows else layer.inputs,
        height=kernel_rows,
        width=layer.inputs * kernel_columns if by_rows else kernel_columns,
        kernel_height=rows,
        kernel_width=1 if by_rows else columns,
        inputs=shape.batch * columns if by_rows else shape.batch,
        outputs=layer.outputs,
        dilation=shape.stride,
        copied=copies,
    )
