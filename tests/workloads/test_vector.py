"""Vector operators: what they cannot do without."""

import pytest

from podsim.model.workload import Pass
from podsim.workloads import vector

ALL = {
    "bias": vector.bias("o", 100, 10),
    "activation": vector.activation("o", 100),
    "residual": vector.residual("o", 100),
    "dropout": vector.dropout("o", 100),
    "softmax": vector.softmax("o", 100),
    "norm": vector.norm("o", 100, 10),
    "pool": vector.pool("o", 100, 4, 25),
    "loss": vector.loss("o", 100),
}


@pytest.mark.parametrize("name", ALL)
def test_everything_is_read_and_written_at_least_once(name):
    shape = ALL[name].shape
    assert min(shape.reads, shape.writes, shape.back_reads) >= 1


@pytest.mark.parametrize("name", ALL)
def test_only_bias_and_norm_are_trained(name):
    """A bias is one vector, a norm scale and offset of every channel."""
    weights = {"bias": (10, 1), "norm": (20, 2)}
    assert (ALL[name].parameters, ALL[name].weight_tensors) == weights.get(name, (0, 0))


def test_a_sum_reads_two_and_a_norm_needs_its_input_again():
    assert ALL["residual"].shape.reads == 2 * ALL["activation"].shape.reads
    assert ALL["norm"].shape.back_reads > ALL["norm"].shape.reads > ALL["activation"].shape.reads


def test_what_backward_needs_is_kept():
    """A sum, a bias and a mask drawn again from its seed need nothing of their outputs."""
    assert {name for name, operator in ALL.items() if not operator.stashed} == {"bias", "residual", "dropout"}


@pytest.mark.parametrize(("elements", "window", "outputs", "reads"), [(112, 9, 28, 2), (49, 49, 1, 1), (8, 1, 2, 1)])
def test_a_pool_reads_a_window_for_each_output(elements, window, outputs, reads):
    """Overlapping windows read an element more than once; never less than once."""
    shape = vector.pool("o", elements, window, outputs).shape
    assert shape.reads == reads
    assert shape.outputs == outputs
    assert shape.at(3).outputs == 3 * outputs


def test_vector_arithmetic_is_no_weight_gradient():
    for operator in ALL.values():
        assert operator.flop(Pass.FORWARD) == 100 * operator.shape.reads
        assert operator.flop(Pass.WEIGHT_GRADIENT) == 0
