"""The messages of a collective as flows over links: every one of them, or those of one endpoint that stands for all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from podsim.lowering.phases import Move, Phase, Setting, TooManyError
from podsim.model.fabric import Shape
from podsim.model.program import Flow
from podsim.model.sums import sum_in_order
from podsim.topology.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podsim.physics.collectives import Step
    from podsim.topology.network import Network, Route
    from podsim.topology.quotient import Quotient

ASKED: Final = 16  # messages of a step whose way is looked at before all are followed
MIDDLED: Final = (Shape.SWITCH, Shape.STAR, Shape.SHARED)
Ways = tuple[tuple[float, tuple[tuple[tuple[int, ...], int, int], ...]], ...]
"""By latency: the links of each way, the first position that brings as much, how many messages take it."""
_KNOWN: WeakKeyDictionary[Network, dict[object, tuple[float, Ways]]] = WeakKeyDictionary()
MOST_KNOWN: Final = 128  # steps whose ways are held for each network: a fit and a search ask for a few dozen
MOST_HELD: Final = 20_000  # links that the ways of a step that is held may cross


class _Counter:
    """Links crossed so far, up to a limit."""

    def __init__(self, setting: Setting) -> None:
        self._most, self.crossed = setting.most_crossings, 0.0

    def add(self, route: Route, messages: float = 1.0) -> None:
        self.more(len(route.links) * messages)

    def more(self, crossed: float) -> None:
        self.crossed += crossed
        if self.crossed > self._most:
            raise TooManyError(f"its messages cross more than {self._most:,} links")


def whole(setting: Setting, phases: tuple[Phase, ...]) -> tuple[tuple[Move, ...], ...]:
    """Every message over the network itself; TooManyError where that is beyond the setting's limit."""
    counter = _Counter(setting)
    followed = [_followed(setting, phase) for phase in phases]
    count = sum(
        sum(step.count(phase.group.size) for step in phase.steps) * members // phase.group.size
        for phase, members in zip(phases, followed, strict=True)
    )
    if count > setting.most_messages:
        raise TooManyError(f"it has {count:,} messages to follow, more than {setting.most_messages:,}")
    crossed = sum_in_order(_crossed(setting, phase, members) for phase, members in zip(phases, followed, strict=True))
    if crossed > setting.most_crossings:
        raise TooManyError(f"its messages cross about {crossed:,.0f} links, more than {setting.most_crossings:,}")
    return tuple(tuple(_whole(setting, phase, step, counter) for step in phase.steps) for phase in phases)


def _followed(setting: Setting, phase: Phase) -> int:
    """Members of all groups whose messages have to be followed."""
    bases = _bases(setting, phase)
    alike = sum(map(_alike_racks(setting, phase), bases))
    return alike + phase.group.size * (len(bases) - alike)


def _crossed(setting: Setting, phase: Phase, members: int) -> float:
    """Links that the messages of a phase cross if all go as far as those of the first sender: known before they do."""
    group, crossed = phase.group, 0.0
    base = next(iter(_bases(setting, phase)), 0)
    for step in phase.steps:
        pairs = list(step.messages(group.size, first=True))
        some = pairs[:: max(1, len(pairs) // ASKED)]
        hops = sum(setting.network.route(base + one * group.stride, base + to * group.stride).hops for one, to in some)
        crossed += hops / max(1, len(some)) * (step.count(group.size) * members // group.size)
    return crossed


def _whole(setting: Setting, phase: Phase, step: Step, counter: _Counter) -> Move:
    share = _share(setting, phase, step)
    volumes = [volume * share for volume in setting.volumes_bytes]
    by_latency = tuple(
        (latency_s, tuple([Flow(links, volumes[position], count) for links, position, count in ways]))
        for latency_s, ways in _ways(setting, phase, step, counter)
    )
    return Move(by_latency, step.repeat)


def _ways(setting: Setting, phase: Phase, step: Step, counter: _Counter) -> Ways:
    """The ways of a step, held as fits ask for them with many efficiencies, and methods and directions share them."""
    known = _KNOWN.setdefault(setting.network, {})
    sent = step.shifts, step.swap, step.pairs, any(other.pairs for other in phase.steps)
    key = setting.endpoints, setting.folded, setting.first_equal, phase.group, phase.order, phase.roots, sent
    if key in known:
        crossed, ways = known[key]
        counter.more(crossed)
        return ways
    before = counter.crossed
    ways = _found(setting, phase, step, counter)
    if counter.crossed - before <= MOST_HELD:
        if len(known) >= MOST_KNOWN:
            known.clear()
        known[key] = counter.crossed - before, ways
    return ways


def _found(setting: Setting, phase: Phase, step: Step, counter: _Counter) -> Ways:
    found: dict[float, dict[tuple[tuple[int, ...], int], int]] = {}
    route, positions = setting.network.route, len(setting.volumes_bytes)
    for base, sender, to in _sent(setting, phase, step):
        way = route(sender, to)
        counter.add(way)
        same = found.setdefault(way.latency_s, {})
        key = (way.links, setting.first_equal[base % positions])
        same[key] = same.get(key, 0) + 1
    return tuple((latency_s, tuple((*key, count) for key, count in same.items())) for latency_s, same in found.items())


def _share(setting: Setting, phase: Phase, step: Step) -> float:
    """What a message of a step carries of the buffer of its member, as the links seem to see it."""
    efficiency = setting.toll.efficiency if setting.inside(phase.group) else 1.0
    return phase.share * step.share / efficiency


def messages(setting: Setting, phase: Phase, step: Step) -> Iterator[tuple[int, int, float]]:
    """Sender, receiver and bytes of every message of one step that has to be followed."""
    share = _share(setting, phase, step)
    volumes = [volume * share for volume in setting.volumes_bytes]
    for base, sender, to in _sent(setting, phase, step):
        yield sender, to, volumes[base % len(volumes)]


def _sent(setting: Setting, phase: Phase, step: Step) -> Iterator[tuple[int, int, int]]:
    """First member of the group, sender and receiver of every message that has to be followed and moves anything."""
    stride, volumes = phase.group.stride, setting.volumes_bytes
    alike = _alike_racks(setting, phase)
    pairs: dict[bool, list[tuple[int, int]]] = {}
    for base in _bases(setting, phase):
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


def _bases(setting: Setting, phase: Phase) -> list[int]:
    """First members of the groups that are followed: those of one rack of each kind.

    Between racks machines do not share links either: one of each kind stands for its rack.
    """
    rack, roots = setting.rack, phase.roots
    found = phase.group.bases(setting.endpoints)
    if rack and setting.inside(phase.group) and setting.followed is not None:
        found = [base for base in found if base // rack in setting.followed]
    elif rack and _between(setting, phase) and setting.columns is not None:
        near = rack if not setting.unlike else setting.endpoints
        found = [base for base in found if base < near and _column(setting, base) in setting.columns]
    return [base for base in found if roots is None or base // roots.stride % roots.size == 0]


def _column(setting: Setting, endpoint: int) -> int:
    """The machine of its rack that an IPU belongs to."""
    assert isinstance(setting.network, Fabric), "only machines have racks"
    topology = setting.network.topology
    return endpoint % topology.ipus_per_rack // topology.ipus_per_machine


def _between(setting: Setting, phase: Phase) -> bool:
    """Whether members of a group have the same place in their racks."""
    return setting.rack is not None and phase.group.stride % setting.rack == 0


def _alike_racks(setting: Setting, phase: Phase) -> Callable[[int], bool]:
    """Whether what the member of one rack sends is what every other does, through switches: it then stands for all.

    Asked of the first member of a group.
    """
    unlike, network = setting.unlike, setting.network
    if unlike is None or not isinstance(network, Fabric) or any(step.pairs for step in phase.steps):
        return lambda _: False
    pod = network.topology.level("pod")
    if pod is None or pod.shape is not Shape.SWITCH or not _between(setting, phase):
        return lambda _: False
    return lambda base: _column(setting, base) not in unlike


def folded(setting: Setting, quotient: Quotient, phase: Phase) -> tuple[Move, ...] | None:
    """The messages of one endpoint, where every endpoint sends to its own place plus the same; None where not."""
    counter = _Counter(setting)
    volume = setting.volumes_bytes[0] * phase.share
    found = []
    for step in phase.steps:
        offsets = _offsets(quotient, phase, step)
        if offsets is None:
            return None
        by_latency: dict[float, list[Flow]] = {}
        if len(offsets) > 1:  # half of them reach as far as the middle one, on average half as far
            _Counter(setting).add(quotient.folded_route(offsets[len(offsets) // 2]), len(offsets) / 2)
        for offset in offsets:
            route = quotient.folded_route(offset)
            counter.add(route)
            by_latency.setdefault(route.latency_s, []).append(Flow(route.links, volume * step.share))
        moves = tuple((latency_s, tuple(flows)) for latency_s, flows in by_latency.items())
        found.append(Move(moves, step.repeat))
    return tuple(found)


def _offsets(quotient: Quotient, phase: Phase, step: Step) -> list[tuple[int, ...]] | None:
    """Where the messages of an endpoint go, as moves along each dimension."""
    axes, along = quotient.network.axes, phase.along
    if step.pairs or phase.order or phase.roots:
        return None

    def one(index: int, by: int) -> tuple[int, ...]:
        return tuple(by if at == index else 0 for at in range(len(axes)))

    if len(along) == 1:
        side = along[0]
        if not side.covers and (axes[side.index].shape not in MIDDLED or len(step.shifts) > 1):
            return None
        if step.swap:
            return None if axes[side.index].half else [one(side.index, step.swap * side.step)]
        # Behind a switch it is no matter who of the others is meant.
        return [one(side.index, shift * side.step if side.covers else side.step) for shift in step.shifts]
    if not all(side.covers for side in along) or step.swap or len(step.shifts) < phase.group.size - 1:
        return None
    places = [range(0, axes[side.index].size, side.step) for side in along]
    vectors = (dict(zip((side.index for side in along), place, strict=True)) for place in itertools.product(*places))
    return [tuple(vector.get(at, 0) for at in range(len(axes))) for vector in vectors if any(vector.values())]
