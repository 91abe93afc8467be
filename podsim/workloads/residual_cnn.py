"""A residual network of bottleneck blocks (ResNet-50 v1.5, ResNeXt) as a chain of units: stem, blocks, head.

Sources: he-2015 for the model, xie-2016 for its groups of channels, wu-2018 for group norm; v1.5 puts the stride on
the 3 x 3 convolution.
"""

from podsim.model.family import ResidualCnn
from podsim.model.workload import Conv, Kind, LayerUnit, Operator
from podsim.workloads import vector_operators
from podsim.workloads.transformer import dense


def units(size: ResidualCnn) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    stem, edge = _stem(size)
    chain, channels, number = [stem], size.stem_channels, 0
    for group, (width, count) in enumerate(zip(size.widths, size.blocks, strict=True)):
        for position in range(count):
            stride = 2 if position == 0 and group > 0 else 1
            is_checkpoint = number in size.checkpoint_blocks
            block, edge = _block(
                size, number, edge, channels, width, stride, shortcut=position == 0, kept=is_checkpoint
            )
            chain.append(block)
            channels, number = width * size.expansion, number + 1
    return (*chain, _head(size, edge, channels))


def convolve(name: str, shape: Conv, norm_groups: int = 0) -> tuple[Operator, ...]:
    """A convolution and its norm: batch norm without groups, else group norm. The stem needs no input gradient."""
    conv = Operator(
        name=name, kind=Kind.CONVOLUTION, shape=shape, weight_tensors=1, input_gradient=not name.startswith("stem")
    )
    return conv, vector_operators.image_norm(f"{name}-norm", shape.outputs, shape.out_channels, norm_groups)


def _stem(size: ResidualCnn) -> tuple[LayerUnit, int]:
    shape = Conv(size=size.image, in_channels=3, out_channels=size.stem_channels, kernel=7, stride=2)
    operators = convolve("stem.conv", shape, size.norm_groups)
    elements, edge = operators[0].shape.outputs, -(-size.image // 2)
    half = -(-edge // 2)
    pool = vector_operators.pool("stem.pool", elements, 9, half * half * size.stem_channels)
    chain = (*operators, vector_operators.activation("stem.relu", elements, "relu"), pool)
    return LayerUnit(name="stem", group="stem", checkpoint=False, operators=chain), half


def _block(
    size: ResidualCnn, number: int, edge: int, channels: int, width: int, stride: int, *, shortcut: bool, kept: bool
) -> tuple[LayerUnit, int]:
    at, wide = f"block{number}", width * size.expansion
    half = -(-edge // stride)
    shapes = {
        "reduce": Conv(size=edge, in_channels=channels, out_channels=width, kernel=1),
        "spatial": Conv(
            size=edge, in_channels=width, out_channels=width, kernel=3, stride=stride, channel_groups=size.cardinality
        ),
        "expand": Conv(size=half, in_channels=width, out_channels=wide, kernel=1),
        "shortcut": Conv(size=edge, in_channels=channels, out_channels=wide, kernel=1, stride=stride),
    }
    convolutions = {name: convolve(f"{at}.{name}", shape, size.norm_groups) for name, shape in shapes.items()}
    elements = half * half * wide
    operators = (
        *convolutions["reduce"],
        vector_operators.activation(f"{at}.reduce-relu", edge * edge * width, "relu"),
        *convolutions["spatial"],
        vector_operators.activation(f"{at}.spatial-relu", half * half * width, "relu"),
        *convolutions["expand"],
        *(convolutions["shortcut"] if shortcut else ()),
        vector_operators.residual(f"{at}.residual", elements),
        vector_operators.activation(f"{at}.relu", elements, "relu"),
    )
    return LayerUnit(name=at, group="block", checkpoint=kept, operators=operators), half


def _head(size: ResidualCnn, edge: int, channels: int) -> LayerUnit:
    return LayerUnit(
        name="head",
        group="head",
        checkpoint=False,
        operators=(
            vector_operators.pool("head.pool", edge * edge * channels, edge * edge, channels),
            dense("head.dense", 1, channels, size.classes),
            vector_operators.bias("head.bias", size.classes, size.classes),
            vector_operators.loss("head.loss", size.classes, size.classes),
        ),
    )
