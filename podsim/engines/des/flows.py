"""Flows in flight on shared links: max-min fair rates, solved again whenever a flow starts or ends."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from podsim.engines.des.sharing import NEW, FlowGroup, Sharing, Sharings, Start, end_of_next

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import simpy

    from podsim.model.program import Flow


_TURN: Final = itemgetter(0)


class _Area:
    """Links that flows may share, directly or through others, and what is in flight there."""

    __slots__ = ("arrivals", "ending", "left_bytes", "numbers", "settled", "sharing", "since_s", "wake")

    def __init__(self) -> None:
        self.sharing: Sharing | None = None
        self.left_bytes: Sequence[float] = ()
        self.numbers: Sequence[int] = ()
        self.arrivals: list[tuple[int, FlowGroup, int]] = []
        self.ending: tuple[int, ...] = ()
        self.wake: simpy.Event | None = None  # the event that ends the next flows, if nothing changes before
        self.since_s = 0.0
        self.settled = True


class _Place:
    """Where a group moves, what it does there alone, and its turn among those that arrive at one time."""

    __slots__ = ("alone", "area", "group", "turn")

    def __init__(self, turn: int, group: FlowGroup, area: _Area) -> None:
        self.turn, self.group, self.area = turn, group, area
        self.alone: Start | None = None


class SharedLinks:
    """The links of a fabric as a SimPy resource that is shared, not queued for.

    All groups that will be sent are given beforehand and then known by their number, so that areas of links which never
    meet are kept apart. What starts or ends at one time is solved once.
    """

    def __init__(self, sharings: Sharings, groups: Sequence[tuple[Flow, ...]]) -> None:
        self._sharings = sharings
        self._places = _places(sharings, groups)

    def open(self, env: simpy.Environment, through: Callable[[int], None], *, recorded: bool = False) -> None:
        """Start anew with idle links; `through` is called with the number of a group when all of it has arrived."""
        self._env, self._through = env, through
        self._changed: list[_Area] = []
        self.events = 0
        self.used: list[tuple[float, float, Sharing]] | None = [] if recorded else None

    def send(self, number: int, _event: simpy.Event | None = None) -> None:
        """Start a group; one that moves nothing is through at once."""
        place = self._places[number]
        if place is None:
            self._through(number)
            return
        area, env = place.area, self._env
        if area.sharing is None and area.settled and env.peek() > env.now:
            alone = place.alone
            if alone is None:
                alone = place.alone = self._sharings.start(None, (place.group,))
            self._start(area, alone, (number,))
            return
        area.arrivals.append((place.turn, place.group, number))
        if area.settled:
            self._unsettle(area)

    def _unsettle(self, area: _Area) -> None:
        """Solve for the area once everything else of this moment has happened."""
        env = self._env
        if not self._changed:
            if env.peek() > env.now:
                self._solve(area)
                return
            self.events += 1
            env.timeout(0.0).callbacks.append(self._settle)
        area.settled = False
        self._changed.append(area)

    def _settle(self, _event: simpy.Event) -> None:
        changed_areas, self._changed = self._changed, []
        for area in changed_areas:
            area.settled = True
            if area.arrivals or area.sharing is not None:
                self._solve(area)

    def _solve(self, area: _Area) -> None:
        """Arrivals move with the rest from now on."""
        before = area.sharing
        if before is None:
            groups, numbers = self._arrivals(area)
            self._start(area, self._sharings.start(None, groups), numbers)
        else:
            sharing = self._join(area, before) if area.arrivals else before
            self._plan(area, end_of_next(area.left_bytes, sharing.rates))

    def _arrivals(self, area: _Area) -> tuple[tuple[FlowGroup, ...], tuple[int, ...]]:
        """In the order of the block, so that what comes again is recognized."""
        arrivals, area.arrivals = sorted(area.arrivals, key=_TURN), []
        return tuple([group for _, group, _ in arrivals]), tuple([number for _, _, number in arrivals])

    def _start(self, area: _Area, start: Start, numbers: tuple[int, ...]) -> None:
        """The first groups of an idle area."""
        area.sharing, area.left_bytes, area.numbers = start.sharing, start.volumes, numbers
        area.since_s = self._env.now
        self._plan(area, start.next_end)

    def _plan(self, area: _Area, next_end: tuple[float, tuple[int, ...]]) -> None:
        """One event at the next end; an older one is not the area's any more.

        Who ends is settled now: a clock that has run on cannot resolve the last bytes of a short flow.
        """
        next_s, area.ending = next_end
        self.events += 1
        area.wake = wake = self._env.timeout(next_s)
        wake.callbacks.append(partial(self._wake, area))

    def _join(self, area: _Area, before: Sharing) -> Sharing:
        """More groups in a busy area."""
        self._advance(area, before)
        groups, numbers = self._arrivals(area)
        start = self._sharings.start(before, groups)
        left_bytes, earlier_numbers = area.left_bytes, area.numbers
        area.sharing = start.sharing
        area.left_bytes = [
            volume if bundle == NEW else left_bytes[bundle]
            for bundle, volume in zip(start.inherits, start.volumes, strict=True)
        ]
        area.numbers = (*(earlier_numbers[slot] for slot in start.slots), *numbers)
        return start.sharing

    def _wake(self, area: _Area, event: simpy.Event) -> None:
        sharing = area.sharing
        if area.wake is not event or sharing is None:
            return
        completion = self._sharings.end(sharing, area.ending)
        area.sharing = completion.sharing
        if completion.sharing is not None or self.used is not None:
            self._advance(area, sharing)
            area.left_bytes = [area.left_bytes[bundle] for bundle in completion.inherits]
        for slot in completion.through:
            self._through(area.numbers[slot])
        if completion.sharing is not None and area.settled:
            self._unsettle(area)

    def _advance(self, area: _Area, sharing: Sharing) -> None:
        """Bring what is left of every bundle up to now."""
        since_s, area.since_s = area.since_s, self._env.now
        elapsed_s = area.since_s - since_s
        area.left_bytes = [
            volume - rate * elapsed_s for volume, rate in zip(area.left_bytes, sharing.rates, strict=True)
        ]
        if self.used is not None and elapsed_s:
            self.used.append((since_s, area.since_s, sharing))


def _places(sharings: Sharings, groups: Sequence[tuple[Flow, ...]]) -> list[_Place | None]:
    """The place of each group; None where nothing moves."""
    distinct = {id(flows): flows for flows in groups}
    result = {key: sharings.group(flows) for key, flows in distinct.items()}
    moving = dict.fromkeys(group for group in result.values() if group.flows)
    above: dict[int, int] = {}

    def top(link: int) -> int:
        while above[link] != link:
            above[link] = link = above[above[link]]
        return link

    for group in moving:
        links = dict.fromkeys(link for flow in group.flows for link in flow.route)
        for link in links:
            above.setdefault(link, link)
        for link in links:
            above[top(link)] = top(group.flows[0].route[0])
    areas = {link: _Area() for link in above if above[link] == link}
    places = {group: _Place(turn, group, areas[top(group.flows[0].route[0])]) for turn, group in enumerate(moving)}
    return [places.get(result[id(flows)]) for flows in groups]
