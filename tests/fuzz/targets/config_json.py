"""A transformers config.json; one that is accepted is written as a workload, read back and rarely trained."""

import json
from functools import cache

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.scratch import put, rarely

import podsim
from podsim.files import catalog
from podsim.files.imports import huggingface

SIZES = {
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "vocab_size": 1000,
    "max_position_embeddings": 128,
    "n_embd": 256,
    "n_layer": 4,
    "n_head": 4,
    "n_positions": 128,
    "n_inner": 512,
    "num_key_value_heads": 2,
    "num_kv_heads": 1,
    "tie_word_embeddings": True,
    "hidden_act": "gelu",
    "d_model": 256,
    "ffn_dim": 512,
    "word_embed_proj_dim": 256,
    "image_size": 224,
    "patch_size": 16,
    "num_channels": 3,
    "alibi": False,
    "multi_query": True,
    "parallel_attn": True,
    "new_decoder_architecture": False,
    "head_dim": 64,
    "d_kv": 64,
    "d_ff": 512,
    "num_layers": 4,
    "num_heads": 4,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 512,
    "decoder_ffn_dim": 512,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "rotary_dim": 32,
    "rotary_pct": 0.25,
    "_name_or_path": "my/model",
    "type_vocab_size": 2,
    "torch_dtype": "float16",
}


@cache
def seeds() -> tuple[dict[str, object], ...]:
    """One config of every model type."""
    return tuple({"model_type": kind, **SIZES} for kind in huggingface.FAMILIES)


def one_input(data: bytes) -> str:
    """One config with a few changes."""
    draw = Choices(data)
    config: object = draw.of(seeds())
    for _ in range(draw.some(3)):
        config = mutate.json_value(config, draw, mutate.JSON_STRANGE)
    text = json.dumps(config)
    raw = mutate.damaged(text.encode(), draw) if draw.chance(5) else text.encode()
    path = put("config.json", raw)

    def ask() -> object:
        workload = catalog.workload(str(path)).value
        podsim.import_model(str(path))
        if rarely(draw) and rarely(draw):
            podsim.predict(
                str(path),
                pod=4,
                engine="analytic",
                replicas=4,
                ipus_per_replica=1,
                micro_batch=1,
                accumulation=8,
                samples=1e6,
            )
        return workload.parameters

    return judged(ask)
