"""Small ONNX models made on the spot, and what they hold, counted by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


def weight(name: str, *dims: int) -> Any:
    """An initializer of zeros."""
    return helper.make_tensor(name, FLOAT, dims, bytes(4 * math.prod(dims)), raw=True)


def ints(name: str, *values: int) -> Any:
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def value(name: str, dims: Sequence[int | str], kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, dims)


def model(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], weights: Sequence[Any]) -> Any:
    graph = helper.make_graph(nodes, "small", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def cnn(batch: int | str = 1) -> Any:
    """Two convolutions, one in groups, a norm, pools and a classifier on images of 32 x 32."""
    node = helper.make_node
    nodes = [
        node(
            "Conv", ["image", "w1", "b1"], ["c1"], name="stem", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]
        ),
        node("BatchNormalization", ["c1", "scale", "offset", "mean", "var"], ["n1"], name="norm"),
        node("Relu", ["n1"], ["r1"], name="relu"),
        node("Conv", ["r1", "w2"], ["c2"], name="grouped", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=4),
        node("Add", ["c2", "r1"], ["sum"], name="residual"),
        node("MaxPool", ["sum"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "w3"], ["c3"], name="oblong", kernel_shape=[1, 3], pads=[0, 1, 0, 1]),
        node("GlobalAveragePool", ["c3"], ["mean-of-all"], name="mean"),
        node("Flatten", ["mean-of-all"], ["flat"], name="flat"),
        node("Gemm", ["flat", "w4", "b4"], ["scores"], name="classifier", transB=1),
    ]
    weights = [
        weight("w1", 16, 3, 3, 3),
        weight("b1", 16),
        *(weight(n, 16) for n in ("scale", "offset", "mean", "var")),
        weight("w2", 16, 4, 3, 3),
        weight("w3", 24, 16, 1, 3),
        weight("w4", 10, 24),
        weight("b4", 10),
    ]
    return model(nodes, [value("image", [batch, 3, 32, 32])], [value("scores", [batch, 10])], weights)


CNN_PARAMETERS = 16 * 27 + 16 + 2 * 16 + 16 * 36 + 24 * 48 + 240 + 10
CNN_FORWARD_FLOP = 2 * (16 * 16 * 16 * 27 + 16 * 16 * 16 * 36 + 8 * 8 * 24 * 48 + 240)


def transformer(sequence: int | str = 16, *, layers: int = 2, hidden: int = 32, heads: int = 4) -> Any:
    """Embedding, layers with norms taken apart and attention by transposes, a head that shares the table."""
    node, width, vocabulary = helper.make_node, hidden // heads, 100
    weights = [
        weight("table", vocabulary, hidden),
        ints("split", 0, 0, heads, width),
        ints("joined", 0, 0, hidden),
        helper.make_tensor("two", FLOAT, [], [2.0]),
        helper.make_tensor("epsilon", FLOAT, [], [1e-5]),
        helper.make_tensor("root", FLOAT, [], [math.sqrt(width)]),
    ]
    nodes = [node("Gather", ["table", "tokens"], ["h0"], name="embedding")]
    for layer in range(layers):
        made, content = half_by_half(layer, hidden)
        nodes += made
        weights += content
    nodes += [
        node("Transpose", ["table"], ["turned"], perm=[1, 0]),
        node("MatMul", [f"h{layers}", "turned"], ["scores"], name="head"),
    ]
    tokens = value("tokens", [1, sequence], TensorProto.INT64)
    return model(nodes, [tokens], [value("scores", [1, sequence, vocabulary])], weights)


def half_by_half(layer: int, hidden: int) -> tuple[list[Any], list[Any]]:
    """Nodes and weights of one layer, attention first."""
    node = helper.make_node
    weights: list[Any] = []
    at, h = f"l{layer}", f"h{layer}"
    for part in "qkvo":
        weights += [weight(f"{at}.w{part}", hidden, hidden), weight(f"{at}.b{part}", hidden)]
    weights += [weight(f"{at}.up", hidden, 4 * hidden), weight(f"{at}.down", 4 * hidden, hidden)]
    weights += [weight(f"{at}.{name}", hidden) for name in ("s1", "o1", "s2", "o2")]
    nodes = norm(f"{at}.n1", h, f"{at}.s1", f"{at}.o1")
    for part in "qkv":
        nodes += [
            node("MatMul", [f"{at}.n1", f"{at}.w{part}"], [f"{at}.{part}m"], name=f"{at}/{part}"),
            node("Add", [f"{at}.{part}m", f"{at}.b{part}"], [f"{at}.{part}b"], name=f"{at}/{part}-bias"),
            node("Reshape", [f"{at}.{part}b", "split"], [f"{at}.{part}r"]),
            node("Transpose", [f"{at}.{part}r"], [f"{at}.{part}"], perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", [f"{at}.q", f"{at}.k"], [f"{at}.raw"], name=f"{at}/scores"),
        node("Div", [f"{at}.raw", "root"], [f"{at}.scaled"], name=f"{at}/scale"),
        node("Softmax", [f"{at}.scaled"], [f"{at}.p"], name=f"{at}/softmax", axis=-1),
        node("MatMul", [f"{at}.p", f"{at}.v"], [f"{at}.c"], name=f"{at}/context"),
        node("Transpose", [f"{at}.c"], [f"{at}.ct"], perm=[0, 2, 1, 3]),
        node("Reshape", [f"{at}.ct", "joined"], [f"{at}.cj"]),
        node("MatMul", [f"{at}.cj", f"{at}.wo"], [f"{at}.om"], name=f"{at}/output"),
        node("Add", [f"{at}.om", f"{at}.bo"], [f"{at}.ob"], name=f"{at}/output-bias"),
        node("Add", [f"{at}.ob", h], [f"{at}.mid"], name=f"{at}/residual"),
        *norm(f"{at}.n2", f"{at}.mid", f"{at}.s2", f"{at}.o2"),
        node("MatMul", [f"{at}.n2", f"{at}.up"], [f"{at}.u"], name=f"{at}/up"),
        node("Relu", [f"{at}.u"], [f"{at}.a"], name=f"{at}/relu"),
        node("MatMul", [f"{at}.a", f"{at}.down"], [f"{at}.d"], name=f"{at}/down"),
        node("Add", [f"{at}.d", f"{at}.mid"], [f"h{layer + 1}"], name=f"{at}/residual2"),
    ]
    return nodes, weights


def norm(out: str, source: str, scale: str, offset: str) -> list[Any]:
    """A layer norm as exporters of old took it apart."""
    node = helper.make_node
    return [
        node("ReduceMean", [source], [f"{out}.m"], axes=[-1]),
        node("Sub", [source, f"{out}.m"], [f"{out}.d"]),
        node("Pow", [f"{out}.d", "two"], [f"{out}.q"]),
        node("ReduceMean", [f"{out}.q"], [f"{out}.v"], axes=[-1]),
        node("Add", [f"{out}.v", "epsilon"], [f"{out}.e"]),
        node("Sqrt", [f"{out}.e"], [f"{out}.s"]),
        node("Div", [f"{out}.d", f"{out}.s"], [f"{out}.y"]),
        node("Mul", [f"{out}.y", scale], [f"{out}.z"]),
        node("Add", [f"{out}.z", offset], [out]),
    ]


def transformer_parameters(layers: int = 2, hidden: int = 32) -> int:
    """The table, which the head shares; four products with biases, two without, two norms a layer."""
    return 100 * hidden + layers * (4 * (hidden * hidden + hidden) + 8 * hidden * hidden + 4 * hidden)


def transformer_forward_flop(sequence: int = 16, layers: int = 2, hidden: int = 32) -> int:
    """Products of tokens with weights, of tokens with tokens, and the head."""
    each = 12 * hidden * hidden * sequence + 2 * sequence * sequence * hidden
    return 2 * (layers * each + sequence * hidden * 100)


def save(made: Any, path: Any) -> str:
    path.write_bytes(made.SerializeToString())
    return str(path)


assert onnx.__version__
