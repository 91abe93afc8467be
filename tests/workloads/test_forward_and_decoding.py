"""What is left of a workload that only answers, and of one that generates a token at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.workload import Kind, LayerUnit, Pass
from podsim.workloads.forward_only import decoding, forward, positions, prefill, tokens, with_prompt
from podsim.workloads.transformer import dense

BERT = forward(catalog.workload("bert").value)
LAYERS = replace(BERT, units=BERT.units[1:-1])  # what a decoder shares with it
RESNET = catalog.workload("resnet50").value
HIDDEN, WIDE, DEPTH, LONG = 1024, 4096, 24, 512


def kinds(workload):
    return {operator.kind for unit in workload.units for operator in unit.operators}


def test_loss_and_dropout_are_left_out_and_weights_stay():
    assert not {Kind.LOSS, Kind.DROPOUT} & kinds(BERT)
    assert BERT.parameters == catalog.workload("bert").value.parameters


def test_a_batch_norm_leaves_the_bias_of_its_convolution():
    workload = forward(RESNET)
    assert Kind.BATCH_NORM not in kinds(workload)
    norms = sum(o.kind is Kind.BATCH_NORM for unit in RESNET.units for o in unit.operators)
    left = [o for unit in workload.units for o in unit.operators if o.name.endswith("-norm")]
    assert [o.kind for o in left] == [Kind.BIAS] * norms
    assert RESNET.parameters - workload.parameters == sum(o.parameters for o in left)


def test_a_batch_norm_that_follows_no_convolution_keeps_its_scale():
    unit = RESNET.units[0]
    alone = replace(RESNET, units=(replace(unit, operators=unit.operators[1:]),))
    first = forward(alone).units[0].operators[0]
    assert first.shape.operations == ("scale", "bias")


@pytest.mark.parametrize("context", [1, 512, 4096])
def test_a_token_computes_its_own_row_and_attends_to_all(context):
    workload = decoding(LAYERS, context)
    products = sum(o.flop(Pass.FORWARD) for unit in workload.units for o in unit.operators if o.kind is Kind.MATMUL)
    assert products == DEPTH * (2 * (4 * HIDDEN**2 + 2 * HIDDEN * WIDE) + 4 * context * HIDDEN)
    soft = next(o for o in workload.units[0].operators if o.kind is Kind.SOFTMAX)
    assert (soft.shape.elements, soft.shape.row) == (16 * context, context)
    assert workload.parameters == LAYERS.parameters
    assert workload.row_bytes == LAYERS.row_bytes / LONG


def test_every_other_operator_works_on_a_token_of_the_row():
    for before, after in zip(LAYERS.units, decoding(LAYERS, 64).units, strict=True):
        for whole, operator in zip(before.operators, after.operators, strict=True):
            if whole.kind in (Kind.LAYER_NORM, Kind.BIAS):
                assert operator.shape.elements * LONG == whole.shape.elements


def test_keys_and_values_of_a_token():
    assert sum(unit.cache_elements for unit in LAYERS.units) == 2 * DEPTH * HIDDEN
    assert sum(unit.cache_elements for unit in decoding(LAYERS, 64).units) == 2 * DEPTH * HIDDEN
    assert tokens(LAYERS) == LONG


@pytest.mark.parametrize("workload", [BERT, forward(RESNET)])
def test_what_does_not_do_the_same_for_every_token_is_no_decoder(workload):
    with pytest.raises(InputError) as raised:
        decoding(workload, 64)
    assert raised.value.code == "no-decoder"


def test_heads_look_at_the_last_token_of_a_prompt():
    head = LayerUnit(name="heads", group="heads", operators=(dense("heads.lm", LONG, HIDDEN, 50257),), checkpoint=False)
    decoder = replace(LAYERS, units=(*LAYERS.units, head))
    workload = prefill(decoder)
    assert workload.units[:-1] == decoder.units[:-1]
    assert workload.units[-1].operators[0].shape.m == 1
    assert prefill(LAYERS) is LAYERS


GPT2 = forward(catalog.workload("gpt2-small").value)


@pytest.mark.parametrize("size", [1, 100, 512])
def test_a_prompt_of_any_length_is_the_model_built_for_it(size):
    """Of the same operators as the workload whose rows are so long."""
    built = forward(catalog.workload("gpt2-small", [f"workload.transformer.sequence={size}"]).value)
    workload = with_prompt(GPT2, size)
    assert workload.units == built.units
    assert tokens(workload) == size


def test_positions_that_were_learned():
    assert positions(GPT2) == 1024
    assert positions(LAYERS) is None
    assert positions(forward(catalog.workload("llama31-8b").value)) is None
