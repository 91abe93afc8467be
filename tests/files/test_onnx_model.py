"""An ONNX graph as a chain of units: where it is cut, what the first ones need, what the host sends, what is noted."""

import tomllib

import onnx_models as models
import pytest
from onnx import TensorProto, helper

from podsim.errors import InputError
from podsim.files.import_options import Options
from podsim.files.imports.onnx_model import workload_text

NODE = helper.make_node


def tables(made, tmp_path, **sizes):
    path = tmp_path / "net.onnx"
    models.save(made, path)
    return tomllib.loads(workload_text(path, Options(shapes=sizes)))


def operators(file):
    return [operator for unit in file["unit"] for operator in unit["operator"]]


def products(*nodes, inputs=None, weights=None):
    """A graph over rows of 8 numbers."""
    sources = inputs or [models.value("x", [1, 8])]
    content = weights or [models.weight(f"w{at}", 8, 8) for at in range(3)]
    return models.model(nodes, sources, [helper.make_empty_tensor_value_info(nodes[-1].output[0])], content)


def test_a_unit_ends_where_one_tensor_alone_goes_on(tmp_path):
    """Two products in a row are two units; a residual keeps what it spans together."""
    straight = products(NODE("MatMul", ["x", "w0"], ["a"]), NODE("MatMul", ["a", "w1"], ["b"]))
    assert len(tables(straight, tmp_path)["unit"]) == 2
    residual = products(
        NODE("MatMul", ["x", "w0"], ["a"]),
        NODE("MatMul", ["a", "w1"], ["b"]),
        NODE("Add", ["a", "b"], ["c"]),
        NODE("MatMul", ["c", "w2"], ["d"]),
    )
    assert [len(unit["operator"]) for unit in tables(residual, tmp_path)["unit"]] == [1, 2, 1]


def test_what_follows_the_last_product_belongs_to_it(tmp_path):
    made = products(NODE("MatMul", ["x", "w0"], ["a"]), NODE("Relu", ["a"], ["b"]), NODE("Tanh", ["b"], ["c"]))
    (unit,) = tables(made, tmp_path)["unit"]
    assert len(unit["operator"]) == 3


def test_no_gradient_goes_back_before_the_first_weight(tmp_path):
    made = products(NODE("Relu", ["x"], ["a"]), NODE("MatMul", ["a", "w0"], ["b"]), NODE("Relu", ["b"], ["c"]))
    first, product, last = operators(tables(made, tmp_path))
    assert first["input_gradient"] is False
    assert product["input_gradient"] is False
    assert "input_gradient" not in last


def test_nodes_over_weights_alone_are_computed_before(tmp_path):
    made = products(
        NODE("Transpose", ["w0"], ["t"], perm=[1, 0]),
        NODE("MatMul", ["x", "t"], ["a"]),
        NODE("MatMul", ["a", "w0"], ["b"]),
    )
    one, two = operators(tables(made, tmp_path))
    assert two["tied"] is True
    assert "tied" not in one


def test_names_are_words_and_stand_once(tmp_path):
    made = products(
        NODE("MatMul", ["x", "w0"], ["a"], name="/Layer.0/MatMul"),
        NODE("Add", ["a", "x"], ["b"], name="/Layer.0/MatMul"),
    )
    names = [operator["name"] for operator in operators(tables(made, tmp_path))]
    assert len(set(names)) == 2
    assert all("layer-0-matmul" in name for name in names)


@pytest.mark.parametrize(
    ("inputs", "size"),
    [
        ([models.value("x", [1, 3, 8, 8])], "192 B"),
        ([models.value("x", [1, 4, 8, 8])], "512 B"),
        ([models.value("x", [1, 4, 8, 8]), models.value("unread", [1, 99])], "512 B"),
    ],
)
def test_the_host_sends_bytes_of_images_and_halves_of_anything_else(inputs, size, tmp_path):
    channels = inputs[0].type.tensor_type.shape.dim[1].dim_value
    made = products(
        NODE("Conv", ["x", "w"], ["a"], kernel_shape=[1, 1]),
        inputs=inputs,
        weights=[models.weight("w", 4, channels, 1, 1)],
    )
    assert tables(made, tmp_path)["row_size"] == size


def test_a_softmax_between_products_of_activations_knows_them(tmp_path):
    file = tables(models.transformer(), tmp_path)
    softmaxes = [operator for operator in operators(file) if operator["kind"] == "softmax"]
    assert [each["between"] for each in softmaxes] == [[f"l{at}-scores", f"l{at}-context"] for at in range(2)]
    groups = [unit["group"] for unit in file["unit"]]
    assert "embedding" in groups
    assert groups.count("attention") >= 1


def test_a_node_without_a_word_is_noted_with_its_share(tmp_path):
    made = products(NODE("MatMul", ["x", "w0"], ["a"]), NODE("Hardmax", ["a"], ["b"]), NODE("Hardmax", ["b"], ["c"]))
    first, *_ = tables(made, tmp_path)["notes"]
    assert first.startswith(
        "Hardmax (2 nodes) is not known: taken for one pass over what it writes, 11 % of the forward"
    )
    assert "what it multiplies" not in first


def test_a_softmax_of_another_size_than_its_products_is_alone(tmp_path):
    """Scores of 4 x 8 x 6 that go on as they are, and twice as many of which half goes on."""
    sources = [models.value("x", [4, 8, 3]), models.value("k", [4, 5, 6]), models.value("v", [4, 6, 5])]
    weights = [models.weight("w", 3, 5), models.ints("zero", 0), models.ints("four", 4), models.ints("axis", 0)]
    start = [NODE("MatMul", ["x", "w"], ["q"]), NODE("MatMul", ["q", "k"], ["a"])]
    soft = NODE("Softmax", ["a"], ["p"], axis=-1)
    end = [NODE("MatMul", ["p", "v"], ["c"]), NODE("Add", ["c", "q"], ["d"])]

    def between(*nodes):
        made = products(*nodes, inputs=sources, weights=weights)
        return [each.get("between") for each in operators(tables(made, tmp_path)) if each["kind"] == "softmax"]

    assert between(*start, soft, *end) == [["matmul-2", "matmul-3"]]
    wide = [
        NODE("Concat", ["a", "a"], ["a2"], axis=0),
        NODE("Softmax", ["a2"], ["p2"], axis=-1),
        NODE("Slice", ["p2", "zero", "four", "axis"], ["p"]),
    ]
    assert between(*start, *wide, *end) == [None]
    assert between(*start, soft, NODE("Add", ["p", "p"], ["e"])) == [None]


def test_a_constant_is_a_weight_where_it_has_more_than_one_element(tmp_path):
    def bias(*dims):
        value = helper.make_tensor("c", TensorProto.FLOAT, dims, [0.0] * (8 if dims else 1))
        nodes = [
            NODE("Constant", [], ["c"], value=value),
            NODE("MatMul", ["x", "w0"], ["a"]),
            NODE("Add", ["a", "c"], ["b"]),
        ]
        return operators(tables(products(*nodes), tmp_path))[-1]

    assert (bias(8)["kind"], bias(8)["row"]) == ("bias", 8)
    assert bias()["operations"] == ["scale"]


def test_what_multiplies_without_a_word_is_told_with_its_small_share(tmp_path):
    """8 elements beside 2 x 8 x 200 + 2 x 200 x 8 of two products are 0.12 % of the arithmetic."""
    nodes = [
        NODE("MatMul", ["x", "w0"], ["a"]),
        NODE("MatMul", ["a", "w1"], ["b"]),
        NODE("RNN", ["b3", "r", "s"], ["y"], hidden_size=8),
    ]
    reshape = NODE("Reshape", ["b", "shape"], ["b3"])
    sources = [models.value("x", [1, 8]), models.value("r", [1, 8, 8]), models.value("s", [1, 8, 8])]
    weights = [models.weight("w0", 8, 200), models.weight("w1", 200, 8), models.ints("shape", 1, 1, 8)]
    first, *_ = tables(products(*nodes[:2], reshape, nodes[2], inputs=sources, weights=weights), tmp_path)["notes"]
    assert first.startswith("RNN (1 node) is not known: taken for one pass over what it writes, 0.12 % of the forward")
    assert first.endswith("; what it multiplies is not counted")


def test_a_graph_that_computes_nothing_is_refused(tmp_path):
    made = products(NODE("Identity", ["x"], ["a"]))
    with pytest.raises(InputError, match="nothing in it computes"):
        tables(made, tmp_path)


def test_a_node_without_what_it_needs_is_named(tmp_path):
    made = models.model(
        [NODE("LSTM", ["x", "w", "r"], ["y"], name="cell", hidden_size=8)],
        [models.value("x", [4, 1, 8])],
        [models.value("y", [4, 1, 1, 8])],
        [models.weight("w", 1, 24, 8), models.weight("r", 1, 24, 8)],
    )
    with pytest.raises(InputError, match='LSTM "cell" has not the inputs, sizes or attributes that it needs'):
        tables(made, tmp_path)


def test_several_samples_of_a_batch_are_one_row(tmp_path):
    file = tables(models.cnn(batch=4), tmp_path)
    assert file["samples_per_row"] == 4
    assert file["row"] == "4 samples"
    tokens = models.value("ids", [1, 4], TensorProto.INT64)
    table = products(NODE("Gather", ["w", "ids"], ["a"]), inputs=[tokens], weights=[models.weight("w", 10, 8)])
    assert tables(table, tmp_path)["row_size"] == "16 B"
