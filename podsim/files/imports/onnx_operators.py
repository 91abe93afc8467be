"""What the operators of ONNX are in podsim's words: one node with known shapes to the operators that do its work."""

import math
from collections.abc import Callable, Container, Mapping
from typing import Final

from podsim.files.imports.onnx_einsum import einsum
from podsim.files.imports.onnx_node import NodeShapes, Operators, is_tied, of
from podsim.files.imports.onnx_recurrent import recurrent
from podsim.model.workload import Conv, Gather, Kind, Matmul, Operator, OperatorShape, Stream

FREE: Final = frozenset(
    (
        "Identity",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Cast",
        "CastLike",
        "Slice",
        "Split",
        "Shape",
        "Size",
        "Constant",
        "ConstantOfShape",
        "Range",
        "NonZero",
        "EyeLike",
    )
)
"""Nodes that only name the same elements anew, or shapes: they cost nothing."""
COPIES: Final = frozenset(
    (
        "Transpose",
        "Concat",
        "Pad",
        "Expand",
        "Tile",
        "Resize",
        "Upsample",
        "DepthToSpace",
        "SpaceToDepth",
        "ScatterND",
        "ScatterElements",
        "GatherElements",
        "GatherND",
        "Gather",
        "ReverseSequence",
        "Compress",
        "Trilu",
        "OneHot",
    )
)
"""Nodes that bring elements to another order, or more of them: a copy of what they write."""
CHAINS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "Relu": (("relu",), ("relu_grad",)),
    "LeakyRelu": (("relu",), ("relu_grad",)),
    "PRelu": (("relu",), ("relu_grad",)),
    "Clip": (("minimum", "maximum"), ("relu_grad",)),
    "ThresholdedRelu": (("relu",), ("relu_grad",)),
    "Sigmoid": (("sigmoid",), ("sigmoid_grad",)),
    "Tanh": (("tanh",), ("tanh_grad",)),
    "Gelu": (("gelu",), ("gelu_grad",)),
    "Swish": (("swish",), ("swish_grad",)),
    "HardSwish": (("scaled_add", "minimum", "maximum", "multiply"), ("swish_grad",)),
    "HardSigmoid": (("scaled_add", "minimum", "maximum"), ("relu_grad",)),
    "Mish": (("exp", "log", "tanh", "multiply"), ("multiply", "multiply")),
    "Elu": (("exp", "select"), ("multiply",)),
    "Selu": (("exp", "select"), ("multiply",)),
    "Celu": (("exp", "select"), ("multiply",)),
    "Softplus": (("exp", "log"), ("multiply",)),
    "Softsign": (("divide",), ("multiply",)),
    "Add": (("add",), ("add",)),
    "Sum": (("add",), ("add",)),
    "Sub": (("subtract",), ("add",)),
    "Mul": (("multiply",), ("multiply", "multiply")),
    "Div": (("divide",), ("multiply", "multiply")),
    "Pow": (("log", "scale", "exp"), ("multiply",)),
    "Sqrt": (("sqrt",), ("multiply",)),
    "Exp": (("exp",), ("multiply",)),
    "Log": (("log",), ("multiply",)),
    "Erf": (("erf",), ("exp", "multiply")),
    "Sin": (("sin",), ("multiply",)),
    "Cos": (("cos",), ("multiply",)),
    "Neg": (("negate",), ("negate",)),
    "Abs": (("maximum",), ("multiply",)),
    "Reciprocal": (("inverse",), ("multiply",)),
    "Min": (("minimum",), ("select",)),
    "Max": (("maximum",), ("select",)),
    "Where": (("select",), ("select",)),
    "Dropout": (("dropout",), ("dropout",)),
    "Floor": (("copy",), ("copy",)),
    "Round": (("copy",), ("copy",)),
    "Equal": (("compare",), ()),
    "Greater": (("compare",), ()),
    "GreaterOrEqual": (("compare",), ()),
    "Less": (("compare",), ()),
    "LessOrEqual": (("compare",), ()),
    "And": (("compare",), ()),
    "Or": (("compare",), ()),
    "Not": (("compare",), ()),
    "IsNaN": (("compare",), ()),
}
"""Elementwise nodes as chains of vertices, forward and backward."""
DOMAINS: Final = ("", "ai.onnx", "com.microsoft")
"""Where these names mean what they do here; the last is ONNX Runtime's, whose names are those of ONNX or its own."""
POOLS: Final = frozenset(
    (
        "MaxPool",
        "AveragePool",
        "LpPool",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "GlobalLpPool",
    )
)
REDUCTIONS: Final = frozenset(
    (
        "ReduceMean",
        "ReduceSum",
        "ReduceMax",
        "ReduceMin",
        "ReduceL2",
        "ReduceSumSquare",
        "ReduceProd",
        "ArgMax",
    )
)
NORMS: Final = frozenset(
    (
        "BatchNormalization",
        "LayerNormalization",
        "GroupNormalization",
        "InstanceNormalization",
        "RMSNormalization",
        "SimplifiedLayerNormalization",
        "LpNormalization",
    )
)


def operators(seen: NodeShapes) -> Operators | None:
    """The operators of a node; None where podsim has no word for it."""
    kind = seen.node.op_type
    if seen.node.domain not in DOMAINS:
        return None
    if kind in BUILDERS:
        return BUILDERS[kind](seen)
    function = next((build for known, build in GROUPS if kind in known), None)
    return None if function is None else function(seen)


def one_pass(seen: NodeShapes) -> Operators:
    """What a node is taken for that podsim has no word for: one pass over what it writes, and its weights."""
    elements = max(1, math.prod(seen.out))
    footprint = sum(math.prod(seen.ins[at]) for at, root in seen.weights.items() if root and root not in seen.tied)
    shape = Stream(elements=elements, operations=("copy",), back_operations=("copy",), parameters=footprint)
    return [of(seen, Kind.ELEMENTWISE, shape)]


def _copy(seen: NodeShapes) -> Operator:
    elements = max(1, math.prod(seen.out))
    shape = Stream(elements=elements, operations=("copy",), back_operations=("copy",))
    return of(seen, Kind.COPY, shape, stashed=False)


def _elementwise(seen: NodeShapes) -> Operators:
    kind, elements = seen.node.op_type, max(1, math.prod(seen.out))
    if kind == "Dropout":
        shape = Stream(elements=elements, operations=("dropout",), back_operations=("dropout",))
        return [of(seen, Kind.DROPOUT, shape, stashed=False)]
    static = next((at for at in seen.weights if at < len(seen.ins)), None)
    if kind in ("Add", "Sub", "Mul", "Div", "PRelu") and static is not None:
        size = math.prod(seen.ins[static])
        if size > 1:
            return [_channel_vector(seen, static, size, elements)]
        shape = Stream(elements=elements, operations=("scale",), back_operations=("scale",))
        return [of(seen, Kind.ELEMENTWISE, shape, stashed=False)]
    forward, backward = CHAINS[kind]
    if kind == "Pow" and static is not None:
        forward = ("square",)  # the power of a norm or a gelu, a small whole number
    shape = Stream(elements=elements, operations=forward, back_operations=backward)
    return [of(seen, Kind.ELEMENTWISE, shape, stashed=kind not in ("Add", "Sub", "Sum", "Neg"))]


def _channel_vector(seen: NodeShapes, at: int, size: int, elements: int) -> Operator:
    """One vector of weights that all rows share: a bias, or the scale of each channel."""
    trained = seen.weights[at] and seen.weights[at] not in seen.tied
    row = math.gcd(size, elements)
    if not seen.weights[at]:  # a constant: a mask, or positions that nobody trains
        shape = Stream(elements=elements, operations=("mask",), back_operations=("copy",))
        return of(seen, Kind.ELEMENTWISE, shape, stashed=False)
    shape = Stream(elements=elements, operations=("bias",), row=row, parameters=size if trained else 0)
    return of(seen, Kind.BIAS, shape, stashed=seen.node.op_type in ("Mul", "Div"))


def _bias(seen: NodeShapes, at: int, channels: int) -> Operators:
    """The bias that a product or convolution has as an input."""
    if len(seen.ins) <= at or not seen.ins[at]:
        return []
    trained = 0 if is_tied(seen, at) or not seen.weights.get(at) else math.prod(seen.ins[at])
    shape = Stream(elements=math.prod(seen.out), operations=("bias",), row=channels, parameters=trained)
    return [of(seen, Kind.BIAS, shape, stashed=False, suffix="-bias")]


def _convolution(seen: NodeShapes) -> Operators:
    groups, weights = int(seen.attribute("group", 1)), seen.ins[1]
    images, inputs, outputs = seen.ins[0][0], seen.ins[0][1], weights[0]
    if groups < 1 or inputs % groups or outputs % groups:
        raise ValueError
    kernel, edges = weights[2:], seen.out[2:]
    strides = [int(item) for item in seen.attribute("strides", [1] * len(edges))]
    shape: OperatorShape
    if len(edges) == 2 and edges[0] == edges[1] and kernel[0] == kernel[1] and strides[0] == strides[1]:
        shape = Conv(
            batch=images,
            size=edges[0] * strides[0],
            in_channels=inputs,
            out_channels=outputs,
            kernel=kernel[0],
            stride=strides[0],
            channel_groups=groups,
        )
        made = of(seen, Kind.CONVOLUTION, shape, tied=is_tied(seen, 1))
    else:
        reduction = inputs // groups * math.prod(kernel)
        shape = Matmul(groups=groups, m=images * math.prod(edges), k=reduction, n=outputs // groups)
        made = of(seen, Kind.MATMUL, shape, tied=is_tied(seen, 1))
    return [made, *_bias(seen, 2, outputs)]


def _transposed_convolution(seen: NodeShapes) -> Operators:
    groups, weights = int(seen.attribute("group", 1)), seen.ins[1]
    pixels = seen.ins[0][0] * math.prod(seen.ins[0][2:])
    each = weights[1] * math.prod(weights[2:])
    shape = Matmul(groups=groups, m=pixels, k=weights[0] // groups, n=each)
    return [of(seen, Kind.MATMUL, shape, tied=is_tied(seen, 1)), *_bias(seen, 2, weights[1] * groups)]


def _gemm(seen: NodeShapes) -> Operators:
    left, right = (
        size[::-1] if seen.attribute(flag, 0) else size
        for flag, size in zip(("transA", "transB"), seen.ins[:2], strict=True)
    )
    footprint, m, n = (0, right[1], left[0]) if 0 in seen.weights else (1, left[0], right[1])
    shape = Matmul(m=m, k=left[1], n=n, weights=footprint in seen.weights)
    return [of(seen, Kind.MATMUL, shape, tied=is_tied(seen, footprint)), *_bias(seen, 2, right[1])]


def _product(seen: NodeShapes) -> Operators:
    left, right = seen.ins[0], seen.ins[1]
    left, right = (1, *left) if len(left) == 1 else left, (*right, 1) if len(right) == 1 else right
    groups, m, k, n = math.prod(seen.out) // max(1, left[-2] * right[-1]), left[-2], left[-1], right[-1]
    if 1 in seen.weights:
        footprint = math.prod(right[:-2])
        shape = Matmul(groups=footprint, m=m * groups // footprint, k=k, n=n)
        return [of(seen, Kind.MATMUL, shape, tied=is_tied(seen, 1))]
    if 0 in seen.weights:
        footprint = math.prod(left[:-2])
        shape = Matmul(groups=footprint, m=n * groups // footprint, k=k, n=m)
        return [of(seen, Kind.MATMUL, shape, tied=is_tied(seen, 0))]
    if math.prod(right[:-2]) == 1:
        groups, m = 1, groups * m
    return [of(seen, Kind.MATMUL, Matmul(groups=groups, m=m, k=k, n=n, weights=False))]


def _softmax(seen: NodeShapes) -> Operators:
    row = seen.out[int(seen.attribute("axis", -1))]
    return [of(seen, Kind.SOFTMAX, Stream(elements=math.prod(seen.out), row=row))]


def _gather(seen: NodeShapes) -> Operators:
    """Rows of a table that is trained; of anything else a copy."""
    if 0 not in seen.weights or not seen.weights[0] or int(seen.attribute("axis", 0)) or len(seen.ins[0]) < 2:
        return [_copy(seen)]
    table, width = seen.ins[0][0], math.prod(seen.ins[0][1:])
    shape = Gather(table=table, width=width, lookups=max(1, math.prod(seen.ins[1])), trained=True)
    return [of(seen, Kind.GATHER, shape, tied=is_tied(seen, 0))]


def _norm(seen: NodeShapes) -> Operators:
    kind, size = seen.node.op_type, seen.ins[0]
    numbers = [at for at in (1, 2) if at < len(seen.ins) and seen.ins[at]]
    trained = sum(math.prod(seen.ins[at]) for at in numbers if not is_tied(seen, at))
    channels = size[1] if kind in ("BatchNormalization", "InstanceNormalization", "GroupNormalization") else 0
    groups, norm = 0, Kind.LAYER_NORM
    if kind == "BatchNormalization":
        norm = Kind.BATCH_NORM
    elif channels:
        norm = Kind.GROUP_NORM
        groups = int(seen.attribute("num_groups", channels)) * size[0]
    axis = int(seen.attribute("axis", -1))
    row = channels or math.prod(size[axis if axis >= 0 else len(size) + axis :])
    shape = Stream(elements=math.prod(size), row=row, parameters=trained, statistics=groups)
    return [of(seen, norm, shape, stashed=norm is Kind.LAYER_NORM, tensors=len(numbers) if trained else 0)]


def _pool(seen: NodeShapes) -> Stream:
    before, after = math.prod(seen.ins[0]), max(1, math.prod(seen.out))
    kernel = seen.attribute("kernel_shape", None)
    window = math.prod(int(edge) for edge in kernel) if kernel else max(1, before // after)
    return Stream(elements=before, window=window, out_elements=after)


PRODUCTS: Final = frozenset(
    (
        "ConvInteger",
        "QLinearConv",
        "MatMulInteger",
        "QLinearMatMul",
        "MatMulNBits",
        "DeformConv",
        "Attention",
        "MultiHeadAttention",
        "GroupQueryAttention",
        "FusedMatMul",
        "FusedGemm",
        "FusedConv",
        "Einsum",
        "LSTM",
        "GRU",
        "RNN",
    )
)
"""Nodes known to multiply, whose arithmetic is more than one pass where there is no operator for them."""
BUILDERS: Final[Mapping[str, Callable[[NodeShapes], Operators | None]]] = {
    "Einsum": einsum,
    "LSTM": recurrent,
    "GRU": recurrent,
    "RNN": recurrent,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "Gemm": _gemm,
    "MatMul": _product,
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "Gather": _gather,
}
"""Nodes that are more than a chain over elements."""

GROUPS: Final[tuple[tuple[Container[str], Callable[[NodeShapes], Operators]], ...]] = (
    (FREE, lambda _: []),
    (CHAINS, _elementwise),
    (NORMS, _norm),
    (POOLS | REDUCTIONS, lambda seen: [of(seen, Kind.POOL, _pool(seen))]),
    (COPIES, lambda seen: [_copy(seen)]),
)
"""What many nodes have in common."""
