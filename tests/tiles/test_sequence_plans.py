"""Convolutions of one dimension, images that are not square, and operators that repeat over positions."""

from dataclasses import replace

import pytest

from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.workload import Conv, Kind, Matmul, Operator, Pass, Stream
from podsim.tiles import convolution, product, supersteps
from podsim.tiles.operator_plans import plans
from podsim.tiles.planner import Planner, PlanTarget

CHIP = catalog.chip("gc200").value
TARGET = PlanTarget(CHIP, Precision.FP16_16)
TRAINED = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)


def _total(plan):
    return supersteps.total(plan.supersteps, CHIP).total


def _plan(shape, run=Pass.FORWARD):
    return convolution.plan(shape, run, Precision.FP16_16, CHIP, relax=True, rivals=False)


def _sequence(length, inputs, outputs, kernel, **more):
    return Conv(size=1, width=length, in_channels=inputs, out_channels=outputs, kernel=1, kernel_width=kernel, **more)


@pytest.mark.parametrize(("length", "inputs", "outputs"), [(300, 256, 512), (1200, 256, 256), (64, 64, 2048)])
def test_a_pointwise_convolution_of_a_sequence_is_the_product_over_its_positions(length, inputs, outputs):
    shape = _sequence(length, inputs, outputs, 1, batch=4)
    matmul = Matmul(m=4 * length, k=inputs, n=outputs)
    assert (shape.flop, shape.parameters, shape.outputs) == (matmul.flop, matmul.parameters, matmul.outputs)
    turned = Matmul(m=outputs, k=inputs, n=4 * length)  # pixels are what the library calls columns
    same = product.plan(turned, Precision.FP16_16, CHIP, relax=True, rivals=False)
    assert _plan(shape).supersteps == same.supersteps


@pytest.mark.parametrize("kernel", [3, 5, 15])
def test_a_kernel_in_channels_is_a_product_of_so_many_more_inputs(kernel):
    """That transform is open to the planner: no plan takes longer than the product and the copies it needs."""
    shape = _sequence(512, 64, 256, kernel, batch=4)
    matmul = Matmul(m=4 * 512, k=kernel * 64, n=256)
    assert (shape.flop, shape.parameters) == (matmul.flop, matmul.parameters)
    alone = _total(product.plan(matmul, Precision.FP16_16, CHIP, relax=True, rivals=False))
    each_copy = kernel * 4 * 512 * 64 / CHIP.tiles  # elements of a tile, of which one at a time takes 3 cycles
    assert 0.5 * alone < _total(_plan(shape)) < alone + 2 * 3 * each_copy + 5000


@pytest.mark.parametrize("run", TRAINED)
@pytest.mark.parametrize("groups", [1, 64])
def test_a_square_said_in_full_is_the_square(run, groups):
    square = Conv(batch=2, size=20, in_channels=64, out_channels=64, kernel=3, stride=2, channel_groups=groups)
    assert _plan(replace(square, width=20, kernel_width=3), run) == _plan(square, run)


@pytest.mark.parametrize("stride", [1, 2])
def test_sizes_of_an_oblong_image(stride):
    shape = Conv(
        size=30, width=10, in_channels=8, out_channels=16, kernel=3, kernel_width=5, stride=stride, channel_groups=4
    )
    assert shape.out_edges == (30 // stride, 10 // stride)
    assert shape.parameters == 3 * 5 * 2 * 16
    assert shape.inputs == 300 * 8
    assert shape.flop == 2 * shape.parameters * 300 / stride**2
    assert all(_plan(shape, run).flop == shape.flop for run in TRAINED)


def test_a_sequence_is_strided_along_alone():
    shape = _sequence(100, 16, 16, 3, stride=2)
    assert shape.out_edges == (1, 50)
    assert shape.strides == (1, 2)
    back, whole = _plan(shape, Pass.BACKWARD), _plan(_sequence(100, 16, 16, 3), Pass.BACKWARD)
    assert 0.3 * _total(whole) < _total(back) < 1.5 * _total(whole)


def _gates(repeats):
    return Operator(
        name="gates", kind=Kind.MATMUL, shape=Matmul(m=1, k=1024, n=2048), weight_tensors=1, repeats=repeats
    )


@pytest.mark.parametrize("run", TRAINED)
def test_a_repeated_operator_takes_so_many_times_as_long(run):
    once, often = _gates(1), _gates(37)
    assert often.flop(run, 8) == 37 * once.flop(run, 8)
    assert often.parameters == once.parameters
    assert often.outputs == 37 * once.outputs
    planner = Planner(TARGET)
    plan, many = (planner.pass_cost(operator, run, 8) for operator in (once, often))
    assert many.cycles.total == pytest.approx(37 * plan.cycles.total, rel=1e-12)
    assert (many.buffer_bytes_per_tile, many.tiles, many.vertices) == (
        plan.buffer_bytes_per_tile,
        plan.tiles,
        plan.vertices,
    )
    assert sum(plan.flop for plan in plans(often, run, 8, TARGET)) == pytest.approx(
        37 * sum(plan.flop for plan in plans(once, run, 8, TARGET))
    )


def test_vectors_repeat_as_well():
    shape = Stream(elements=512, operations=("tanh",), back_operations=("tanh_grad",))
    operator, many = (Operator(name="a", kind=Kind.ELEMENTWISE, shape=shape, repeats=count) for count in (1, 9))
    planner = Planner(TARGET)
    assert planner.pass_cost(many, Pass.BACKWARD, 4).cycles.total == pytest.approx(
        9 * planner.pass_cost(operator, Pass.BACKWARD, 4).cycles.total
    )
