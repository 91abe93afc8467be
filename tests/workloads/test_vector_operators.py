"""Vector operators: what they do to each element, what they cannot do without."""

import pytest

from podsim.model.workload import Kind, Matmul, Pass
from podsim.tiles.vector import OPERATIONS
from podsim.workloads import vector_operators

FUNCTIONS = ("relu", "tanh", "sigmoid", "gelu", "swish")
ALL = {
    "bias": vector_operators.bias("o", 100, 10),
    "activation": vector_operators.activation("o", 100, "gelu"),
    "scale-and-mask": vector_operators.scale_and_mask("o", 100),
    "residual": vector_operators.residual("o", 100),
    "dropout": vector_operators.dropout("o", 100),
    "softmax": vector_operators.softmax("o", 100, 20),
    "layer-norm": vector_operators.layer_norm("o", 100, 10),
    "batch-norm": vector_operators.batch_norm("o", 100, 10),
    "pool": vector_operators.pool("o", 100, 4, 25),
    "loss": vector_operators.loss("o", 100, 50),
}
BY_ROW = {"softmax": 20, "layer-norm": 10, "batch-norm": 10, "loss": 50}  # their plans know what to do with a row


@pytest.mark.parametrize("name", ALL)
def test_every_operation_is_one_that_tiles_know(name):
    shape = ALL[name].shape
    assert set(shape.operations) | set(shape.back_operations) <= set(OPERATIONS)
    assert bool(shape.operations) == (name not in {*BY_ROW, "pool"})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_activation_has_a_slope(function):
    shape = vector_operators.activation("o", 100, function).shape
    assert set(shape.operations + shape.back_operations) == {function, f"{function}_grad"} <= set(OPERATIONS)


@pytest.mark.parametrize("name", ALL)
def test_a_row_is_what_is_reduced_or_shared(name):
    shape = ALL[name].shape
    assert shape.row == (BY_ROW | {"bias": 10}).get(name, 0)
    assert shape.at(3).row == shape.row
    assert shape.at(3).elements == 300


@pytest.mark.parametrize("name", ALL)
def test_only_bias_and_norms_are_trained(name):
    """A bias is one vector, a norm scale and offset of every channel."""
    weights = {"bias": (10, 1), "layer-norm": (20, 2), "batch-norm": (20, 2)}
    assert (ALL[name].parameters, ALL[name].weight_tensors) == weights.get(name, (0, 0))


def test_norms_are_told_apart():
    """Replicas share the statistics of one of them and never those of the other."""
    assert (ALL["layer-norm"].kind, ALL["batch-norm"].kind) == (Kind.LAYER_NORM, Kind.BATCH_NORM)


def test_what_backward_needs_is_kept():
    """Sums, biases and masks drawn again from a seed need nothing of their outputs; a batch norm keeps its input."""
    assert {name for name, operator in ALL.items() if not operator.stashed} == {
        "bias",
        "residual",
        "dropout",
        "batch-norm",
    }


def test_a_sum_hands_the_gradient_on_and_a_mask_is_drawn_again():
    assert ALL["residual"].shape.operations == ALL["residual"].shape.back_operations == ("add",)
    assert ALL["dropout"].shape.operations == ALL["dropout"].shape.back_operations == ("dropout",)


@pytest.mark.parametrize(("elements", "window", "outputs"), [(112, 9, 28), (49, 49, 1), (8, 1, 2)])
def test_a_pool_reads_a_window_for_each_output(elements, window, outputs):
    shape = vector_operators.pool("o", elements, window, outputs).shape
    assert (shape.window, shape.inputs, shape.outputs) == (window, elements, outputs)
    assert (shape.at(3).window, shape.at(3).outputs) == (window, 3 * outputs)


def test_the_products_around_a_softmax_grow_with_its_rows():
    """As products without weights do: in groups."""
    first, last = (Matmul(groups=2, m=5, k=3, n=10, weights=False), Matmul(groups=2, m=5, k=10, n=3, weights=False))
    shape = vector_operators.softmax("o", 100, 10, (first, last)).shape
    assert shape.between == (first, last)
    assert shape.at(4).between == (first.at(4), last.at(4))
    assert {product.groups for product in shape.at(4).between} == {8}
    assert shape.at(4).between[0].outputs == shape.at(4).elements == shape.at(4).between[1].inputs - 8 * 10 * 3


def test_vector_arithmetic_is_no_weight_gradient():
    """One for each operation on an element; where a plan has its own passes, one."""
    for operator in ALL.values():
        assert operator.flop(Pass.FORWARD) == 100 * max(1, len(operator.shape.operations))
        assert operator.flop(Pass.WEIGHT_GRADIENT) == 0
