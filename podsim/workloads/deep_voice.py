"""Deep Voice 3 as a chain of units: character encoder, decoder blocks with attention, converter blocks.

Source: ping-2018.
"""

from collections.abc import Iterator

from podsim.model.speech import DeepVoice
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Stream
from podsim.workloads import vector_operators
from podsim.workloads.conformer import affine


def units(size: DeepVoice) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return (*_encoder(size), *_decoder(size), *_converter(size))


def _gated_block(at: str, rows: int, channels: int, kernel: int) -> tuple[Operator, ...]:
    """Dropout, a convolution along to twice the channels, of which one half gates the other, and the input added."""
    along = Conv(size=1, width=rows, in_channels=channels, out_channels=2 * channels, kernel=1, kernel_width=kernel)
    return (
        vector_operators.dropout(f"{at}.dropout", rows * channels),
        Operator(name=f"{at}.conv", kind=Kind.CONVOLUTION, shape=along, weight_tensors=1),
        vector_operators.bias(f"{at}.conv-bias", along.outputs, 2 * channels),
        vector_operators.gate_operator(f"{at}.gate", rows * channels),
        vector_operators.residual(f"{at}.residual", rows * channels),
    )


def _unit(group: str, name: str, operators: tuple[Operator, ...]) -> LayerUnit:
    return LayerUnit(name=name, group=group, checkpoint=True, operators=operators)


def _encoder(size: DeepVoice) -> Iterator[LayerUnit]:
    rows, wide = size.text, size.encoder_channels
    table = Gather(table=size.characters, width=size.embedding, lookups=rows)
    yield _unit(
        "encoder",
        "encoder.in",
        (
            Operator(name="encoder.in.table", kind=Kind.GATHER, shape=table, input_gradient=False, weight_tensors=1),
            *affine("encoder.in.dense", rows, size.embedding, wide),
        ),
    )
    for layer in range(size.encoder_layers):
        at = f"encoder{layer}"
        yield _unit("encoder", at, _gated_block(at, rows, wide, size.kernel))
    yield _unit(
        "encoder",
        "encoder.out",
        (
            *affine("encoder.out.keys", rows, wide, size.embedding),
            vector_operators.residual("encoder.out.values", rows * size.embedding),
        ),
    )


def _decoder(size: DeepVoice) -> Iterator[LayerUnit]:
    """Frames go in and come out `reduction` at a time."""
    rows, wide, frames = size.steps, size.decoder_channels, size.reduction * size.mels
    yield _unit(
        "decoder",
        "decoder.in",
        (
            *affine("decoder.in.prenet0", rows, frames, size.prenet),
            vector_operators.activation("decoder.in.prenet0-relu", rows * size.prenet, "relu"),
            *affine("decoder.in.prenet1", rows, size.prenet, wide),
            vector_operators.activation("decoder.in.prenet1-relu", rows * wide, "relu"),
        ),
    )
    for layer in range(size.decoder_layers):
        at = f"decoder{layer}"
        yield _unit("decoder", at, (*_gated_block(at, rows, wide, size.kernel), *_attention(at, size)))
    yield _unit(
        "decoder",
        "decoder.out",
        (
            *affine("decoder.out.frames", rows, wide, frames),
            *affine("decoder.out.done", rows, wide, 1),
            _distance("decoder.out.loss", rows * frames),
        ),
    )


def _attention(at: str, size: DeepVoice) -> tuple[Operator, ...]:
    """One head: steps of the decoder look at characters."""
    rows, text, wide, inner = size.steps, size.text, size.decoder_channels, size.attention
    keys = Matmul(m=rows, k=inner, n=text, weights=False)
    values = Matmul(m=rows, k=text, n=inner, weights=False)
    return (
        *affine(f"{at}.query", rows, wide, inner),
        *affine(f"{at}.keys", text, size.embedding, inner),
        *affine(f"{at}.values", text, size.embedding, inner),
        Operator(name=f"{at}.scores", kind=Kind.MATMUL, shape=keys),
        vector_operators.softmax(f"{at}.softmax", rows * text, text, (keys, values)),
        Operator(name=f"{at}.context", kind=Kind.MATMUL, shape=values),
        *affine(f"{at}.output", rows, inner, wide),
        vector_operators.residual(f"{at}.attended", rows * wide),
    )


def _converter(size: DeepVoice) -> Iterator[LayerUnit]:
    rows, wide = size.steps * size.reduction, size.converter_channels
    yield _unit(
        "converter", "converter.in", affine("converter.in.dense", rows, size.decoder_channels // size.reduction, wide)
    )
    for layer in range(size.converter_layers):
        at = f"converter{layer}"
        yield _unit("converter", at, _gated_block(at, rows, wide, size.kernel))
    yield _unit(
        "converter",
        "converter.out",
        (
            *affine("converter.out.dense", rows, wide, size.bins),
            _distance("converter.out.loss", rows * size.bins),
        ),
    )


def _distance(name: str, elements: int) -> Operator:
    """The mean of absolute differences, and their signs."""
    shape = Stream(elements=elements, operations=("subtract",), back_operations=("compare",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)
