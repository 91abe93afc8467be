"""A transformer as a chain of units: embedding, attention and feed-forward halves, heads.

Sources: devlin-2018 for BERT, radford-2019 for norms before each half and for the head on every token, touvron-2023
for rotary positions and gates, ainslie-2023 for shared keys and values; the submissions' bert_model.py for the heads
on masked tokens only.
"""

from typing import Protocol

from podsim.model.family import Head, Transformer
from podsim.model.workload import Gather, Kind, LayerUnit, Matmul, Operator
from podsim.workloads import vector_operators


class Layers(Protocol):
    """The sizes of layers, of whatever family."""

    @property
    def sequence(self) -> int:
        """Tokens."""

    @property
    def hidden(self) -> int:
        """Width of a token."""

    @property
    def heads(self) -> int:
        """Of attention."""

    @property
    def feed_forward(self) -> int:
        """Width inside the feed-forward half."""


def dense(name: str, rows: int, inputs: int, outputs: int, *, tied: bool = False) -> Operator:
    """A product with trained weights [inputs, outputs]."""
    shape = Matmul(m=rows, k=inputs, n=outputs)
    return Operator(name=name, kind=Kind.MATMUL, shape=shape, tied=tied, weight_tensors=0 if tied else 1)


def units(size: Transformer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    layers = (half for layer in range(size.layers) for half in (attention(size, layer), feed_forward(size, layer)))
    return (_embedding(size), *layers, *_heads(size))


def _norm(size: Transformer, name: str) -> Operator:
    elements = size.sequence * size.hidden
    return (vector_operators.rms_norm if size.rms_norm else vector_operators.layer_norm)(name, elements, size.hidden)


def _dense(
    size: Transformer, name: str, inputs: int, outputs: int, *, biases: bool | None = None
) -> tuple[Operator, ...]:
    """A product over every token, with its bias if the model has any."""
    product, has_bias = dense(name, size.sequence, inputs, outputs), size.biases if biases is None else biases
    return (
        (product, vector_operators.bias(f"{name}-bias", size.sequence * outputs, outputs)) if has_bias else (product,)
    )


def _dropout(size: Transformer, name: str, elements: int, option: str = "") -> tuple[Operator, ...]:
    return (vector_operators.dropout(name, elements, option),) if size.dropout else ()


def _embedding(size: Transformer) -> LayerUnit:
    tokens, hidden = size.sequence, size.hidden
    tables = (("word", size.vocabulary), ("position", size.positions), ("segment", size.segments))
    gathers = tuple(
        Operator(
            name=f"embedding.{name}",
            kind=Kind.GATHER,
            shape=Gather(table=rows, width=hidden, lookups=tokens),
            input_gradient=False,
            weight_tensors=1,
        )
        for name, rows in tables
        if rows
    )
    elements = tokens * hidden
    return LayerUnit(
        name="embedding",
        group="embedding",
        checkpoint=True,
        operators=(
            *gathers,
            *((vector_operators.residual("embedding.sum", elements),) if len(gathers) > 1 else ()),
            *(() if size.pre_norm else (_norm(size, "embedding.norm"),)),
            *_dropout(size, "embedding.dropout", elements),
        ),
    )


def _half(size: Transformer, at: str, group: str, operators: tuple[Operator, ...]) -> LayerUnit:
    """What a half computes, between the norm before it or after it and the sum with what came in.

    Halves side by side have one norm, which is counted with attention (wang-2021).
    """
    norm, elements = (_norm(size, f"{at}.norm"),), size.sequence * size.hidden
    return LayerUnit(
        name=at,
        group=group,
        checkpoint=group == "ffn",
        operators=(
            *(norm if size.pre_norm and not (size.parallel and group == "ffn") else ()),
            *operators,
            *_dropout(size, f"{at}.dropout", elements),
            vector_operators.residual(f"{at}.residual", elements),
            *(() if size.pre_norm else norm),
        ),
    )


def plain(size: Layers) -> Transformer:
    """Layers with their norm first and nothing else that is particular, of these sizes: for other families."""
    return Transformer(
        layers=1,
        hidden=size.hidden,
        heads=size.heads,
        feed_forward=size.feed_forward,
        sequence=size.sequence,
        vocabulary=1,
        positions=1,
        head=Head.NONE,
        pre_norm=True,
    )


def attention(size: Transformer, layer: int) -> LayerUnit:
    """The attention half of a layer."""
    tokens, hidden, width, shared_heads = size.sequence, size.hidden, size.hidden // size.heads, size.shared_heads
    scores, at = size.heads * tokens * tokens, f"layer{layer}.attention"
    queries = tokens * (size.heads // shared_heads)  # rows that meet the same keys and values
    keys = hidden + shared_heads * width  # of queries and keys, which rotate, or some elements of each head
    rotary_elements = keys // width * (size.rotary_width or width)
    biases = size.biases and size.attention_biases
    products = {
        "scores": Matmul(groups=shared_heads, m=queries, k=width, n=tokens, weights=False),
        "context": Matmul(groups=shared_heads, m=queries, k=tokens, n=width, weights=False),
    }
    batched_products = {
        name: Operator(name=f"{at}.{name}", kind=Kind.MATMUL, shape=shape) for name, shape in products.items()
    }
    operators = (
        *_dense(size, f"{at}.qkv", hidden, keys + shared_heads * width, biases=biases),
        *((vector_operators.rotate(f"{at}.rotate", tokens * rotary_elements),) if size.rotary else ()),
        batched_products["scores"],
        vector_operators.scale_and_mask(f"{at}.scale-and-mask", scores),
        vector_operators.softmax(f"{at}.softmax", scores, tokens, tuple(products.values())),
        *_dropout(size, f"{at}.softmax-dropout", scores, "attention_dropout"),
        batched_products["context"],
        *_dense(size, f"{at}.output", hidden, hidden, biases=biases),
    )
    return _half(size, at, "attention", operators)


def feed_forward(size: Transformer, layer: int) -> LayerUnit:
    """The feed-forward half of a layer."""
    tokens, hidden, wide, at = size.sequence, size.hidden, size.feed_forward, f"layer{layer}.ffn"
    name = "swish" if size.gated else "gelu"
    operators = (
        *_dense(size, f"{at}.up", hidden, wide * (2 if size.gated else 1)),
        vector_operators.activation(f"{at}.{name}", tokens * wide, name),
        *((vector_operators.multiply(f"{at}.gate", tokens * wide),) if size.gated else ()),
        *_dense(size, f"{at}.down", wide, hidden),
    )
    return _half(size, at, "ffn", operators)


def _heads(size: Transformer) -> tuple[LayerUnit, ...]:
    """The last unit; none where nothing follows the layers."""
    table = {Head.MLM: _mask, Head.LM: _next, Head.SPAN: _span}
    last = (_norm(size, "heads.norm"),) if size.pre_norm else ()
    operators = (*last, *(table[size.head](size) if size.head in table else ()))
    return (LayerUnit(name="heads", group="heads", checkpoint=False, operators=operators),) if operators else ()


def _mask(size: Transformer) -> tuple[Operator, ...]:
    masked_tokens, hidden = size.masked_tokens, size.hidden
    pick = Gather(table=size.sequence, width=hidden, lookups=masked_tokens, trained=False)
    return (
        Operator(name="heads.masked-tokens", kind=Kind.GATHER, shape=pick),
        dense("heads.mlm-dense", masked_tokens, hidden, hidden),
        vector_operators.bias("heads.mlm-dense-bias", masked_tokens * hidden, hidden),
        vector_operators.activation("heads.mlm-gelu", masked_tokens * hidden, "gelu"),
        vector_operators.layer_norm("heads.mlm-norm", masked_tokens * hidden, hidden),
        dense("heads.mlm-projection", masked_tokens, hidden, size.vocabulary, tied=size.tied),
        vector_operators.bias("heads.mlm-projection-bias", masked_tokens * size.vocabulary, size.vocabulary),
        vector_operators.loss("heads.mlm-loss", masked_tokens * size.vocabulary, size.vocabulary),
        *(_sentences(size) if size.sentences else ()),
    )


def _sentences(size: Transformer) -> tuple[Operator, ...]:
    """Whether the second sentence follows the first, for every sequence that a row may hold."""
    count, hidden = size.sentences, size.hidden
    return (
        dense("heads.pooler", count, hidden, hidden),
        vector_operators.bias("heads.pooler-bias", count * hidden, hidden),
        vector_operators.activation("heads.pooler-tanh", count * hidden, "tanh"),
        dense("heads.nsp", count, hidden, 2),
        vector_operators.bias("heads.nsp-bias", count * 2, 2),
        vector_operators.loss("heads.nsp-loss", count * 2, 2),
    )


def _next(size: Transformer) -> tuple[Operator, ...]:
    scores, bias = size.sequence * size.vocabulary, vector_operators.bias
    return (
        dense("heads.projection", size.sequence, size.hidden, size.vocabulary, tied=size.tied),
        *((bias("heads.projection-bias", scores, size.vocabulary),) if size.head_bias else ()),
        vector_operators.loss("heads.loss", scores, size.vocabulary),
    )


def _span(size: Transformer) -> tuple[Operator, ...]:
    """Begin and end, each a choice among the tokens."""
    return (
        *_dense(size, "heads.span", size.hidden, 2),
        vector_operators.loss("heads.loss", 2 * size.sequence, size.sequence),
    )
