"""DeBERTa as a chain of units: an encoder whose scores have a part of content and two of positions; span head.

Source: he-2021, sections 3.1 and 3.2; biases as huggingface-transformers (DisentangledSelfAttention).
"""

from dataclasses import replace

from podsim.model.family import Head, Transformer
from podsim.model.language import Deberta
from podsim.model.workload import Gather, Kind, LayerUnit, Matmul, Operator
from podsim.workloads import transformer, vector_operators
from podsim.workloads.conformer import affine


def units(size: Deberta) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    plain = Transformer(
        layers=size.layers,
        hidden=size.hidden,
        heads=size.heads,
        feed_forward=size.feed_forward,
        sequence=size.sequence,
        vocabulary=size.vocabulary,
        positions=1,
        head=Head.SPAN,
    )
    halves = (
        half
        for layer in range(size.layers)
        for half in (_attention(size, layer), transformer.feed_forward(plain, layer))
    )
    return (_embedding(size), *halves, _head(size))


def _embedding(size: Deberta) -> LayerUnit:
    """Words, and the table of distances that all layers read."""
    elements = size.sequence * size.hidden
    word = Gather(table=size.vocabulary, width=size.hidden, lookups=size.sequence)
    distances = Gather(table=2 * size.positions, width=size.hidden, lookups=size.distances)
    return LayerUnit(
        name="embedding",
        group="embedding",
        checkpoint=True,
        operators=(
            _table("embedding.distances", distances),
            *(
                (vector_operators.layer_norm("embedding.distances-norm", size.distances * size.hidden, size.hidden),)
                if size.distance_norm
                else ()
            ),
            _table("embedding.word", word),
            vector_operators.layer_norm("embedding.norm", elements, size.hidden),
            vector_operators.dropout("embedding.dropout", elements),
        ),
    )


def _table(name: str, shape: Gather) -> Operator:
    return Operator(name=name, kind=Kind.GATHER, shape=shape, input_gradient=False, weight_tensors=1)


def _attention(size: Deberta, layer: int) -> LayerUnit:
    """Scores of content, and of content with every distance either way, of which each pair takes its own.

    Queries and values have biases, keys have one in the second version alone; products of the distances are taken anew
    for each row.
    """
    at, tokens, hidden, heads = f"layer{layer}.attention", size.sequence, size.hidden, size.heads
    width, distances, elements, scores = hidden // heads, size.distances, tokens * hidden, heads * tokens**2
    keys = Matmul(groups=heads, m=tokens, k=width, n=tokens, weights=False)
    far = Matmul(groups=heads, m=tokens, k=width, n=distances, weights=False)
    values = Matmul(groups=heads, m=tokens, k=tokens, n=width, weights=False)
    operators = (
        transformer.dense(f"{at}.qkv", tokens, hidden, 3 * hidden),
        vector_operators.bias(f"{at}.query-bias", elements, hidden),
        *((vector_operators.bias(f"{at}.key-bias", elements, hidden),) if size.key_biases else ()),
        vector_operators.bias(f"{at}.value-bias", elements, hidden),
        Operator(name=f"{at}.scores", kind=Kind.MATMUL, shape=keys),
        *_of_distances(size, f"{at}.distance-keys", biased=size.key_biases),
        Operator(name=f"{at}.content-to-distance", kind=Kind.MATMUL, shape=far),
        vector_operators.copy(f"{at}.content-to-distance-pairs", scores),
        vector_operators.residual(f"{at}.content-to-distance-sum", scores),
        *_of_distances(size, f"{at}.distance-queries", biased=True),
        vector_operators.scale(f"{at}.distance-queries-scale", distances * hidden),
        Operator(name=f"{at}.distance-to-content", kind=Kind.MATMUL, shape=far),
        vector_operators.copy(f"{at}.distance-to-content-pairs", scores),
        vector_operators.residual(f"{at}.distance-to-content-sum", scores),
        vector_operators.scale_and_mask(f"{at}.scale-and-mask", scores),
        vector_operators.softmax(f"{at}.softmax", scores, tokens, (keys, values)),
        vector_operators.dropout(f"{at}.softmax-dropout", scores, "attention_dropout"),
        Operator(name=f"{at}.context", kind=Kind.MATMUL, shape=values),
        *affine(f"{at}.output", tokens, hidden, hidden),
        vector_operators.dropout(f"{at}.dropout", elements),
        vector_operators.residual(f"{at}.residual", elements),
        vector_operators.layer_norm(f"{at}.norm", elements, hidden),
    )
    return LayerUnit(name=at, group="attention", checkpoint=False, operators=operators)


def _of_distances(size: Deberta, name: str, *, biased: bool) -> tuple[Operator, ...]:
    """Distances times weights of their own or those of queries and keys, with the bias that these have."""
    product = transformer.dense(name, size.distances, size.hidden, size.hidden, tied=size.shared_products)
    if not biased:
        return (product,)
    bias = vector_operators.bias(f"{name}-bias", size.distances * size.hidden, size.hidden)
    return product, replace(bias, tied=True, weight_tensors=0) if size.shared_products else bias


def _head(size: Deberta) -> LayerUnit:
    """Begin and end of an answer."""
    tokens = size.sequence
    operators = (*affine("heads.span", tokens, size.hidden, 2), vector_operators.loss("heads.loss", 2 * tokens, tokens))
    return LayerUnit(name="heads", group="heads", checkpoint=False, operators=operators)
