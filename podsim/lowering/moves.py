"""The messages of a collective as flows over links: every one of them, or those of one endpoint that stands for all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from podsim.caches.tables import TABLES, ObjectTable, Table
from podsim.lowering.collective_parts import CollectiveContext, Move, Phase, TooManyError
from podsim.model.fabric import Shape
from podsim.model.program import Flow
from podsim.model.sums import sum_in_order
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podsim.physics.collectives import Step
    from podsim.topology.network import Route
    from podsim.topology.rank_symmetry import Quotient

SAMPLED_MESSAGES: Final = 16  # messages of a step whose way is looked at before all are followed
WITH_MIDDLE: Final = (Shape.SWITCH, Shape.STAR, Shape.SHARED)
Ways = tuple[tuple[float, tuple[tuple[tuple[int, ...], int, int], ...]], ...]
"""By latency: the links of each way, the first position that brings as much, how many messages take it."""
MOST_KNOWN: Final = 128  # steps whose ways are held for each network: a fit and a search ask for a few dozen
MOST_HELD: Final = 20_000  # links that the ways of a step that is held may cross
_MOVES: Final[ObjectTable[Network, Table[object, tuple[float, Ways]]]] = TABLES.add(
    "ways of messages, by network", ObjectTable(32)
)


class _CrossingCount:
    """Links crossed so far, up to a limit."""

    def __init__(self, context: CollectiveContext) -> None:
        self._most, self.crossed = context.most_crossings, 0.0

    def add(self, route: Route, messages: float = 1.0) -> None:
        self.more(len(route.links) * messages)

    def more(self, crossings: float) -> None:
        self.crossed += crossings
        if self.crossed > self._most:
            raise TooManyError(f"its messages cross more than {self._most:,} links")


def whole(context: CollectiveContext, phases: tuple[Phase, ...]) -> tuple[tuple[Move, ...], ...]:
    """Every message over the network itself; TooManyError where that is beyond the setting's limit."""
    counter = _CrossingCount(context)
    member_counts = [_followed_members(context, phase) for phase in phases]
    count = sum(
        sum(step.count(phase.group.size) for step in phase.steps) * members // phase.group.size
        for phase, members in zip(phases, member_counts, strict=True)
    )
    if count > context.most_messages:
        raise TooManyError(f"{count:,} messages exceed the limit of {context.most_messages:,}")
    crossings = sum_in_order(
        _crossing_count(context, phase, members) for phase, members in zip(phases, member_counts, strict=True)
    )
    if crossings > context.most_crossings:
        raise TooManyError(
            f"its messages would make {crossings:,.0f} link crossings, more than {context.most_crossings:,}"
        )
    return tuple(tuple(_whole(context, phase, step, counter) for step in phase.steps) for phase in phases)


def _followed_members(context: CollectiveContext, phase: Phase) -> int:
    """Members of all groups whose messages have to be followed."""
    bases = _bases(context, phase)
    alike = sum(map(_alike_racks(context, phase), bases))
    return alike + phase.group.size * (len(bases) - alike)


def _crossing_count(context: CollectiveContext, phase: Phase, members: int) -> float:
    """Links that the messages of a phase cross if all go as far as those of the first sender: known before they do."""
    group, crossings = phase.group, 0.0
    base = next(iter(_bases(context, phase)), 0)
    for step in phase.steps:
        pairs = list(step.messages(group.size, first=True))
        some = pairs[:: max(1, len(pairs) // SAMPLED_MESSAGES)]
        hops = sum(
            context.network.route(base + number * group.stride, base + to * group.stride).hops for number, to in some
        )
        crossings += hops / max(1, len(some)) * (step.count(group.size) * members // group.size)
    return crossings


def _whole(context: CollectiveContext, phase: Phase, step: Step, counter: _CrossingCount) -> Move:
    share = _share(context, phase, step)
    volumes = [volume * share for volume in context.volumes_bytes]
    by_latency = tuple(
        (latency_s, tuple([Flow(links, volumes[position], count) for links, position, count in ways]))
        for latency_s, ways in _ways(context, phase, step, counter)
    )
    return Move(by_latency, step.repeat)


def _ways(context: CollectiveContext, phase: Phase, step: Step, counter: _CrossingCount) -> Ways:
    """The ways of a step, held as fits ask for them with many efficiencies, and methods and directions share them."""
    cache = _MOVES.remember(context.network, lambda: Table(MOST_KNOWN))
    message_pattern = step.shifts, step.swap, step.pairs, any(other.pairs for other in phase.steps)
    key = context.endpoints, context.folded, context.first_equal, phase.group, phase.order, phase.roots, message_pattern
    if key in cache:
        crossings, ways = cache[key]
        counter.more(crossings)
        return ways
    before = counter.crossed
    ways = _result(context, phase, step, counter)
    if counter.crossed - before <= MOST_HELD:
        cache.keep(key, (counter.crossed - before, ways))
    return ways


def _result(context: CollectiveContext, phase: Phase, step: Step, counter: _CrossingCount) -> Ways:
    table: dict[float, dict[tuple[tuple[int, ...], int], int]] = {}
    route, positions = context.network.route, len(context.volumes_bytes)
    for base, sender, to in _messages(context, phase, step):
        way = route(sender, to)
        counter.add(way)
        same = table.setdefault(way.latency_s, {})
        key = (way.links, context.first_equal[base % positions])
        same[key] = same.get(key, 0) + 1
    return tuple((latency_s, tuple((*key, count) for key, count in same.items())) for latency_s, same in table.items())


def _share(context: CollectiveContext, phase: Phase, step: Step) -> float:
    """What a message of a step carries of the buffer of its member, as the links seem to see it."""
    efficiency = context.overhead.efficiency if context.inside(phase.group) else 1.0
    return phase.share * step.share / efficiency


def messages(context: CollectiveContext, phase: Phase, step: Step) -> Iterator[tuple[int, int, float]]:
    """Sender, receiver and bytes of every message of one step that has to be followed."""
    share = _share(context, phase, step)
    volumes = [volume * share for volume in context.volumes_bytes]
    for base, sender, to in _messages(context, phase, step):
        yield sender, to, volumes[base % len(volumes)]


def _messages(context: CollectiveContext, phase: Phase, step: Step) -> Iterator[tuple[int, int, int]]:
    """First member of the group, sender and receiver of every message that has to be followed and moves anything."""
    stride, volumes = phase.group.stride, context.volumes_bytes
    alike = _alike_racks(context, phase)
    pairs: dict[bool, list[tuple[int, int]]] = {}
    for base in _bases(context, phase):
        if not volumes[base % len(volumes)]:
            continue
        first = alike(base)
        if first not in pairs:
            pairs[first] = _pairs(phase, step, first=first)
        for sender, to in pairs[first]:
            yield base, base + sender * stride, base + to * stride


def _pairs(phase: Phase, step: Step, *, first: bool) -> list[tuple[int, int]]:
    """Members of a group that send and receive, or the first of them alone."""
    pairs = list(step.messages(phase.group.size, first=first))
    return [(phase.order[sender], phase.order[to]) for sender, to in pairs] if phase.order else pairs


def _bases(context: CollectiveContext, phase: Phase) -> list[int]:
    """First members of the groups that are followed: those of one rack of each kind.

    Between racks machines do not share links either: one of each kind stands for its rack.
    """
    rack, roots = context.rack, phase.roots
    bases = phase.group.bases(context.endpoints)
    if rack and context.inside(phase.group) and context.followed_racks is not None:
        bases = [base for base in bases if base // rack in context.followed_racks]
    elif rack and _between(context, phase) and context.columns is not None:
        near = rack if not context.unlike else context.endpoints
        bases = [base for base in bases if base < near and _column(context, base) in context.columns]
    return [base for base in bases if roots is None or base // roots.stride % roots.size == 0]


def _column(context: CollectiveContext, endpoint: int) -> int:
    """The machine of its rack that an IPU belongs to."""
    assert isinstance(context.network, Fabric), "only machines have racks"
    topology = context.network.topology
    return endpoint % topology.ipus_per_rack // topology.ipus_per_machine


def _between(context: CollectiveContext, phase: Phase) -> bool:
    """Whether members of a group have the same place in their racks."""
    return context.rack is not None and phase.group.stride % context.rack == 0


def _alike_racks(context: CollectiveContext, phase: Phase) -> Callable[[int], bool]:
    """Whether what the member of one rack sends is what every other does, through switches: it then stands for all.

    Asked of the first member of a group.
    """
    unlike, network = context.unlike, context.network
    if unlike is None or not isinstance(network, Fabric) or any(step.pairs for step in phase.steps):
        return lambda _: False
    pod = network.topology.level("pod")
    if pod is None or pod.shape is not Shape.SWITCH or not _between(context, phase):
        return lambda _: False
    return lambda base: _column(context, base) not in unlike


def fold_moves(context: CollectiveContext, quotient: Quotient, phase: Phase) -> tuple[Move, ...] | None:
    """The messages of one endpoint, where every endpoint sends to its own place plus the same; None where not."""
    counter = _CrossingCount(context)
    volume = context.volumes_bytes[0] * phase.share
    result = []
    for step in phase.steps:
        offsets = _offsets(quotient, phase, step)
        if offsets is None:
            return None
        by_latency: dict[float, list[Flow]] = {}
        if len(offsets) > 1:  # half of them reach as far as the middle one, on average half as far
            _CrossingCount(context).add(quotient.folded_route(offsets[len(offsets) // 2]), len(offsets) / 2)
        for offset in offsets:
            route = quotient.folded_route(offset)
            counter.add(route)
            by_latency.setdefault(route.latency_s, []).append(Flow(route.links, volume * step.share))
        moves = tuple((latency_s, tuple(flows)) for latency_s, flows in by_latency.items())
        result.append(Move(moves, step.repeat))
    return tuple(result)


def _offsets(quotient: Quotient, phase: Phase, step: Step) -> list[tuple[int, ...]] | None:
    """Where the messages of an endpoint go, as moves along each dimension."""
    axes, along = quotient.network.axes, phase.along
    across = any(not side.step for side in along)  # the group lies across dimensions, and its members are not alike
    if step.pairs or phase.order or phase.roots or across:
        return None

    def offset(index: int, by: int) -> tuple[int, ...]:
        return tuple(by if at == index else 0 for at in range(len(axes)))

    if len(along) == 1:
        dimension = along[0]
        if not dimension.covers and (axes[dimension.index].shape not in WITH_MIDDLE or len(step.shifts) > 1):
            return None
        if step.swap:
            return None if axes[dimension.index].half else [offset(dimension.index, step.swap * dimension.step)]
        # Behind a switch it is no matter who of the others is meant.
        return [
            offset(dimension.index, shift * dimension.step if dimension.covers else dimension.step)
            for shift in step.shifts
        ]
    if not all(side.covers for side in along) or step.swap or len(step.shifts) < phase.group.size - 1:
        return None
    places = [range(0, axes[side.index].size, side.step) for side in along]
    vectors = (dict(zip((side.index for side in along), place, strict=True)) for place in itertools.product(*places))
    return [tuple(vector.get(at, 0) for at in range(len(axes))) for vector in vectors if any(vector.values())]
