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


def operators(node_shapes: NodeShapes) -> Operators | None:
    """The operators of a node; None where podsim has no word for it."""
    kind = node_shapes.node.op_type
    if node_shapes.node.domain not in DOMAINS:
        return None
    if kind in BUILDERS:
        return BUILDERS[kind](node_shapes)
    function = next((build for kinds, build in GROUPS if kind in kinds), None)
    return None if function is None else function(node_shapes)


def one_pass(node_shapes: NodeShapes) -> Operators:
    """What a node is taken for that podsim has no word for: one pass over what it writes, and its weights."""
    elements = max(1, math.prod(node_shapes.out))
    footprint = sum(
        math.prod(node_shapes.ins[at])
        for at, root in node_shapes.weights.items()
        if root and root not in node_shapes.tied
    )
    shape = Stream(elements=elements, operations=("copy",), back_operations=("copy",), parameters=footprint)
    return [of(node_shapes, Kind.ELEMENTWISE, shape)]


def _copy(node_shapes: NodeShapes) -> Operator:
    elements = max(1, math.prod(node_shapes.out))
    shape = Stream(elements=elements, operations=("copy",), back_operations=("copy",))
    return of(node_shapes, Kind.COPY, shape, stashed=False)


def _elementwise(node_shapes: NodeShapes) -> Operators:
    kind, elements = node_shapes.node.op_type, max(1, math.prod(node_shapes.out))
    if kind == "Dropout":
        shape = Stream(elements=elements, operations=("dropout",), back_operations=("dropout",))
        return [of(node_shapes, Kind.DROPOUT, shape, stashed=False)]
    static = next((at for at in node_shapes.weights if at < len(node_shapes.ins)), None)
    if kind in ("Add", "Sub", "Mul", "Div", "PRelu") and static is not None:
        size = math.prod(node_shapes.ins[static])
        if size > 1:
            return [_channel_vector(node_shapes, static, size, elements)]
        shape = Stream(elements=elements, operations=("scale",), back_operations=("scale",))
        return [of(node_shapes, Kind.ELEMENTWISE, shape, stashed=False)]
    forward, backward = CHAINS[kind]
    if kind == "Pow" and static is not None:
        forward = ("square",)  # the power of a norm or a gelu, a small whole number
    shape = Stream(elements=elements, operations=forward, back_operations=backward)
    return [of(node_shapes, Kind.ELEMENTWISE, shape, stashed=kind not in ("Add", "Sub", "Sum", "Neg"))]


def _channel_vector(node_shapes: NodeShapes, at: int, size: int, elements: int) -> Operator:
    """One vector of weights that all rows share: a bias, or the scale of each channel."""
    is_trained = node_shapes.weights[at] and node_shapes.weights[at] not in node_shapes.tied
    row = math.gcd(size, elements)
    if not node_shapes.weights[at]:  # a constant: a mask, or positions that are not trained
        shape = Stream(elements=elements, operations=("mask",), back_operations=("copy",))
        return of(node_shapes, Kind.ELEMENTWISE, shape, stashed=False)
    shape = Stream(elements=elements, operations=("bias",), row=row, parameters=size if is_trained else 0)
    return of(node_shapes, Kind.BIAS, shape, stashed=node_shapes.node.op_type in ("Mul", "Div"))


def _bias(node_shapes: NodeShapes, at: int, channels: int) -> Operators:
    """The bias that a product or convolution has as an input."""
    if len(node_shapes.ins) <= at or not node_shapes.ins[at]:
        return []
    parameters = 0 if is_tied(node_shapes, at) or not node_shapes.weights.get(at) else math.prod(node_shapes.ins[at])
    shape = Stream(elements=math.prod(node_shapes.out), operations=("bias",), row=channels, parameters=parameters)
    return [of(node_shapes, Kind.BIAS, shape, stashed=False, suffix="-bias")]


def _convolution(node_shapes: NodeShapes) -> Operators:
    groups, weights = int(node_shapes.attribute("group", 1)), node_shapes.ins[1]
    images, inputs, outputs = node_shapes.ins[0][0], node_shapes.ins[0][1], weights[0]
    if groups < 1 or inputs % groups or outputs % groups:
        raise ValueError
    kernel, edges = weights[2:], node_shapes.out[2:]
    strides = [int(item) for item in node_shapes.attribute("strides", [1] * len(edges))]
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
        operator = of(node_shapes, Kind.CONVOLUTION, shape, tied=is_tied(node_shapes, 1))
    else:
        reduction = inputs // groups * math.prod(kernel)
        shape = Matmul(groups=groups, m=images * math.prod(edges), k=reduction, n=outputs // groups)
        operator = of(node_shapes, Kind.MATMUL, shape, tied=is_tied(node_shapes, 1))
    return [operator, *_bias(node_shapes, 2, outputs)]


def _transposed_convolution(node_shapes: NodeShapes) -> Operators:
    groups, weights = int(node_shapes.attribute("group", 1)), node_shapes.ins[1]
    pixels = node_shapes.ins[0][0] * math.prod(node_shapes.ins[0][2:])
    each = weights[1] * math.prod(weights[2:])
    shape = Matmul(groups=groups, m=pixels, k=weights[0] // groups, n=each)
    return [
        of(node_shapes, Kind.MATMUL, shape, tied=is_tied(node_shapes, 1)),
        *_bias(node_shapes, 2, weights[1] * groups),
    ]


def _gemm(node_shapes: NodeShapes) -> Operators:
    left_shape, right_shape = (
        size[::-1] if node_shapes.attribute(flag, 0) else size
        for flag, size in zip(("transA", "transB"), node_shapes.ins[:2], strict=True)
    )
    footprint, m, n = (
        (0, right_shape[1], left_shape[0]) if 0 in node_shapes.weights else (1, left_shape[0], right_shape[1])
    )
    shape = Matmul(m=m, k=left_shape[1], n=n, weights=footprint in node_shapes.weights)
    return [
        of(node_shapes, Kind.MATMUL, shape, tied=is_tied(node_shapes, footprint)),
        *_bias(node_shapes, 2, right_shape[1]),
    ]


def _product(node_shapes: NodeShapes) -> Operators:
    left_shape, right_shape = node_shapes.ins[0], node_shapes.ins[1]
    left_shape, right_shape = (
        (1, *left_shape) if len(left_shape) == 1 else left_shape,
        (*right_shape, 1) if len(right_shape) == 1 else right_shape,
    )
    groups, m, k, n = (
        math.prod(node_shapes.out) // max(1, left_shape[-2] * right_shape[-1]),
        left_shape[-2],
        left_shape[-1],
        right_shape[-1],
    )
    if 1 in node_shapes.weights:
        footprint = math.prod(right_shape[:-2])
        shape = Matmul(groups=footprint, m=m * groups // footprint, k=k, n=n)
        return [of(node_shapes, Kind.MATMUL, shape, tied=is_tied(node_shapes, 1))]
    if 0 in node_shapes.weights:
        footprint = math.prod(left_shape[:-2])
        shape = Matmul(groups=footprint, m=n * groups // footprint, k=k, n=m)
        return [of(node_shapes, Kind.MATMUL, shape, tied=is_tied(node_shapes, 0))]
    if math.prod(right_shape[:-2]) == 1:
        groups, m = 1, groups * m
    return [of(node_shapes, Kind.MATMUL, Matmul(groups=groups, m=m, k=k, n=n, weights=False))]


def _softmax(node_shapes: NodeShapes) -> Operators:
    row = node_shapes.out[int(node_shapes.attribute("axis", -1))]
    return [of(node_shapes, Kind.SOFTMAX, Stream(elements=math.prod(node_shapes.out), row=row))]


def _gather(node_shapes: NodeShapes) -> Operators:
    """Rows of a table that is trained; of anything else a copy."""
    if (
        0 not in node_shapes.weights
        or not node_shapes.weights[0]
        or int(node_shapes.attribute("axis", 0))
        or len(node_shapes.ins[0]) < 2
    ):
        return [_copy(node_shapes)]
    table, width = node_shapes.ins[0][0], math.prod(node_shapes.ins[0][1:])
    shape = Gather(table=table, width=width, lookups=max(1, math.prod(node_shapes.ins[1])), trained=True)
    return [of(node_shapes, Kind.GATHER, shape, tied=is_tied(node_shapes, 0))]


def _norm(node_shapes: NodeShapes) -> Operators:
    kind, size = node_shapes.node.op_type, node_shapes.ins[0]
    numbers = [at for at in (1, 2) if at < len(node_shapes.ins) and node_shapes.ins[at]]
    parameters = sum(math.prod(node_shapes.ins[at]) for at in numbers if not is_tied(node_shapes, at))
    channels = size[1] if kind in ("BatchNormalization", "InstanceNormalization", "GroupNormalization") else 0
    groups, norm = 0, Kind.LAYER_NORM
    if kind == "BatchNormalization":
        norm = Kind.BATCH_NORM
    elif channels:
        norm = Kind.GROUP_NORM
        groups = int(node_shapes.attribute("num_groups", channels)) * size[0]
    axis = int(node_shapes.attribute("axis", -1))
    row = channels or math.prod(size[axis if axis >= 0 else len(size) + axis :])
    shape = Stream(elements=math.prod(size), row=row, parameters=parameters, statistics=groups)
    return [of(node_shapes, norm, shape, stashed=norm is Kind.LAYER_NORM, tensors=len(numbers) if parameters else 0)]


def _pool(node_shapes: NodeShapes) -> Stream:
    before, after = math.prod(node_shapes.ins[0]), max(1, math.prod(node_shapes.out))
    kernel = node_shapes.attribute("kernel_shape", None)
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
    (POOLS | REDUCTIONS, lambda node_shapes: [of(node_shapes, Kind.POOL, _pool(node_shapes))]),
    (COPIES, lambda node_shapes: [_copy(node_shapes)]),
)
"""What many nodes have in common."""
