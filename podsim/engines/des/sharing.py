"""Who is in flight on links that meet, at which rate: worked out once for each combination, then looked up.

Flows that have the same bytes left and move at the same rate are one bundle. What happens to bundles depends only on
which they are, so a step that comes back a thousand times is solved the first time (Eq. 6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.physics.flow_symmetry import Classes, classes
from podsim.physics.links import FEW, TIE, fill

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from podsim.model.program import Flow

Colour = tuple[int, float]  # the bundle a flow was in, or NEW and its volume
NEW: Final = -1
MOST_KEPT: Final = 300_000  # flows in remembered combinations beyond which all are forgotten


class Moving(NamedTuple):
    """`copies` equal flows of one group over one route; `slot` numbers the groups of a combination."""

    route: tuple[int, ...]
    copies: int
    slot: int


@dataclass(frozen=True, slots=True, eq=False)
class FlowGroup:
    """The flows of a transfer that move anything, with the bytes of each."""

    flows: tuple[Flow, ...]
    volumes: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Flows in flight by class, classes by bundle, and the rate of each bundle [B/s]."""

    flows: tuple[Moving, ...]
    alike: Classes
    bundles: tuple[tuple[int, ...], ...]
    rates: tuple[float, ...]

    def in_bundle(self, bundle: int) -> Iterable[Moving]:
        """Every flow of a bundle."""
        return (self.flows[flow] for number in self.bundles[bundle] for flow in self.alike.members[number])

    def loads(self) -> dict[int, float]:
        """What each link carries [B/s]."""
        result: dict[int, float] = {}
        for bundle, rate in enumerate(self.rates):
            for route, copies, _ in self.in_bundle(bundle):
                for link in route:
                    result[link] = result.get(link, 0.0) + rate * copies
        return result


class Start(NamedTuple):
    """What moves once groups have started.

    Bundle i has the bytes of old bundle `inherits[i]`, or `volumes[i]` where that is NEW; slot j was `slots[j]` before.
    Where all bundles are new, `next_end` is how long the first of them take, and which those are.
    """

    sharing: Sharing
    inherits: tuple[int, ...]
    volumes: tuple[float, ...]
    slots: tuple[int, ...]
    next_end: tuple[float, tuple[int, ...]]


class Completion(NamedTuple):
    """What still moves once bundles have ended, which old bundles those are, and the slots whose groups are through."""

    sharing: Sharing | None
    inherits: tuple[int, ...]
    through: tuple[int, ...]


class Sharings:
    """Combinations of flow groups on the links of one fabric."""

    def __init__(self, capacities: Sequence[float]) -> None:
        self._capacities = capacities
        self._groups: dict[tuple[Flow, ...], FlowGroup] = {}
        self._started: dict[tuple[Sharing | FlowGroup, ...], Start] = {}
        self._ended: dict[tuple[Sharing, tuple[int, ...]], Completion] = {}
        self._kept = 0
        self.solves = 0

    def group(self, flows: tuple[Flow, ...]) -> FlowGroup:
        """The group of these flows; the same for equal ones."""
        group = self._groups.get(flows)
        if group is None:
            moving = tuple(flow for flow in flows if flow.route and flow.volume_bytes > 0)
            group = FlowGroup(moving, tuple(flow.volume_bytes for flow in moving))
            self._groups[flows] = group
        return group

    def start(self, sharing: Sharing | None, groups: tuple[FlowGroup, ...]) -> Start:
        """`groups` join what is in flight."""
        key: tuple[Sharing | FlowGroup, ...] = groups if sharing is None else (sharing, *groups)
        result = self._started.get(key)
        if result is None:
            result = self._join(sharing, groups)
            self._keep(len(result.sharing.flows))
            self._started[key] = result
        return result

    def end(self, sharing: Sharing, bundles: tuple[int, ...]) -> Completion:
        """All flows of `bundles` are through."""
        key = (sharing, bundles)
        completion = self._ended.get(key)
        if completion is None:
            completion = self._ended[key] = self._without(sharing, bundles)
        return completion

    def _keep(self, flows: int) -> None:
        self._kept += flows
        if self._kept > MOST_KEPT:
            self._kept = flows
            self._started.clear()
            self._ended.clear()

    def _join(self, sharing: Sharing | None, groups: tuple[FlowGroup, ...]) -> Start:
        """Bundles of old flows and volumes of new ones are the colours from which flows that are alike are found."""
        old = [] if sharing is None else [list(sharing.in_bundle(bundle)) for bundle in range(len(sharing.bundles))]
        slots = tuple(sorted({flow.slot for bundle in old for flow in bundle}))
        now = {slot: position for position, slot in enumerate(slots)}
        flows = [Moving(route, copies, now[slot]) for bundle in old for route, copies, slot in bundle]
        colours: list[Colour] = [(number, 0.0) for number, bundle in enumerate(old) for _ in bundle]
        for slot, group in enumerate(groups, len(slots)):
            flows += [Moving(flow.route, flow.count, slot) for flow in group.flows]
            colours += [(NEW, volume) for volume in group.volumes]
        alike = self._alike(flows, colours)
        of = {number: colours[members[0]] for number, members in enumerate(alike.members)}
        result, parents = self._share(tuple(flows), alike, of)
        volumes = tuple(volume for _, volume in parents)
        return Start(result, tuple(bundle for bundle, _ in parents), volumes, slots, end_of_next(volumes, result.rates))

    def _without(self, sharing: Sharing, bundles: tuple[int, ...]) -> Completion:
        """Whole classes leave, so those that stay need not be found again."""
        staying = [bundle for bundle in range(len(sharing.bundles)) if bundle not in bundles]
        busy = {flow.slot for bundle in staying for flow in sharing.in_bundle(bundle)}
        ending_slots = {flow.slot for bundle in bundles for flow in sharing.in_bundle(bundle)}
        through = tuple(sorted(ending_slots - busy))
        if not staying:
            return Completion(None, (), through)
        of = {number: (bundle, 0.0) for bundle in staying for number in sharing.bundles[bundle]}
        result, parents = self._share(sharing.flows, sharing.alike, of)
        return Completion(result, tuple(bundle for bundle, _ in parents), through)

    def _alike(self, flows: Sequence[Moving], colours: Sequence[Colour]) -> Classes:
        """Classes of the flows; of a few flows, each for itself."""
        if len(flows) > FEW:
            return classes(
                [(flow.route, flow.copies, colour) for flow, colour in zip(flows, colours, strict=True)],
                self._capacities,
            )
        crossings = tuple((flow.route, (flow.copies,) * len(flow.route)) for flow in flows)
        return Classes(tuple((number,) for number in range(len(flows))), crossings, self._capacities)

    def _share(self, flows: tuple[Moving, ...], alike: Classes, of: dict[int, Colour]) -> tuple[Sharing, list[Colour]]:
        """Classes of one colour and one rate as a bundle, and the colour of each bundle."""
        self.solves += 1
        rates = fill([alike.crossings[number] for number in of], alike.capacities)
        bundles: dict[tuple[Colour, float], list[int]] = {}
        for (number, colour), rate in zip(of.items(), rates, strict=True):
            bundles.setdefault((colour, rate), []).append(number)
        sharing = Sharing(flows, alike, tuple(map(tuple, bundles.values())), tuple(rate for _, rate in bundles))
        return sharing, [colour for colour, _ in bundles]


def end_of_next(left_bytes: Sequence[float], rates: Sequence[float]) -> tuple[float, tuple[int, ...]]:
    """Time until the next bundles end [s], and which."""
    if len(rates) == 1:
        return max(0.0, left_bytes[0] / rates[0]), (0,)
    needed_s = [volume / rate for volume, rate in zip(left_bytes, rates, strict=True)]
    next_s = max(0.0, min(needed_s))
    last_s = next_s * (1 + TIE)
    return next_s, tuple([bundle for bundle, seconds in enumerate(needed_s) if seconds <= last_s])
