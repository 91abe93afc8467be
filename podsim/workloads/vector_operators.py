"""Vector operators of a model: what is done to each element, forward and backward.

Sources: poplibs lib/popnn/NonLinearity.cpp (softmax), lib/poplin/Norms.cpp and lib/popnn/GroupNorm.cpp (norms),
lib/popnn/PoolVertices.cpp (pooling); touvron-2023 for rotary positions, gates and norms without a mean.
"""

from typing import Final

from podsim.model.workload import Kind, Matmul, Operator, Stream

SOFTPLUS: Final = ("negate", "exp", "bias", "log", "maximum", "add")
"""log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)); its slope is a sigmoid."""


def bias(name: str, elements: int, parameters: int) -> Operator:
    """Add one vector to every row; backward sums the gradient into it."""
    shape = Stream(elements=elements, operations=("bias",), row=parameters, parameters=parameters)
    return Operator(name=name, kind=Kind.BIAS, shape=shape, weight_tensors=1, stashed=False)


def activation(name: str, elements: int, function: str) -> Operator:
    """One value in, one out; backward multiplies by the slope."""
    shape = Stream(elements=elements, operations=(function,), back_operations=(f"{function}_grad",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def mish(name: str, elements: int) -> Operator:
    """The input times tanh(softplus(input)), as a chain of what it is made of."""
    shape = Stream(
        elements=elements,
        operations=(*SOFTPLUS, "tanh", "multiply"),
        back_operations=("multiply", "tanh_grad", "sigmoid", "multiply", "multiply", "add"),
    )
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def gate_operator(name: str, elements: int) -> Operator:
    """One half of the channels times the sigmoid of the other; backward the gradients of both halves."""
    shape = Stream(
        elements=elements,
        operations=("sigmoid", "multiply"),
        back_operations=("multiply", "sigmoid_grad", "multiply"),
    )
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def scale_and_mask(name: str, elements: int) -> Operator:
    """Attention scores scaled, and the mask of other sequences added; backward scales."""
    shape = Stream(elements=elements, operations=("scale", "mask"), back_operations=("scale",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def residual(name: str, elements: int) -> Operator:
    """Two values in, one out; backward the gradients of both uses are added."""
    shape = Stream(elements=elements, operations=("add",), back_operations=("add",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape, stashed=False)


def dropout(name: str, elements: int, option: str = "") -> Operator:
    """Scale by a random mask; backward draws the same mask again from its seed."""
    shape = Stream(elements=elements, operations=("dropout",), back_operations=("dropout",))
    return Operator(name=name, kind=Kind.DROPOUT, shape=shape, stashed=False, option=option)


def softmax(name: str, elements: int, row: int, between: tuple[Matmul, ...] = ()) -> Operator:
    """Softmax of each row of what one product leaves and another takes."""
    return Operator(name=name, kind=Kind.SOFTMAX, shape=Stream(elements=elements, row=row, between=between))


def layer_norm(name: str, elements: int, channels: int) -> Operator:
    """Norm of each row with scale and offset."""
    shape = Stream(elements=elements, row=channels, parameters=2 * channels)
    return Operator(name=name, kind=Kind.LAYER_NORM, shape=shape, weight_tensors=2)


def rms_norm(name: str, elements: int, channels: int) -> Operator:
    """Norm of each row by its mean square with a scale; planned as a layer norm, whose two sums are read at once."""
    shape = Stream(elements=elements, row=channels, parameters=channels)
    return Operator(name=name, kind=Kind.LAYER_NORM, shape=shape, weight_tensors=1)


def rotate(name: str, elements: int) -> Operator:
    """Pairs of elements turned by the angle of their position: times cosine, plus the swapped pair times sine."""
    turn = ("multiply", "copy", "multiply", "add")
    return Operator(
        name=name, kind=Kind.ELEMENTWISE, shape=Stream(elements=elements, operations=turn, back_operations=turn)
    )


def multiply(name: str, elements: int) -> Operator:
    """One half of what comes in multiplies the other; backward each half multiplies the gradient."""
    shape = Stream(elements=elements, operations=("multiply",), back_operations=("multiply", "multiply"))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def batch_norm(name: str, elements: int, channels: int) -> Operator:
    """Norm of each channel over a micro-batch; what follows works in place, so backward keeps the input instead."""
    shape = Stream(elements=elements, row=channels, parameters=2 * channels)
    return Operator(name=name, kind=Kind.BATCH_NORM, shape=shape, weight_tensors=2, stashed=False)


def group_norm(name: str, elements: int, channels: int, groups: int) -> Operator:
    """Norm of each group of channels of each image, with scale and offset of each channel."""
    shape = Stream(elements=elements, row=channels, parameters=2 * channels, statistics=groups)
    return Operator(name=name, kind=Kind.GROUP_NORM, shape=shape, weight_tensors=2, stashed=False)


def proxy_norm(name: str, elements: int, channels: int, function: str) -> Operator:
    """What an activation left, by mean and deviation of what it makes of a Gaussian with a mean and scale to learn."""
    shape = Stream(elements=elements, operations=(function,), row=channels, parameters=2 * channels)
    return Operator(name=name, kind=Kind.PROXY_NORM, shape=shape, weight_tensors=2)


def image_norm(name: str, elements: int, channels: int, groups: int) -> Operator:
    """The norm of a convolution's output: batch norm without groups, else group norm."""
    return group_norm(name, elements, channels, groups) if groups else batch_norm(name, elements, channels)


def mean(name: str, elements: int, channels: int) -> Operator:
    """The mean of each channel over an image, a sum; backward it is added to the gradient of every pixel."""
    shape = Stream(
        elements=elements, back_operations=("bias",), row=channels, out_elements=channels, statistics=channels
    )
    return Operator(name=name, kind=Kind.MEAN, shape=shape)


def gate(name: str, elements: int, channels: int) -> Operator:
    """Each channel of an image times a number of its own; backward the same, and a sum for that number."""
    shape = Stream(
        elements=elements,
        operations=("bias",),
        back_operations=("bias", "multiply"),
        row=channels,
        statistics=channels,
    )
    return Operator(name=name, kind=Kind.GATE, shape=shape)


def scale(name: str, elements: int) -> Operator:
    """Every element times one number, forward and backward; nothing of it is kept."""
    shape = Stream(elements=elements, operations=("scale",), back_operations=("scale",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape, stashed=False)


def copy(name: str, elements: int) -> Operator:
    """Elements brought to another order, forward and backward; nothing of it is kept."""
    shape = Stream(elements=elements, operations=("copy",), back_operations=("copy",))
    return Operator(name=name, kind=Kind.COPY, shape=shape, stashed=False)


def pool(name: str, elements: int, window: int, outputs: int) -> Operator:
    """Each output reads its whole window."""
    return Operator(name=name, kind=Kind.POOL, shape=Stream(elements=elements, window=window, out_elements=outputs))


def loss(name: str, elements: int, classes: int) -> Operator:
    """Softmax and cross-entropy over the classes, and the gradient of both."""
    return Operator(name=name, kind=Kind.LOSS, shape=Stream(elements=elements, row=classes))
