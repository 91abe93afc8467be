"""Layer norms that were taken apart are one node again, and what only looks like one stays as it is."""

from dataclasses import replace

import onnx_models as models
import pytest
from onnx import helper

from podsim.files.imports.onnx_file import Graph
from podsim.files.imports.onnx_norms import find_norms


def graph(nodes, weights=("s", "o")):
    return Graph(
        name="g",
        nodes=tuple(nodes),
        shapes={},
        floats=frozenset(),
        weights=dict.fromkeys(weights, (8,)),
        inputs=("x",),
        outputs=("n",),
        rows=1,
        notes=(),
    )


def whole(nodes, **kwargs):
    """The one norm of a graph: its place, what it reads and writes."""
    norms = find_norms(graph(nodes, **kwargs))
    ((place, node),) = norms.whole.items()
    assert node.op_type == "LayerNormalization"
    return sorted(norms.inner), place, list(node.input), list(node.output)


NODES = models.norm("n", "x", "s", "o")


def test_nine_nodes_are_one_norm_at_the_place_of_the_last():
    assert whole(NODES) == (list(range(8)), 8, ["x", "s", "o"], ["n"])


def test_a_product_of_the_difference_with_itself_is_a_square_too():
    nodes = [*NODES[:2], helper.make_node("Mul", ["n.d", "n.d"], ["n.q"]), *NODES[3:]]
    assert whole(nodes)[2] == ["x", "s", "o"]


def test_without_offset_and_scale_the_norm_ends_at_the_quotient():
    assert whole(NODES[:7]) == (list(range(6)), 6, ["x"], ["n.y"])
    assert whole(NODES[:8]) == (list(range(7)), 7, ["x", "s"], ["n.z"])


def test_a_scale_that_is_no_weight_is_none_of_the_norm():
    assert whole(NODES, weights=()) == (list(range(6)), 6, ["x"], ["n.y"])


def test_nodes_before_and_between_stay():
    relu = helper.make_node("Relu", ["before"], ["x"])
    other = helper.make_node("Tanh", ["elsewhere"], ["t"])
    inner, place, *_ = whole([relu, *NODES[:4], other, *NODES[4:]])
    assert (inner, place) == ([1, 2, 3, 4, 6, 7, 8, 9], 10)


@pytest.mark.parametrize("at", [1, 3, 4, 5, 6])
def test_another_node_in_the_middle_makes_it_no_norm(at):
    nodes = list(NODES)
    nodes[at] = helper.make_node("Max", list(nodes[at].input), list(nodes[at].output))
    assert find_norms(graph(nodes)).whole == {}


@pytest.mark.parametrize("name", ["n.m", "n.d", "n.q", "n.v", "n.e", "n.s"])
def test_a_part_that_somebody_else_reads_keeps_the_norm_apart(name):
    assert find_norms(graph([*NODES, helper.make_node("Tanh", [name], ["t"])])).whole == {}


def test_the_mean_of_another_tensor_is_no_mean_of_this_norm():
    swapped = helper.make_node("Sub", ["other", "n.m"], ["n.d"])
    assert find_norms(graph([NODES[0], swapped, *NODES[2:]])).whole == {}


def test_two_norms_are_two():
    made = graph([*NODES, *models.norm("p", "n", "s", "o")])
    assert sorted(find_norms(made).whole) == [8, 17]
    assert find_norms(replace(made, nodes=())).whole == {}
