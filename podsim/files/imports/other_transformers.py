"""A config.json of GPT-J, T5, Whisper or DeBERTa as the sizes of their family.

Source: huggingface-transformers for the names of fields and their defaults (GPTJConfig, T5Config, WhisperConfig,
DebertaConfig, DebertaV2Config).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from podsim.files.imports import ignored_fields
from podsim.files.imports.config_fields import Config, Importable, layers_of
from podsim.model.limits import LAYERS

FRAMES_PER_POSITION: Final = 2  # of a spectrogram, by the stride of the second convolution (radford-2022)
USUAL_TOKENS: Final = 512  # of each side of T5, whose distances have no end (raffel-2020, section 3.1.2)
SHARED_FROM: Final = 2048  # width of the smallest T5 whose PopXL program is published (graphcore-examples, nlp/t5)
BOTH: Final = frozenset(("c2p", "p2c"))  # scores of content with positions, and of positions with content


def _gptj(config: Config) -> Importable:
    """A decoder whose halves stand side by side, without biases in attention (wang-2021)."""
    positions = config.size("n_positions", usual=2048)
    hidden, heads, sequence = config.size("n_embd"), config.size("n_head"), config.sequence(positions, bound=True)
    sizes = {
        "layers": config.size("n_layer", most=LAYERS.most),
        "hidden": hidden,
        "heads": heads,
        "feed_forward": config.size("n_inner", usual=4 * hidden),
        "sequence": sequence,
        "vocabulary": config.size("vocab_size"),
        "positions": 0,
        "head": "lm",
        "pre_norm": True,
        "parallel": True,
        "rotary": True,
        "rotary_width": _rotating(config, hidden // heads),
        "attention_biases": False,
        "head_bias": True,
        "dropout": config.share("resid_pdrop", usual=0.0) > 0,
        "tied": config.truth("tie_word_embeddings", False),
    }
    return "transformer", sizes, f"sequence of {sequence:,} tokens"


def _rotating(config: Config, width: int) -> int:
    """Elements of each head that rotate."""
    rotary = config.size("rotary_dim", usual=max(1, width))
    if rotary > width and not config.wrong:
        config.wrong.append(f"rotary_dim is {rotary:,}; a head has {width:,} elements")
    return max(1, min(rotary, width))


def _t5(config: Config) -> Importable:
    """An encoder and a decoder with distances instead of positions, gated or not (raffel-2020)."""
    if not config.truth("is_encoder_decoder", True):
        config.wrong.append("is_encoder_decoder is false: a t5 without its decoder is not known")
    hidden, heads = config.size("d_model"), config.size("num_heads")
    width = config.size("d_kv", usual=64)
    if width * heads != hidden and not config.wrong:
        config.wrong.append(f"heads of {width} x {heads} are not the width of {hidden:,} (d_kv, num_heads, d_model)")
    layers = config.size("num_layers", most=LAYERS.most)
    after = config.size("num_decoder_layers", usual=layers, most=LAYERS.most)
    tokens = config.sequence(config.size("n_positions", usual=USUAL_TOKENS), bound=False)
    has_shared_block = layers == after and hidden >= SHARED_FROM
    if has_shared_block:
        config.notes.append(
            "encoder and decoder run one shared block, as the published PopXL program: encoder layers compute "
            "attention to the encoder too, times 0"
        )
    sizes = {
        "encoder_layers": layers,
        "decoder_layers": after,
        "hidden": hidden,
        "heads": heads,
        "feed_forward": config.size("d_ff"),
        "encoder_tokens": tokens,
        "decoder_tokens": tokens,
        "vocabulary": config.size("vocab_size"),
        "position_buckets": config.size("relative_attention_num_buckets", usual=32),
        "rms_norm": True,
        "gated": _has_gates(config),
        "biases": False,
        "dropout": config.share("dropout_rate", usual=0.1) > 0,
        "tied": config.truth("tie_word_embeddings", True),
        "shared_block": has_shared_block,
    }
    return "encoder_decoder", sizes, f"{tokens:,} tokens in, {tokens:,} tokens out"


def _has_gates(config: Config) -> bool:
    """Whether the feed-forward half has gates: "gated-gelu" or "relu"."""
    name = "feed_forward_proj"
    config.read.add(name)
    projection = config.says.get(name, "relu")
    parts = projection.split("-") if isinstance(projection, str) else []
    if len(parts) not in (1, 2) or (len(parts) == 2 and parts[0] != "gated"):
        config.wrong.append(
            f'{name} is {ignored_fields.message(projection)}; "relu", "gelu", "gated-gelu" and such are known'
        )
        return False
    usual = ("gated", "gelu") if len(parts) == 2 else ("gelu",)
    if tuple(parts) != usual:
        config.notes.append(f'{name} is "{projection[:40]}", computed as {"swish" if len(parts) == 2 else "gelu"} here')
    return len(parts) == 2


def _whisper(config: Config) -> Importable:
    """A spectrogram through two convolutions, an encoder of it, and a decoder of tokens (radford-2022)."""
    frames = config.size("max_source_positions", usual=1500)
    positions = config.size("max_target_positions", usual=448)
    tokens = config.sequence(positions, bound=True)
    sizes = {
        "encoder_layers": config.size("encoder_layers", most=LAYERS.most),
        "decoder_layers": config.size("decoder_layers", most=LAYERS.most),
        "hidden": config.size("d_model"),
        "heads": _same(config, "encoder_attention_heads", "decoder_attention_heads"),
        "feed_forward": _same(config, "encoder_ffn_dim", "decoder_ffn_dim"),
        "encoder_tokens": frames,
        "decoder_tokens": tokens,
        "vocabulary": config.size("vocab_size"),
        "mels": config.size("num_mel_bins", usual=80),
        "encoder_positions": frames,
        "decoder_positions": positions,
        "dropout": config.share("dropout", usual=0.0) > 0,
        "tied": config.truth("tie_word_embeddings", True),
    }
    return "encoder_decoder", sizes, f"segment of {FRAMES_PER_POSITION * frames:,} frames, and {tokens:,} tokens"


def _same(config: Config, encoder: str, decoder: str) -> int:
    """A size that both sides must have alike."""
    same, other = config.size(encoder), config.size(decoder)
    if same != other and not config.wrong:
        config.wrong.append(f"{encoder} is {same:,} and {decoder} {other:,}: sides of different widths are not known")
    return same


def _deberta(config: Config, *, second: bool = False) -> Importable:
    """An encoder whose scores have a part of content and two of positions (he-2021), or its second version."""
    positions = config.size("max_position_embeddings", usual=512)
    sequence = config.sequence(positions, bound=True)
    _check_scores(config)
    farthest = _positive(config, "max_relative_positions") or positions
    buckets = _positive(config, "position_buckets") if second else 0
    sizes: dict[str, Any] = {
        **layers_of(config),
        "sequence": sequence,
        "vocabulary": config.size("vocab_size"),
        "positions": buckets or farthest,
    }
    if second:
        sizes["key_biases"] = True
        sizes["shared_products"] = config.truth("share_att_key", False)
        sizes["distance_norm"] = _has_distance_norm(config)
        if config.size("conv_kernel_size", usual=0, least=0):
            config.wrong.append("conv_kernel_size: a convolution beside the first layer is not known")
    _note_left_out(config, sizes)
    return "deberta", sizes, f"sequence of {sequence:,} tokens"


def _deberta_v2(config: Config) -> Importable:
    return _deberta(config, second=True)


def _check_scores(config: Config) -> None:
    """Note as wrong what is no DeBERTa with both kinds of scores of positions."""
    config.read.update(("relative_attention", "pos_att_type"))
    if config.says.get("relative_attention") is not True:
        config.wrong.append("relative_attention is not true: a deberta without it is not known")
    attention_types = config.says.get("pos_att_type")
    kinds = attention_types.split("|") if isinstance(attention_types, str) else attention_types
    names = {each.strip().casefold() for each in kinds if isinstance(each, str)} if isinstance(kinds, list) else set()
    if names != BOTH:
        config.wrong.append(f'pos_att_type is {ignored_fields.message(attention_types)}; "c2p|p2c" alone is known')


def _positive(config: Config, name: str) -> int:
    """A size that may be -1, which leaves it to another; 0 then."""
    config.read.add(name)
    return 0 if config.says.get(name) in (None, -1, 0) else config.size(name)


def _has_distance_norm(config: Config) -> bool:
    """Whether the table of distances is normed: "layer_norm" or "none"."""
    config.read.add("norm_rel_ebd")
    return "layer_norm" in str(config.says.get("norm_rel_ebd", "none"))


def _note_left_out(config: Config, sizes: Mapping[str, Any]) -> None:
    config.notes.append("trained to say begin and end of an answer, as on SQuAD: other heads are not known")
    if config.truth("position_biased_input", False):
        config.notes.append("position_biased_input is true; the table of absolute positions is left out")
    if config.size("type_vocab_size", usual=0, least=0):
        config.notes.append("type_vocab_size: the table of segments is left out")
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if config.share(name, usual=0.1) == 0 and sizes:
            config.notes.append(f"{name} is 0; dropout is computed here")


MODEL_TYPES: Final[Mapping[str, Callable[[Config], Importable]]] = {
    "gptj": _gptj,
    "t5": _t5,
    "whisper": _whisper,
    "deberta": _deberta,
    "deberta-v2": _deberta_v2,
}
"""What reads a config of each model type."""
