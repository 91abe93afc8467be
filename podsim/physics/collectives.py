"""Collectives as steps of simultaneous messages; textbook totals are the tests' oracles.

Members are numbered from 0. The share of a step is that of the buffer S of one member, see `model.collective`.
Sources: patarasuk-2009 (ring), thakur-2005 (halving and doubling, binomial tree); the ring methods are those that the
user guide of Graphcore's collectives library names (gcl-user-guide).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from podsim.model.collective import Algorithm, Collective


@dataclass(frozen=True, slots=True)
class Step:
    """One step: who sends to whom, which share of the buffer goes in each message, how many equal steps follow.

    With `shifts` every member sends to the one so many further on, once for each; with `swap` to the one whose number
    differs by that power of two; else `pairs` are senders and receivers.
    """

    share: float
    repeat: int = 1
    shifts: tuple[int, ...] = ()
    swap: int = 0
    pairs: tuple[tuple[int, int], ...] = ()

    def count(self, members: int) -> int:
        """How many messages."""
        return (len(self.shifts) + (self.swap > 0)) * members + len(self.pairs)

    def messages(self, members: int, *, first: bool = False) -> Iterator[tuple[int, int]]:
        """Sender and receiver of every message; of shifts and swaps those of the `first` sender may do."""
        senders = range(1 if first else members)
        if self.swap:
            yield from ((member, member ^ self.swap) for member in senders)
        for shift in self.shifts:
            yield from ((member, (member + shift) % members) for member in senders)
        yield from self.pairs


Steps = tuple[Step, ...]


def sent_share(steps: Steps) -> float:
    """Share of the buffer that the busiest member sends."""
    table: dict[int, float] = {}
    every = 0.0
    for step in steps:
        share = step.share * step.repeat
        every += share * (len(step.shifts) + (step.swap > 0))
        for sender, _ in step.pairs:
            table[sender] = table.get(sender, 0.0) + share
    return every + max(table.values(), default=0.0)


def ring_order(members: int, *, around_ladder: bool) -> tuple[int, ...]:
    """Members in the order of the ring: around the ladder where a member is one IPU, else as numbered."""
    if not around_ladder:
        return tuple(range(members))
    return (*range(0, members, 2), *reversed(range(1, members, 2)))


def schedule(collective: Collective, algorithm: Algorithm, members: int) -> Steps:
    """The steps of a collective over `members` by an algorithm of one phase; ValueError says why it has none."""
    if algorithm not in FLAT:
        raise ValueError(f"{algorithm} has phases of its own")
    steps = FLAT[algorithm].get(collective)
    if steps is None:
        raise ValueError(f"{algorithm} serves {', '.join(FLAT[algorithm])}")
    if algorithm is Algorithm.HALVING_DOUBLING and members & (members - 1):
        raise ValueError(f"halving and doubling needs a power of two, not {members:,} members")
    return steps(members) if members > 1 else ()


def _all_reduce(scatter: Callable[[int], Steps]) -> Callable[[int], Steps]:
    """A reduce-scatter and the same backwards, which gathers; equal neighbours in one."""

    def steps(members: int) -> Steps:
        there = scatter(members)
        first, *others = (*there, *reversed(there))
        merged_steps = [first]
        for step in others:
            last = merged_steps[-1]
            if replace(last, repeat=step.repeat) == step:
                merged_steps[-1] = replace(last, repeat=last.repeat + step.repeat)
            else:
                merged_steps.append(step)
        return tuple(merged_steps)

    return steps


def _backwards(scatter: Callable[[int], Steps]) -> Callable[[int], Steps]:
    return lambda members: tuple(reversed(scatter(members)))


def _ring(members: int) -> Steps:
    """A part goes round to its owner, summed up on the way (Eq. 7)."""
    return (Step(1 / members, members - 1, shifts=(1,)),)


def _ring_pair(members: int) -> Steps:
    """A ring each way with half the buffer (Eq. 7)."""
    return (Step(0.5 / members, members - 1, shifts=(1, -1)),)


def _middle(members: int) -> Steps:
    """Whole parts come from both sides and meet at their owner; of an even number one comes from one side alone."""
    odd = (Step(1 / members, shifts=(1,)),) if members % 2 == 0 else ()
    both = (Step(1 / members, (members - 1) // 2, shifts=(1, -1)),) if members > 2 else ()
    return odd + both


def _halving(members: int) -> Steps:
    """Half of what is left goes to a partner at half the distance (Eq. 8)."""
    steps, distance, share = [], members // 2, 0.5
    while distance:
        steps.append(Step(share, swap=distance))
        distance, share = distance // 2, share / 2
    return tuple(steps)


def _direct(members: int) -> Steps:
    """Its part to each owner at once."""
    return (Step(1 / members, shifts=tuple(range(1, members))),)


def _ring_all_to_all(members: int) -> Steps:
    """All parts that are not yet there go one member on; one fewer each step."""
    return tuple(Step((members - step) / members, shifts=(1,)) for step in range(1, members))


def _ring_pair_all_to_all(members: int) -> Steps:
    """Parts go the shorter way round; what is for the opposite member goes half each way."""
    middle = 0.5 if members % 2 == 0 else 0.0
    far = (members - 1) // 2
    return tuple(
        Step((max(far - step + 1, 0) + middle) / members, shifts=(1, -1)) for step in range(1, members // 2 + 1)
    )


def _hypercube_all_to_all(members: int) -> Steps:
    """Half the buffer to a partner at half the distance, log2(members) times."""
    return tuple(Step(0.5, swap=step.swap) for step in _halving(members))


def _chain(share: float, *, up: int, down: int) -> Callable[[int], Steps]:
    """The first member's buffer handed on; `up` and `down` say whether it goes that way round."""

    def steps(members: int) -> Steps:
        steps = []
        for hop in range(members - 1):
            pairs = ((hop, hop + 1),) * up + ((-hop % members, (-hop - 1) % members),) * down
            steps.append(Step(share, pairs=pairs))
        return tuple(steps)

    return steps


def _middle_chain(members: int) -> Steps:
    """The whole buffer both ways until they meet."""
    steps = []
    for hop in range(members // 2):
        up, down = (hop, hop + 1), (-hop % members, (-hop - 1) % members)
        steps.append(Step(1.0, pairs=(up, down) if up[1] != down[1] else (up,)))
    return tuple(steps)


def _scatter_gather(members: int) -> Steps:
    """The first member's buffer scattered by halves down a tree, then gathered by doubling (thakur-2005)."""
    scatter = []
    for step in _halving(members):
        senders = range(0, members, 2 * step.swap)
        scatter.append(Step(step.share, pairs=tuple((sender, sender + step.swap) for sender in senders)))
    return (*scatter, *reversed(_halving(members)))


def _binomial(members: int) -> Steps:
    """Everybody who has the buffer hands it on, at halving distance: ceil(log2(members)) steps (thakur-2005)."""
    steps, distance = [], 1 << (members - 1).bit_length() >> 1
    while distance:
        pairs = tuple((m, m + distance) for m in range(0, members - distance, 2 * distance))
        steps.append(Step(1.0, pairs=pairs))
        distance //= 2
    return tuple(steps)


def _tree_all_reduce(members: int) -> Steps:
    """Summed up the tree to the first member, and back down."""
    down = _binomial(members)
    up = (replace(step, pairs=tuple((to, sender) for sender, to in step.pairs)) for step in reversed(down))
    return (*up, *down)


def _from_one(members: int) -> Steps:
    return (Step(1.0, pairs=tuple((0, member) for member in range(1, members))),)


def _three(scatter: Callable[[int], Steps]) -> dict[Collective, Callable[[int], Steps]]:
    """What follows from a reduce-scatter."""
    return {
        Collective.ALL_REDUCE: _all_reduce(scatter),
        Collective.REDUCE_SCATTER: scatter,
        Collective.ALL_GATHER: _backwards(scatter),
    }


FLAT: dict[Algorithm, dict[Collective, Callable[[int], Steps]]] = {
    Algorithm.RING: {
        **_three(_ring),
        Collective.BROADCAST: _chain(1.0, up=1, down=0),
        Collective.ALL_TO_ALL: _ring_all_to_all,
    },
    Algorithm.RING_PAIR: {
        **_three(_ring_pair),
        Collective.BROADCAST: _chain(0.5, up=1, down=1),
        Collective.ALL_TO_ALL: _ring_pair_all_to_all,
    },
    Algorithm.MEET_IN_THE_MIDDLE: {**_three(_middle), Collective.BROADCAST: _middle_chain},
    Algorithm.HALVING_DOUBLING: {
        **_three(_halving),
        Collective.BROADCAST: _scatter_gather,
        Collective.ALL_TO_ALL: _hypercube_all_to_all,
    },
    Algorithm.TREE: {Collective.ALL_REDUCE: _tree_all_reduce, Collective.BROADCAST: _binomial},
    Algorithm.DIRECT: {**_three(_direct), Collective.BROADCAST: _from_one, Collective.ALL_TO_ALL: _direct},
}
"""Algorithms of one phase, by what they serve."""
FLAT[Algorithm.LADDER_RING] = FLAT[Algorithm.RING_PAIR]


def bus_factor(collective: Collective, members: int) -> float:
    """What turns bytes over time into bus bandwidth, as NCCL's tests count it: a share of the buffer on each link."""
    if collective is Collective.BROADCAST:
        return 1.0
    share = (members - 1) / members
    return 2 * share if collective is Collective.ALL_REDUCE else share
