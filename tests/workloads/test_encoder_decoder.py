"""Encoder and decoder: what runs once for a row, what each token runs, what is kept, what shards exchange."""

from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.collective import Collective
from podsim.model.language import EncoderDecoder
from podsim.model.workload import Pass
from podsim.workloads import shards
from podsim.workloads.forward_only import decoding, forward, positions, prefill, tokens, with_prompt

LAYERS, HIDDEN, WIDE, FRAMES, LONG, VOCABULARY = 4, 384, 1536, 1500, 448, 51865
WHISPER = forward(catalog.workload("whisper-tiny").value)
T5 = catalog.workload("flan-t5-xl").value


def products(workload):
    return sum(o.flop(Pass.FORWARD) for unit in workload.units for o in unit.operators if o.kind == "matmul")


def test_a_token_runs_the_decoder_alone_and_looks_at_all_that_the_encoder_left():
    workload = decoding(WHISPER, 20)
    assert not any(unit.once for unit in workload.units)
    weights = 2 * (6 * HIDDEN**2 + 2 * HIDDEN * WIDE)  # own attention 4, queries and output of the other
    attended = 4 * HIDDEN * (20 + FRAMES)
    assert products(workload) == LAYERS * (weights + attended) + 2 * HIDDEN * VOCABULARY
    assert workload.row_bytes == 4


def test_a_prompt_has_the_encoder_whole_and_the_head_on_its_last_token():
    assert (tokens(WHISPER), positions(WHISPER)) == (LONG, LONG)
    short = with_prompt(WHISPER, 4)
    assert tokens(short) == 4
    assert short.row_bytes == WHISPER.row_bytes
    before, after = ([unit for unit in workload.units if unit.once] for workload in (WHISPER, short))
    assert before == after
    assert prefill(short).units[-1].out_elements == VOCABULARY


def test_keys_of_the_encoder_are_kept_however_many_tokens_there_are():
    def kept(count):
        return sum(unit.cache_at(count) for unit in WHISPER.units)

    assert kept(0) == 0
    assert kept(1) == LAYERS * 2 * HIDDEN * (FRAMES + 1)
    assert kept(20) - kept(19) == LAYERS * 2 * HIDDEN


def test_tokens_of_t5_are_refused_as_its_distances_are_of_all_tokens():
    with pytest.raises(InputError, match="distances does not give an output for each"):
        podsim.infer("flan-t5-xl", pod=4, generate=4, weights="streamed", engine="analytic")


def test_tokens_after_the_first_skip_the_encoder_and_the_ipu_that_holds_it():
    answer = podsim.infer(
        "whisper-tiny", pod=4, generate=16, prompt=4, ipus_per_replica=2, requests=500, engine="analytic"
    )
    result = answer.decoding
    assert result.cache_bytes_per_token == 2 * LAYERS * 2 * HIDDEN
    assert result.cache_bytes == 2 * 2 * LAYERS * 2 * HIDDEN * (FRAMES + 20)  # two batches under way
    assert result.token.latency_s < result.prefill.latency_s / 3


def test_a_layer_over_tensor_shards_has_an_all_reduce_for_each_of_its_three_parts():
    """As published: after attention, after attention to the encoder, after feed-forward; keys leave none."""
    cut = shards.ShardGrid(8, 1)
    names = ("attention", "cross-keys", "cross", "ffn")
    layer = {name: next(u for u in T5.units if u.name == f"decoder3.{name}") for name in names}
    sums = {
        name: [
            exchange
            for exchange in shards.exchanges_of(unit, cut, backward=False)
            if exchange.what is Collective.ALL_REDUCE
        ]
        for name, unit in layer.items()
    }
    assert {name: [exchange.elements for exchange in exchanges] for name, exchanges in sums.items()} == {
        "attention": [512 * 2048],
        "cross-keys": [],
        "cross": [512 * 2048],
        "ffn": [512 * 2048],
    }


@pytest.mark.parametrize("name", ["whisper-tiny", "schnet-qm9", "yolov4-p5", "deberta-base"])
def test_what_shards_do_not_know_is_refused(name):
    with pytest.raises(InputError, match="cannot be cut into tensor shards"):
        shards.check(catalog.workload(name).value.units, shards.ShardGrid(1, 1))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"heads": 5}, "divide"),
        ({"decoder_positions": 8}, "decoder_positions"),
        ({"mels": -1}, "mels"),
        ({"encoder_layers": 0}, "encoder_layers"),
    ],
)
def test_sizes_that_contradict_are_refused(wrong, why):
    size = EncoderDecoder(
        encoder_layers=1,
        decoder_layers=1,
        hidden=64,
        heads=4,
        feed_forward=64,
        encoder_tokens=8,
        decoder_tokens=16,
        vocabulary=10,
    )
    with pytest.raises(ValueError, match=why):
        replace(size, **wrong)
