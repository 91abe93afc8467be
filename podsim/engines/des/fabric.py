"""Flows in flight on shared links: max-min fair rates, solved again whenever a flow starts or ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.engines.des.sharing import NEW, Group, Sharing, Sharings
from podsim.physics.links import TIE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import simpy

    from podsim.model.program import Flow


class _Area:
    """Links that flows may share, directly or through others, and what is in flight there."""

    def __init__(self) -> None:
        self.sharing: Sharing | None = None
        self.left_bytes: list[float] = []
        self.tokens: list[int] = []
        self.arrivals: list[tuple[Group, int]] = []
        self.since_s = 0.0
        self.ending: tuple[int, ...] = ()
        self.epoch = 0
        self.settled = True


class SharedLinks:
    """The links of a fabric as a SimPy resource that is shared, not queued for.

    All groups that will be sent are named beforehand, so that areas of links which never meet are kept apart.
    `through` is called with a group's token when all of it has arrived. What starts or ends at one time is solved once.
    """

    def __init__(
        self,
        env: simpy.Environment,
        sharings: Sharings,
        groups: Iterable[tuple[Flow, ...]],
        through: Callable[[int], None],
        *,
        recorded: bool = False,
    ) -> None:
        self._env, self._sharings, self._through = env, sharings, through
        self._places = _places(sharings, groups)
        self._changed: list[_Area] = []
        self.events = 0
        self.used: list[tuple[float, float, Sharing]] | None = [] if recorded else None

    def send(self, flows: tuple[Flow, ...], token: int) -> None:
        """Start a group; one that moves nothing is through at once."""
        group, area = self._places[id(flows)]
        if area is None:
            self._through(token)
            return
        area.arrivals.append((group, token))
        self._unsettle(area)

    def _unsettle(self, area: _Area) -> None:
        """Solve for the area once everything else of this moment has happened."""
        if not area.settled:
            return
        area.settled = False
        if not self._changed:
            self.events += 1
            self._env.timeout(0.0).callbacks.append(self._settle)
        self._changed.append(area)

    def _settle(self, _event: simpy.Event) -> None:
        changed, self._changed = self._changed, []
        for area in changed:
            area.settled = True
            if area.arrivals:
                self._join(area)
            if area.sharing is not None:
                self._plan(area, area.sharing)

    def _join(self, area: _Area) -> None:
        """What has arrived moves with the rest from now on; in the order of the program, so that it is recognized."""
        self._advance(area)
        arrivals, area.arrivals = area.arrivals, []
        if len(arrivals) > 1:
            arrivals.sort(key=_number)
        started = self._sharings.start(area.sharing, tuple([group for group, _ in arrivals]))
        left_bytes, tokens = area.left_bytes, area.tokens
        area.sharing = started.sharing
        area.left_bytes = [
            volume if bundle == NEW else left_bytes[bundle]
            for bundle, volume in zip(started.inherits, started.volumes, strict=True)
        ]
        area.tokens = [tokens[slot] for slot in started.slots] + [token for _, token in arrivals]

    def _plan(self, area: _Area, sharing: Sharing) -> None:
        """One wake-up at the next end of a bundle; older wake-ups find their epoch gone."""
        needed_s = [left / rate for left, rate in zip(area.left_bytes, sharing.rates, strict=True)]
        next_s = max(0.0, min(needed_s))
        # Who ends is settled now: a clock that has run on cannot resolve the last bytes of a short flow.
        last_s = next_s * (1 + TIE)
        area.ending = tuple([bundle for bundle, seconds in enumerate(needed_s) if seconds <= last_s])
        area.epoch += 1
        self.events += 1
        self._env.timeout(next_s, (area, area.epoch)).callbacks.append(self._wake)

    def _wake(self, event: simpy.Event) -> None:
        area, epoch = event.value
        if epoch != area.epoch:
            return
        self._advance(area)
        ended = self._sharings.end(area.sharing, area.ending)
        area.sharing = ended.sharing
        area.left_bytes = [area.left_bytes[bundle] for bundle in ended.inherits]
        for slot in ended.through:
            self._through(area.tokens[slot])
        if ended.sharing is not None:
            self._unsettle(area)

    def _advance(self, area: _Area) -> None:
        """Bring what is left of every bundle up to now."""
        since_s, area.since_s = area.since_s, self._env.now
        elapsed_s = area.since_s - since_s
        if area.sharing is None or not elapsed_s:
            return
        rates = area.sharing.rates
        area.left_bytes = [left - rate * elapsed_s for left, rate in zip(area.left_bytes, rates, strict=True)]
        if self.used is not None:
            self.used.append((since_s, area.since_s, area.sharing))


def _number(arrival: tuple[Group, int]) -> int:
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
