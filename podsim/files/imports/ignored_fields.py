"""What a config says that is not read: fields that change nothing, those that would, and those unknown to podsim.

Source: huggingface-transformers for the names of fields and what they do.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final

from podsim.files.file_faults import printable, value_text

Says = Mapping[str, Any]
PLAIN: Final = frozenset(
    (
        "_name_or_path",
        "model_type",
        "architectures",
        "transformers_version",
        "torch_dtype",
        "dtype",
        "auto_map",
        "use_cache",
        "bos_token_id",
        "eos_token_id",
        "pad_token_id",
        "sep_token_id",
        "cls_token_id",
        "mask_token_id",
        "unk_token_id",
        "decoder_start_token_id",
        "initializer_range",
        "initializer_factor",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "layernorm_epsilon",
        "rms_norm_eps",
        "eps",
        "id2label",
        "label2id",
        "num_labels",
        "problem_type",
        "finetuning_task",
        "task_specific_params",
        "gradient_checkpointing",
        "output_attentions",
        "output_hidden_states",
        "output_past",
        "return_dict",
        "torchscript",
        "rope_theta",
        "rope_scaling",
        "rope_parameters",
        "rotary_emb_base",
        "classifier_dropout",
        "classifier_dropout_prob",
        "seq_classif_dropout",
        "qa_dropout",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "embd_pdrop",
        "scale_attn_weights",
        "scale_attn_by_inverse_layer_idx",
        "reorder_and_upcast_attn",
        "pretraining_tp",
        "encoder_stride",
        "n_ctx",
        "directionality",
        "pooler_fc_size",
        "pooler_num_attention_heads",
        "pooler_num_fc_layers",
        "pooler_size_per_head",
        "pooler_type",
        "max_window_layers",
        "attn_implementation",
        "_attn_implementation",
        "chunk_size_feed_forward",
        "sinusoidal_pos_embds",
        "tie_weights_",
        "mlp_bias",
        "attention_bias",
        "head_dim",
        "rotary",
        "tokenizer_class",
        "relative_attention_max_distance",
        "scale_embedding",
        "init_std",
        "legacy",
        "begin_suppress_tokens",
        "suppress_tokens",
        "forced_decoder_ids",
        "max_length",
        "median_filter_width",
        "apply_spec_augment",
        "mask_time_prob",
        "mask_time_length",
        "mask_time_min_masks",
        "mask_feature_prob",
        "mask_feature_length",
        "mask_feature_min_masks",
        "classifier_proj_size",
        "use_weighted_layer_sum",
        "pooler_dropout",
        "pooler_hidden_act",
        "pooler_hidden_size",
        "dense_act_fn",
        "is_gated_act",
        "use_sliding_window",
        "layer_types",
        "max_position_embeddings",
        "tie_word_embeddings",
    )
)
"""Fields that change nothing of what is computed, or only values, or how a head for another task looks."""
HEADS: Final = (
    "PreTraining",
    "MaskedLM",
    "LMHeadModel",
    "CausalLM",
    "ForImageClassification",
    "ForConditionalGeneration",
)
ACTIVATIONS: Final = ("hidden_act", "activation_function", "activation", "hidden_activation")
ROTARY_SHARES: Final = ("rotary_pct", "partial_rotary_factor")
DROPOUTS: Final = ("attention_dropout", "attention_probs_dropout_prob", "attn_pdrop")
EXPERTS: Final = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
ENCODERS: Final = ("is_encoder_decoder", "add_cross_attention")
WITH_ENCODER: Final = ("t5", "whisper")
OBJECTS: Final = ("rope_scaling", "rope_parameters")
SEVERAL: Final = ("text_config", "vision_config")
UNSUPPORTED_FIELDS: Final = frozenset((*EXPERTS, *ENCODERS, *SEVERAL, "pruned_heads", "position_embedding_type"))


def unsupported_fields(says: Says, model_type: str) -> Iterator[str]:
    """What the family of a model type does not have, in the words of the config."""
    for name in EXPERTS:  # many times the weights of the family that they are named after
        if says.get(name) not in (None, 0, 1):
            yield f"{name} is {message(says[name])}: layers of experts are not known"
    for name in ENCODERS:
        if says.get(name) and model_type not in WITH_ENCODER:
            yield f"{name} is {message(says[name])}: attention to an encoder is not known"
    if says.get("pruned_heads"):
        yield "pruned_heads: layers of different numbers of heads are not known"
    if says.get("position_embedding_type") not in (None, "absolute"):
        yield (
            f"position_embedding_type is {message(says['position_embedding_type'])}: absolute positions alone are known"
        )
    for name in SEVERAL:
        if says.get(name):
            yield f"{name}: a model of several models is not known"


def mistyped_fields(says: Says) -> Iterator[str]:
    """Fields that change nothing, and are of no type that transformers writes."""
    for name in OBJECTS:
        if not isinstance(says.get(name) or {}, Mapping):
            yield f"{name} must be an object or null, not {message(says[name])}"
    heads = says.get("architectures")
    if heads is not None and not isinstance(heads, list):
        yield f"architectures must be a list of names, not {message(heads)}"
    elif strange := [head for head in heads or () if not isinstance(head, str)]:
        yield f"architectures must be a list of names: {message(strange[0])} is none"


def notes(says: Says, read: Container[str], sizes: Mapping[str, Any]) -> Iterator[str]:
    """What is said and not followed, of a config whose sizes are known; `read` are the fields that made them."""
    for names, note in NOTES:
        for name in names:
            if says.get(name) is not None and (text := note(name, says, sizes)):
                yield text
    expected_fields = {name for names, _ in NOTES for name in names} | PLAIN
    strange = sorted(name for name, value in says.items() if name not in expected_fields and name not in read and value)
    strange = [name for name in strange if not name.startswith("_") and name not in UNSUPPORTED_FIELDS]
    if strange:
        more = f" and {len(strange) - 8} more" if len(strange) > 8 else ""
        yield f"fields that are not read: {', '.join(printable(name[:40]) for name in strange[:8])}{more}"


def message(value: object) -> str:
    """A value of a config as a message quotes it."""
    return value_text(value) if isinstance(value, str | int | float | list | Mapping) else "null"


def _window(name: str, says: Says, sizes: Mapping[str, Any]) -> str:
    window = says[name]
    if says.get("use_sliding_window") is False or not isinstance(window, int) or window >= sizes.get("sequence", 0):
        return ""
    return f"attention is computed in full, not within its sliding window of {window:,} tokens"


def _activation(name: str, says: Says, sizes: Mapping[str, Any]) -> str:
    usual = ("silu", "swish") if sizes.get("gated") else ("gelu", "quick_gelu", "fast_gelu")
    if not isinstance(says[name], str) or says[name].startswith(usual):
        return ""
    return f"{name} is {message(says[name])}, computed as {usual[0]} here"


def _of_rotation(name: str, says: Says, sizes: Mapping[str, Any]) -> str:
    if not sizes.get("rotary") or not isinstance(says[name], int | float) or says[name] >= 1:
        return ""
    return f"{name} is {message(says[name])}; here all of each head rotates"


def _of_dropout(name: str, says: Says, sizes: Mapping[str, Any]) -> str:
    has_dropout = bool(says[name])
    if "dropout" not in sizes or has_dropout == sizes["dropout"]:
        return ""
    which = "left out" if has_dropout else "computed"
    return f"{name} is {message(says[name])}; dropout inside attention is {which}, as that of the layer is"


def _of_quantization(name: str, _says: Says, _sizes: Mapping[str, Any]) -> str:
    return f"{name} is not followed: weights have the precision of the workload (podsim workload show)"


def _decoder(name: str, says: Says, sizes: Mapping[str, Any]) -> str:
    is_masked = says[name] and "masked_tokens" in sizes
    return f"{name} is true; here it is trained on masked tokens, not on the next one" if is_masked else ""


def _heads(_name: str, says: Says, _sizes: Mapping[str, Any]) -> str:
    architectures = says["architectures"]
    first = (
        architectures[0]
        if isinstance(architectures, list) and architectures and isinstance(architectures[0], str)
        else ""
    )
    if not first or first.endswith(HEADS):
        return ""
    return f"{printable(first[:60])} is read with the heads that it is trained with from nothing"


NOTES: Final[tuple[tuple[tuple[str, ...], Callable[[str, Says, Mapping[str, Any]], str]], ...]] = (
    (("architectures",), _heads),
    (("sliding_window",), _window),
    (ACTIVATIONS, _activation),
    (ROTARY_SHARES, _of_rotation),
    (DROPOUTS, _of_dropout),
    (("quantization_config",), _of_quantization),
    (("is_decoder",), _decoder),
)
"""Fields that would change what is computed, and what to say of each."""
