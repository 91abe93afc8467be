"""A recurrent node of ONNX by hand: its product, biases, gates and cell at each position, in each direction."""

import pytest
from onnx_nodes import node_of

from podsim.files.imports.onnx_recurrent import CELLS, GATES, recurrent
from podsim.model.workload import Kind, Matmul

HIDDEN, INPUTS, STEPS, BATCH = 6, 5, 9, 2
ALL = {1: "w", 2: "r", 3: "b"}


def layer(kind, directions=1, *, first=(STEPS, BATCH, INPUTS), bias=True, gates=None, weights=ALL, **kwargs):
    rows = (gates or GATES[kind]) * HIDDEN
    ins = [first, (directions, rows, INPUTS), (directions, rows, HIDDEN)]
    ins += [(directions, 2 * rows)] if bias else []
    return recurrent(node_of(kind, ins, (STEPS, directions, BATCH, HIDDEN), weights=weights, **kwargs))


def by_name(made):
    return {operator.name: operator for operator in made}


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_one_product_has_all_gates_of_input_and_state(kind, gates):
    product = by_name(layer(kind))["it"]
    assert product.shape == Matmul(m=BATCH, k=INPUTS + HIDDEN, n=gates * HIDDEN)
    assert (product.weight_tensors, product.repeats) == (2, STEPS)


def test_both_biases_are_trained_and_added_as_one():
    bias = by_name(layer("GRU"))["it-bias"]
    assert (bias.kind, bias.shape.elements, bias.parameters) == (Kind.BIAS, BATCH * 18, 2 * 18)
    assert "it-bias" not in by_name(layer("GRU", bias=False))
    constant = by_name(layer("GRU", weights={1: "w", 2: "r", 3: ""}))["it-bias"]
    assert (constant.parameters, constant.weight_tensors) == (0, 0)


def test_gates_but_one_go_through_a_sigmoid():
    """Of an RNN's one gate there is none: its candidate is a tanh."""
    assert by_name(layer("LSTM"))["it-sigmoid"].shape.elements == 3 * BATCH * HIDDEN
    assert "it-sigmoid" not in by_name(layer("RNN"))


@pytest.mark.parametrize("kind", list(CELLS))
def test_a_cell_computes_its_parts_on_every_element_of_the_state_at_every_position(kind):
    made = by_name(layer(kind))
    for part, forward, backward in CELLS[kind]:
        shape = made[f"it-{part}"].shape
        assert (shape.elements, shape.operations, shape.back_operations) == (BATCH * HIDDEN, forward, backward)
    assert {operator.repeats for operator in made.values()} == {STEPS}


def test_two_directions_are_two_layers():
    one, two = layer("LSTM"), layer("LSTM", directions=2)
    assert [each.name for each in two if each.kind is Kind.MATMUL] == ["it-forward", "it-backward"]
    assert sum(each.parameters for each in two) == 2 * sum(each.parameters for each in one)


def test_the_other_layout_has_the_batch_first():
    made = by_name(layer("RNN", first=(BATCH, STEPS, INPUTS), layout=1))["it"]
    assert (made.shape.m, made.repeats) == (BATCH, STEPS)


def test_a_cell_of_an_lstm_has_three_products_a_sum_and_two_tanhs_of_each_element():
    """c = f c + i g, h = o tanh(c): hochreiter-1997; a GRU's is r h, tanh, and h + z (g - h): cho-2014."""
    words = {kind: sorted(word for _, forward, _ in CELLS[kind] for word in forward) for kind in CELLS}
    assert words == {
        "LSTM": ["add", "multiply", "multiply", "multiply", "tanh", "tanh"],
        "GRU": ["add", "multiply", "multiply", "subtract", "tanh"],
        "RNN": ["tanh"],
    }


@pytest.mark.parametrize("weights", [{}, {1: "w"}, {1: "w", 2: ""}])
def test_weights_that_are_not_in_the_file_are_nothing_to_train(weights):
    assert layer("LSTM", weights=weights) is None


def test_weights_of_other_gates_are_refused():
    with pytest.raises(ValueError):  # noqa: PT011  (its caller says what is wrong)
        layer("LSTM", gates=3)


def test_weights_of_two_layers_are_held_once():
    product = by_name(
        recurrent(node_of("RNN", [(9, 2, 5), (1, 6, 5), (1, 6, 6)], (9, 1, 2, 6), weights=ALL, tied=("w",)))
    )
    assert (product["it"].tied, product["it"].weight_tensors) == (True, 0)
