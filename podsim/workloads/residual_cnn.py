"""A residual network of bottleneck blocks (ResNet-50 v1.5) as a chain of units: stem, blocks, head.

Sources: he-2015 for the model; v1.5 puts the stride on the 3 x 3 convolution.
"""

from podsim.model.family import ResidualCnn
from podsim.model.workload import Conv, Kind, Operator, Unit
from podsim.workloads import vector
from podsim.workloads.transformer import dense


def units(size: ResidualCnn) -> tuple[Unit, ...]:
    """The whole model in order."""
    stem, edge = _stem(size)
    chain, channels, number = [stem], size.stem_channels, 0
    for group, (width, count) in enumerate(zip(size.widths, size.blocks, strict=True)):
        for position in range(count):
            stride = 2 if position == 0 and group > 0 else 1
            kept = number in size.checkpoint_blocks
            block, edge = _block(size, number, edge, channels, width, stride, shortcut=position == 0, kept=kept)
            chain.append(block)
            channels, number = width * size.expansion, number + 1
    return (*chain, _head(size, edge, channels))


def _convolve(name: str, edge: int, inputs: int, outputs: int, kernel: int, stride: int = 1) -> tuple[Operator, ...]:
    """A convolution and its batch norm."""
    shape = Conv(size=edge, in_channels=inputs, out_channels=outputs, kernel=kernel, stride=stride)
    conv = Operator(
        name=name, kind=Kind.CONVOLUTION, shape=shape, weight_tensors=1, input_gradient=not name.startswith("stem")
    )
    return conv, vector.batch_norm(f"{name}-norm", shape.outputs, outputs)


def _stem(size: ResidualCnn) -> tuple[Unit, int]:
    operators = _convolve("stem.conv", size.image, 3, size.stem_channels, 7, 2)
    elements, edge = operators[0].shape.outputs, -(-size.image // 2)
    half = -(-edge // 2)
    pool = vector.pool("stem.pool", elements, 9, half * half * size.stem_channels)
    chain = (*operators, vector.activation("stem.relu", elements, "relu"), pool)
    return Unit(name="stem", group="stem", checkpoint=False, operators=chain), half


def _block(
    size: ResidualCnn, number: int, edge: int, channels: int, width: int, stride: int, *, shortcut: bool, kept: bool
) -> tuple[Unit, int]:
    at, wide = f"block{number}", width * size.expansion
    reduce = _convolve(f"{at}.reduce", edge, channels, width, 1)
    spatial = _convolve(f"{at}.spatial", edge, width, width, 3, stride)
    half = -(-edge // stride)
    expand = _convolve(f"{at}.expand", half, width, wide, 1)
    elements = half * half * wide
    operators = (
        *reduce,
        vector.activation(f"{at}.reduce-relu", edge * edge * width, "relu"),
        *spatial,
        vector.activation(f"{at}.spatial-relu", half * half * width, "relu"),
        *expand,
        *(_convolve(f"{at}.shortcut", edge, channels, wide, 1, stride) if shortcut else ()),
        vector.residual(f"{at}.residual", elements),
        vector.activation(f"{at}.relu", elements, "relu"),
    )
    return Unit(name=at, group="block", checkpoint=kept, operators=operators), half


def _head(size: ResidualCnn, edge: int, channels: int) -> Unit:
    return Unit(
        name="head",
        group="head",
        checkpoint=False,
        operators=(
            vector.pool("head.pool", edge * edge * channels, edge * edge, channels),
            dense("head.dense", 1, channels, size.classes),
            vector.bias("head.bias", size.classes, size.classes),
            vector.loss("head.loss", size.classes, size.classes),
        ),
    )
