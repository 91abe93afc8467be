"""An encoder and a decoder that attends to it, as a chain of units: T5 and Whisper.

Sources: raffel-2020 for relative positions without tables of their own, radford-2022 for the spectrogram's two
convolutions; graphcore-examples (nlp/t5/popxl) for one block that encoder and decoder share.
"""

from collections.abc import Iterator
from dataclasses import replace

from podsim.model.family import Head, Transformer
from podsim.model.language import EncoderDecoder
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Stream
from podsim.workloads import transformer, vector_operators
from podsim.workloads.vision_transformer import without_mask

KERNEL = 3  # of both convolutions over a spectrogram


def units(size: EncoderDecoder) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    encoder = (replace(unit, once=True, fixed_keys=False) for unit in _encoder(size))
    return (*encoder, *_decoder(size), _head(size))


def layers(size: EncoderDecoder, tokens: int) -> Transformer:
    """Layers of one side, their norm first."""
    return Transformer(
        layers=1,
        hidden=size.hidden,
        heads=size.heads,
        feed_forward=size.feed_forward,
        sequence=tokens,
        vocabulary=1,
        positions=1,
        head=Head.NONE,
        pre_norm=True,
        rms_norm=size.rms_norm,
        gated=size.gated,
        biases=size.biases,
        dropout=size.dropout,
    )


def _encoder(size: EncoderDecoder) -> Iterator[LayerUnit]:
    tokens = size.encoder_tokens
    yield _spectrogram(size) if size.mels else _tokens(size, "encoder.embedding", tokens, size.encoder_positions)
    side = layers(size, tokens)
    for layer in range(size.encoder_layers):
        yield _self_attention(size, side, f"encoder{layer}", causal=False)
        if size.shared_block:
            yield from (_unheld(unit) for unit in _cross(size, f"encoder{layer}", tokens, tokens))
        half = _rename(transformer.feed_forward(side, 0), f"encoder{layer}", size)
        last = layer == size.encoder_layers - 1
        yield (
            replace(half, operators=(*half.operators, _norm(size, f"{half.name}.last-norm", tokens))) if last else half
        )


def _decoder(size: EncoderDecoder) -> Iterator[LayerUnit]:
    tokens = size.decoder_tokens
    yield _tokens(size, "decoder.embedding", tokens, size.decoder_positions, tied=not size.mels)
    side = layers(size, tokens)
    for layer in range(size.decoder_layers):
        yield _self_attention(size, side, f"decoder{layer}", causal=True)
        yield from _cross(size, f"decoder{layer}", tokens, size.encoder_tokens)
        yield _rename(transformer.feed_forward(side, 0), f"decoder{layer}", size)


def _tokens(size: EncoderDecoder, name: str, tokens: int, positions: int, *, tied: bool = False) -> LayerUnit:
    """Words and positions; one table of words for both sides. Distances have numbers for each head instead."""
    elements = tokens * size.hidden
    word = Gather(table=size.vocabulary, width=size.hidden, lookups=tokens)
    operators = [
        Operator(
            name=f"{name}.word",
            kind=Kind.GATHER,
            shape=word,
            input_gradient=False,
            tied=tied,
            weight_tensors=0 if tied else 1,
        ),
    ]
    if positions:
        operators.append(_positions(f"{name}.position", positions, tokens, size.hidden))
        operators.append(vector_operators.residual(f"{name}.sum", elements))
    if size.position_buckets:
        operators.append(_positions(f"{name}.distances", size.position_buckets, 2 * tokens - 1, size.heads))
    if size.dropout:
        operators.append(vector_operators.dropout(f"{name}.dropout", elements))
    return LayerUnit(name=name, group="embedding", checkpoint=True, operators=tuple(_last(operators, elements)))


def _last(operators: list[Operator], elements: int) -> list[Operator]:
    """Words last, where nothing is done to them after, so that a unit ends with what goes on."""
    return operators if operators[-1].outputs == elements else [*operators[1:], operators[0]]


def _positions(name: str, table: int, lookups: int, width: int) -> Operator:
    shape = Gather(table=table, width=width, lookups=lookups)
    return Operator(name=name, kind=Kind.GATHER, shape=shape, input_gradient=False, weight_tensors=1)


def _spectrogram(size: EncoderDecoder) -> LayerUnit:
    """Two convolutions along the frames, the second with stride 2, and positions, each a weight."""
    wide, rows = size.hidden, size.encoder_tokens
    chain: list[Operator] = []
    for number, (inputs, stride) in enumerate(((size.mels, 1), (wide, 2))):
        at = f"encoder.front.conv{number}"
        shape = Conv(
            size=1, width=2 * rows, in_channels=inputs, out_channels=wide, kernel=1, kernel_width=KERNEL, stride=stride
        )
        chain += [
            Operator(name=at, kind=Kind.CONVOLUTION, shape=shape, weight_tensors=1, input_gradient=number > 0),
            vector_operators.bias(f"{at}-bias", shape.outputs, wide),
            vector_operators.activation(f"{at}-gelu", shape.outputs, "gelu"),
        ]
    chain.append(vector_operators.bias("encoder.front.position", rows * wide, rows * wide))
    return LayerUnit(name="encoder.front", group="embedding", checkpoint=True, operators=tuple(chain))


def _self_attention(size: EncoderDecoder, side: Transformer, name: str, *, causal: bool) -> LayerUnit:
    unit = transformer.attention(side, 0)
    return _rename(unit if causal else without_mask(unit), name, size)


def _rename(unit: LayerUnit, name: str, size: EncoderDecoder) -> LayerUnit:
    """A half of `layer0` as that of another layer; with numbers for distances, these are added to its scores."""
    layer_operators = (
        tuple(_with_distances(each) for each in unit.operators) if size.position_buckets else unit.operators
    )
    operators = tuple(replace(each, name=each.name.replace("layer0", name, 1)) for each in layer_operators)
    return replace(unit, name=unit.name.replace("layer0", name, 1), operators=operators)


def _with_distances(operator: Operator) -> Operator:
    """Scores are not scaled where distances are added; backward their gradient is added to that of the distances."""
    shape = operator.shape
    if not isinstance(shape, Stream) or "scale" not in shape.operations:
        return operator
    operations = ("add", *(operation for operation in shape.operations if operation != "scale"))
    return replace(operator, shape=replace(shape, operations=operations, back_operations=("add",)))


def _cross(size: EncoderDecoder, name: str, queries: int, keys: int) -> tuple[LayerUnit, LayerUnit]:
    """Keys and values of what the encoder left, and attention of the decoder's tokens to them."""
    hidden, heads, at = size.hidden, size.heads, f"{name}.cross"
    width, scores = hidden // heads, heads * queries * keys
    first = Matmul(groups=heads, m=queries, k=width, n=keys, weights=False)
    last = Matmul(groups=heads, m=queries, k=keys, n=width, weights=False)
    dropout = (vector_operators.dropout(f"{at}.dropout", queries * hidden),) if size.dropout else ()
    inner = (vector_operators.dropout(f"{at}.softmax-dropout", scores, "attention_dropout"),) if size.dropout else ()
    unit = LayerUnit(
        name=f"{at}-keys",
        group="attention",
        checkpoint=False,
        once=True,
        operators=_dense(size, f"{at}-keys.dense", keys, 2 * hidden),
    )
    attention = (
        _norm(size, f"{at}.norm", queries),
        *_dense(size, f"{at}.queries", queries, hidden),
        Operator(name=f"{at}.scores", kind=Kind.MATMUL, shape=first),
        *(() if size.position_buckets else (vector_operators.scale(f"{at}.scale", scores),)),
        vector_operators.softmax(f"{at}.softmax", scores, keys, (first, last)),
        *inner,
        Operator(name=f"{at}.context", kind=Kind.MATMUL, shape=last),
        *_dense(size, f"{at}.output", queries, hidden),
        *dropout,
        vector_operators.residual(f"{at}.residual", queries * hidden),
    )
    return unit, LayerUnit(name=at, group="attention", checkpoint=False, fixed_keys=True, operators=attention)


def _unheld(unit: LayerUnit) -> LayerUnit:
    """What encoder layers run of the shared block, times 0: weights that are no parameters of the model."""
    operators = (replace(operator, tied=True, weight_tensors=0) for operator in unit.operators)
    return replace(unit, operators=tuple(operators))


def _dense(size: EncoderDecoder, name: str, rows: int, outputs: int) -> tuple[Operator, ...]:
    product = transformer.dense(name, rows, size.hidden, outputs)
    return (product, vector_operators.bias(f"{name}-bias", rows * outputs, outputs)) if size.biases else (product,)


def _norm(size: EncoderDecoder, name: str, tokens: int) -> Operator:
    return (vector_operators.rms_norm if size.rms_norm else vector_operators.layer_norm)(
        name, tokens * size.hidden, size.hidden
    )


def _head(size: EncoderDecoder) -> LayerUnit:
    """The next token, at every token of the decoder."""
    tokens, scores = size.decoder_tokens, size.decoder_tokens * size.vocabulary
    operators = (
        _norm(size, "heads.norm", tokens),
        transformer.dense("heads.projection", tokens, size.hidden, size.vocabulary, tied=size.tied),
        vector_operators.loss("heads.loss", scores, size.vocabulary),
    )
    return LayerUnit(name="heads", group="heads", checkpoint=False, operators=operators)
