"""A vision transformer as a chain of units: patches and class token, layers with their norm first, classifier.

Source: dosovitskiy-2020. The halves of a layer are those of the transformer, with the norm before and nothing masked.
"""

from dataclasses import replace

from podsim.model.vision import VisionTransformer
from podsim.model.workload import Conv, Kind, LayerUnit, Operator, Stream
from podsim.workloads import transformer, vector_operators


def units(size: VisionTransformer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    layers = transformer.plain(size)
    halves = (
        half
        for layer in range(size.layers)
        for half in (without_mask(transformer.attention(layers, layer)), transformer.feed_forward(layers, layer))
    )
    return (_embedding(size), *halves, _head(size))


def without_mask(unit: LayerUnit) -> LayerUnit:
    """Attention of every token to every other: scores are scaled only."""
    return replace(unit, operators=tuple(_without_mask(operator) for operator in unit.operators))


def _without_mask(operator: Operator) -> Operator:
    if not isinstance(operator.shape, Stream) or "mask" not in operator.shape.operations:
        return operator
    shape = replace(
        operator.shape, operations=tuple(operation for operation in operator.shape.operations if operation != "mask")
    )
    return replace(operator, name=operator.name.replace("scale-and-mask", "scale"), shape=shape)


def patches(image: int, patch: int, hidden: int) -> tuple[Operator, Operator]:
    """A product for each patch of an image, and its bias; images want no gradient."""
    shape = Conv(size=image, in_channels=3, out_channels=hidden, kernel=patch, stride=patch)
    conv = Operator(
        name="embedding.patches", kind=Kind.CONVOLUTION, shape=shape, weight_tensors=1, input_gradient=False
    )
    return conv, vector_operators.bias("embedding.bias", shape.outputs, hidden)


def _embedding(size: VisionTransformer) -> LayerUnit:
    elements = size.sequence * size.hidden
    return LayerUnit(
        name="embedding",
        group="embedding",
        checkpoint=True,
        operators=(
            *patches(size.image, size.patch, size.hidden),
            vector_operators.bias("embedding.class-token", size.hidden, size.hidden),
            vector_operators.bias("embedding.position", elements, elements),
            vector_operators.dropout("embedding.dropout", elements),
        ),
    )


def _head(size: VisionTransformer) -> LayerUnit:
    norm = vector_operators.layer_norm("head.norm", size.sequence * size.hidden, size.hidden)
    return classifier((norm,), size.hidden, size.classes)


def classifier(before: tuple[Operator, ...], inputs: int, classes: int) -> LayerUnit:
    """What comes before, a dense layer on one vector, and its loss."""
    return LayerUnit(
        name="head",
        group="head",
        checkpoint=False,
        operators=(
            *before,
            transformer.dense("head.dense", 1, inputs, classes),
            vector_operators.bias("head.bias", classes, classes),
            vector_operators.loss("head.loss", classes, classes),
        ),
    )
