"""How near a user's network is to a published one, and what it takes from it, by chains made by hand."""

from dataclasses import replace

import pytest

from podsim.files import catalog
from podsim.files.configurations import general
from podsim.files.reference_networks import (
    Size,
    _compare,
    configure,
    kind,
    reference,
)
from podsim.model.family import NetworkKind
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Stream

TOKENS, HIDDEN, WORDS = 16, 32, 1000
LOOK = Operator(
    name="look", kind=Kind.GATHER, shape=Gather(table=WORDS, width=HIDDEN, lookups=TOKENS), weight_tensors=1
)
UP = Operator(name="up", kind=Kind.MATMUL, shape=Matmul(m=TOKENS, k=HIDDEN, n=4 * HIDDEN))
SOFTMAX = Operator(name="softmax", kind=Kind.SOFTMAX, shape=Stream(elements=TOKENS * TOKENS, row=TOKENS))
SCORES = Operator(name="scores", kind=Kind.MATMUL, shape=Matmul(groups=4, m=TOKENS, k=8, n=TOKENS, weights=False))
HEAD = Operator(name="head", kind=Kind.MATMUL, shape=Matmul(m=TOKENS, k=HIDDEN, n=WORDS), tied=True)
CONV = Operator(name="conv", kind=Kind.CONVOLUTION, shape=Conv(size=8, in_channels=3, out_channels=16, kernel=3))


def chain(*operators, once=False):
    return (LayerUnit(name="u", group="block", operators=operators, checkpoint=True, once=once),)


LANGUAGE = chain(LOOK, UP, SCORES, SOFTMAX, HEAD)


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        ((LOOK, UP, SOFTMAX), NetworkKind.LANGUAGE),
        ((UP, SOFTMAX), NetworkKind.VISION_TRANSFORMER),
        ((CONV, SOFTMAX), NetworkKind.CONVOLUTIONAL),
        ((CONV, replace(UP, shape=Matmul(m=1000, k=100, n=100)), SOFTMAX), NetworkKind.VISION_TRANSFORMER),
        ((LOOK, UP), None),
        ((), None),
    ],
)
def test_a_network_is_of_the_kind_of_most_of_its_arithmetic(operators, expected):
    assert kind(chain(*operators)) is expected


def test_the_size_of_a_language_model_is_that_of_a_token():
    """Products with weights count, once a token; those of tokens with tokens grow with the row and do not."""
    size = Size.of(LANGUAGE)
    assert size.flop == 2 * HIDDEN * (4 * HIDDEN + WORDS)
    assert (size.tokens, size.next_token, size.uniform, size.once) == (TOKENS, True, True, False)
    assert size.parameters == WORDS * HIDDEN + 4 * HIDDEN * HIDDEN


def test_a_longer_row_is_no_larger_model():
    def at(tokens):
        return Size.of(
            chain(
                replace(LOOK, shape=replace(LOOK.shape, lookups=tokens)),
                replace(UP, shape=replace(UP.shape, m=tokens)),
                replace(SCORES, shape=replace(SCORES.shape, m=tokens, n=tokens)),
                replace(SOFTMAX, shape=Stream(elements=tokens * tokens, row=tokens)),
            )
        )

    assert (at(64).flop, at(64).parameters) == (at(16).flop, at(16).parameters)
    assert (at(64).tokens, at(16).tokens) == (64, 16)


def test_without_words_all_products_of_a_row_count():
    size = Size.of(chain(UP, SCORES, SOFTMAX))
    assert size.flop == UP.shape.flop + SCORES.shape.flop
    assert (size.tokens, size.next_token) == (0, False)


def test_attention_that_changes_from_stage_to_stage_and_encoders_are_told():
    other = replace(SOFTMAX, shape=Stream(elements=64, row=8))
    assert not Size.of(chain(LOOK, UP, SOFTMAX, other)).uniform
    assert Size.of(chain(LOOK, UP, SOFTMAX, once=True)).once
    assert not Size.of(chain(LOOK, UP, SOFTMAX)).next_token


# --- nearness -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpt2():
    return catalog.workload("gpt2-small").value


def compared(gpt2, **change):
    own = Size.of(gpt2.units)
    return _compare(replace(own, **{name: value(getattr(own, name)) for name, value in change.items()}), own, gpt2, {})


def test_the_same_network_may_be_a_little_larger_and_its_rows_of_any_length(gpt2):
    assert compared(gpt2, parameters=lambda size: round(size * 1.019)).whole
    longer = compared(gpt2, tokens=lambda tokens: 2 * tokens)
    assert (longer.same, longer.whole, longer.longer) == (True, False, 2.0)
    assert str(longer.basis).endswith("the same network with 2× the tokens per row")
    for change in ({"parameters": lambda size: round(size * 1.03)}, {"flop": lambda flop: 0.97 * flop}):
        assert not compared(gpt2, **change).same
    assert not compared(gpt2, next_token=lambda _: False).same
    assert not compared(gpt2, tokens=lambda _: 0).same


def test_the_screen_says_how_near_the_nearest_is(gpt2):
    assert "the same network (parameters and FLOP within 2 %)" in str(compared(gpt2).basis)
    other = compared(gpt2, parameters=lambda size: 2 * size)
    assert str(other.basis).endswith("(2× its parameters, 1× its FLOP)")
    both = compared(gpt2, parameters=lambda size: 2 * size, tokens=lambda tokens: 4 * tokens)
    assert str(both.basis).endswith("(2× its parameters, 1× its FLOP per token)")


def test_a_shipped_network_is_its_own_reference_and_keeps_its_mappings(gpt2):
    like = reference(gpt2.units, general().value, catalog.workload)
    assert (like.workload.name, like.whole) == ("gpt2-small", True)
    mine = AnswerNote.of(NoteCode.FILE_TEXT, text="mine")
    own = replace(gpt2, presets=(), configurations=(), notes=(AnswerNote.of(NoteCode.CONFIGURATION_GENERAL), mine))
    taken = configure(own, like, set())
    assert taken.presets == gpt2.presets
    assert [each.name for each in taken.configurations] == [each.name for each in gpt2.configurations]
    assert taken.notes == (mine, like.basis)


def test_what_the_file_states_stays_its_own(gpt2):
    like = compared(gpt2, parameters=lambda size: 2 * size)
    own = replace(gpt2, optimizer="sgd", presets=())
    stated = configure(own, like, {"optimizer", "benchmark"})
    assert (stated.optimizer, stated.benchmark) == ("sgd", own.benchmark)
    assert configure(own, like, set()).optimizer == gpt2.optimizer
    assert stated.presets == ()
    assert all(not each.layout for each in stated.configurations)


def test_a_longer_row_takes_as_many_tokens_a_step(gpt2):
    rows = replace(gpt2, benchmark=replace(gpt2.benchmark, global_batch=512, global_batch_tokens=None))
    like = replace(compared(gpt2, tokens=lambda tokens: 4 * tokens), workload=rows)
    taken = configure(gpt2, like, set())
    assert taken.benchmark.global_batch == 128
    assert str(taken.recipe) == f"as many tokens per step as {gpt2.title}"
    assert configure(gpt2, replace(like, longer=1e6), set()).benchmark.global_batch == 1
    assert str(configure(gpt2, replace(like, longer=1.0), set()).recipe) == f"that of {gpt2.title}"


def test_where_nobody_states_a_batch_it_is_a_round_number(gpt2):
    bare = replace(gpt2, benchmark=replace(gpt2.benchmark, global_batch=None, global_batch_tokens=None))
    like = replace(compared(gpt2, parameters=lambda size: 2 * size), workload=bare)
    assert configure(gpt2, like, set()).recipe == AnswerNote.of(NoteCode.RECIPE_ROUND_NUMBER)
    assert configure(gpt2, like, set()).benchmark.global_batch == gpt2.benchmark.global_batch
    paper = replace(bare, benchmark=replace(bare.benchmark, global_batch_tokens=5e5))
    assert str(configure(gpt2, replace(like, workload=paper), set()).recipe) == (
        f"the 500,000 tokens per step that the paper of {gpt2.title} states"
    )


@pytest.mark.parametrize(("times", "near"), [(1.8, True), (2.5, False)])
def test_a_language_model_takes_the_configuration_of_one_half_its_size_and_of_no_smaller_one(times, near):
    """GPT-2 large is the largest that streams no weights: so many times its parameters and arithmetic a token."""
    largest = Size.of(catalog.workload("gpt2-large").value.units)
    k = 2**11
    n = round(times * largest.parameters / k)
    up = replace(UP, shape=Matmul(m=TOKENS, k=k, n=n))
    like = reference(
        chain(LOOK, up, SOFTMAX, replace(HEAD, shape=Matmul(m=TOKENS, k=k, n=WORDS))), general().value, catalog.workload
    )
    assert (like is not None) is near
    if like:
        assert like.workload.name == "gpt2-large-512"  # of equally near ones that with the shortest rows
        assert like.parameters == pytest.approx(times, rel=0.01)
