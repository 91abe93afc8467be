"""An ONNX file is a workload: arithmetic and weights to the last one; a hostile file is refused, and quickly."""

import math
import time

import onnx_models as models
import pytest
from onnx import TensorProto, helper

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.workload import Kind, Pass


def read(made, folder, **shapes):
    return catalog.workload(
        models.save(made, folder / "model.onnx"), {f"import.shape.{name}": text for name, text in shapes.items()}
    ).value


def refused(made, folder, **shapes):
    begun = time.monotonic()
    with pytest.raises(InputError) as no:
        read(made, folder, **shapes)
    assert time.monotonic() - begun < 5
    return no.value


def named(result, end):
    return next(operator for unit in result.units for operator in unit.operators if operator.name.endswith(end))


def test_a_small_cnn_to_the_last_weight(tmp_path):
    result = read(models.cnn(), tmp_path)
    assert result.parameters == models.CNN_PARAMETERS
    assert result.forward_flop_per_row() == models.CNN_FORWARD_FLOP
    assert named(result, "grouped").shape.channel_groups == 4
    assert not named(result, "stem").input_gradient
    assert [unit.name for unit in result.units] == ["part0", "part1", "part2", "part3"]


def test_the_host_sends_the_image_and_nothing_that_is_computed_of_it(tmp_path):
    """What comes in is counted once, whatever reads it first; the bias of the first product has a gradient."""
    image = models.value("image", [1, 3, 8, 8])
    ids = models.value("ids", [1, 5], TensorProto.INT64)
    nodes = [
        helper.make_node("Sqrt", ["image"], ["less"], name="less"),
        helper.make_node("Conv", ["less", "w", "b"], ["c"], name="stem", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="rows"),
        helper.make_node("ReduceMean", ["rows"], ["middle"], name="middle", axes=[1, 2], keepdims=0),
        helper.make_node("ReduceMean", ["c"], ["whole"], name="whole", axes=[1, 2, 3], keepdims=0),
        helper.make_node("Add", ["middle", "whole"], ["y"], name="sum"),
    ]
    weights = [models.weight("w", 16, 3, 3, 3), models.weight("b", 16), models.weight("table", 100, 4)]
    result = read(models.model(nodes, [image, ids], [models.value("y", [1])], weights), tmp_path)
    assert result.row_bytes == 3 * 8 * 8 + 4 * 5  # an image in 8 bit
    assert not named(result, "stem").input_gradient
    assert named(result, "stem-bias").input_gradient
    assert read(models.cnn(4), tmp_path).row_bytes == 4 * 3 * 32 * 32


def test_a_small_transformer_to_the_last_weight(tmp_path):
    result = read(models.transformer(), tmp_path)
    assert result.parameters == models.transformer_parameters()
    assert result.forward_flop_per_row() == models.transformer_forward_flop()
    kinds = [operator.kind for unit in result.units for operator in unit.operators]
    assert kinds.count(Kind.LAYER_NORM) == 4
    assert Kind.ELEMENTWISE in kinds
    assert all(
        operator.shape.between for unit in result.units for operator in unit.operators if operator.kind is Kind.SOFTMAX
    )
    assert named(result, "head").tied  # the table serves twice and is counted once
    assert len(result.units) == 6  # embedding, two halves of two layers, head


def test_a_batch_in_the_file_is_so_many_samples_a_row(tmp_path):
    item, four = read(models.cnn(), tmp_path), read(models.cnn(4), tmp_path)
    assert (item.samples_per_row, four.samples_per_row) == (1, 4)
    assert four.parameters == item.parameters
    assert four.forward_flop_per_row() == 4 * item.forward_flop_per_row()


def test_an_open_first_dimension_is_one_sample_and_said(tmp_path):
    result = read(models.cnn("N"), tmp_path)
    assert result.forward_flop_per_row() == models.CNN_FORWARD_FLOP
    assert any("the open first dimension of image is one sample" in note for note in map(str, result.notes))


def test_any_other_open_dimension_needs_a_size(tmp_path):
    no = refused(models.transformer("length"), tmp_path)
    assert no.message == "model.onnx: tokens needs a size"
    assert no.context == ("tokens is [1, length]",)
    assert no.hint == "--shape tokens=1,128"
    given = read(models.transformer("length"), tmp_path, tokens="1,64")
    assert given.forward_flop_per_row() == models.transformer_forward_flop(64)
    assert "has no input" in refused(models.cnn(), tmp_path, picture="1,3,8,8").message
    assert "has 4 dimensions, not 2" in refused(models.cnn(), tmp_path, image="1,3").message


def test_what_import_writes_reads_back_equal_and_answers_alike(tmp_path):
    path, mine = models.save(models.transformer(), tmp_path / "model.onnx"), tmp_path / "mine.toml"
    mine.write_text(podsim.import_model(path), encoding="utf-8")
    first, second = catalog.workload(path).value, catalog.workload(str(mine)).value
    assert first == second
    mapping = {"pod": 4, "replicas": 4, "ipus_per_replica": 1, "micro_batch": 8, "accumulation": 32}
    assert podsim.predict(path, **mapping).step_s == podsim.predict(str(mine), **mapping).step_s


def test_operators_without_a_word_are_listed_with_their_share(tmp_path):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"], name="product"),
        helper.make_node("Wobble", ["y"], ["z"], name="strange", domain="com.example"),
        helper.make_node("Relu", ["z"], ["out"], name="relu"),
    ]
    made = models.model(
        nodes, [models.value("x", [1, 64])], [models.value("out", [1, 64])], [models.weight("w", 64, 64)]
    )
    made.opset_import.append(helper.make_opsetid("com.example", 1))
    result = read(made, tmp_path)
    (note,) = [note for note in map(str, result.notes) if "Wobble" in note]
    assert note == ("Wobble (1 node) is not known: taken for one pass over what it writes, 0.77 % of the forward FLOP")
    assert named(result, "relu").shape.elements == 64


def truncated(folder):
    whole = models.cnn().SerializeToString()
    (folder / "model.onnx").write_bytes(whole[: len(whole) // 2])


def plain(folder):
    (folder / "model.onnx").write_bytes(b"this is no model" * 100)


def empty(folder):
    (folder / "model.onnx").write_bytes(b"")


def cycle(folder):
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    models.save(
        models.model(nodes, [models.value("x", [1, 8])], [models.value("b", [1, 8])], []), folder / "model.onnx"
    )


def dangling(folder):
    nodes = [helper.make_node("Add", ["x", "nothing"], ["a"])]
    models.save(
        models.model(nodes, [models.value("x", [1, 8])], [models.value("a", [1, 8])], []), folder / "model.onnx"
    )


def huge_input(folder):
    nodes = [helper.make_node("Relu", ["x"], ["a"])]
    size = [2**30, 2**30]
    models.save(models.model(nodes, [models.value("x", size)], [models.value("a", size)], []), folder / "model.onnx")


def huge_weight(folder):
    made = models.cnn()
    made.graph.initializer[0].dims[:] = [2**62, 2**62, 3, 3]
    models.save(made, folder / "model.onnx")


def negative_weight(folder):
    made = models.cnn()
    made.graph.initializer[0].dims[:] = [-16, 3, 3, 3]
    models.save(made, folder / "model.onnx")


def grown(folder):
    nodes = [helper.make_node("Expand", ["x", "large"], ["a"])]
    made = models.model(
        nodes, [models.value("x", [1, 1])], [models.value("a", ["p", "q"])], [models.ints("large", 2**40, 2**40)]
    )
    models.save(made, folder / "model.onnx")


def outside(folder, place="../../etc/passwd"):
    made = models.cnn()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", place
    models.save(made, folder / "model.onnx")


def linked(folder):
    (folder / "weights").symlink_to("/etc")
    outside(folder, "weights/passwd")


def absolute(folder):
    outside(folder, "/etc/passwd")


def subgraph(folder):
    inner = helper.make_graph([helper.make_node("Relu", ["x"], ["r"])], "inner", [], [models.value("r", [1])])
    node = helper.make_node("If", ["flag"], ["y"], then_branch=inner, else_branch=inner)
    flag = models.value("flag", [], TensorProto.BOOL)
    models.save(
        models.model([node], [flag, models.value("x", [1])], [models.value("y", [1])], []), folder / "model.onnx"
    )


def nested(folder):
    def field(number, payload):
        size, length = len(payload), bytearray()
        while size > 127:
            length.append(size & 127 | 128)
            size >>= 7
        return bytes([number << 3 | 2, *length, size]) + payload

    graph = b""
    for _ in range(3000):  # a graph in an attribute of a node of a graph
        graph = field(1, field(5, field(6, graph)))
    (folder / "model.onnx").write_bytes(field(7, graph))


def contradictory(folder):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    made = models.model(nodes, [models.value("x", [1, 8])], [models.value("y", [1, 9])], [models.weight("w", 7, 9)])
    models.save(made, folder / "model.onnx")


HOSTILE = {
    truncated: "cut short",
    plain: "is no ONNX file",
    empty: "no nodes",
    cycle: "cycle in the graph",
    dangling: "no node writes",
    huge_input: "has dimensions",
    huge_weight: "has dimensions",
    negative_weight: "has dimensions",
    grown: "has dimensions",
    outside: "lie outside its folder",
    linked: "lie outside its folder",
    absolute: "lie outside its folder",
    subgraph: "graphs within the graph: If",
    nested: "cut short",
    contradictory: "contradict",
}


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_hostile_file_is_refused(make, tmp_path):
    make(tmp_path)
    begun = time.monotonic()
    with pytest.raises(InputError) as no:
        catalog.workload(str(tmp_path / "model.onnx"))
    assert time.monotonic() - begun < 5
    assert no.value.code == "bad-onnx-file"
    assert HOSTILE[make] in no.value.message


def test_weights_beside_the_file_are_sized_and_never_opened(tmp_path):
    outside(tmp_path, "weights.bin")  # which is not there
    workload = catalog.workload(str(tmp_path / "model.onnx")).value
    assert workload.parameters == models.CNN_PARAMETERS
    assert any("weights.bin" in note for note in map(str, workload.notes))


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    path = models.save(models.cnn(), tmp_path / "model.onnx")
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(InputError) as no:
        catalog.workload(path)
    assert (no.value.code, no.value.hint) == ("missing-package", "pip install 'podsim[onnx]'")


def test_products_of_every_form_have_their_arithmetic(tmp_path):
    node = helper.make_node
    nodes = [
        node("Gemm", ["x", "w"], ["a"], name="turned", transB=1),
        node("MatMul", ["left", "a"], ["b"], name="left"),
        node("ConvTranspose", ["picture", "up"], ["c"], name="up", kernel_shape=[2, 2], strides=[2, 2], group=2),
        node("Conv", ["sound", "k"], ["d"], name="sound", kernel_shape=[5], pads=[2, 2], strides=[2]),
        node("MatMul", ["batch", "held"], ["e"], name="held"),
    ]
    inputs = [
        models.value("x", [6, 8]),
        models.value("picture", [1, 4, 5, 5]),
        models.value("sound", [1, 3, 40]),
        models.value("batch", [2, 3, 7, 8]),
    ]
    outputs = [models.value(name, list("abcd"[:rank])) for name, rank in (("b", 2), ("c", 4), ("d", 3), ("e", 4))]
    weights = [
        models.weight("w", 10, 8),
        models.weight("left", 4, 6),
        models.weight("up", 4, 3, 2, 2),
        models.weight("k", 16, 3, 5),
        models.weight("held", 3, 8, 9),
    ]
    result = read(models.model(nodes, inputs, outputs, weights), tmp_path)
    flop = 2 * (6 * 8 * 10 + 4 * 6 * 10 + 25 * 4 * 3 * 4 + 20 * 16 * 15 + 2 * 3 * 7 * 8 * 9)
    assert result.forward_flop_per_row() == flop
    assert result.parameters == sum(math.prod(item.dims) for item in found_weights(weights))


def found_weights(weights):
    return weights


def one(nodes, dims=(4, 64), weights=(), domain="elsewhere"):
    made = models.model(nodes, [models.value("x", dims)], [models.value("y", ())], weights)
    made.graph.output[0].type.tensor_type.ClearField("shape")
    made.opset_import.append(helper.make_opsetid(domain, 1))
    return made


FAULTY = {
    "writes nothing": (helper.make_node("Foo", ["x"], [], domain="elsewhere"), helper.make_node("Relu", ["x"], ["y"])),
    "two nodes write": (helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Tanh", ["x"], ["y"])),
    "lie outside": (
        helper.make_node(
            "Constant",
            [],
            ["w"],
            value=TensorProto(
                data_type=1,
                dims=[64],
                data_location=1,
                external_data=[{"key": "location", "value": "/etc/passwd"}],
            ),
        ),
        helper.make_node("Mul", ["x", "w"], ["y"]),
    ),
}


@pytest.mark.parametrize("part", FAULTY)
def test_a_graph_that_breaks_the_rules_is_refused(part, tmp_path):
    assert part in refused(one(FAULTY[part]), tmp_path).message


@pytest.mark.parametrize("groups", [0, -2, 3])
def test_groups_that_do_not_divide_channels_are_refused(groups, tmp_path):
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=groups, kernel_shape=[3, 3])
    no = refused(one([node], (1, 4, 8, 8), [models.weight("w", 4, 4, 3, 3)]), tmp_path)
    assert no.code == "bad-onnx-file"
    assert "has not the inputs, sizes or attributes" in no.message


@pytest.mark.parametrize("kind", ["MatMul", "Gemm", "Conv", "Softmax", "BatchNormalization", "Gather"])
def test_a_name_of_another_domain_is_no_operator_of_onnx(kind, tmp_path):
    result = read(one([helper.make_node(kind, ["x"], ["y"], domain="elsewhere", axis=99)]), tmp_path)
    assert any(f"{kind} (1 node) is not known" in note for note in map(str, result.notes))


@pytest.mark.parametrize("part", [b"stemname", b"Softsign"])
def test_names_that_are_no_text_are_refused(part, tmp_path):
    raw = one([helper.make_node("Softsign", ["x"], ["y"], name="stemname")]).SerializeToString()
    path = tmp_path / "own.onnx"
    path.write_bytes(raw.replace(part, b"\xff" + part[1:]))
    with pytest.raises(InputError, match="not UTF-8"):
        catalog.workload(str(path))


@pytest.mark.parametrize(("field", "inner"), [(b"\x3a", b"\x0a\x00"), (b"\x3a", b"\x2a\x00")])
def test_a_file_of_nothing_but_empty_messages_is_refused_unread(field, inner, tmp_path, monkeypatch):
    from podsim.files.imports import onnx_wire

    monkeypatch.setattr(onnx_wire, "MOST_FIELDS", 1000)
    path = tmp_path / "bomb.onnx"
    path.write_bytes(field + b"\xd0\x0f" + inner * 1000)  # 2,000 bytes
    with pytest.raises(InputError, match="more than 1,000 fields"):
        catalog.workload(str(path))


def test_a_device_is_no_model(tmp_path):
    path = tmp_path / "zero.onnx"
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="no plain file"):
        catalog.workload(str(path))


def test_a_chain_of_undefined_operators_is_followed_in_two_turns(tmp_path, monkeypatch):
    from podsim.files.imports import onnx_file

    turns, shapes = [], onnx_file._shapes
    monkeypatch.setattr(onnx_file, "_shapes", lambda *given: turns.append(1) or shapes(*given))
    chain = [helper.make_node("Foo", [f"t{at}" if at else "x"], [f"t{at + 1}"], domain="elsewhere") for at in range(50)]
    last = helper.make_node("MatMul", ["t50", "w"], ["y"])
    result = read(one([*chain, last], weights=[models.weight("w", 64, 64)]), tmp_path)
    assert result.parameters == 64 * 64
    assert len(turns) == 2


def test_undefined_operators_between_too_many_others_are_refused(tmp_path, monkeypatch):
    from podsim.files.imports import onnx_file

    monkeypatch.setattr(onnx_file, "MOST_PASSES", 40)
    kinds = [("Foo", "elsewhere"), ("Relu", "")] * 10
    chain = [
        helper.make_node(kind, [f"t{at}" if at else "x"], [f"t{at + 1}"], domain=where)
        for at, (kind, where) in enumerate(kinds)
    ]
    assert "too many to follow" in refused(one([*chain, helper.make_node("Relu", ["t20"], ["y"])]), tmp_path).message


def test_a_gemm_counts_weights_on_either_side_and_a_whole_matrix_of_bias(tmp_path):
    node = helper.make_node("Gemm", ["w", "x", "c"], ["y"])
    result = read(one([node], (64, 4), [models.weight("w", 32, 64), models.weight("c", 32, 4)]), tmp_path)
    assert result.parameters == 32 * 64 + 32 * 4
    assert named(result, "gemm").flop(Pass.FORWARD) == 2 * 32 * 64 * 4
