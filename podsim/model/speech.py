"""Sizes of speech models as workload files state them."""

from dataclasses import dataclass, fields

from podsim.model.quantity import Count

LEAST_EDGE = 7  # of a spectrogram: two unpadded convolutions of 3 with stride 2 leave one


def _at_least(sizes: "Conformer | Transducer | RecurrentTransducer | DeepVoice", edge: int = 1) -> None:
    """Every size that is stated is at least one, an `edge` of the spectrogram more."""
    for field in fields(sizes):
        least, size = edge if field.name in ("frames", "mels") else 1, getattr(sizes, field.name)
        if size is not None and size < least:
            raise ValueError(f"{field.name}: must be at least {least}")


def _check(sizes: "Conformer | Transducer") -> None:
    _at_least(sizes, LEAST_EDGE)
    if sizes.hidden % sizes.heads:
        raise ValueError(f"heads: {sizes.heads} heads do not divide hidden = {sizes.hidden}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformer:
    """Blocks of convolution and attention over a spectrogram, and a head that aligns tokens with it (CTC)."""

    frames: Count
    mels: Count
    blocks: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    kernel: Count
    vocabulary: Count
    tokens: Count

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transducer:
    """Blocks of an encoder, a recurrent predictor of tokens, and a joint network over both (RNN-T loss).

    Blocks are a conformer's where a kernel is stated, else those of a transformer: attention, feed-forward network.
    """

    frames: Count
    mels: Count
    blocks: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    kernel: Count | None = None
    vocabulary: Count
    tokens: Count
    predictor_hidden: Count
    predictor_layers: Count
    joint: Count

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrentTransducer:
    """Recurrent layers over frames, fewer after some of them, a recurrent predictor, and a joint network (RNN-T)."""

    frames: Count
    features: Count
    layers_before: Count
    layers_after: Count
    reduction: Count
    hidden: Count
    vocabulary: Count
    tokens: Count
    predictor_hidden: Count
    predictor_layers: Count
    joint: Count

    def __post_init__(self) -> None:
        _at_least(self)
        if self.reduction > self.frames:
            raise ValueError(f"reduction: {self.reduction} frames are made one of {self.frames}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepVoice:
    """Text to speech by gated convolutions: encoder of characters, decoder with attention, converter."""

    characters: Count
    text: Count
    steps: Count
    reduction: Count
    mels: Count
    bins: Count
    kernel: Count
    embedding: Count
    encoder_layers: Count
    encoder_channels: Count
    prenet: Count
    decoder_layers: Count
    decoder_channels: Count
    attention: Count
    converter_layers: Count
    converter_channels: Count

    def __post_init__(self) -> None:
        _at_least(self)
        if self.decoder_channels % self.reduction:
            raise ValueError(f"reduction: {self.reduction} does not divide decoder_channels = {self.decoder_channels}")
