"""Whose configuration and batch a network of the user's takes: never a jump with a layer or a token more, and said."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import Infeasible, PodsimError
from podsim.files import catalog

BERT: dict[str, Any] = {
    "model_type": "bert",
    "architectures": ["BertForPreTraining"],
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "num_hidden_layers": 24,
}
GPTJ: dict[str, Any] = {
    "model_type": "gptj",
    "architectures": ["GPTJForCausalLM"],
    "n_embd": 4096,
    "n_layer": 28,
    "n_head": 16,
    "n_positions": 2048,
    "rotary_dim": 64,
    "vocab_size": 50400,
}
WHISPER: dict[str, Any] = {
    "model_type": "whisper",
    "architectures": ["WhisperForConditionalGeneration"],
    "d_model": 1024,
    "encoder_layers": 24,
    "decoder_layers": 24,
    "encoder_attention_heads": 16,
    "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096,
    "vocab_size": 51865,
}
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
SIDE = 0.35
"""By how much the rate may rise with a layer more: where the published split of 24 layers gives way to an even one."""


def written(folder: Path, config: dict[str, Any], **changes: Any) -> str:
    path = folder / f"own-{config['model_type']}.json"
    path.write_text(json.dumps({**config, **changes}), encoding="utf-8")
    return str(path)


def of_length(tokens: int) -> dict[str, str]:
    return {"import.sequence": str(tokens)}


@pytest.mark.slow
def test_bert_falls_with_its_layers_at_one_batch(tmp_path: Path) -> None:
    before = math.inf
    for layers in (4, 6, 12, 18, 23, 24, 25, 30):
        path = written(tmp_path, BERT, num_hidden_layers=layers)
        prediction = podsim.predict(path, pod=512, engine="analytic")
        assert prediction.throughput_samples_per_s.value < (1 + SIDE) * before
        assert prediction.mapping.global_batch == pytest.approx(16384, rel=0.05)
        assert any(
            note.startswith(f"global batch {prediction.mapping.global_batch:,}: ")
            for note in map(str, prediction.assumptions)
        )
        before = prediction.throughput_samples_per_s.value


@pytest.mark.parametrize(
    ("layers", "basis"),
    [
        (24, "that of BERT-Large"),
        pytest.param(6, "as many tokens per step as BERT-Base", marks=pytest.mark.slow),
    ],
)
def test_a_batch_is_named_with_the_network_it_is_from(tmp_path: Path, layers: int, basis: str) -> None:
    prediction = podsim.predict(written(tmp_path, BERT, num_hidden_layers=layers), pod=16, engine="analytic")
    assert prediction.mapping.global_batch == pytest.approx(16384, rel=0.05)
    start = f"global batch {prediction.mapping.global_batch:,}: {basis}"
    assert any(note.startswith(start) for note in map(str, prediction.assumptions))


def test_the_note_of_a_batch_goes_where_a_flag_sets_it(tmp_path: Path) -> None:
    prediction = podsim.predict(written(tmp_path, BERT), pod=64, engine="analytic", global_batch=4096)
    assert not any(note.startswith("global batch") for note in map(str, prediction.assumptions))


@pytest.mark.parametrize(
    ("tokens", "batch", "basis"),
    [
        (64, 131072, "as many tokens per step as BERT-Large, 128 tokens"),
        (128, 65536, "that of BERT-Large, 128 tokens"),
        (256, 24576, "as many tokens per step as BERT-Large, 384 tokens"),
        (512, 16384, "that of BERT-Large, 512 tokens"),
    ],
)
def test_rows_of_another_length_are_the_same_network(tmp_path: Path, tokens: int, batch: int, basis: str) -> None:
    """Its batch has as many tokens: 16,384 sequences of 384 tokens are 24,576 of 256."""
    workload = catalog.workload(written(tmp_path, BERT), of_length(tokens)).value
    assert (workload.benchmark.global_batch, str(workload.recipe)) == (batch, basis)
    assert any("the same network" in note for note in map(str, workload.notes))
    assert bool(workload.presets) == (tokens in (128, 512))  # published mappings are of rows as long


@pytest.mark.slow
def test_gpt_j_is_cut_as_published_whatever_its_rows(tmp_path: Path) -> None:
    rates = []
    for tokens in (512, 1024, 1536, 2048):
        prediction = podsim.predict(written(tmp_path, GPTJ), pod=64, engine="analytic", changes=of_length(tokens))
        assert prediction.mapping.configuration.name == "popxl-16"
        rates.append(prediction.throughput_samples_per_s.value)
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("layers", [27, pytest.param(29, marks=pytest.mark.slow)])
def test_a_gpt_j_of_another_depth_is_cut_as_the_published_one(tmp_path: Path, layers: int) -> None:
    """Its width is the same, and the width is what tensor shards cut; of another width it takes the usual pipeline."""
    prediction = podsim.predict(written(tmp_path, GPTJ, n_layer=layers), pod=64, engine="analytic")
    assert prediction.mapping.configuration.name == "popxl-16"
    wider = catalog.workload(written(tmp_path, GPTJ, n_layer=layers, n_embd=5120, n_head=20)).value
    assert all(configuration.tensor_shards == 1 for configuration in wider.configurations)


@pytest.mark.parametrize("layers", slow_but([13], [11, 12, 13]))
def test_hosts_are_those_of_the_published_network(tmp_path: Path, layers: int) -> None:
    config = {"model_type": "vit", "image_size": 224, "patch_size": 16, "num_channels": 3, "hidden_size": 768}
    more = {"num_attention_heads": 12, "intermediate_size": 3072, "num_hidden_layers": layers}
    prediction = podsim.predict(written(tmp_path, {**config, **more}), pod=64, engine="analytic")
    assert prediction.hosts == podsim.predict("vit-base", pod=64, engine="analytic").hosts == 4


@pytest.mark.slow
def test_the_batch_is_that_at_which_the_published_network_trains_soonest(tmp_path: Path) -> None:
    """Llama 3.1 8B needs more samples at a larger batch; so does one of a layer more."""
    for layers in (32, 33):
        path = written(tmp_path, LLAMA, num_hidden_layers=layers)
        prediction = podsim.predict(path, pod=256, engine="analytic", changes=of_length(8192))
        assert (
            prediction.mapping.global_batch
            == podsim.predict("llama31-8b", pod=256, engine="analytic").mapping.global_batch
        )
        assert any(
            note.startswith("global batch 32: the one with the shortest time to train for Llama 3.1 8B")
            for note in map(str, prediction.assumptions)
        )


@pytest.mark.slow
def test_any_micro_batch_that_divides_a_batch_that_is_given_is_weighed(tmp_path: Path) -> None:
    """1,463 = 7 × 11 × 19: no usual micro-batch but 1 divides it."""
    path, flags = (
        written(tmp_path, BERT, num_hidden_layers=6),
        {"pod": 4, "ipus_per_replica": 4, "engine": "analytic", "global_batch": 1463},
    )
    chosen = podsim.predict(path, **flags)
    assert chosen.mapping.micro_batch in (7, 11, 19)
    alone = podsim.predict(path, **flags, micro_batch=1)
    assert chosen.throughput_samples_per_s.value > 1.2 * alone.throughput_samples_per_s.value


def test_an_encoder_is_no_decoder(tmp_path: Path) -> None:
    """BERT of 12 wide layers is nearer to GPT-2 small in size, and is configured as a BERT."""
    notes = catalog.workload(written(tmp_path, BERT, num_hidden_layers=12)).value.notes
    assert any(note.startswith("configuration: as BERT-Base") for note in map(str, notes))


def test_a_network_without_a_recipe_says_that_its_batch_is_a_round_number(tmp_path: Path) -> None:
    path = written(tmp_path, WHISPER, d_model=384, encoder_layers=4, decoder_layers=4)
    path = written(
        tmp_path, json.loads(Path(path).read_text("utf-8")), encoder_attention_heads=6, decoder_attention_heads=6
    )
    notes = podsim.predict(path, pod=16, engine="analytic").assumptions
    assert any(note.startswith("global batch 1,0") and "a round number" in note for note in map(str, notes))


def refusal(path: str, **flags: Any) -> PodsimError:
    with pytest.raises(PodsimError) as no:
        podsim.predict(path, engine="analytic", **flags)
    return no.value


@pytest.mark.slow
def test_a_model_on_a_pod_too_small_is_told_a_pod_and_a_sequence_that_fit(tmp_path: Path) -> None:
    path = written(tmp_path, LLAMA)
    assert refusal(path, pod=4).hint.startswith("pod=16 --sequence 4096 fits")
    assert podsim.predict(path, pod=16, engine="analytic", changes=of_length(4096)).mapping.ipus == 16
    with pytest.raises(Infeasible):
        podsim.predict(path, pod=16, engine="analytic", changes=of_length(8192))


def test_a_mapping_that_no_machine_can_have_is_told_so_first(tmp_path: Path) -> None:
    """Whatever the machine: a pod and a sequence would not help."""
    no = refusal(written(tmp_path, LLAMA), pod=4, replicas=3)
    assert no.code == "bad-mapping"
    assert "--sequence" not in no.hint


def test_a_pipeline_whose_micro_batches_do_not_fit_is_told_that_one_at_a_time_does(tmp_path: Path) -> None:
    path = written(tmp_path, WHISPER)
    hint = refusal(path, pod=64).hint
    assert hint.startswith('schedule="sequential", ipus_per_replica=32, micro_batch=1 fits')
    assert refusal(path, pod=16).hint.startswith('pod=32, schedule="sequential", ipus_per_replica=32')
    prediction = podsim.predict(
        path, pod=64, engine="analytic", schedule="sequential", ipus_per_replica=32, micro_batch=1
    )
    assert prediction.mapping.ipus_per_replica == 32


def test_a_vocabulary_that_no_ipu_holds_is_named(tmp_path: Path) -> None:
    hint = refusal(written(tmp_path, BERT, vocab_size=250002), pod=64).hint
    assert "a smaller vocabulary would need less: the table of 250,002 × 1,024" in hint
