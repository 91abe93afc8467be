"""Large language models answer without flags: a mapping, a batch and why that one, in samples and in tokens."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.files import tensor_parallel
from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.model.quantity import Cause, Grade
from podsim.report.doc import Note
from podsim.report.views import tokens_view
from podsim.studies.documents import answer_document
from podsim.studies.plan.report import document, question_text

QUICK: dict[str, Any] = {"engine": "analytic"}


@cache
def answer(workload: str, pod: int) -> Prediction:
    """Predictions that several tests look at; they are frozen."""
    return podsim.predict(workload, pod=pod, **QUICK)


@pytest.mark.parametrize("chip", ["gc200", pytest.param("bow", marks=pytest.mark.slow)])
def test_gpt3_on_16384_ipus_trains_at_the_batch_of_its_paper(chip: str) -> None:
    prediction = podsim.predict("gpt3-175b", pod=16384, chip=chip, tokens=300e9, **QUICK)
    assert (
        prediction.mapping.global_batch == 1536
    )  # 3.2 M tokens are 1,562 sequences, of which 256 replicas take six each
    assert prediction.mapping.ipus == 16384
    assert "global batch 1,536: the 3,200,000 tokens per step of the model's paper" in map(str, prediction.assumptions)


def test_the_recipe_keeps_the_batch_that_its_length_belongs_to() -> None:
    prediction = answer("gpt3-175b", 256)
    assert prediction.mapping.global_batch == 128
    (fact,) = tokens_view.batch(prediction)
    assert fact.remark == "128 rows × 2,048 tokens, as in the published IPU configuration; 3.20 M in the model's paper"


def test_a_batch_that_is_tried_in_vain_leaves_the_next_as_it_is() -> None:
    """The 1,562 sequences of the paper fit no POD256, whatever share of memory a product takes."""
    mapping = podsim.predict("gpt3-175b", pod=256, tokens=300e9, **QUICK).mapping
    assert mapping.global_batch == 128
    assert mapping.configuration.memory_proportion == 0.6


@pytest.mark.parametrize(
    ("name", "pod"),
    [("llama31-8b", 256), pytest.param("llama31-70b", 1024, marks=pytest.mark.slow)],
)
def test_llama_finds_a_mapping_and_a_batch_without_flags(name: str, pod: int) -> None:
    prediction = answer(name, pod)
    assert prediction.memory.fits
    assert prediction.global_batch_tokens == prediction.mapping.global_batch * 8192


@pytest.mark.slow
def test_a_batch_that_streaming_memory_does_not_hold_is_halved_and_said() -> None:
    prediction = answer("llama31-70b", 256)
    assert prediction.mapping.global_batch == 256
    assert any(
        "do not fit the streaming memory of" in line and "1,024" in line for line in map(str, prediction.assumptions)
    )
    with pytest.raises(Infeasible):
        podsim.predict("llama31-70b", pod=256, global_batch=1024, **QUICK)


def test_tokens_are_those_of_the_rows_of_a_step() -> None:
    prediction = answer("gpt2-small", 16)
    assert prediction.global_batch_tokens == 8192 * 1024
    assert prediction.tokens_per_s is not None
    assert prediction.tokens_per_s.value == pytest.approx(prediction.throughput_samples_per_s.value * 1024)
    details = answer_document(prediction).tree()
    assert details["global_batch_tokens"] == 8192 * 1024
    assert details["tokens_per_s"]["value"] == pytest.approx(prediction.tokens_per_s.value, rel=1e-9)
    assert details["time_to_train_s"] is None
    assert details["training_s"] is None
    assert details["samples_to_converge"] is None
    assert "tokens_per_s" not in answer_document(answer("resnet50", 16)).tree()


def test_tensor_parallel_and_gradient_all_reduce_are_apart() -> None:
    parts = answer("llama31-8b", 256).breakdown_s
    assert parts[Part.TENSOR_PARALLEL] > parts[Part.ALL_REDUCE] > 0
    alone = podsim.predict("gpt3-2.7b", pod=16, replicas=1, ipus_per_replica=8, samples=1e6, **QUICK).breakdown_s
    assert alone[Part.TENSOR_PARALLEL] > 0 == alone[Part.ALL_REDUCE]  # one replica has no gradients to exchange
    assert not answer("gpt2-small", 16).breakdown_s.get(Part.TENSOR_PARALLEL)


def test_the_interval_has_what_no_measurement_says_of_tensor_parallel_collectives() -> None:
    prediction = answer("llama31-8b", 256)
    share = prediction.breakdown_s[Part.TENSOR_PARALLEL] / prediction.step_s.value
    assert prediction.step_s.grade is Grade.ASSUMED
    assert prediction.step_s.causes[Cause.TENSOR_PARALLEL] > 0.5
    assert prediction.step_s.high / prediction.step_s.value > 1 + share * tensor_parallel.time_error()
    assert Cause.TENSOR_PARALLEL not in answer("gpt2-small", 16).step_s.causes


@pytest.mark.slow
def test_plan_takes_a_global_batch() -> None:
    keywords: dict[str, Any] = {"tokens": 300e9, "machines": "bow-pod16384"}
    assert podsim.plan("gpt3-175b", **keywords).candidates[0].global_batch == 1536
    assert podsim.plan("gpt3-175b", global_batch=2048, **keywords).candidates[0].global_batch == 2048


@pytest.mark.slow
def test_plan_considers_larger_machines_where_smaller_ones_are_too_slow() -> None:
    slow = podsim.plan("gpt2-small", tokens=300e9, within="8.7h")
    assert max(candidate.chips for candidate in slow.candidates) == 16384
    never = podsim.plan("gpt2-small", tokens=30e9, within="6min")
    assert max(candidate.chips for candidate in never.candidates) == 1024
    assert re.fullmatch(
        r"No candidate meets the time limit; the fastest larger pod, Bow Pod2048, takes 5\d\.\d min \(P90; assumed\)\.",
        never.contradiction,
    ), "the fastest machine of all is named and is no candidate"
    quick = podsim.plan("gpt2-small", tokens=1e9, within="20d")
    assert max(candidate.chips for candidate in quick.candidates) == 1024


@pytest.mark.slow
def test_a_plan_says_where_its_quantile_is_of_a_run_with_failures() -> None:
    long = podsim.plan("gpt3-175b", tokens=300e9, within="30d")
    assert re.search(r"takes [\d.]+ days \(P90 with failures; assumed\)", long.contradiction)
    assert question_text(long.demand, candidates=long.candidates) == "time to train ≤ 30.0 days (P90 with failures)"
    assert question_text(long.demand) == "time to train ≤ 30.0 days (P90)", "no candidate runs so long"
    text = (
        "Global batch, near that of the model's paper if it fits in memory, else the next smaller tried: 128 on "
        "bow-pod256; 1,568 on bow-pod512, bow-pod1024."
    )
    assert text in [block.text for group in document(long).groups for block in group if isinstance(block, Note)]


def test_the_search_considers_splits_that_streaming_memory_holds_at_a_smaller_batch() -> None:
    """At the largest batch of its law 32 x 8 takes 143 GB of an IPU-Machine; at 512 samples it fits, and is fastest."""
    found = podsim.predict("llama", pod=256, law="chinchilla", engine="analytic")
    assert (found.mapping.replicas, found.mapping.ipus_per_replica, found.mapping.global_batch) == (32, 8, 512)
    other = podsim.predict("llama", pod=256, law="chinchilla", engine="analytic", ipus_per_replica=16)
    assert found.time_to_train_s.value < 0.7 * other.time_to_train_s.value


def test_a_larger_batch_is_not_said_to_amortize_what_every_micro_batch_takes() -> None:
    found = podsim.predict("llama", pod=256, law="chinchilla", engine="analytic")
    assert str(found.limited_by).startswith("tensor-parallel all-reduce")
    assert "amortize" not in str(found.limited_by)
