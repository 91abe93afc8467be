"""GPT-J, T5, Whisper and DeBERTa as config.json: the same network as shipped, and faults in the words of the config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import InputError, PodsimError
from podsim.files import catalog
from podsim.files.import_options import Options
from podsim.files.imports import other_transformers
from podsim.files.imports.config_fields import Config

LENGTH = {"samples": 1e9, "engine": "analytic"}
T5 = {
    "model_type": "t5",
    "d_kv": 64,
    "num_layers": 24,
    "num_decoder_layers": 24,
    "vocab_size": 32128,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
    "is_encoder_decoder": True,
    "dropout_rate": 0.1,
    "relative_attention_num_buckets": 32,
    "n_positions": 512,
    "architectures": ["T5ForConditionalGeneration"],
}
WHISPER = {
    "model_type": "whisper",
    "vocab_size": 51865,
    "num_mel_bins": 80,
    "max_source_positions": 1500,
    "max_target_positions": 448,
    "is_encoder_decoder": True,
    "dropout": 0.0,
}
DEBERTA = {
    "model_type": "deberta",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "vocab_size": 50265,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "max_relative_positions": -1,
    "position_biased_input": False,
    "type_vocab_size": 0,
}
DEBERTA_V3 = {
    **DEBERTA,
    "model_type": "deberta-v2",
    "vocab_size": 128100,
    "position_buckets": 256,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "pos_att_type": ["p2c", "c2p"],
}
GPTJ = {
    "model_type": "gptj",
    "n_embd": 4096,
    "n_layer": 28,
    "n_head": 16,
    "n_inner": None,
    "n_positions": 2048,
    "rotary_dim": 64,
    "vocab_size": 50400,
    "tie_word_embeddings": False,
    "resid_pdrop": 0.0,
}


def whisper(layers: int, width: int) -> dict[str, Any]:
    return {
        **WHISPER,
        "d_model": width,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "encoder_attention_heads": width // 64,
        "decoder_attention_heads": width // 64,
        "encoder_ffn_dim": 4 * width,
        "decoder_ffn_dim": 4 * width,
    }


CONFIGS: dict[str, dict[str, Any]] = {
    "gpt-j-6b": GPTJ,
    "flan-t5-xl": {**T5, "d_model": 2048, "d_ff": 5120, "num_heads": 32},
    "flan-t5-xxl": {**T5, "d_model": 4096, "d_ff": 10240, "num_heads": 64},
    "whisper-tiny": whisper(4, 384),
    "whisper-base": whisper(6, 512),
    "whisper-small": whisper(12, 768),
    "deberta-base": DEBERTA,
}
READ = {"gpt-j-6b": {"import.sequence": "1024"}, "deberta-base": {"import.sequence": "384"}}


def written(folder: Path, name: str, config: dict[str, Any]) -> str:
    path = folder / f"own-{name}.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", CONFIGS)
def test_an_import_has_the_parameters_and_units_of_the_shipped_network(name: str, tmp_path: Path) -> None:
    workload = catalog.workload(name).value
    other = catalog.workload(written(tmp_path, name, CONFIGS[name]), READ.get(name, {})).value
    assert other.parameters == workload.parameters
    assert other.units == workload.units
    assert (other.sample, other.optimizer) == (workload.sample, workload.optimizer)


def test_a_t5_narrower_than_its_published_programs_shares_no_block(tmp_path: Path) -> None:
    """T5-base: 222.9 M parameters with one table (raffel-2020: 220 M)."""
    base = {
        **T5,
        "d_model": 768,
        "d_ff": 3072,
        "num_heads": 12,
        "num_layers": 12,
        "num_decoder_layers": 12,
        "feed_forward_proj": "relu",
        "tie_word_embeddings": True,
    }
    workload = catalog.workload(written(tmp_path, "t5-base", base)).value
    assert workload.parameters == pytest.approx(222.9e6, rel=0.005)
    assert not any("shared block" in note for note in map(str, workload.notes))
    assert not any("cross" in unit.name for unit in workload.units if unit.name.startswith("encoder"))


@pytest.mark.parametrize("name", slow_but(["whisper-tiny"], CONFIGS))
def test_training_is_that_of_the_shipped_network(name: str, tmp_path: Path) -> None:
    flags: dict[str, Any] = {"pod": 16, **LENGTH}
    prediction = podsim.predict(name, **flags)
    other = podsim.predict(written(tmp_path, name, CONFIGS[name]), changes=READ.get(name, {}), **flags)
    assert other.throughput_samples_per_s.value == pytest.approx(prediction.throughput_samples_per_s.value, rel=0.05)
    for part in ("replicas", "ipus_per_replica", "micro_batch", "schedule", "recompute", "state"):
        assert getattr(other.mapping, part) == getattr(prediction.mapping, part), part
    for part in ("name", "moment_bytes", "merged_collectives", "state_sharded", "tensor_shards"):
        assert getattr(other.mapping.configuration, part) == getattr(prediction.mapping.configuration, part), part
    assert other.optimizer == prediction.optimizer


def test_parameters_of_the_second_version_of_deberta_are_those_published(tmp_path: Path) -> None:
    """deberta-v3-base: 184 M on its card, 86 M of them in its layers."""
    workload = catalog.workload(written(tmp_path, "v3", DEBERTA_V3)).value
    assert workload.parameters == pytest.approx(184e6, rel=0.005)
    apart = catalog.workload(written(tmp_path, "apart", {**DEBERTA_V3, "share_att_key": False})).value
    assert apart.parameters - workload.parameters == 12 * 2 * (768 * 768 + 768)


def test_the_written_file_is_the_same_workload(tmp_path: Path) -> None:
    for name, config in {"v3": DEBERTA_V3, "t5": CONFIGS["flan-t5-xl"], "whisper": whisper(4, 384), "j": GPTJ}.items():
        path, mine = written(tmp_path, name, config), tmp_path / f"{name}.toml"
        mine.write_text(podsim.import_model(path), encoding="utf-8")
        assert catalog.workload(path).value == catalog.workload(str(mine)).value


@pytest.mark.parametrize(
    ("config", "more", "said"),
    [
        (GPTJ, {"n_embd": None}, "n_embd is missing"),
        (GPTJ, {"rotary_dim": 512}, "rotary_dim is 512; a head has 256 elements"),
        (GPTJ, {"n_head": 15}, "15 attention heads do not divide"),
        (CONFIGS["flan-t5-xl"], {"num_heads": 6}, "heads of 64 x 6 are not the width of 2,048"),
        (CONFIGS["flan-t5-xl"], {"d_ff": None}, "d_ff is missing"),
        (CONFIGS["flan-t5-xl"], {"feed_forward_proj": "twice-gated-gelu"}, "feed_forward_proj is"),
        (CONFIGS["flan-t5-xl"], {"is_encoder_decoder": False}, "a t5 without its decoder is not known"),
        (whisper(4, 384), {"decoder_ffn_dim": 64}, "sides of different widths are not known"),
        (whisper(4, 384), {"encoder_layers": "many"}, "encoder_layers must be a whole number"),
        (DEBERTA, {"relative_attention": None}, "relative_attention is not true"),
        (DEBERTA, {"pos_att_type": "c2p"}, '"c2p|p2c" alone is known'),
        (DEBERTA_V3, {"conv_kernel_size": 3}, "a convolution beside the first layer is not known"),
    ],
)
def test_what_no_such_network_has_is_refused(
    config: dict[str, Any], more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as no:
        catalog.workload(written(tmp_path, "config", {**config, **more}))
    assert no.value.code == "bad-config-file"
    assert any(said in line for line in no.value.context), no.value.context


@pytest.mark.parametrize("kind", other_transformers.MODEL_TYPES)
def test_a_config_without_any_key_lists_what_is_missing(kind: str, tmp_path: Path) -> None:
    with pytest.raises(PodsimError) as no:
        catalog.workload(written(tmp_path, "config", {"model_type": kind}))
    assert sum("is missing" in line for line in no.value.context) >= 4


def test_sizes_without_a_length_of_a_row_have_as_many_tokens_as_positions() -> None:
    config = Config({"n_positions": 64}, Options())
    assert config.sequence(config.size("n_positions"), bound=True) == 64
    assert config.notes == ["sequences of 64 tokens, all that it has positions for; --sequence for others"]
    assert not config.wrong
