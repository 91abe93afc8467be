"""The queue of requests once more, as a calendar of SimPy: each arrival, each batch and each answer is an event."""

from __future__ import annotations

from collections import deque
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import simpy

from podsim.engines.des.scheduler import WARM_UP
from podsim.model.inference import Delays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.inference import Load, Service


class EventQueue:
    """Replicas that take the oldest requests, a batch at a time, as soon as it is full or the oldest waited enough."""

    def __init__(self, service: Service, load: Load, gaps_s: Sequence[float], slower: Sequence[float]) -> None:
        self._service, self._load, self._gaps_s = service, load, gaps_s
        self._slower = cycle(slower)
        self._env = simpy.Environment()
        self._free = service.replicas
        self._queue: deque[float] = deque()
        self._arrived_s: list[float] = []
        self._begun_s: list[float] = []
        self._answered_s: list[float] = []
        self._batches: list[tuple[float, int]] = []
        self._worked: list[float] = []
        self._warm = int(WARM_UP * load.requests)
        self._requests = self._present = 0
        self._area, self._counted_s, self._first_s = 0.0, 0.0, 0.0
        self._done = self._env.event()

    def run(self) -> Delays:
        """Until so many requests are answered; the first ones are left out (Eq. 88)."""
        self._next()
        self._env.run(until=self._done)
        return self._measured()

    def _next(self) -> None:
        """The next request arrives."""
        gap_s = self._gaps_s[self._requests % len(self._gaps_s)]
        self._requests += 1
        self._env.timeout(gap_s).callbacks.append(self._arrive)

    def _arrive(self, _event: simpy.Event) -> None:
        self._enter()
        self._try()
        self._next()

    def _count(self, change: int) -> None:
        """Requests that are there, and what that adds up to over time."""
        self._area += self._present * (self._env.now - self._counted_s)
        self._present, self._counted_s = self._present + change, self._env.now

    def _enter(self) -> None:
        self._count(1)
        self._queue.append(self._env.now)
        if self._load.wait_s:
            self._env.timeout(self._load.wait_s).callbacks.append(self._waited)

    def _waited(self, _event: simpy.Event) -> None:
        self._try()

    def _try(self) -> None:
        """Begin batches while a replica is free and one is due."""
        most, wait_s, now_s = self._service.batch, self._load.wait_s, self._env.now
        while self._free and self._queue and (len(self._queue) >= most or now_s >= self._queue[0] + wait_s):
            taken = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            self._free -= 1
            self._batches.append((now_s, len(taken)))
            factor = next(self._slower)
            self._worked.append(factor)
            self._env.timeout(factor * self._service.period_s).callbacks.append(self._freed)
            answer = self._env.timeout(factor * self._service.latency_s, (now_s, taken))
            answer.callbacks.append(self._answer)

    def _freed(self, _event: simpy.Event) -> None:
        self._free += 1
        self._try()

    def _answer(self, event: simpy.Event) -> None:
        begun_s, taken = event.value or (0.0, [])
        now_s = self._env.now
        self._count(-len(taken))
        if len(self._answered_s) < self._warm <= len(self._answered_s) + len(taken):
            self._area, self._first_s, self._warm = 0.0, now_s, len(self._answered_s) + len(taken)
        self._arrived_s += taken
        self._begun_s += [begun_s] * len(taken)
        self._answered_s += [now_s] * len(taken)
        if len(self._answered_s) >= self._warm + self._load.requests and not self._done.triggered:
            self._done.succeed()

    def _measured(self) -> Delays:
        arrived_s, begun_s, answered_s = (
            np.array(values) for values in (self._arrived_s, self._begun_s, self._answered_s)
        )
        first_s, last_s = self._first_s, float(answered_s[-1])
        delay_s = (answered_s - arrived_s)[self._warm :]
        mean_s = float(delay_s.mean())
        window_s = last_s - first_s
        began = [at for at, (start_s, _) in enumerate(self._batches) if first_s < start_s <= last_s]
        share = self._service.period_s * sum(self._worked[at] for at in began) / (self._service.replicas * window_s)
        return Delays(
            requests_per_s=len(delay_s) / window_s,
            mean_s=mean_s,
            p50_s=float(np.quantile(delay_s, 0.5)),
            p99_s=float(np.quantile(delay_s, 0.99)),
            queued_s=float((begun_s - arrived_s)[self._warm :].mean()),
            busy=min(1.0, share),
            filled=sum(self._batches[at][1] for at in began) / max(1, len(began)),
            present=self._area / window_s,
        )


def events(service: Service, load: Load, gaps_s: Sequence[float], slower: Sequence[float] = (1.0,)) -> Delays:
    """What requests see that arrive every `gaps_s`."""
    return EventQueue(service, load, gaps_s, slower).run()
