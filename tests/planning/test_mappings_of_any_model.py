"""Mappings of models without a run length, of models that only phases hold, and of the user's own."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import podsim
from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.model.training import Recompute, Schedule
from podsim.planning import available_memory
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.mappings import report as view

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from podsim.studies.mappings.result import AdvisedMapping, Mappings

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 11008,
    "vocab_size": 32000,
    "max_position_embeddings": 2048,
}
GPT2 = {"model_type": "gpt2", "n_positions": 1024, "vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12}


def own(folder: Path, says: dict[str, Any]) -> str:
    path = folder / "config.json"
    path.write_text(json.dumps(says), encoding="utf-8")
    return str(path)


@cache
def untimed() -> Mappings:
    return podsim.mappings("gpt2-small", pod=16, by="throughput", ipus_per_replica=4, micro_batch=1)


@cache
def phased() -> Mappings:
    return podsim.mappings("gpt3-2.7b", pod=64, by="throughput", ipus_per_replica=8, micro_batch=1)


def stored(advice: AdvisedMapping) -> tuple[int, bool]:
    return advice.mapping.configuration.tensor_shards, advice.mapping.configuration.state_sharded


def test_throughput_takes_no_length_and_shows_no_time() -> None:
    answer = untimed()
    assert not answer.timed
    assert {advice.time_to_train_s for advice in answer.advised} == {None}
    text = render(view.document(answer), Look(100))
    assert "train " not in text.split("what to set")[0]
    assert "no time to train: run length not specified" in " ".join(text.split())
    assert answer_document(answer).tree()["mappings"][0]["time_to_train_s"] is None


def test_without_a_length_the_rate_is_that_of_predict() -> None:
    advice = next(item for item in untimed().advised if item.preset == "pytorch")
    mapping = advice.mapping
    answer = podsim.predict(
        "gpt2-small",
        pod=16,
        samples=1e9,
        engine="analytic",
        replicas=mapping.replicas,
        micro_batch=1,
        ipus_per_replica=mapping.ipus_per_replica,
        accumulation=mapping.accumulation,
    )
    assert advice.throughput_samples_per_s == pytest.approx(answer.throughput_samples_per_s.value, rel=1e-9)


def test_a_length_gives_times_again() -> None:
    answer = podsim.mappings("gpt2-small", pod=16, by="throughput", ipus_per_replica=4, micro_batch=1, tokens=1e9)
    assert answer.timed
    best = answer.advised[0]
    assert best.time_to_train_s == pytest.approx(1e9 / 1024 / best.throughput_samples_per_s, rel=0.02)


@pytest.mark.parametrize(
    ("workload", "has", "has_not"),
    [
        ("gpt2-small", ("samples=", "tokens=", "law=", "target_loss="), ()),
        ("squad", ("samples=", "tokens="), ("law=",)),
    ],
)
def test_the_hint_names_what_applies(workload: str, has: tuple[str, ...], has_not: tuple[str, ...]) -> None:
    with pytest.raises(MissingParameter) as no:
        podsim.plan(workload, machines="pod16")
    assert all(flag in no.value.hint for flag in has)
    assert not any(flag in no.value.hint for flag in has_not)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: podsim.scale("gpt2-small", pods="16,32", failures=True),
        lambda: podsim.plan("gpt2-small", machines="pod16"),
    ],
)
def test_what_is_about_time_takes_a_length(ask: Callable[[], object]) -> None:
    with pytest.raises(MissingParameter) as no:
        ask()
    assert "target_loss" in no.value.hint


def test_scale_and_plan_take_tokens_as_predict_does() -> None:
    value = podsim.predict("gpt2-small", pod=16, tokens=1e9, engine="analytic").time_to_train_s.value
    (row,) = podsim.scale("gpt2-small", pods="16", tokens=1e9, engine="analytic").rows
    assert row.prediction is not None
    assert row.prediction.time_to_train_s.value == value
    planned = podsim.plan("gpt2-small", machines="pod16", tokens=1e9)
    assert planned.target == "976,562 samples"
    assert planned.candidates[0].time_to_train_s.value == pytest.approx(value, rel=0.02)


def test_a_law_is_not_asked_of_a_model_that_says_no_next_token() -> None:
    with pytest.raises(InputError) as no:
        podsim.predict("bert-base", pod=16, law="chinchilla")
    assert no.value.code == "no-law"


def test_phases_are_weighed_with_every_number_of_shards_and_both_ways_to_share() -> None:
    answer = phased()
    assert {stored(advice) for advice in answer.advised} == {(n, s) for n in (1, 2, 4, 8) for s in (True, False)}
    assert {advice.mapping.schedule for advice in answer.advised} == {Schedule.PHASED}
    assert {advice.mapping.recompute for advice in answer.advised} == {Recompute.CHECKPOINTS}
    assert [stored(advice) for advice in answer.advised if advice.preset] == [(8, True)]
    assert answer.advised[0].preset == "popxl"


def test_state_shared_over_replicas_takes_less_streaming_memory() -> None:
    advices = {stored(advice): advice for advice in phased().advised}
    for shards in (1, 2, 4, 8):
        shared, whole = advices[shards, True], advices[shards, False]
        assert shared.streaming_bytes_per_ipu < whole.streaming_bytes_per_ipu
        assert shared.streaming == pytest.approx(shared.streaming_bytes_per_ipu / 32e9)
        assert shared.memory == whole.memory


def test_phases_are_set_in_the_words_of_popxl() -> None:
    advice = next(item for item in phased().advised if stored(item) == (8, True))
    settings = {setting.what: setting for setting in advice.settings}
    assert settings["replicas"].popxl == "ir.replication_factor = 64"
    assert settings["tensor shards"].popxl == "ir.replica_grouping(stride=1, group_size=8)"
    assert "remote_replica_sharded_variable" in settings["weights and state"].popxl
    assert settings["IO tiles"].value == "128"
    assert not any(setting.poptorch for setting in advice.settings)
    for width in (60, 100, 160):
        text = render(view.document(phased()), Look(width))
        assert max(map(len, text.splitlines())) <= width


def test_settings_have_the_available_memory_of_the_configuration_and_layers_of_the_user() -> None:
    advice = next(item for item in untimed().advised if item.preset == "pytorch")
    table = {setting.what: setting.value for setting in advice.settings}
    assert table["available-memory proportion"] == "0.4"
    assert table["layers per IPU"] == "0, 4, 4, 4"  # as benchmarks.yml has it (graphcore-examples)


@pytest.mark.slow
def test_175_billion_parameters_fit_256_ipus_and_not_64() -> None:
    flags: dict[str, Any] = {"by": "throughput", "ipus_per_replica": 64, "micro_batch": 1}
    with pytest.raises(Infeasible) as no:
        podsim.mappings("gpt3-175b", pod=64, **flags)
    assert "per IPU-Machine needed, 128 GB available" in no.value.context[-1]
    assert "pod=128" in no.value.hint
    assert podsim.mappings("gpt3-175b", pod=256, **flags).advised[0].preset == "popxl"


@pytest.mark.slow
def test_an_own_model_that_nothing_else_holds_runs_in_phases(tmp_path: Path) -> None:
    other = {**LLAMA, "hidden_size": 5120, "num_attention_heads": 40, "num_hidden_layers": 24}  # no published width
    answer = podsim.predict(own(tmp_path, other), pod=64, ipus_per_replica=32, tokens=1e9, engine="analytic")
    assert answer.mapping.schedule is Schedule.PHASED
    assert any("weights do not fit in SRAM: layer by layer in phases" in line for line in map(str, answer.assumptions))


def test_an_own_model_takes_less_memory_for_a_product_where_that_is_enough(tmp_path: Path) -> None:
    other = {**GPT2, "n_layer": 3}  # no published network is near
    answer = podsim.predict(own(tmp_path, other), pod=16, tokens=1e9, engine="analytic")
    lower = answer.mapping.configuration.available_memory
    assert lower in available_memory.STEPS[1:]
    assert answer.mapping.schedule is not Schedule.PHASED
    assert any(
        f"available-memory proportion {lower}, since the default of 0.6 would fill" in line
        for line in map(str, answer.assumptions)
    )
    best = podsim.mappings(own(tmp_path, other), pod=16, tokens=1e9).advised[0]
    assert best.mapping.memory_lowered
