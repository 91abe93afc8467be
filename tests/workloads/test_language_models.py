"""Language models against the published counts of parameters and FLOP (graphcore-examples, and secondary totals)."""

import pytest

from podsim.files import catalog
from podsim.model.family import Head, Transformer
from podsim.model.workload import Matmul, Pass
from podsim.workloads.transformer import units

PARAMETERS = {
    "bert-base": 110e6,
    "bert-large-128": 336e6,
    "bert-large-512": 336e6,
    "gpt2-small": 0.124e9,
    "gpt2-medium": 0.355e9,
    "gpt2-large": 0.774e9,
    "gpt2-xl": 1.558e9,
    "gpt3-2.7b": 2.65e9,
    "gpt3-175b": 174.6e9,
    "llama": 6.738e9,
}
FORWARD_GFLOP = {
    "bert-base": 23.3,
    "bert-large-128": 80.2,
    "bert-large-384": 250.3,
    "bert-large-512": 339.9,
    "gpt2-small": 292,
    "gpt2-medium": 827,
    "gpt2-large": 1775,
    "gpt2-xl": 3507,
    "gpt3-2.7b": 12209,
    "gpt3-175b": 734804,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_published(name):
    assert catalog.workload(name).value.parameters == pytest.approx(PARAMETERS[name], rel=0.005)


@pytest.mark.parametrize("name", FORWARD_GFLOP)
def test_flop_of_a_sample_are_those_counted(name):
    chain = catalog.workload(name).value.units
    products = [o for unit in chain for o in unit.operators if isinstance(o.shape, Matmul)]
    assert sum(o.flop(Pass.FORWARD) for o in products) / 1e9 == pytest.approx(FORWARD_GFLOP[name], rel=0.01)


def decoder(**changes):
    sizes = {"layers": 2, "hidden": 64, "heads": 8, "feed_forward": 96, "sequence": 16, "vocabulary": 100}
    return Transformer(**{**sizes, "positions": 16, "head": Head.LM, "pre_norm": True, **changes})


def parameters(size):
    return sum(unit.parameters for unit in units(size))


def test_a_gated_decoder_with_shared_keys_has_the_textbooks_parameters():
    """Two tables, 2 h^2 + 2 h k + 3 h f and two scales a layer, a last scale."""
    size = decoder(positions=0, rotary=True, gated=True, rms_norm=True, biases=False, tied=False, key_value_heads=2)
    shared = 64 // 8 * 2
    layer = 2 * 64**2 + 2 * 64 * shared + 3 * 64 * 96 + 2 * 64
    assert parameters(size) == 2 * 100 * 64 + 2 * layer + 64


def test_each_option_changes_what_it_says():
    assert parameters(decoder(tied=False)) - parameters(decoder()) == 100 * 64
    assert parameters(decoder()) - parameters(decoder(biases=False)) == 2 * (4 * 64 + 96 + 64)
    assert parameters(decoder(head=Head.SPAN)) - parameters(decoder(head=Head.NONE)) == 2 * 64 + 2
    assert parameters(decoder(head=Head.LM)) == parameters(decoder(head=Head.NONE))
    names = [o.name for unit in units(decoder(dropout=False)) for o in unit.operators]
    assert not any("dropout" in name for name in names)
    assert names[names.index("layer0.attention.qkv") - 1] == "layer0.attention.norm"


def test_a_sentence_head_is_there_only_where_there_are_sentences():
    masked = {"head": Head.MLM, "masked_tokens": 4, "pre_norm": False}
    without = parameters(decoder(sentences=0, **masked))
    assert parameters(decoder(sentences=1, **masked)) - without == 64**2 + 64 + 2 * 64 + 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"key_value_heads": 3}, "divide"), ({"positions": 0}, "positions"), ({"head": Head.MLM}, "masked_tokens")],
)
def test_sizes_that_contradict_are_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        decoder(**wrong)
