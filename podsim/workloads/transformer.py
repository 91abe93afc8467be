"""An encoder-only transformer (BERT) as a chain of units: embedding, attention and feed-forward halves, heads.

Sources: devlin-2018 for the model; the submissions' bert_model.py for the heads on masked tokens only.
"""

from typing import Protocol

from podsim.model.family import Transformer
from podsim.model.workload import Gather, Kind, Matmul, Operator, Unit
from podsim.workloads import vector

LARGEST_PACK = 3  # sequences a packed row may hold, each with its own sentence head (mlperf-training-v1-1)


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


def units(size: Transformer) -> tuple[Unit, ...]:
    """The whole model in order."""
    layers = (half for layer in range(size.layers) for half in (attention(size, layer), feed_forward(size, layer)))
    return (_embedding(size), *layers, _heads(size))


def _embedding(size: Transformer) -> Unit:
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
    return Unit(
        name="embedding",
        group="embedding",
        checkpoint=True,
        operators=(
            *gathers,
            vector.residual("embedding.sum", elements),
            vector.layer_norm("embedding.norm", elements, hidden),
            vector.dropout("embedding.dropout", elements),
        ),
    )


def attention(size: Layers, layer: int) -> Unit:
    """The attention half of a layer, its norm last."""
    tokens, hidden, width = size.sequence, size.hidden, size.hidden // size.heads
    elements, scores, at = tokens * hidden, size.heads * tokens * tokens, f"layer{layer}.attention"
    products = {
        "scores": Matmul(groups=size.heads, m=tokens, k=width, n=tokens, weights=False),
        "context": Matmul(groups=size.heads, m=tokens, k=tokens, n=width, weights=False),
    }
    batched = {name: Operator(name=f"{at}.{name}", kind=Kind.MATMUL, shape=shape) for name, shape in products.items()}
    return Unit(
        name=at,
        group="attention",
        checkpoint=False,
        operators=(
            dense(f"{at}.qkv", tokens, hidden, 3 * hidden),
            vector.bias(f"{at}.qkv-bias", 3 * elements, 3 * hidden),
            batched["scores"],
            vector.scale_and_mask(f"{at}.scale-and-mask", scores),
            vector.softmax(f"{at}.softmax", scores, tokens, tuple(products.values())),
            vector.dropout(f"{at}.softmax-dropout", scores, option="attention_dropout"),
            batched["context"],
            dense(f"{at}.output", tokens, hidden, hidden),
            vector.bias(f"{at}.output-bias", elements, hidden),
            vector.dropout(f"{at}.dropout", elements),
            vector.residual(f"{at}.residual", elements),
            vector.layer_norm(f"{at}.norm", elements, hidden),
        ),
    )


def feed_forward(size: Layers, layer: int) -> Unit:
    """The feed-forward half of a layer, its norm last."""
    tokens, hidden, wide = size.sequence, size.hidden, size.feed_forward
    elements, at = tokens * hidden, f"layer{layer}.ffn"
    return Unit(
        name=at,
        group="ffn",
        checkpoint=True,
        operators=(
            dense(f"{at}.up", tokens, hidden, wide),
            vector.bias(f"{at}.up-bias", tokens * wide, wide),
            vector.activation(f"{at}.gelu", tokens * wide, "gelu"),
            dense(f"{at}.down", tokens, wide, hidden),
            vector.bias(f"{at}.down-bias", elements, hidden),
            vector.dropout(f"{at}.dropout", elements),
            vector.residual(f"{at}.residual", elements),
            vector.layer_norm(f"{at}.norm", elements, hidden),
        ),
    )


def _heads(size: Transformer) -> Unit:
    masked, hidden = size.masked_tokens, size.hidden
    pick = Gather(table=size.sequence, width=hidden, lookups=masked, trained=False)
    return Unit(
        name="heads",
        group="heads",
        checkpoint=False,
        operators=(
            Operator(name="heads.masked-tokens", kind=Kind.GATHER, shape=pick),
            dense("heads.mlm-dense", masked, hidden, hidden),
            vector.bias("heads.mlm-dense-bias", masked * hidden, hidden),
            vector.activation("heads.mlm-gelu", masked * hidden, "gelu"),
            vector.layer_norm("heads.mlm-norm", masked * hidden, hidden),
            dense("heads.mlm-projection", masked, hidden, size.vocabulary, tied=True),
            vector.bias("heads.mlm-projection-bias", masked * size.vocabulary, size.vocabulary),
            vector.loss("heads.mlm-loss", masked * size.vocabulary, size.vocabulary),
            dense("heads.pooler", LARGEST_PACK, hidden, hidden),
            vector.bias("heads.pooler-bias", LARGEST_PACK * hidden, hidden),
            vector.activation("heads.pooler-tanh", LARGEST_PACK * hidden, "tanh"),
            dense("heads.nsp", LARGEST_PACK, hidden, 2),
            vector.bias("heads.nsp-bias", LARGEST_PACK * 2, 2),
            vector.loss("heads.nsp-loss", LARGEST_PACK * 2, 2),
        ),
    )
