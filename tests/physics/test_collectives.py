"""Collectives as steps: who holds what after each, and how much was sent."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.physics.collectives import halving_doubling, ring_all_reduce, ring_order, ring_reduce_scatter

POWERS = [2, 4, 8, 16, 64, 1024]


def sent(steps):
    """Share of the buffer that each member sends in all."""
    total = Counter()
    for step in steps:
        for sender, _ in step.pairs:
            total[sender] += step.share * step.repeat
    return total


@pytest.mark.parametrize("members", [2, 3, 4, 7, 8, 16])
def test_a_reduce_scatter_by_rings_sends_all_but_its_own_part(members):
    """(p - 1) / p of the buffer a member: the least any reduce-scatter can send (patarasuk-2009)."""
    step = ring_reduce_scatter(tuple(range(members)))
    assert step.repeat == members - 1
    assert sent([step]) == pytest.approx(dict.fromkeys(range(members), (members - 1) / members))


@pytest.mark.parametrize("members", [3, 4, 8, 16])
def test_two_rings_run_opposite_ways_over_the_same_neighbours(members):
    """Each member sends to both neighbours and hears from both, half of its part each way."""
    step = ring_reduce_scatter(tuple(range(members)))
    assert set(step.pairs) == {(i, (i + by) % members) for i in range(members) for by in (1, -1)}
    assert len(step.pairs) == 2 * members
    assert step.share == 0.5 / members


@pytest.mark.parametrize("members", POWERS)
def test_both_all_reduces_send_twice_what_is_not_ones_own(members):
    """2 (p - 1) / p of the buffer, whichever way."""
    least = 2 * (members - 1) / members
    for steps in (ring_all_reduce(members), halving_doubling(members)):
        assert sent(steps) == pytest.approx(dict.fromkeys(range(members), least))


@pytest.mark.parametrize("members", POWERS)
def test_halving_and_doubling_takes_two_log_steps_and_a_ring_two_a_member(members):
    assert sum(step.repeat for step in halving_doubling(members)) == 2 * math.log2(members)
    assert sum(step.repeat for step in ring_all_reduce(members)) == 2 * (members - 1)


@pytest.mark.parametrize("members", [2, 4, 8, 32])
def test_halving_ends_with_every_part_reduced_and_doubling_with_all_of_them_everywhere(members):
    """Followed part by part: `held[m][part]` is the set of members whose gradient of that part m has summed."""
    held = [{part: {member} for part in range(members)} for member in range(members)]
    steps = halving_doubling(members)
    halving, doubling = steps[: len(steps) // 2], steps[len(steps) // 2 :]
    for step in halving:
        before = [{part: set(summed) for part, summed in parts.items()} for parts in held]
        for sender, to in step.pairs:
            # the partner's half of what the sender still works on: parts nearer to the partner in every bit so far
            given_away = [part for part in before[sender] if part in before[to] and (part ^ to) < (part ^ sender)]
            assert len(given_away) == step.share * members
            for part in given_away:
                held[to][part] |= before[sender][part]
                held[sender].pop(part)
    assert held == [{member: set(range(members))} for member in range(members)]
    for step in doubling:
        before = [set(parts) for parts in held]
        for sender, to in step.pairs:
            assert len(before[sender]) == step.share * members
            held[to].update({part: set(range(members)) for part in before[sender]})
    assert all(set(parts) == set(range(members)) for parts in held)


@pytest.mark.parametrize("members", [2, 4, 8, 16, 64])
def test_a_ring_around_a_ladder_only_steps_along_rails_and_over_the_end_rungs(members):
    """Neighbours of the ring differ by 2 (a rail), but for the first and the last rung."""
    order = ring_order(members, around_ladder=True)
    assert sorted(order) == list(range(members))
    steps = Counter(abs(order[i] - order[(i + 1) % members]) for i in range(members))
    assert steps == Counter({2: members - 2, 1: 2}) if members > 2 else steps == Counter({1: 2})


@given(st.integers(1, 64))
def test_members_that_are_no_single_ipus_ring_as_numbered(members):
    assert ring_order(members, around_ladder=False) == tuple(range(members))
