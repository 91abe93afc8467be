"""A transformers config.json as a workload file: its model type says which family it is, its fields the sizes.

Source: huggingface-transformers for the names of fields and their defaults.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError
from podsim.files import inputs, toml_text
from podsim.files.contents import text_of
from podsim.files.file_faults import fault_count, printable, value_text
from podsim.files.import_options import Options
from podsim.files.imports import ignored_fields, naming, other_transformers
from podsim.files.imports.config_fields import USUAL, Config, Importable, Names, layers_of
from podsim.model.limits import LAYERS

CODE: Final = "bad-config-file"
MASKED_SHARE: Final = 0.15  # of the tokens of a row, which a config does not state (devlin-2018)


def workload_text(path: Path, options: Options) -> str:
    """The text of a workload file for a config; InputError with all that is missing or contradicts itself."""
    says = _read(path)
    kind = says.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise _unknown_family(path, kind, says)
    if options.shapes:
        raise InputError("--shape is for ONNX files; a config has sizes", code="bad-change", hint="--sequence 2048")
    config = Config(says, options)
    family, sizes, row = FAMILIES[kind](config)
    refusals = *ignored_fields.unsupported_fields(says, kind), *ignored_fields.mistyped_fields(says)
    wrong = [*config.wrong, *refusals, *_contradictions(sizes, faulty=bool(config.wrong))]
    if wrong:
        raise InputError(
            f"{printable(path.name)} has {fault_count(len(wrong))}",
            code=CODE,
            context=[printable(line) for line in wrong],
        )
    config.notes += ignored_fields.notes(says, config.read, sizes)
    title = says.get("_name_or_path")
    title = title if isinstance(title, str) and title.strip() else _stem(path, kind)
    tables = {
        "name": naming.name(title.rpartition("/")[2]),
        "title": f"{printable(title)[:60]} ({kind})",
        **({"notes": config.notes} if config.notes else {}),
        "sample": SAMPLES.get(kind, "sequence"),
        "row": row,
        "kind": "derived",
        "note": f"read from {printable(path.name)}",
        family: sizes,
    }
    return toml_text.workload_text(tables, naming.written_by(path))


def _read(path: Path) -> Mapping[str, Any]:
    text = text_of(path, CODE)
    inputs.read("config", path.name, text)
    try:
        result = json.loads(text)
    except RecursionError:
        raise InputError(f"{path.name} nests too deep", code=CODE) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name} is not JSON", code=CODE, context=[printable(str(error))]) from None
    except ValueError:
        raise InputError(f"{path.name} holds a number of thousands of digits", code=CODE) from None
    if not isinstance(result, dict):
        raise InputError(f"{path.name} is no config: it holds no object", code=CODE)
    return result


def _stem(path: Path, kind: str) -> str:
    """The name of the file; where it is called as all are, that of the folder it was named with, else its kind."""
    return (path.parent.name or f"{kind}-config") if path.stem == "config" else path.stem


def _unknown_family(path: Path, kind: object, says: Mapping[str, Any]) -> InputError:
    families = sorted(FAMILIES)
    if not isinstance(kind, str):
        name = printable(path.name)
        what = f"{name} has no model_type: not a config.json of transformers"
        if kind is not None:
            what = f"model_type of {name} must be a text, not {printable(ignored_fields.message(kind))}"
        return InputError(what, code=CODE, context=[f"known: {', '.join(families)}"])
    near = _nearest(kind, says)
    config = Config(says, Options())
    _, sizes, _ = FAMILIES[near](config)
    wrong = [
        *config.wrong,
        *ignored_fields.unsupported_fields(says, near),
        *_contradictions(sizes, faulty=bool(config.wrong)),
    ]
    lacks = [f"read as one, {printable(wrong[0])}"] if wrong else []
    as_one = "" if wrong else f'with "model_type": "{near}" it is read as one; or '
    return InputError(
        f"the architecture {printable(value_text(kind))} is not known",
        code="unknown-architecture",
        context=[f"the nearest family is {near}", *lacks, f"known: {', '.join(families)}"],
        hint=f"{as_one}state its operators as [[unit]] (docs/reference/formats.md)",
    )


def _nearest(kind: str, says: Mapping[str, Any]) -> str:
    """The family whose name is nearest, else the one whose fields it has."""
    near = get_close_matches(kind.casefold()[:60], FAMILIES, n=1, cutoff=0.6)
    if near:
        return near[0]
    fields = (
        ("patch_size", "vit"),
        ("ffn_dim", "gpt2"),
        ("num_key_value_heads", "llama"),
        ("rms_norm_eps", "llama"),
        ("n_embd", "gpt2"),
        ("rotary_pct", "gpt_neox"),
    )
    decoder = "CausalLM" in str(says.get("architectures"))
    return next((family for name, family in fields if name in says), "gpt_neox" if decoder else "bert")


def _contradictions(sizes: Mapping[str, Any], *, faulty: bool) -> Iterator[str]:
    """Sizes that no model can have together, in the words of the config; 1 may stand for one that is faulty."""
    heads, hidden, key_value_heads = sizes["heads"], sizes["hidden"], sizes.get("key_value_heads")
    if hidden % heads and not (faulty and hidden == 1):
        yield f"{heads} attention heads do not divide a hidden size of {hidden:,}"
    if key_value_heads and heads % key_value_heads and not (faulty and heads == 1):
        yield f"{key_value_heads} key-value heads do not divide {heads} attention heads"
    if "patch" in sizes and sizes["image"] % sizes["patch"] and not (faulty and sizes["image"] == 1):
        yield f"patches of {sizes['patch']} do not divide an image of {sizes['image']}"


def _encoder(
    config: Config, names: Names = USUAL, *, offset: int = 0, sentences: bool = True, segments: int = 2
) -> Importable:
    positions = config.size("max_position_embeddings", usual=512)
    sequence = config.sequence(max(1, positions - offset), bound=True)
    masked_tokens = math.ceil(MASKED_SHARE * sequence)
    config.notes.append(
        f"{masked_tokens} tokens of a row are masked, {100 * MASKED_SHARE:g} %: a config does not state it"
    )
    sizes = {
        **layers_of(config, names),
        "sequence": sequence,
        "vocabulary": config.size("vocab_size"),
        "positions": positions,
        "segments": config.size("type_vocab_size", usual=segments, least=0),
        "masked_tokens": masked_tokens,
        "dropout": config.share("hidden_dropout_prob", "dropout", usual=0.1) > 0,
        "tied": config.truth("tie_word_embeddings", True),
    }
    more = {} if sentences else {"sentences": 0}
    return "transformer", {**sizes, **more}, f"sequence of {sequence:,} tokens"


def _bert(config: Config) -> Importable:
    return _encoder(config)


def _roberta(config: Config) -> Importable:
    return _encoder(config, offset=2, sentences=False)  # two positions stand for padding


def _distilbert(config: Config) -> Importable:
    """BERT with names of its own and without segments and the sentence head (sanh-2019)."""
    return _encoder(config, ("n_layers", "dim", "n_heads", "hidden_dim"), sentences=False, segments=0)


def _gpt2(config: Config) -> Importable:
    positions = config.size("n_positions", "n_ctx", usual=1024)
    hidden, sequence = config.size("n_embd"), config.sequence(positions, bound=True)
    sizes = {
        "layers": config.size("n_layer", most=LAYERS.most),
        "hidden": hidden,
        "heads": config.size("n_head"),
        "feed_forward": config.size("n_inner", usual=4 * hidden),
        "sequence": sequence,
        "vocabulary": config.size("vocab_size"),
        "positions": positions,
        "head": "lm",
        "pre_norm": True,
        "dropout": config.share("resid_pdrop", usual=0.1) > 0,
        "tied": config.truth("tie_word_embeddings", True),
    }
    return "transformer", sizes, f"sequence of {sequence:,} tokens"


def _rotary(config: Config) -> tuple[dict[str, Any], str]:
    sequence = config.sequence(config.size("max_position_embeddings", usual=2048), bound=False)
    sizes = {
        "sequence": sequence,
        "vocabulary": config.size("vocab_size"),
        "positions": 0,
        "head": "lm",
        "pre_norm": True,
        "rotary": True,
        "tied": config.truth("tie_word_embeddings", False),
    }
    return sizes, f"sequence of {sequence:,} tokens"


def _gpt_neox(config: Config) -> Importable:
    sizes, row = _rotary(config)
    layers = layers_of(config)
    dropout = config.share("hidden_dropout", usual=0.0) > 0
    if config.truth("use_parallel_residual", True):
        config.notes.append("attention and feed-forward of a layer run one after the other here, not side by side")
    if not config.truth("attention_bias", True):
        config.wrong.append("attention_bias is false: a gpt_neox without it is not known")
    return "transformer", {**layers, **sizes, "dropout": dropout}, row


def _llama(config: Config, *, shared_heads: int = 0) -> Importable:
    sizes, row = _rotary(config)
    layers = layers_of(config)
    has_key_value_heads = "num_key_value_heads" in config.says  # null says as many as heads, nothing what the class has
    key_value_heads = config.size(
        "num_key_value_heads", usual=layers["heads"] if has_key_value_heads else shared_heads or layers["heads"]
    )
    width = config.size("head_dim", usual=max(1, layers["hidden"] // layers["heads"]))
    if config.says.get("head_dim") and width * layers["heads"] != layers["hidden"]:
        config.wrong.append(f"heads of {width} x {layers['heads']} are not the hidden size of {layers['hidden']:,}")
    for name in ("attention_bias", "mlp_bias"):
        if config.truth(name, False):
            config.wrong.append(f"{name} is true: a llama with it is not known")
    layer_features = {
        "key_value_heads": key_value_heads,
        "rms_norm": True,
        "gated": True,
        "biases": False,
        "dropout": False,
    }
    return "transformer", {**layers, **sizes, **layer_features}, row


def _mistral(config: Config) -> Importable:
    return _llama(config, shared_heads=8)


def _qwen2(config: Config) -> Importable:
    family, sizes, row = _llama(config, shared_heads=32)
    wide = sizes["hidden"] + 2 * sizes["key_value_heads"] * (sizes["hidden"] // sizes["heads"])
    config.notes.append(f"biases of queries, keys and values are left out: {sizes['layers'] * wide:,} parameters")
    return family, sizes, row


def _vit(config: Config) -> Importable:
    image, patch = config.size("image_size", usual=224), config.size("patch_size", usual=16)
    labels = config.says.get("id2label")
    classes = len(labels) if isinstance(labels, Mapping) and labels else config.size("num_labels", usual=1000)
    if config.size("num_channels", usual=3) != 3:
        config.wrong.append("num_channels: images of three colours alone are known")
    if config.request.sequence:
        config.wrong.append("a sequence is asked for, and images have none")
    if not config.truth("qkv_bias", True):
        config.wrong.append("qkv_bias is false: a vit without it is not known")
    sizes = {"image": image, "patch": patch, **layers_of(config), "classes": classes}
    return "vision_transformer", sizes, f"image of {image} x {image}"


FAMILIES: Final[Mapping[str, Callable[[Config], Importable]]] = {
    "bert": _bert,
    "distilbert": _distilbert,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
    "camembert": _roberta,
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
    "vit": _vit,
    **other_transformers.MODEL_TYPES,
}
"""What reads a config of each model type."""
SAMPLES: Final = {"vit": "image", "t5": "sequence pair", "whisper": "segment"}
"""What a row of the model types is that have no plain sequences."""
