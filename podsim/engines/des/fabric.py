"""Flows in flight on shared links: max-min fair rates, solved again whenever a flow starts or ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import simpy

from podsim.model.program import Flow
from podsim.physics.links import max_min_rates

TIE = 1e-12  # share by which two ends may differ and still be one


@dataclass
class _Moving:
    """One flow in flight and the group it belongs to."""

    flow: Flow
    left_bytes: float
    group: int
    rate: float = 0.0


class SharedLinks:
    """The links of a fabric as a SimPy resource that is shared, not queued for."""

    def __init__(self, env: simpy.Environment, capacities: Sequence[float]) -> None:
        self._env = env
        self._capacities = capacities
        self._moving: list[_Moving] = []
        self._groups: dict[int, simpy.Event] = {}
        self._since = 0.0
        self._epoch = 0
        self._started = 0
        self.solves = 0

    def send(self, flows: tuple[Flow, ...]) -> simpy.Event:
        """An event that fires when every flow of the group is through."""
        event = self._env.event()
        group, self._started = self._started, self._started + 1
        moving = [_Moving(f, f.volume_bytes, group) for f in flows if f.route and f.volume_bytes > 0]
        if not moving:
            return event.succeed()
        self._advance()
        self._groups[group] = event
        self._moving += moving
        self._resolve()
        return event

    def _advance(self) -> None:
        """Bring what is left of every flow up to now."""
        elapsed_s = self._env.now - self._since
        self._since = self._env.now
        for moving in self._moving:
            moving.left_bytes -= moving.rate * elapsed_s

    def _resolve(self) -> None:
        """New rates, and one wake-up at the next end of a flow; older wake-ups find their epoch gone."""
        self._epoch += 1
        if not self._moving:
            return
        self.solves += 1
        rates = max_min_rates([(m.flow.route, m.flow.count) for m in self._moving], self._capacities)
        for moving, rate in zip(self._moving, rates, strict=True):
            moving.rate = rate
        needed_s = [moving.left_bytes / moving.rate for moving in self._moving]
        next_s = min(needed_s)
        # Who ends is settled now: a clock that has run on cannot resolve the last bytes of a short flow.
        ending = [m for m, needed in zip(self._moving, needed_s, strict=True) if needed <= next_s * (1 + TIE)]
        self._env.process(self._wake(max(0.0, next_s), ending, self._epoch))

    def _wake(self, delay_s: float, ending: list[_Moving], epoch: int) -> simpy.events.ProcessGenerator:
        yield self._env.timeout(delay_s)
        if epoch != self._epoch:
            return
        self._advance()
        through = {id(moving) for moving in ending}
        self._moving = [moving for moving in self._moving if id(moving) not in through]
        busy = {moving.group for moving in self._moving}
        ended = [group for group in self._groups if group not in busy]
        for group in ended:
            self._groups.pop(group).succeed()
        self._resolve()
