"""Recurrent nodes and Einsum of an ONNX file have their arithmetic; what is no equation and no file is refused."""

import math
import os

import onnx_models as models
import pytest
from onnx import helper

from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import catalog


def read(made, folder):
    return catalog.workload(models.save(made, folder / "model.onnx")).value


def recurrent_model(kind, gates, directions, hidden=24, inputs=16, steps=7, batch=1):
    weights = [
        models.weight("w", directions, gates * hidden, inputs),
        models.weight("r", directions, gates * hidden, hidden),
        models.weight("b", directions, 2 * gates * hidden),
        models.weight("head", hidden, 10),
    ]
    way = "bidirectional" if directions == 2 else "forward"
    nodes = [
        helper.make_node(kind, ["x", "w", "r", "b"], ["y", "last"], name="cell", hidden_size=hidden, direction=way),
        helper.make_node("MatMul", ["last", "head"], ["out"], name="head"),
    ]
    shape = models.value("x", [steps, batch, inputs])
    return models.model(nodes, [shape], [models.value("out", [directions, batch, 10])], weights)


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
@pytest.mark.parametrize("directions", [1, 2])
def test_recurrent_nodes_have_their_arithmetic_and_weights(kind, gates, directions, tmp_path):
    """A product of input and state with every gate at each position: hochreiter-1997, cho-2014."""
    result = read(recurrent_model(kind, gates, directions), tmp_path)
    assert result.parameters == directions * gates * 24 * (16 + 24 + 2) + 24 * 10
    assert result.forward_flop_per_row() == directions * 7 * 2 * gates * 24 * (16 + 24) + directions * 2 * 24 * 10
    assert all(operator.repeats == 7 for unit in result.units for operator in unit.operators if "cell" in operator.name)
    assert not any("not known" in note for note in map(str, result.notes))


EINSUMS = [
    ("bhqd,bhkd->bhqk", (2, 4, 16, 8), (2, 4, 32, 8), 2 * 2 * 4 * 16 * 32 * 8),
    ("bhqk,bhkd->bhqd", (2, 4, 16, 32), (2, 4, 32, 8), 2 * 2 * 4 * 16 * 32 * 8),
    ("ij,jk", (16, 8), (8, 4), 2 * 16 * 8 * 4),
    ("...ij,...jk->...ik", (3, 5, 16, 8), (3, 5, 8, 4), 2 * 15 * 16 * 8 * 4),
    ("bi,bi->b", (3, 16), (3, 16), 2 * 3 * 16),
]


@pytest.mark.parametrize(("equation", "left", "right", "flop"), EINSUMS)
@pytest.mark.parametrize("trained", [False, True])
def test_an_einsum_of_two_is_a_product(equation, left, right, flop, trained, tmp_path):
    node = helper.make_node("Einsum", ["y", "z"], ["out"], name="einsum", equation=equation)
    nodes = [helper.make_node("Mul", ["x", "scale"], ["y"], name="first"), node]
    content = [models.weight("scale", left[-1]), *([models.weight("z", *right)] if trained else [])]
    inputs = [models.value("x", left), *([] if trained else [models.value("z", right)])]
    made = models.model(nodes, inputs, [helper.make_empty_tensor_value_info("out")], content)
    result = read(made, tmp_path)
    assert result.forward_flop_per_row() == flop
    assert result.parameters == left[-1] + (math.prod(right) if trained else 0)


def einsum_model(equation):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("Einsum", ["y", "z"], ["out"], name="einsum", equation=equation),
    ]
    weights = [models.weight("w", 8, 8), models.weight("z", 8, 8)]
    return models.model(nodes, [models.value("x", [8, 8])], [helper.make_empty_tensor_value_info("out")], weights)


@pytest.mark.parametrize("equation", ["ii,ij->j", "ij,jk->k"])
def test_other_einsums_are_listed_and_what_they_multiply_is_said_to_be_missing(equation, tmp_path):
    notes = read(einsum_model(equation), tmp_path).notes
    assert any("Einsum" in note and "what it multiplies is not counted" in note for note in map(str, notes))


@pytest.mark.parametrize("equation", ["i.j,jk->ik", ".", "ij,jk->ik->ij", "i1,1k->ik", "ij,jk-ik"])
def test_an_einsum_without_an_equation_is_refused_before_onnx_sees_it(equation, tmp_path):
    """The shape inference of onnx 1.x hangs on a lone dot."""
    with pytest.raises(InputError, match="has no equation"):
        read(einsum_model(equation), tmp_path)


@pytest.mark.parametrize("suffix", [".json", ".toml", ".onnx"])
def test_a_pipe_is_no_file(suffix, tmp_path):
    path = tmp_path / f"model{suffix}"
    os.mkfifo(path)
    with pytest.raises(InputError, match="no plain file"):
        catalog.workload(str(path))


def test_sizes_without_a_name_are_blamed_on_the_flag_that_has_them(capsys):
    assert main(["workload", "show", "model.onnx", "--shape", "ids"]) == 2
    assert '--shape must be INPUT=SIZES, not "ids"' in capsys.readouterr().err
