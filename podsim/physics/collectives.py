"""Collectives as steps of simultaneous flows; textbook totals are the tests' oracles.

Sources: patarasuk-2009 (ring), thakur-2005 (recursive halving and doubling); GCL's three phases after topologies of
the public release notes: reduce-scatter inside a rack, all-reduce between racks, all-gather inside a rack.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a collective: who sends to whom, which share of the buffer, how many equal steps follow."""

    pairs: tuple[tuple[int, int], ...]
    share: float
    repeat: int = 1


def ring_order(members: int, *, around_ladder: bool) -> tuple[int, ...]:
    """Members in the order of the ring: around the ladder where a member is one IPU, else as numbered."""
    if not around_ladder:
        return tuple(range(members))
    return (*range(0, members, 2), *reversed(range(1, members, 2)))


def ring_reduce_scatter(order: tuple[int, ...]) -> Step:
    """A pair of rings, one each way round, each with half the buffer; an all-gather is the same backwards (Eq. 7)."""
    members = len(order)
    pairs = [(order[i], order[(i + 1) % members]) for i in range(members)]
    pairs += [(to, sender) for sender, to in pairs]
    return Step(pairs=tuple(pairs), share=0.5 / members, repeat=members - 1)


def halving_doubling(members: int) -> tuple[Step, ...]:
    """All-reduce by recursive halving, then doubling: 2 log2(members) steps (Eq. 8); `members` a power of two."""
    steps, distance, share = [], members // 2, 0.5
    while distance >= 1:
        pairs = tuple((member, member ^ distance) for member in range(members))
        steps.append(Step(pairs=pairs, share=share))
        distance, share = distance // 2, share / 2
    return (*steps, *reversed(steps))


def ring_all_reduce(members: int) -> tuple[Step, ...]:
    """All-reduce by a pair of rings: 2 (members - 1) steps (Eq. 7)."""
    step = ring_reduce_scatter(tuple(range(members)))
    return (Step(pairs=step.pairs, share=step.share, repeat=2 * step.repeat),)
