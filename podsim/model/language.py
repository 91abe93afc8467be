"""Sizes of transformers that are neither one encoder nor one decoder alone, and of those with relative positions."""

from dataclasses import dataclass

from podsim.model.quantity import Count, Whole


def _at_least_one(sizes: object, names: tuple[str, ...]) -> None:
    for name in names:
        if getattr(sizes, name) < 1:
            raise ValueError(f"{name}: must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoder:
    """An encoder of tokens or of a spectrogram, and a decoder that attends to what it leaves.

    Positions have tables of so many rows, or where they have none `position_buckets` of distances with a number for
    each head. A spectrogram of `mels` values a frame goes through two convolutions, the second with stride 2.
    """

    encoder_layers: Count
    decoder_layers: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    encoder_tokens: Count
    decoder_tokens: Count
    vocabulary: Count
    mels: Whole = 0
    encoder_positions: Whole = 0
    decoder_positions: Whole = 0
    position_buckets: Whole = 0
    rms_norm: bool = False
    gated: bool = False
    biases: bool = True
    dropout: bool = True
    tied: bool = True
    shared_block: bool = False

    def __post_init__(self) -> None:
        _at_least_one(
            self,
            (
                "encoder_layers",
                "decoder_layers",
                "hidden",
                "heads",
                "feed_forward",
                "encoder_tokens",
                "decoder_tokens",
                "vocabulary",
            ),
        )
        for name in ("mels", "encoder_positions", "decoder_positions", "position_buckets"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: must be at least 0")
        if self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads do not divide hidden = {self.hidden}")
        for tokens, positions in (("encoder_tokens", "encoder_positions"), ("decoder_tokens", "decoder_positions")):
            if 0 < getattr(self, positions) < getattr(self, tokens):
                raise ValueError(f"{positions}: must be at least {tokens} = {getattr(self, tokens)}, or 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deberta:
    """An encoder whose scores are those of content, of content with positions, and of positions with content.

    `positions` are the largest distance of two tokens to either side; the table of distances has twice as many rows.
    The second version (DebertaV2Config) has `key_biases`, norms that table, and may multiply distances by the weights
    of queries and keys (`shared_products`).
    """

    layers: Count
    hidden: Count
    heads: Count
    feed_forward: Count
    sequence: Count
    vocabulary: Count
    positions: Count
    key_biases: bool = False
    shared_products: bool = False
    distance_norm: bool = False

    def __post_init__(self) -> None:
        _at_least_one(self, ("layers", "hidden", "heads", "feed_forward", "sequence", "vocabulary", "positions"))
        if self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads do not divide hidden = {self.hidden}")

    @property
    def distances(self) -> int:
        """Rows of the table that a sequence needs."""
        return 2 * min(self.sequence, self.positions)
