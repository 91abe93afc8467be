"""Collectives as steps: who hears of whom, how much is sent, in how many steps."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.collective import Algorithm, Collective
from podsim.physics.collectives import FLAT, bus_factor, ring_order, schedule, sent_share

POWERS = [2, 4, 8, 16, 64, 1024]
SERVED = [(algorithm, collective) for algorithm, known in FLAT.items() for collective in known]
REDUCE, GATHER, SUM = Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_REDUCE
OPTIMAL = [Algorithm.RING, Algorithm.RING_PAIR, Algorithm.HALVING_DOUBLING, Algorithm.DIRECT]


def each_sends(steps, members):
    """Share of the buffer that every member sends in all."""
    total = Counter()
    for step in steps:
        for sender, _ in step.messages(members):
            total[sender] += step.share * step.repeat
    return total


def heard_of(steps, members):
    """Whose data each member may have, if a message carries all that its sender knows."""
    known = [{member} for member in range(members)]
    for step in steps:
        for _ in range(step.repeat):
            before = [set(numbers) for numbers in known]
            for sender, to in step.messages(members):
                known[to] |= before[sender]
    return known


def numbers(algorithm):
    return POWERS[:4] if algorithm is Algorithm.HALVING_DOUBLING else [2, 3, 4, 7, 8, 16]


@pytest.mark.parametrize(("algorithm", "collective"), SERVED)
def test_everybody_hears_of_everybody_who_matters(algorithm, collective):
    """Of the first member in a broadcast, of all in everything else: with one message fewer somebody would not."""
    for members in numbers(algorithm):
        known = heard_of(schedule(collective, algorithm, members), members)
        needed = {0} if collective is Collective.BROADCAST else set(range(members))
        assert all(needed <= item for item in known), members


@pytest.mark.parametrize("algorithm", OPTIMAL)
def test_a_reduce_scatter_sends_all_but_ones_own_part(algorithm):
    """(p - 1) / p of the buffer a member, the least that any can send (patarasuk-2009); an all-reduce twice that."""
    for members in numbers(algorithm):
        least = (members - 1) / members
        assert each_sends(schedule(REDUCE, algorithm, members), members) == pytest.approx(
            dict.fromkeys(range(members), least)
        )
        assert sent_share(schedule(GATHER, algorithm, members)) == pytest.approx(least)
        assert sent_share(schedule(SUM, algorithm, members)) == pytest.approx(2 * least)


@pytest.mark.parametrize("members", [3, 4, 8, 16])
def test_two_rings_run_opposite_ways_over_the_same_neighbours(members):
    """Each member sends to both neighbours and hears from both, half of its part each way."""
    (step,) = schedule(REDUCE, Algorithm.RING_PAIR, members)
    messages = list(step.messages(members))
    assert set(messages) == {(i, (i + by) % members) for i in range(members) for by in (1, -1)}
    assert (len(messages), step.share, step.repeat) == (2 * members, 0.5 / members, members - 1)


@pytest.mark.parametrize("members", [2, 3, 4, 7, 8, 16])
def test_meeting_in_the_middle_takes_half_the_steps_of_a_ring(members):
    """floor(p / 2) steps of whole parts; of an even number of members one part comes from one side alone."""
    steps = schedule(REDUCE, Algorithm.MEET_IN_THE_MIDDLE, members)
    assert sum(step.repeat for step in steps) == members // 2
    assert {step.share for step in steps} == {1 / members}
    assert sum(len(step.shifts) * step.repeat for step in steps) == members - 1


@pytest.mark.parametrize("members", POWERS)
def test_halving_and_doubling_takes_two_log_steps_and_a_ring_two_a_member(members):
    count = {algorithm: sum(step.repeat for step in schedule(SUM, algorithm, members)) for algorithm in OPTIMAL}
    assert count[Algorithm.HALVING_DOUBLING] == 2 * math.log2(members)
    assert count[Algorithm.RING] == count[Algorithm.RING_PAIR] == 2 * (members - 1)
    assert count[Algorithm.DIRECT] == 2


@pytest.mark.parametrize("members", [2, 4, 8, 32])
def test_halving_ends_with_every_part_reduced_and_doubling_with_all_of_them_everywhere(members):
    """Followed part by part: `held[m][part]` is the set of members whose gradient of that part m has summed."""
    tables = [{part: {member} for part in range(members)} for member in range(members)]
    halving = schedule(REDUCE, Algorithm.HALVING_DOUBLING, members)
    for step in halving:
        before = [{part: set(summed) for part, summed in parts.items()} for parts in tables]
        for sender, to in step.messages(members):
            # the partner's half of what the sender still works on: parts nearer to the partner in every bit so far
            given_away = [part for part in before[sender] if part in before[to] and (part ^ to) < (part ^ sender)]
            assert len(given_away) == step.share * members
            for part in given_away:
                tables[to][part] |= before[sender][part]
                tables[sender].pop(part)
    assert tables == [{member: set(range(members))} for member in range(members)]
    for step in schedule(GATHER, Algorithm.HALVING_DOUBLING, members):
        before = [set(parts) for parts in tables]
        for sender, to in step.messages(members):
            assert len(before[sender]) == step.share * members
            tables[to].update({part: set(range(members)) for part in before[sender]})
    assert all(set(parts) == set(range(members)) for parts in tables)


@pytest.mark.parametrize("members", range(2, 40))
def test_a_tree_has_the_buffer_everywhere_in_log_steps(members):
    """Nobody gets it twice: p - 1 messages in ceil(log2 p) steps."""
    steps = schedule(Collective.BROADCAST, Algorithm.TREE, members)
    assert len(steps) == math.ceil(math.log2(members))
    assert sorted(to for step in steps for _, to in step.messages(members)) == list(range(1, members))


@pytest.mark.parametrize("members", [2, 3, 4, 5, 8, 16])
def test_parts_of_an_all_to_all_travel_as_far_as_they_must(members):
    """Round one way p (p - 1) / 2 part hops a member, the shorter way round about half."""
    hops = sum(range(1, members))
    near = sum(min(by, members - by) for by in range(1, members))
    assert sent_share(schedule(Collective.ALL_TO_ALL, Algorithm.RING, members)) == pytest.approx(hops / members)
    assert sent_share(schedule(Collective.ALL_TO_ALL, Algorithm.RING_PAIR, members)) == pytest.approx(near / members)


def test_what_an_algorithm_does_not_serve_it_says():
    with pytest.raises(ValueError, match="tree serves all-reduce, broadcast"):
        schedule(GATHER, Algorithm.TREE, 4)
    with pytest.raises(ValueError, match="power of two, not 12 members"):
        schedule(SUM, Algorithm.HALVING_DOUBLING, 12)
    with pytest.raises(ValueError, match="phases of its own"):
        schedule(SUM, Algorithm.TORUS, 4)


@pytest.mark.parametrize(("algorithm", "collective"), SERVED)
def test_one_member_sends_nothing(algorithm, collective):
    assert schedule(collective, algorithm, 1) == ()


def test_bus_bandwidth_counts_what_has_to_leave_a_member():
    """The factors of NCCL's tests: 2 (p - 1) / p, (p - 1) / p and 1."""
    assert [bus_factor(collective, 8) for collective in Collective] == [1.75, 0.875, 0.875, 1.0, 0.875]


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
