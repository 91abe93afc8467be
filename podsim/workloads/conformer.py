"""A conformer as a chain of units: convolutions that subsample a spectrogram, blocks, a head that aligns (CTC).

Sources: gulati-2020 for the blocks, dai-2019 for relative positions, yao-2021 for the recipe (scores of positions
are not shifted, batch norm in the convolution module).
"""

from podsim.model.speech import Conformer, Transducer
from podsim.model.workload import Conv, Kind, LayerUnit, Matmul, Operator, Stream
from podsim.workloads import recurrent, vector_operators
from podsim.workloads.transformer import dense

HALF = ("scaled_add",)


def units(size: Conformer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return (*encoder(size), _head(size))


def subsample(edge: int) -> tuple[int, int]:
    """What is left of an edge after the first and the second unpadded convolution of 3 with stride 2."""
    first = (edge - 1) // 2
    return first, (first - 1) // 2


def encoder(size: Conformer | Transducer) -> tuple[LayerUnit, ...]:
    """The front end and all blocks."""
    return (_front(size), *(_block(size, number) for number in range(size.blocks)))


def affine(name: str, rows: int, inputs: int, outputs: int) -> tuple[Operator, Operator]:
    """A product with trained weights and its bias."""
    return dense(name, rows, inputs, outputs), vector_operators.bias(f"{name}-bias", rows * outputs, outputs)


def _front(size: Conformer | Transducer) -> LayerUnit:
    wide, frames, mels = size.hidden, subsample(size.frames), subsample(size.mels)
    chain: list[Operator] = []
    for number, (inputs, rows, columns) in enumerate(zip((1, wide), frames, mels, strict=True)):
        at = f"front.conv{number}"
        # Without padding the last row or column may go unread: an image of twice the output is all that is read.
        shape = Conv(
            size=2 * rows, width=2 * columns, in_channels=inputs, out_channels=wide, kernel=3, kernel_width=3, stride=2
        )
        chain += [
            Operator(
                name=at,
                kind=Kind.CONVOLUTION,
                shape=shape,
                weight_tensors=1,
                input_gradient=number > 0,
                stashed=False,  # bias and ReLU work in place, and backward reads what ReLU has left
            ),
            vector_operators.bias(f"{at}-bias", shape.outputs, wide),
            vector_operators.activation(f"{at}-relu", shape.outputs, "relu"),
        ]
    rows, columns = frames[1], mels[1]
    chain += [
        *affine("front.dense", rows, columns * wide, wide),
        vector_operators.dropout("front.dropout", rows * wide),
    ]
    return LayerUnit(name="front", group="front", checkpoint=True, operators=tuple(chain))


def _block(size: Conformer | Transducer, number: int) -> LayerUnit:
    at, rows = f"block{number}", subsample(size.frames)[1]
    attention = _attention(f"{at}.attention", size, rows)
    if size.kernel is None:
        operators = (*attention, *_feed_forward(f"{at}.ffn", size, rows))
    else:
        operators = (
            *_feed_forward(f"{at}.ffn1", size, rows, half=True),
            *attention,
            *_convolution(f"{at}.convolution", size, rows, size.kernel),
            *_feed_forward(f"{at}.ffn2", size, rows, half=True),
            vector_operators.layer_norm(f"{at}.norm", rows * size.hidden, size.hidden),
        )
    return LayerUnit(name=at, group="block", checkpoint=True, operators=operators)


def _feed_forward(at: str, size: Conformer | Transducer, rows: int, *, half: bool = False) -> tuple[Operator, ...]:
    """A feed-forward network; in a conformer half of its result is added."""
    hidden, wide = size.hidden, size.feed_forward
    residual_shape = Stream(elements=rows * hidden, operations=HALF, back_operations=HALF)
    return (
        vector_operators.layer_norm(f"{at}.norm", rows * hidden, hidden),
        *affine(f"{at}.up", rows, hidden, wide),
        vector_operators.activation(f"{at}.swish", rows * wide, "swish"),
        vector_operators.dropout(f"{at}.inner-dropout", rows * wide),
        *affine(f"{at}.down", rows, wide, hidden),
        vector_operators.dropout(f"{at}.dropout", rows * hidden),
        Operator(name=f"{at}.half-residual", kind=Kind.ELEMENTWISE, shape=residual_shape, stashed=False)
        if half
        else vector_operators.residual(f"{at}.residual", rows * hidden),
    )


def _attention(at: str, size: Conformer | Transducer, rows: int) -> tuple[Operator, ...]:
    """Scores are those of the keys and of the positions; the product of the positions is taken anew for each row."""
    hidden, heads, width = size.hidden, size.heads, size.hidden // size.heads
    elements, scores = rows * hidden, heads * rows * rows
    keys = Matmul(groups=heads, m=rows, k=width, n=rows, weights=False)
    values = Matmul(groups=heads, m=rows, k=rows, n=width, weights=False)
    return (
        vector_operators.layer_norm(f"{at}.norm", elements, hidden),
        *affine(f"{at}.qkv", rows, hidden, 3 * hidden),
        dense(f"{at}.positions", rows, hidden, hidden),
        vector_operators.bias(f"{at}.key-bias", elements, hidden),
        vector_operators.bias(f"{at}.position-bias", elements, hidden),
        Operator(name=f"{at}.scores", kind=Kind.MATMUL, shape=keys),
        Operator(name=f"{at}.position-scores", kind=Kind.MATMUL, shape=keys),
        vector_operators.residual(f"{at}.both-scores", scores),
        vector_operators.scale_and_mask(f"{at}.scale-and-mask", scores),
        vector_operators.softmax(f"{at}.softmax", scores, rows, (keys, values)),
        vector_operators.dropout(f"{at}.softmax-dropout", scores, option="attention_dropout"),
        Operator(name=f"{at}.context", kind=Kind.MATMUL, shape=values),
        *affine(f"{at}.output", rows, hidden, hidden),
        vector_operators.dropout(f"{at}.dropout", elements),
        vector_operators.residual(f"{at}.residual", elements),
    )


def _convolution(at: str, size: Conformer | Transducer, rows: int, kernel: int) -> tuple[Operator, ...]:
    """Pointwise to twice the width, of which one half gates the other, one channel at a time along, pointwise."""
    hidden, elements = size.hidden, rows * size.hidden
    along = Conv(
        size=1,
        width=rows,
        in_channels=hidden,
        out_channels=hidden,
        kernel=1,
        kernel_width=kernel,
        channel_groups=hidden,
    )
    return (
        vector_operators.layer_norm(f"{at}.norm", elements, hidden),
        *affine(f"{at}.pointwise1", rows, hidden, 2 * hidden),
        vector_operators.gate_operator(f"{at}.gate", elements),
        Operator(name=f"{at}.depthwise", kind=Kind.CONVOLUTION, shape=along, weight_tensors=1),
        vector_operators.bias(f"{at}.depthwise-bias", elements, hidden),
        vector_operators.batch_norm(f"{at}.batch-norm", elements, hidden),
        vector_operators.activation(f"{at}.swish", elements, "swish"),
        *affine(f"{at}.pointwise2", rows, hidden, hidden),
        vector_operators.dropout(f"{at}.dropout", elements),
        vector_operators.residual(f"{at}.residual", elements),
    )


def _head(size: Conformer) -> LayerUnit:
    rows = subsample(size.frames)[1]
    return LayerUnit(
        name="head",
        group="head",
        checkpoint=False,
        operators=(
            vector_operators.layer_norm("head.norm", rows * size.hidden, size.hidden),
            *affine("head.dense", rows, size.hidden, size.vocabulary),
            vector_operators.loss("head.loss", rows * size.vocabulary, size.vocabulary),
            recurrent.trellis("head.alignments", rows, 2 * size.tokens + 1),
        ),
    )
