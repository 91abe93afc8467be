"""Scaled-YOLOv4 as a chain of units: stem, cross-stage partial blocks, a neck up and down, heads of three scales.

Sources: wang-2020 for the network; graphcore-examples (vision/yolo_v4) for its channels and for where it is split.
"""

from collections.abc import Iterator

from podsim.model.vision import HEADS, Yolo
from podsim.model.workload import Conv, Kind, LayerUnit, Operator, Stream
from podsim.workloads import vector_operators

POOLS = (5, 9, 13)  # edges of the windows of the pooling neck


def units(size: Yolo) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return (_stem(size), *_backbone(size), *_neck(size), _heads(size))


def _plain(name: str, edge: int, inputs: int, outputs: int, *, kernel: int = 1, stride: int = 1) -> Operator:
    """A convolution without bias, norm or activation."""
    shape = Conv(size=edge, in_channels=inputs, out_channels=outputs, kernel=kernel, stride=stride)
    return Operator(name=name, kind=Kind.CONVOLUTION, shape=shape, weight_tensors=1)


def _norm(size: Yolo, name: str, elements: int, channels: int) -> tuple[Operator, Operator]:
    norm = vector_operators.image_norm(f"{name}-norm", elements, channels, size.norm_groups)
    return norm, vector_operators.mish(f"{name}-mish", elements)


def _conv(
    size: Yolo, name: str, edge: int, inputs: int, outputs: int, *, kernel: int = 1, stride: int = 1
) -> tuple[Operator, ...]:
    """A convolution, its norm and Mish."""
    conv = _plain(name, edge, inputs, outputs, kernel=kernel, stride=stride)
    return conv, *_norm(size, name, conv.outputs, outputs)


def _unit(group: str, name: str, operators: tuple[Operator, ...]) -> LayerUnit:
    return LayerUnit(name=name, group=group, checkpoint=True, operators=operators)


def _stem(size: Yolo) -> LayerUnit:
    first, *rest = _conv(size, "stem.conv", size.image, 3, size.stem_channels, kernel=3)
    images = Operator(name=first.name, kind=first.kind, shape=first.shape, weight_tensors=1, input_gradient=False)
    return _unit("stem", "stem", (images, *rest))


def _residual(size: Yolo, at: str, edge: int, wide: int, *, shortcut: bool) -> tuple[Operator, ...]:
    shortcut_operators = (vector_operators.residual(f"{at}.sum", edge**2 * wide),) if shortcut else ()
    return (
        *_conv(size, f"{at}.conv0", edge, wide, wide),
        *_conv(size, f"{at}.conv1", edge, wide, wide, kernel=3),
        *shortcut_operators,
    )


def _backbone(size: Yolo) -> Iterator[LayerUnit]:
    """Each block halves the edge; half of its channels go through residuals, the others around them."""
    edge, inputs = size.image, size.stem_channels
    for number, (wide, residuals) in enumerate(zip(size.widths, size.residuals, strict=True), 1):
        at, half = f"dark{number}", wide // 2
        yield _unit("dark", f"{at}.down", _conv(size, f"{at}.down.conv", edge, inputs, wide, kernel=3, stride=2))
        edge, inputs = edge // 2, wide
        yield _unit("dark", f"{at}.in", _conv(size, f"{at}.in.conv", edge, wide, half))
        for block in range(residuals):
            name = f"{at}.residual{block}"
            yield _unit("dark", name, _residual(size, name, edge, half, shortcut=True))
        operators = (
            _plain(f"{at}.out.main", edge, half, half),
            _plain(f"{at}.out.side", edge, wide, half),
            *_join(size, f"{at}.out", edge, wide, wide),
        )
        yield _unit("dark", f"{at}.out", operators)


def _join(size: Yolo, at: str, edge: int, inputs: int, outputs: int) -> tuple[Operator, ...]:
    """Both parts next to each other, normed, and a convolution over them."""
    elements = edge**2 * inputs
    return (
        vector_operators.copy(f"{at}.together", elements),
        *_norm(size, f"{at}.together", elements, inputs),
        *_conv(size, f"{at}.conv", edge, inputs, outputs),
    )


def _neck(size: Yolo) -> Iterator[LayerUnit]:
    """Pooling at the smallest scale, up to the largest and down again."""
    small, middle, large = (size.image >> len(size.widths) - number for number in range(HEADS))
    fine, mid, coarse = size.widths[-HEADS:]
    yield _pooling(size, small, coarse)
    for at, edge, wide, in_backbone in (("up1", middle, mid // 2, mid), ("up2", large, fine // 2, fine)):
        beside = _conv(size, f"{at}.in.conv", edge, in_backbone, wide)
        yield _unit("neck", f"{at}.in", (*beside, vector_operators.copy(f"{at}.in.together", edge**2 * 2 * wide)))
        yield _partial(size, at, edge, wide)
        if at == "up1":
            yield _unit("neck", "up1.out", _upsample(size, "up1.out", edge, wide, wide // 2))
        else:
            yield _unit("neck", "up2.out", _conv(size, "up2.out.conv", edge, wide, 2 * wide, kernel=3))
    for at, edge, wide in (("down1", large, fine // 2), ("down2", middle, mid // 2)):
        down = _conv(size, f"{at}.in.conv", edge, wide, 2 * wide, kernel=3, stride=2)
        yield _unit(
            "neck", f"{at}.in", (*down, vector_operators.copy(f"{at}.in.together", (edge // 2) ** 2 * 4 * wide))
        )
        yield _partial(size, at, edge // 2, 2 * wide)
        yield _unit("neck", f"{at}.out", _conv(size, f"{at}.out.conv", edge // 2, 2 * wide, 4 * wide, kernel=3))


def _partial(size: Yolo, at: str, edge: int, wide: int) -> LayerUnit:
    """A block of the neck: residuals without a shortcut, and a side path from what they start with."""
    name = f"{at}.neck"
    blocks = (
        operator
        for block in range(size.neck_residuals)
        for operator in _residual(size, f"{name}.residual{block}", edge, wide, shortcut=False)
    )
    operators = (
        *_conv(size, f"{name}.in", edge, 2 * wide, wide),
        *blocks,
        _plain(f"{name}.side", edge, wide, wide),
        *_join(size, name, edge, 2 * wide, wide),
    )
    return _unit("neck", name, operators)


def _upsample(size: Yolo, at: str, edge: int, inputs: int, outputs: int) -> tuple[Operator, ...]:
    """Fewer channels, each pixel four times."""
    return (
        *_conv(size, f"{at}.conv", edge, inputs, outputs),
        vector_operators.copy(f"{at}.up", (2 * edge) ** 2 * outputs),
    )


def _pooling(size: Yolo, edge: int, inputs: int) -> LayerUnit:
    """Maxima of three windows beside what they are of."""
    wide, pixels = inputs // 2, edge**2
    pools = tuple(
        vector_operators.pool(f"spp.pool{window}", pixels * wide, window**2, pixels * wide) for window in POOLS
    )
    together = (len(POOLS) + 1) * wide
    operators = (
        *_conv(size, "spp.conv0", edge, inputs, wide),
        *_conv(size, "spp.conv1", edge, wide, wide, kernel=3),
        *_conv(size, "spp.conv2", edge, wide, wide),
        *pools,
        vector_operators.copy("spp.pools-together", pixels * together),
        *_conv(size, "spp.conv3", edge, together, wide),
        *_conv(size, "spp.conv4", edge, wide, wide, kernel=3),
        _plain("spp.side", edge, inputs, wide),
        *_join(size, "spp", edge, 2 * wide, wide),
        *_upsample(size, "spp.out", edge, wide, wide // 2),
    )
    return _unit("neck", "spp", operators)


def _heads(size: Yolo) -> LayerUnit:
    """Boxes, whether there is anything in them, and classes, at every pixel of three scales."""
    operators: list[Operator] = []
    numbers = 0
    for number, wide in enumerate(size.widths[-HEADS:]):
        edge = size.image >> len(size.widths) - HEADS + 1 + number
        conv = _plain(f"head.conv{number}", edge, wide, size.outputs)
        operators += [conv, vector_operators.bias(f"head.conv{number}-bias", conv.outputs, size.outputs)]
        numbers += conv.outputs
    boxes = Stream(elements=numbers, operations=("sigmoid", "scale", "bias"), back_operations=("scale", "sigmoid_grad"))
    operators.append(Operator(name="head.boxes", kind=Kind.ELEMENTWISE, shape=boxes))
    return LayerUnit(name="head", group="head", checkpoint=False, operators=tuple(operators))
