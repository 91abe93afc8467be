"""Flows in flight on shared links: max-min fair rates, solved again whenever a flow starts or ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from podsim.engines.des.sharing import NEW, Group, Sharing, Sharings, end_of_next

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import simpy

    from podsim.model.program import Flow


class Turn(Protocol):
    """The event before a group of flows starts, by which its sender knows it."""

    @property
    def value(self) -> int:
        """The number of the task."""
        ...


class _Area:
    """Links that flows may share, directly or through others, and what is in flight there."""

    __slots__ = ("arrivals", "ending", "left_bytes", "settled", "sharing", "since_s", "turns", "wake")

    def __init__(self) -> None:
        self.sharing: Sharing | None = None
        self.left_bytes: Sequence[float] = ()
        self.turns: list[Turn] = []
        self.arrivals: list[tuple[Group, Turn]] = []
        self.ending: tuple[int, ...] = ()
        self.wake: simpy.Event | None = None
        self.since_s = 0.0
        self.settled = True


class _Wake(Protocol):
    """The event at which the next flows of an area end."""

    @property
    def value(self) -> _Area:
        """The area."""
        ...


class SharedLinks:
    """The links of a fabric as a SimPy resource that is shared, not queued for.

    All groups that will be sent are named beforehand, so that areas of links which never meet are kept apart.
    What starts or ends at one time is solved once.
    """

    def __init__(self, sharings: Sharings, groups: Iterable[tuple[Flow, ...]]) -> None:
        self._sharings = sharings
        self._places = _places(sharings, groups)

    def open(self, env: simpy.Environment, through: Callable[[Turn], None], *, recorded: bool = False) -> None:
        """Start anew with idle links; `through` is called with the turn of a group when all of it has arrived."""
        self._env, self._through = env, through
        self._changed: list[_Area] = []
        self.events = 0
        self.used: list[tuple[float, float, Sharing]] | None = [] if recorded else None

    def send(self, flows: tuple[Flow, ...], turn: Turn) -> None:
        """Start a group; one that moves nothing is through at once."""
        group, area = self._places[id(flows)]
        if area is None:
            self._through(turn)
            return
        area.arrivals.append((group, turn))
        self._unsettle(area)

    def _unsettle(self, area: _Area) -> None:
        """Solve for the area once everything else of this moment has happened."""
        env = self._env
        if not area.settled:
            return
        if not self._changed and env.peek() > env.now:
            self._solve(area)
            return
        area.settled = False
        if not self._changed:
            self.events += 1
            env.timeout(0.0).callbacks.append(self._settle)
        self._changed.append(area)

    def _settle(self, _event: simpy.Event) -> None:
        changed, self._changed = self._changed, []
        for area in changed:
            area.settled = True
            if area.arrivals or area.sharing is not None:
                self._solve(area)

    def _solve(self, area: _Area) -> None:
        """Arrivals move with the rest from now on. One event at the next end; an older one is not the area's any more.

        Who ends is settled now: a clock that has run on cannot resolve the last bytes of a short flow.
        """
        before = area.sharing
        if before is None:
            arrivals, area.arrivals = area.arrivals, []
            arrivals.sort(key=_number)
            started = self._sharings.start(None, tuple([group for group, _ in arrivals]))
            area.sharing, area.left_bytes, area.since_s = started.sharing, started.volumes, self._env.now
            area.turns = [turn for _, turn in arrivals]
            next_s, area.ending = started.next_end
        else:
            sharing = self._join(area, before) if area.arrivals else before
            next_s, area.ending = end_of_next(area.left_bytes, sharing.rates)
        self.events += 1
        area.wake = wake = self._env.timeout(next_s, area)
        wake.callbacks.append(self._wake)

    def _join(self, area: _Area, before: Sharing) -> Sharing:
        """In the order of the program, so that what comes again is recognized."""
        self._advance(area, before)
        arrivals, area.arrivals = area.arrivals, []
        arrivals.sort(key=_number)
        started = self._sharings.start(before, tuple([group for group, _ in arrivals]))
        left_bytes, turns = area.left_bytes, area.turns
        area.sharing = started.sharing
        area.left_bytes = [
            volume if bundle == NEW else left_bytes[bundle]
            for bundle, volume in zip(started.inherits, started.volumes, strict=True)
        ]
        area.turns = [turns[slot] for slot in started.slots] + [turn for _, turn in arrivals]
        return started.sharing

    def _wake(self, event: _Wake) -> None:
        area = event.value
        sharing = area.sharing
        if area.wake is not event or sharing is None:
            return
        self._advance(area, sharing)
        ended = self._sharings.end(sharing, area.ending)
        area.sharing, left_bytes = ended.sharing, area.left_bytes
        area.left_bytes = [left_bytes[bundle] for bundle in ended.inherits]
        for slot in ended.through:
            self._through(area.turns[slot])
        if ended.sharing is not None:
            self._unsettle(area)

    def _advance(self, area: _Area, sharing: Sharing) -> None:
        """Bring what is left of every bundle up to now."""
        since_s, area.since_s = area.since_s, self._env.now
        elapsed_s = area.since_s - since_s
        area.left_bytes = [left - rate * elapsed_s for left, rate in zip(area.left_bytes, sharing.rates, strict=True)]
        if self.used is not None and elapsed_s:
            self.used.append((since_s, area.since_s, sharing))


def _number(arrival: tuple[Group, Turn]) -> int:
    return arrival[0].number


def _places(sharings: Sharings, groups: Iterable[tuple[Flow, ...]]) -> dict[int, tuple[Group, _Area | None]]:
    """The group and the area of each tuple of flows, by its identity; no area where nothing moves."""
    distinct = {id(flows): flows for flows in groups}
    found = {key: sharings.group(flows) for key, flows in distinct.items()}
    above: dict[int, int] = {}

    def top(link: int) -> int:
        while above[link] != link:
            above[link] = link = above[above[link]]
        return link

    for group in dict.fromkeys(found.values()):
        links = dict.fromkeys(link for flow in group.flows for link in flow.route)
        for link in links:
            above.setdefault(link, link)
        for link in links:
            above[top(link)] = top(group.flows[0].route[0])
    areas = {link: _Area() for link in above if above[link] == link}
    return {key: (group, areas[top(group.flows[0].route[0])] if group.flows else None) for key, group in found.items()}
