"""A workload that is served: what it takes, what it holds, what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import microbenchmarks
from podsim.model.chip import Precision
from podsim.model.inference import Load, Place
from podsim.model.program import Part
from podsim.planning import serving
from podsim.predicting.serving import Asked
from podsim.resolve import engine_of, target
from podsim.scenario import Scenario
from podsim.topology.fabric import build
from podsim.workloads.serving import forward

FEW = Load(requests=500)


def asked_of(name: str, machine: str, precision: Precision = Precision.FP16_16, *, decoder: bool = False) -> Asked:
    named = target(Scenario.of(name, topology=machine))
    found, model = named.machine, named.workload
    workload = forward(replace(model, precision=precision))
    if decoder:
        workload = replace(workload, units=workload.units[1:-1])
    return Asked(workload=workload, known=name, machine=found, fabric=build(found.topology),
                 engine=engine_of("analytic"))  # fmt: skip


@pytest.fixture(scope="module")
def bert():
    return asked_of("bert", "m2000")


def test_streamed_weights_add_their_time_through_the_memory_that_ipus_share(bert):
    resident, streamed = (serving.find(bert, serving.Wanted(ipus_per_replica=4, weights=place), 1) for place in Place)
    gateway = bert.machine.topology.gateway
    each = [sum(unit.parameters for stage in streamed.mapping.stages if stage.ipu == ipu for unit in stage.units)
            for ipu in range(4)]  # fmt: skip
    rate = min(gateway.streaming_bytes_per_s_per_ipu, gateway.streaming_bytes_per_s / 4)
    more_s = streamed.service.period_s - resident.service.period_s
    assert more_s == pytest.approx(2 * max(each) / rate, rel=0.01)
    assert streamed.service.parts_s[Part.STREAMING] > 0
    assert streamed.held.streaming_bytes_per_ipu == 2 * max(each)
    assert streamed.held.fullest.by_category["weights"] < resident.held.fullest.by_category["weights"]


def test_nothing_of_training_is_held(bert):
    held = serving.find(bert, serving.Wanted(ipus_per_replica=4), 1).held
    assert {"gradients", "optimizer_state", "stash"}.isdisjoint(held.fullest.by_category)


def test_both_engines_agree(bert):
    events = replace(bert, engine=engine_of("des"))
    one, other = (serving.find(each, serving.Wanted(ipus_per_replica=4), 2).service for each in (bert, events))
    assert one.period_s == pytest.approx(other.period_s, rel=1e-9)
    assert one.latency_s == pytest.approx(other.latency_s, rel=1e-9)


def test_a_pipeline_answers_more_and_later(bert):
    alone, four = (serving.find(bert, serving.Wanted(ipus_per_replica=size, replicas=1), 1).service for size in (1, 4))
    assert alone.period_s / 4 < four.period_s < alone.period_s
    assert (
        four.latency_s >= len(serving.find(bert, serving.Wanted(ipus_per_replica=4), 1).mapping.stages) * four.period_s
    )
    assert alone.latency_s >= alone.period_s


def test_replicas_that_share_a_host_link_wait_for_it():
    resnet = asked_of("resnet50", "m2000")
    one, four = (serving.find(resnet, serving.Wanted(replicas=count), 8).service for count in (1, 4))
    volume = 8 * resnet.workload.row_bytes
    assert one.host_in_s == pytest.approx(8.8e-6 + volume / 12.5e9)
    assert four.host_in_s == pytest.approx(8.8e-6 + 4 * volume / 12.5e9)
    assert four.capacity_per_s <= 4 * one.capacity_per_s * (1 + 1e-9)


def test_a_batch_that_does_not_fit_names_the_largest_that_does(bert):
    with pytest.raises(Infeasible) as raised:
        serving.find(bert, serving.Wanted(ipus_per_replica=1), 64)
    largest = int(raised.value.hint.split()[1])
    wanted = serving.Wanted(ipus_per_replica=1)
    assert serving.find(bert, wanted, largest).held.fits
    with pytest.raises(Infeasible):
        serving.find(bert, wanted, largest + 1)


def test_without_a_size_the_fewest_ipus_that_hold_it_are_taken(bert):
    found = [serving.find(bert, serving.Wanted(), batch).mapping for batch in (1, 3)]
    assert [mapping.ipus_per_replica for mapping in found] == [1, 2]
    assert [mapping.replicas for mapping in found] == [4, 2]


def test_keys_and_values_in_streaming_memory_are_read_for_every_token():
    asked = asked_of("bert", "m2000", decoder=True)
    near, far = (
        serving.find(asked, serving.Wanted(ipus_per_replica=1, replicas=1, generated=512, cache=place, load=FEW), 1)
        for place in Place
    )
    volume = 2 * 2 * 24 * 1024 * 1024  # bytes, keys and values, layers, width, tokens
    assert near.decoding.cache_bytes == far.decoding.cache_bytes == volume
    more_s = far.decoding.token.period_s - near.decoding.token.period_s
    assert more_s == pytest.approx(volume / 6.64e9, rel=1e-6)
    assert near.held.fullest.by_category["kv_cache"] == volume
    assert far.held.fullest.by_category["kv_cache"] == volume / 24


def test_stages_of_a_pipeline_read_keys_and_values_of_one_batch_while_memory_holds_all():
    asked = asked_of("bert", "m2000", decoder=True)
    near, far = (
        serving.find(asked, serving.Wanted(ipus_per_replica=4, generated=512, cache=place, load=FEW), 1)
        for place in Place
    )
    assert near.decoding.under_way == far.decoding.under_way == 4
    stage = 2 * 2 * 6 * 1024 * 1024  # bytes of one batch: keys and values, layers of a stage, width, tokens
    gateway = asked.machine.topology.gateway
    rate = min(gateway.streaming_bytes_per_s_per_ipu, gateway.streaming_bytes_per_s / 4)
    more_s = far.decoding.token.period_s - near.decoding.token.period_s
    assert more_s == pytest.approx(stage / rate, rel=0.01)
    assert far.held.streaming_bytes_per_ipu == 4 * stage


def test_the_attention_that_the_bandwidth_was_measured_with_takes_as_long():
    """sparq-2023: 40.4 ms for one query over 16,384 tokens of 32 heads of 128 in streaming memory."""
    asked = asked_of("bert", "bow-pod16", decoder=True)
    seconds = 2 * 2 * 16384 * 32 * 128 / asked.machine.topology.gateway.streaming_bytes_per_s_per_ipu
    assert seconds == pytest.approx(40.4e-3, rel=0.01)


def test_tokens_come_after_their_prompt():
    asked = asked_of("bert", "m2000", decoder=True)
    found = serving.find(asked, serving.Wanted(generated=16), 1)
    told = found.decoding
    assert found.service.latency_s == pytest.approx(told.prefill.latency_s + 15 * told.token.latency_s)
    assert told.with_prompts(found.service.capacity_per_s) == pytest.approx(
        found.mapping.replicas * 16 / (told.prefill.period_s + 15 * told.token.period_s)
    )
    assert told.with_prompts(found.service.capacity_per_s) < told.tokens_per_s
    assert told.tokens_per_s == pytest.approx(found.mapping.replicas / told.token.period_s)
    assert told.token.period_s < told.prefill.period_s


def test_a_rate_that_cannot_be_answered_names_one_that_can():
    with pytest.raises(Infeasible) as raised:
        podsim.infer("resnet50", pod=4, batch=4, rate="1M/s", engine="analytic")
    assert raised.value.code == "too-many-requests"
    rate = raised.value.hint.split()[1].rstrip(",")
    found = podsim.infer("resnet50", pod=4, batch=4, rate=rate, engine="analytic", requests=500)
    assert found.delays.requests_per_s > 0


def test_a_sweep_goes_on_past_what_does_not_fit():
    found = podsim.infer("resnet50", pod=4, batch=1, batches=[1, 8, 256], rate=9000.0, engine="analytic", requests=500,
                         ipus_per_replica=1)  # fmt: skip
    assert [row.batch for row in found.swept] == [1, 8, 256]
    assert found.swept[0].delays
    assert "256" in found.swept[2].refused
    assert found.swept[1].capacity_per_s > found.swept[0].capacity_per_s


def test_a_published_c600_answers_as_many_images():
    """ByteMLPerf, batch not published: 13,499 images a second in FP16 and 18,851 in FP8; in no fit."""
    measured = {Precision.FP16_16: 13499.0, Precision.FP8_16: 18851.0}
    rows = microbenchmarks.shipped()
    assert {row.value for row in rows if row.id in ("published-0012", "published-0013")} == {*measured.values()}
    for precision, value in measured.items():
        found = podsim.infer("resnet50", topology="c600", batch=32, precision=precision.value,
                             engine="analytic", requests=500)  # fmt: skip
        assert (found.ipus, found.mapping.replicas, found.mapping.ipus_per_replica) == (1, 1, 1)
        assert found.capacity_per_s.value == pytest.approx(value, rel=0.15)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"rate": "500"}, "bad-value"),
        ({"rate": "0/s"}, "bad-value"),
        ({"rate": "-5/s"}, "bad-value"),
        ({"rate": "inf/s"}, "bad-value"),
        ({"rate": "fast"}, "bad-value"),
        ({"rate": "5 GB/s"}, "bad-value"),
        ({"rate": float("nan")}, "bad-value"),
        ({"rate": "5/s", "clients": 3}, "conflicting-flags"),
        ({"clients": 0}, "bad-value"),
        ({"weights": "elsewhere"}, "bad-value"),
        ({"precision": "4.8"}, "bad-value"),
        ({"precision": "8.16"}, "bad-value"),
        ({"batch": 0}, "bad-value"),
        ({"batches": "8..1"}, "bad-value"),
        ({"batches": "0..4"}, "bad-value"),
        ({"batches": "1,x"}, "bad-value"),
        ({"wait": "5"}, "bad-value"),
        ({"wait": "-1 ms"}, "bad-value"),
        ({"requests": 0}, "bad-value"),
        ({"generate": -1}, "bad-value"),
        ({"generate": 5}, "no-decoder"),
        ({"cache": "resident"}, "conflicting-flags"),
        ({"prompt": 64}, "conflicting-flags"),
        ({"prompt": 0, "generate": 1}, "bad-value"),
        ({"generate": 10**9}, "bad-value"),
        ({"replicas": 5}, "bad-mapping"),
        ({"ipus_per_replica": 3}, "bad-mapping"),
        ({"interval": 0.1}, "bad-value"),
    ],
)
def test_refused(flags, code):
    with pytest.raises(InputError) as raised:
        podsim.infer("resnet50", pod=4, **flags)
    assert raised.value.code == code


def test_a_pipeline_that_holds_one_batch_of_keys_and_values_has_no_other_under_way():
    asked = asked_of("bert", "m2000", decoder=True)
    wanted = serving.Wanted(ipus_per_replica=4, generated=3584, load=FEW)
    full, one = (serving.find(asked, wanted, batch) for batch in (1, 3))
    assert (full.decoding.under_way, one.decoding.under_way) == (4, 1)
    assert one.decoding.cache is Place.RESIDENT
    assert one.decoding.token.period_s == one.decoding.token.latency_s
    assert one.decoding.cache_bytes == 3 * full.decoding.cache_bytes / 4


def test_fp8_is_faster_on_a_card_at_every_batch_that_both_precisions_hold():
    rates = {
        precision: {row.batch: row.capacity_per_s for row in podsim.infer(
            "swin-large", topology="c600", batches="1,2,4", precision=precision, engine="analytic", requests=100,
        ).swept}
        for precision in ("16.16", "8.16")
    }  # fmt: skip
    half, eight = rates["16.16"], rates["8.16"]
    assert all(1.2 < eight[batch] / half[batch] < 2 for batch in (1, 2, 4))


def test_a_card_streams_nothing():
    with pytest.raises(Infeasible) as raised:
        podsim.infer("bert", topology="c600", weights="streamed", engine="analytic", requests=100)
    assert "c600 has none" in raised.value.context[-1]
    assert raised.value.hint == "--weights resident fits"


def test_batches_on_replicas_of_different_sizes_say_so(bert):
    rows = serving.sweep(bert, serving.Wanted(load=FEW), (1, 3))
    assert [(row.replicas, row.ipus_per_replica) for row in rows] == [(4, 1), (2, 2)]


GPT = {"pod": 4, "engine": "analytic", "requests": 100}


def test_a_prompt_may_be_shorter_than_the_rows_of_training():
    short, shorter = (podsim.infer("gpt2-small", prompt=size, generate=8, **GPT) for size in (512, 128))
    assert (short.decoding.prompt, shorter.decoding.prompt) == (512, 128)
    assert shorter.row == "prompt of 128 tokens"
    assert shorter.decoding.prefill.period_s < short.decoding.prefill.period_s / 2
    assert shorter.decoding.cache_bytes == pytest.approx(short.decoding.cache_bytes * 136 / 520)


def test_without_one_a_prompt_leaves_positions_for_what_is_generated():
    found = podsim.infer("gpt2-small", generate=24, **GPT)
    assert found.decoding.prompt == 1000
    assert any("1,024 positions" in line for line in found.assumptions)


@pytest.mark.parametrize(("prompt", "generate"), [(1000, 25), (None, 1024), (1025, 1)])
def test_learned_positions_are_not_gone_beyond(prompt, generate):
    with pytest.raises(InputError) as raised:
        podsim.infer("gpt2-small", prompt=prompt, generate=generate, **GPT)
    assert raised.value.code == "too-many-tokens"
    flag, size = raised.value.hint.split()[:2]
    other = {"prompt": prompt, "generate": generate} | {flag.removeprefix("--"): int(size)}
    assert podsim.infer("gpt2-small", **{**other, "prompt": None if flag == "--generate" else other["prompt"]}, **GPT)


def test_more_ipus_come_before_keys_and_values_in_streaming_memory():
    few, many = (
        podsim.infer("gpt2-small", prompt=256, generate=128, batch=batch, **GPT) for batch in (8, 32)
    )  # fmt: skip
    assert (few.mapping.ipus_per_replica, many.mapping.ipus_per_replica) == (1, 2)
    assert many.decoding.cache is Place.RESIDENT


@pytest.mark.parametrize(
    "flags",
    [
        {"generate": 64, "batch": 16, "prompt": 64, "ipus_per_replica": 4},
        {"generate": 64, "batch": 64, "prompt": 64, "ipus_per_replica": 1},
        {"generate": 900, "batch": 1, "prompt": 64, "ipus_per_replica": 1, "cache": "resident"},
    ],
)
def test_a_hint_fits_as_it_is_printed(flags):
    with pytest.raises(Infeasible) as raised:
        podsim.infer("gpt2-xl", **flags, **GPT)
    words = raised.value.hint.removesuffix(" fits").split()
    hinted = {name.removeprefix("--").replace("-", "_"): value for name, value in pairwise(words) if name[:2] == "--"}
    assert hinted, raised.value.hint
    other = flags | {name: int(value) if value.isdigit() else value for name, value in hinted.items()}
    assert podsim.infer("gpt2-xl", **other, **GPT)
