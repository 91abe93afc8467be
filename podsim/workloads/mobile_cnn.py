"""A mobile network of inverted bottlenecks (EfficientNet) as a chain of units: stem, blocks, head.

Sources: tan-2019 for the model and its scaling, masters-2021 for groups wider than one channel, labatie-2021 for proxy
norm, of which a norm with no activation after it has none. The moving average of weights is left out.
"""

import math
from dataclasses import replace

from podsim.model.vision import MobileCnn
from podsim.model.workload import Conv, LayerUnit, Operator
from podsim.workloads import vector_operators
from podsim.workloads.residual_cnn import convolve
from podsim.workloads.transformer import dense
from podsim.workloads.vision_transformer import classifier

CHANNEL_GRAIN = 8
LEAST_KEPT = 0.9  # share of the scaled channels that rounding may not fall below (tan-2019, reference code)


def units(size: MobileCnn) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    channels = scale_channels(size.stem_channels, size.width)
    stem, edge = _stem(size, channels), -(-size.image // 2)
    chain = [stem]
    groups = zip(size.kernels, size.strides, size.widths, size.blocks, size.expansions, strict=True)
    for kernel, first_stride, width, blocks, expansion in groups:
        outputs = scale_channels(width, size.width)
        for position in range(math.ceil(size.depth * blocks)):
            stride = first_stride if position == 0 else 1
            shape = Conv(
                size=edge,
                in_channels=channels * expansion,
                out_channels=channels * expansion,
                kernel=kernel,
                stride=stride,
                channel_groups=_groups(channels * expansion, size.group_width),
            )
            chain.append(_block(size, len(chain) - 1, shape, channels, outputs))
            channels, edge = outputs, shape.out_size
    return (*chain, _head(size, edge, channels))


def scale_channels(channels: int, width: float) -> int:
    """Channels of a wider model: a multiple of 8, at least nine tenths of what the width asks for (Eq. 70)."""
    value = channels * width
    number = max(CHANNEL_GRAIN, int(value + CHANNEL_GRAIN / 2) // CHANNEL_GRAIN * CHANNEL_GRAIN)
    return number if number >= LEAST_KEPT * value else number + CHANNEL_GRAIN


def _groups(channels: int, group_width: int) -> int:
    """Groups of so many channels, of fewer where that does not divide them (Eq. 70)."""
    return channels // max(width for width in range(1, min(group_width, channels) + 1) if channels % width == 0)


def _activation(name: str, shape: Conv, size: MobileCnn) -> tuple[Operator, ...]:
    """A convolution, its norm and swish, whose slope needs what came in; then the proxy norm, where there is one."""
    conv, norm = convolve(name, shape, size.norm_groups)
    proxy = vector_operators.proxy_norm(f"{name}-proxy", shape.outputs, shape.out_channels, "swish")
    return (
        conv,
        replace(norm, stashed=True),
        vector_operators.activation(f"{name}-swish", shape.outputs, "swish"),
        *((proxy,) if size.proxy_norm else ()),
    )


def _stem(size: MobileCnn, channels: int) -> LayerUnit:
    shape = Conv(size=size.image, in_channels=3, out_channels=channels, kernel=3, stride=2)
    operators = _activation("stem.conv", shape, size)
    return LayerUnit(name="stem", group="stem", checkpoint=False, operators=operators)


def _block(size: MobileCnn, number: int, spatial: Conv, channels: int, outputs: int) -> LayerUnit:
    """Expand, convolve in groups, scale each channel by what the others say, project; added to what came in."""
    at, wide = f"block{number}", spatial.out_channels
    widen = Conv(size=spatial.size, in_channels=channels, out_channels=wide, kernel=1)
    project = Conv(size=spatial.out_size, in_channels=wide, out_channels=outputs, kernel=1)
    same = spatial.stride == 1 and channels == outputs
    operators = (
        *(_activation(f"{at}.expand", widen, size) if wide != channels else ()),
        *_activation(f"{at}.spatial", spatial, size),
        *_squeeze(f"{at}.squeeze", spatial, max(1, channels // size.squeeze)),
        *convolve(f"{at}.project", project, size.norm_groups),
        *(_addition(at, project.outputs) if same else ()),
    )
    return LayerUnit(name=at, group="block", checkpoint=number in size.checkpoint_blocks, operators=operators)


def _addition(at: str, elements: int) -> tuple[Operator, ...]:
    """The block's images scaled, by nothing where stochastic depth leaves the block out, and what came in added."""
    return vector_operators.scale(f"{at}.depth", elements), vector_operators.residual(f"{at}.residual", elements)


def _squeeze(at: str, spatial: Conv, narrow: int) -> tuple[Operator, ...]:
    """Squeeze-and-excitation: two dense layers on the means of the channels make a factor of each."""
    wide, elements = spatial.out_channels, spatial.outputs
    return (
        vector_operators.mean(f"{at}.mean", elements, wide),
        dense(f"{at}.reduce", 1, wide, narrow),
        vector_operators.bias(f"{at}.reduce-bias", narrow, narrow),
        vector_operators.activation(f"{at}.swish", narrow, "swish"),
        dense(f"{at}.expand", 1, narrow, wide),
        vector_operators.bias(f"{at}.expand-bias", wide, wide),
        vector_operators.activation(f"{at}.sigmoid", wide, "sigmoid"),
        vector_operators.gate(f"{at}.gate", elements, wide),
    )


def _head(size: MobileCnn, edge: int, channels: int) -> LayerUnit:
    wide = scale_channels(size.head_channels, size.width)
    shape = Conv(size=edge, in_channels=channels, out_channels=wide, kernel=1)
    before = (
        *_activation("head.conv", shape, size),
        vector_operators.mean("head.mean", shape.outputs, wide),
        vector_operators.dropout("head.dropout", wide),
    )
    return classifier(before, wide, size.classes)
