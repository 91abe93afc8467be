"""BERT-Large against totals that are known from elsewhere, each as a closed form of its sizes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.files import catalog
from podsim.model.family import LARGEST_PACK, Transformer
from podsim.model.workload import Kind, Matmul, Pass
from podsim.workloads.transformer import units

LARGE = Transformer(
    layers=24,
    hidden=1024,
    heads=16,
    feed_forward=4096,
    sequence=512,
    vocabulary=30522,
    positions=512,
    segments=2,
    masked_tokens=76,
)
SIZES = st.builds(
    Transformer,
    layers=st.integers(1, 3),
    hidden=st.sampled_from([16, 32, 64]),
    heads=st.sampled_from([1, 2, 4]),
    feed_forward=st.sampled_from([32, 64, 256]),
    sequence=st.integers(1, 64),
    vocabulary=st.integers(1, 500),
    positions=st.integers(1, 64),
    segments=st.integers(0, 2),
    masked_tokens=st.integers(1, 8),
)


def parameters(chain):
    return sum(unit.parameters for unit in chain)


def products(chain):
    return [operator for unit in chain for operator in unit.operators if isinstance(operator.shape, Matmul)]


def flop(chain, run=Pass.FORWARD):
    """Of products only, as papers count."""
    return sum(operator.flop(run) for operator in products(chain))


def textbook_parameters(size):
    """Tables and their norm; 12 h^2 + 13 h a layer at f = 4 h; masked-token head (weights tied), pooler, sentences."""
    hidden, wide = size.hidden, size.feed_forward
    embedding = (size.vocabulary + size.positions + size.segments) * hidden + 2 * hidden
    layer = 4 * (hidden**2 + hidden) + 2 * hidden * wide + wide + hidden + 4 * hidden
    masked = hidden**2 + hidden + 2 * hidden + size.vocabulary
    sentences = hidden**2 + hidden + 2 * hidden + 2
    return embedding + size.layers * layer + masked + sentences


def textbook_flop(size):
    """2 t (4 h^2 + 2 h f) + 4 t^2 h a layer, and the head over masked tokens only."""
    tokens, hidden = size.sequence, size.hidden
    layer = 2 * tokens * (4 * hidden**2 + 2 * hidden * size.feed_forward) + 4 * tokens**2 * hidden
    return size.layers * layer + 2 * size.masked_tokens * (hidden**2 + hidden * size.vocabulary)


def sentence_flop(size):
    """Pooler and sentence head of every sequence a packed row may hold, which textbooks leave out."""
    return 2 * LARGEST_PACK * (size.hidden**2 + 2 * size.hidden)


def test_bert_large_has_336_million_parameters():
    """336.2 M with the vocabulary of 30,522 (devlin-2018 says 340 M); 336.6 M padded to 30,912 as submitted."""
    assert parameters(units(LARGE)) == textbook_parameters(LARGE)
    assert parameters(units(LARGE)) == pytest.approx(336.2e6, abs=0.05e6)
    shipped = catalog.workload("bert").value
    assert shipped.parameters == textbook_parameters(replace(LARGE, vocabulary=30912))
    assert shipped.parameters == pytest.approx(336.6e6, abs=0.05e6)


def test_the_encoder_holds_302_million_of_them():
    layers = [unit for unit in units(LARGE) if unit.group in ("attention", "ffn")]
    assert len(layers) == 2 * 24
    assert parameters(layers) == 24 * (12 * 1024**2 + 13 * 1024)
    assert parameters(layers) == pytest.approx(302.3e6, abs=0.05e6)


@pytest.mark.parametrize(("sequence", "masked", "gflop"), [(128, 20, 80.2), (384, 60, 250.3), (512, 76, 339.9)])
def test_forward_flop_of_the_published_sequence_lengths(sequence, masked, gflop):
    size = replace(LARGE, sequence=sequence, masked_tokens=masked)
    assert flop(units(size)) == textbook_flop(size) + sentence_flop(size)
    assert textbook_flop(size) / 1e9 == pytest.approx(gflop, abs=0.05)
    assert flop(units(size)) / 1e9 == pytest.approx(gflop, abs=0.1)


def test_training_is_three_forwards():
    """1,019.8 GFLOP a row of 512 tokens: backward and weight gradients are one forward each."""
    shipped = catalog.workload("bert").value
    assert shipped.training_flop_per_row() == pytest.approx(3 * flop(shipped.units))
    assert shipped.training_flop_per_row() == pytest.approx(1019.8e9, rel=2e-4)


@given(SIZES)
def test_any_size_has_the_textbooks_parameters_and_flop(size):
    chain = units(size)
    assert parameters(chain) == textbook_parameters(size)
    assert flop(chain) == textbook_flop(size) + sentence_flop(size)
    assert flop(chain, Pass.BACKWARD) + flop(chain, Pass.WEIGHT_GRADIENT) == 2 * flop(chain)


def test_each_layer_is_two_units_and_only_the_second_is_kept():
    chain = units(LARGE)
    assert [unit.group for unit in chain] == ["embedding", *["attention", "ffn"] * 24, "heads"]
    assert [unit.checkpoint for unit in chain[:5]] == [True, False, True, False, True]
    assert all(unit.out_elements == 512 * 1024 for unit in chain[:-1])


def test_weights_have_a_gradient_and_batched_products_two():
    """A trained product: one forward each for inputs and weights. Scores and context: one for each operand."""
    for operator in products(units(LARGE)):
        forward = operator.flop(Pass.FORWARD)
        if operator.shape.weights:
            assert operator.flop(Pass.BACKWARD) == operator.flop(Pass.WEIGHT_GRADIENT) == forward
        else:
            assert operator.flop(Pass.BACKWARD) == 2 * forward
            assert operator.flop(Pass.WEIGHT_GRADIENT) == 0


def test_the_projection_on_the_vocabulary_has_no_weights_of_its_own():
    (projection,) = [operator for operator in products(units(LARGE)) if operator.tied]
    assert projection.parameters == projection.weight_tensors == 0
    assert projection.shape.parameters == 1024 * 30522  # the word table, which its stage multiplies with
    assert projection.flop(Pass.WEIGHT_GRADIENT) == 2 * 76 * 1024 * 30522


def test_weight_tensors_as_the_optimizer_sees_them():
    """3 tables and a norm (2); 4 products, 4 biases, 2 norms a layer; two heads of 5 and 4."""
    assert [unit.weight_tensors for unit in units(LARGE)] == [5, *[6, 6] * 24, 9]
    assert sum(unit.weight_tensors for unit in units(LARGE)) == 302


def test_activations_and_weights_of_one_attention():
    """Query, key and value are 3 h^2 weights and 3 t h outputs; scores are a t x t square for each of 16 heads."""
    attention = next(unit for unit in units(LARGE) if unit.group == "attention")
    shapes = {operator.name.rpartition(".")[2]: operator.shape for operator in attention.operators}
    tokens, hidden = 512, 1024
    assert (shapes["qkv"].parameters, shapes["qkv"].outputs) == (3 * hidden**2, 3 * tokens * hidden)
    assert (shapes["scores"].parameters, shapes["scores"].outputs) == (0, 16 * tokens**2)
    assert shapes["scores"].inputs == 2 * tokens * hidden
    assert (shapes["context"].inputs, shapes["context"].outputs) == (
        16 * tokens**2 + tokens * hidden,
        tokens * hidden,
    )
    assert (shapes["output"].parameters, shapes["output"].outputs) == (hidden**2, tokens * hidden)
    assert attention.parameters == 4 * hidden**2 + 4 * hidden + 2 * hidden


def test_attention_dropout_runs_only_where_the_configuration_has_it():
    """v2.0 submissions have it, those before have not; it is one pass over the scores of every head."""
    shipped = catalog.workload("bert").value
    attention = next(unit for unit in shipped.units if unit.group == "attention")
    seen = {configuration.name: attention.active(configuration) for configuration in shipped.configurations}
    (extra,) = set(seen["popart-v2.0-pod64"]) - set(seen["popart-v1.1-pod64"])
    assert extra.kind is Kind.DROPOUT
    assert extra.shape.elements == 16 * 512**2
    for configuration in shipped.configurations:
        assert (extra in seen[configuration.name]) == configuration.name.startswith("popart-v2.0")
        kept = [operator for operator in attention.operators if operator in seen[configuration.name]]
        assert list(seen[configuration.name]) == kept  # order untouched


@given(SIZES, st.integers(1, 8))
def test_rows_multiply_work_and_activations_but_no_weights(size, rows):
    for unit in units(size):
        for operator in unit.operators:
            many = operator.shape.at(rows)
            assert many.flop == rows * operator.shape.flop
            assert many.outputs == rows * operator.shape.outputs
            assert many.parameters == operator.shape.parameters
            assert operator.flop(Pass.BACKWARD, rows) == rows * operator.flop(Pass.BACKWARD)
