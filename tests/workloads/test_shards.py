"""Tensor shards: what all IPUs of a replica hold and compute together is the model (Eq. 72)."""

import pytest

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.collective import Collective
from podsim.model.workload import Matmul, Pass
from podsim.workloads.shards import ExchangedElements, ShardGrid, check, exchanges_of, in_parts, shard

GPT3 = catalog.workload("gpt3-175b").value
CUTS = [ShardGrid(8, 1), ShardGrid(8, 8), ShardGrid(1, 8)]


def flop(chain):
    return sum(o.flop(Pass.FORWARD) for u in chain for o in u.operators if isinstance(o.shape, Matmul))


@pytest.mark.parametrize("cut", CUTS)
def test_shards_add_up_to_the_model(cut):
    """Within what norms and biases, which some shards repeat, and rounding add."""
    parts = [shard(unit, cut) for unit in GPT3.units]
    assert cut.shards * flop(parts) == pytest.approx(flop(GPT3.units), rel=1e-3)
    assert cut.shards * sum(u.parameters for u in parts) == pytest.approx(GPT3.parameters, rel=1e-3)


def test_rows_alone_and_columns_alone_exchange_what_the_closed_forms_say():
    attention, feed_forward = GPT3.units[1], GPT3.units[2]
    tokens, hidden = 2048, 12288
    whole = ExchangedElements(Collective.ALL_REDUCE, True, tokens * hidden)
    for unit in (attention, feed_forward):  # as shoeybi-2019: one sum forward, one backward
        assert list(exchanges_of(unit, ShardGrid(8, 1), backward=False)) == [whole]
        assert list(exchanges_of(unit, ShardGrid(8, 1), backward=True)) == [whole]
    both = list(exchanges_of(feed_forward, ShardGrid(8, 8), backward=False))
    assert both == [
        ExchangedElements(Collective.ALL_REDUCE, False, tokens * 4 * hidden // 8),
        ExchangedElements(Collective.ALL_REDUCE, True, tokens * hidden // 8),
    ]
    assert not list(exchanges_of(attention, ShardGrid(1, 1), backward=True))


def test_what_cannot_be_cut_is_refused():
    with pytest.raises(InputError, match="tensor shards do not divide the 96 heads"):
        check(GPT3.units, ShardGrid(64, 1))
    with pytest.raises(InputError, match="cannot be cut"):
        check(catalog.workload("bert").value.units, ShardGrid(8, 1))


def test_columns_beyond_the_heads_of_keys_copy_them():
    """16 columns on 8 heads of keys: all products are there once, and 8 heads of keys and values more."""
    chain, cut = catalog.workload("llama31-8b").value.units, ShardGrid(16, 2)
    whole, half = chain[1], shard(chain[1], cut)
    copies = 4096 * 2 * 128 * 8
    assert cut.shards * half.parameters == pytest.approx(whole.parameters + copies, rel=2e-3)
    assert cut.shards * flop([half]) == pytest.approx(flop([whole]) + 2 * 8192 * copies, rel=1e-3)


def test_attention_in_parts_does_the_same_and_keeps_less():
    whole = shard(GPT3.units[1], ShardGrid(8, 8))
    blocks = in_parts(whole, 4)
    assert flop([blocks]) == flop([whole])
    kept = {
        o.name.split(".")[-1]: (o.stash_elements, p.stash_elements)
        for o, p in zip(whole.operators, blocks.operators, strict=True)
    }
    assert {name for name, (all_, number) in kept.items() if number != all_} == {"scores", "scale-and-mask", "softmax"}
    assert all(all_ == 4 * number for all_, number in kept.values() if number != all_)
