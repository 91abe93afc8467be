"""A window transformer (Swin) as a chain of units: patches, layers of attention within windows, merging, classifier.

Source: liu-2021. A window is to the attention what a row of a micro-batch is: it is built for one and repeated.
"""

from dataclasses import dataclass, replace

from podsim.model.vision import WindowTransformer
from podsim.model.workload import Kind, LayerUnit, Operator, Stream
from podsim.workloads import transformer, vector_operators
from podsim.workloads.vision_transformer import classifier, patches, without_mask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """The layers between two mergings: windows of an image, and what one layer sees of one window."""

    windows: int
    sequence: int
    hidden: int
    heads: int
    feed_forward: int


def units(size: WindowTransformer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    edge, chain, number = size.image // size.patch, [_embedding(size)], 0
    for stage, (layers, heads) in enumerate(zip(size.layers, size.heads, strict=True)):
        hidden = size.hidden << stage
        if stage:
            chain.append(_merging(stage, edge, hidden // 2))
            edge //= 2
        of = _Stage(
            windows=(edge // size.window) ** 2,
            sequence=size.window**2,
            hidden=hidden,
            heads=heads,
            feed_forward=size.expansion * hidden,
        )
        for position in range(layers):
            is_shifted = position % 2 == 1 and of.windows > 1
            chain += [_attention(of, number, size.window, shifted=is_shifted), _feed_forward(of, number)]
            number += 1
    return (*chain, _head(size, edge**2))


def _embedding(size: WindowTransformer) -> LayerUnit:
    elements = (size.image // size.patch) ** 2 * size.hidden
    return LayerUnit(
        name="embedding",
        group="embedding",
        checkpoint=True,
        operators=(
            *patches(size.image, size.patch, size.hidden),
            vector_operators.layer_norm("embedding.norm", elements, size.hidden),
            vector_operators.dropout("embedding.dropout", elements),
        ),
    )


def _repeat(unit: LayerUnit, windows: int) -> LayerUnit:
    """A half of a layer for all windows of an image (Eq. 71)."""
    return replace(
        unit, operators=tuple(replace(operator, shape=operator.shape.at(windows)) for operator in unit.operators)
    )


def _attention(of: _Stage, layer: int, window: int, *, shifted: bool) -> LayerUnit:
    """Tokens brought together by window, attention with a bias by relative position, and back; masked if shifted."""
    half = _repeat(transformer.attention(transformer.plain(of), layer), of.windows)
    norm, *inner = (half if shifted else without_mask(half)).operators
    scores = next(place for place, operator in enumerate(inner) if operator.kind is Kind.SOFTMAX)
    residual = next(place for place, operator in enumerate(inner) if operator.name.endswith(".residual"))
    elements, at = of.windows * of.sequence * of.hidden, half.name
    position = _relative(f"{at}.position", inner[scores].shape.outputs, of.heads * (2 * window - 1) ** 2)
    operators = (
        norm,
        vector_operators.copy(f"{at}.to-windows", elements),
        *inner[:scores],
        position,
        *inner[scores:residual],
        vector_operators.copy(f"{at}.from-windows", elements),
        *inner[residual:],
    )
    return replace(half, operators=operators)


def _relative(name: str, elements: int, parameters: int) -> Operator:
    """A trained number for each distance within a window and head, added to its scores."""
    shape = Stream(elements=elements, operations=("bias",), row=parameters, parameters=parameters)
    return Operator(name=name, kind=Kind.BIAS, shape=shape, weight_tensors=1, stashed=False)


def _feed_forward(of: _Stage, layer: int) -> LayerUnit:
    return _repeat(transformer.feed_forward(transformer.plain(of), layer), of.windows)


def _merging(stage: int, edge: int, hidden: int) -> LayerUnit:
    """Two by two neighbours beside each other, their norm, and a product without bias to twice the channels."""
    at, elements, tokens = f"merging{stage}", edge**2 * hidden, (edge // 2) ** 2
    return LayerUnit(
        name=at,
        group="merging",
        checkpoint=True,
        operators=(
            vector_operators.copy(f"{at}.neighbours", elements),
            vector_operators.layer_norm(f"{at}.norm", elements, 4 * hidden),
            transformer.dense(f"{at}.reduce", tokens, 4 * hidden, 2 * hidden),
        ),
    )


def _head(size: WindowTransformer, tokens: int) -> LayerUnit:
    hidden = size.hidden << (len(size.layers) - 1)
    before = (
        vector_operators.layer_norm("head.norm", tokens * hidden, hidden),
        vector_operators.mean("head.mean", tokens * hidden, hidden),
    )
    return classifier(before, hidden, size.classes)
