"""What a builder reads of a node: its attributes in plain values, and whether a weight was counted before."""

from onnx_nodes import node_of

from podsim.files.imports.onnx_node import is_tied, of
from podsim.model.workload import Kind, Matmul, Stream

SHAPE = Matmul(m=2, k=3, n=4)


def test_attributes_are_plain_values_of_their_kind():
    node = node_of("Any", [(1,)], (1,), whole=3, part=0.5, word="ab", several=[1, 2], parts=[0.5, 1.5])
    assert [node.attribute(name, None) for name in ("whole", "part", "word", "several", "parts")] == [
        3,
        0.5,
        "ab",
        [1, 2],
        [0.5, 1.5],
    ]


def test_an_attribute_that_is_not_there_has_its_usual_value():
    assert node_of("Any", [(1,)], (1,)).attribute("axis", -1) == -1


def test_a_text_that_is_no_utf_8_is_no_fault_of_the_reader():
    assert node_of("Any", [(1,)], (1,), word=b"a\xff").attribute("word", "") == "a�"


def test_a_weight_is_tied_where_its_root_was_counted():
    node = node_of("MatMul", [(2, 3), (3, 4)], (2, 4), weights={1: "w"}, tied=("w",))
    assert (is_tied(node, 1), is_tied(node, 0)) == (True, False)


def test_operators_are_called_as_their_node():
    node = node_of("Any", [(1,)], (1,), name="stem")
    assert of(node, Kind.MATMUL, SHAPE, suffix="-bias").name == "stem-bias"


def test_weights_are_one_tensor_unless_they_were_counted_or_there_are_none():
    node = node_of("Any", [(1,)], (1,))
    assert of(node, Kind.MATMUL, SHAPE).weight_tensors == 1
    assert of(node, Kind.MATMUL, SHAPE, tied=True).weight_tensors == 0
    assert of(node, Kind.ELEMENTWISE, Stream(elements=4)).weight_tensors == 0
    assert of(node, Kind.MATMUL, SHAPE, tensors=3).weight_tensors == 3
