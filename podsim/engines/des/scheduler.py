"""Requests that queue for replicas: the events of a queue in the order of their times, batch by batch.

When a batch begins is decided by the arrivals so far and by when replicas are free, so no calendar of events is needed:
each turn of the loop is one batch. SimPy's calendar of events gives the same times, thirty times slower; tests hold the
two against each other.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import dataclass
from heapq import heapreplace
from itertools import accumulate, cycle, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from podsim.model.inference import Delays
from podsim.model.sums import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.inference import Load, Service

WARM_UP: Final = 0.1  # of the requests measured, answered before it begins
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequests:
    """Requests that were measured, in the order of their answers, and the batches of the same time.

    `slower` is what the batch of a request took over the mean: 1 where all take the same. `busy`, `filled` and
    `present` are those of `podsim.model.inference.Delays`; the time measured is from `first_s` to `last_s`.
    """

    arrived_s: Array
    begun_s: Array
    answered_s: Array
    slower: Array
    first_s: float
    last_s: float
    busy: float
    filled: float
    present: float

    @property
    def queued_s(self) -> Array:
        """What each request waits until its batch begins [s]."""
        return self.begun_s - self.arrived_s

    @property
    def latency_s(self) -> Array:
        """What each request sees from arrival to answer [s]."""
        return self.answered_s - self.arrived_s


class Scheduler:
    """Replicas that take the oldest requests, a batch at a time, as soon as it is full or the oldest waited enough.

    Requests that arrive at the same time are there together. `slower` are factors on what batches take, in the order in
    which they begin, and `gaps_s` the times between arrivals; both begin again where they end.
    """

    def __init__(self, service: Service, load: Load, gaps_s: Sequence[float], slower: Sequence[float]) -> None:
        self._service, self._load = service, load
        self._slower: Iterator[float] = cycle(slower)
        self._arrivals_s: Iterator[float] = accumulate(cycle(gaps_s))
        self._arrived_s: list[float] = [0.0] * (load.clients or 0)
        self._free_s = [0.0] * service.replicas
        self._taken = 0
        # Of each batch in the order in which they begin: when, answered when [s], its requests, over the mean.
        self._begun_s: list[float] = []
        self._answered_s: list[float] = []
        self._filled: list[int] = []
        self._factors: list[float] = []

    def run(self) -> AnsweredRequests:
        """Requests until those to be measured are answered, each with its times [s]; the first ones are left out.

        Result: arrays of shape (requests measured,): when each arrived, began and was answered [s], and the load of
        replicas.

        Equation: a batch begins once a replica is free and it is full, or its oldest request has waited enough
        (Eq. 88); the replica is free a period later, the answer is there after a latency. Validity: one queue for all
        replicas; a batch that is not full takes as long; no request joins a batch that runs; arrivals below the
        capacity, or a queue does not settle. Source: podsim's own assumption (Eq. 88 of the model); tests compare it
        with M/D/1, M/D/c, M/M/c and cosmetatos-1976.
        """
        requests = self._load.requests
        warm = int(WARM_UP * requests)
        enough = warm + requests + self._service.batch
        self._begin(enough, math.inf)
        self._begin(None, max(self._answered_s))
        return self._measure(warm, requests)

    def _begin(self, enough: int | None, until_s: float) -> None:
        """Batches in the order of their times, until so many requests are taken or one would begin later."""
        batch, period_s, latency_s = self._service.batch, self._service.period_s, self._service.latency_s
        wait_s, clients, chunk = self._load.wait_s, self._load.clients, max(self._load.requests, self._service.batch)
        arrived_s, free_s, slower = self._arrived_s, self._free_s, self._slower
        begin, answer, fill = self._begun_s.append, self._answered_s.append, self._filled.append
        factors, next_request, there = self._factors.append, self._taken, len(arrived_s)
        while enough is None or next_request < enough:
            end = next_request + batch
            if end > there and clients is None:
                arrived_s += islice(self._arrivals_s, chunk)
                there = len(arrived_s)
            full_s = arrived_s[end - 1] if end <= there else math.inf
            begin_s = arrived_s[next_request] + wait_s
            # `min` and `max` would be calls: a fifth of the time of the loop.
            if full_s < begin_s:  # noqa: PLR1730
                begin_s = full_s
            if free_s[0] > begin_s:  # noqa: PLR1730
                begin_s = free_s[0]
            if begin_s > until_s:
                break
            first, next_request = next_request, end
            if full_s > begin_s:
                next_request = bisect_right(arrived_s, begin_s, first, min(end, there))
            factor = next(slower)
            answer_s = begin_s + factor * latency_s
            heapreplace(free_s, begin_s + factor * period_s)
            begin(begin_s)
            answer(answer_s)
            fill(next_request - first)
            factors(factor)
            if clients is not None:
                again_s = math.nextafter(answer_s, math.inf)  # after replicas that are free at that time have begun
                for _ in range(next_request - first):
                    insort(arrived_s, again_s, next_request)
                there = len(arrived_s)
        self._taken = next_request

    def _measure(self, warm: int, requests: int) -> AnsweredRequests:
        """The requests from the first batch that is answered after the warm-up to the one with the last of them."""
        begun_s, answered_s, factors = (np.array(each) for each in (self._begun_s, self._answered_s, self._factors))
        request_counts = np.array(self._filled)
        order = np.argsort(answered_s, kind="stable")
        answers = np.cumsum(request_counts[order])
        warm_batches = int(np.searchsorted(answers, warm)) + 1 if warm else 0
        measured_from = int(answers[warm_batches - 1]) if warm_batches else 0
        final = int(np.searchsorted(answers, measured_from + requests))
        first_s = float(answered_s[order[warm_batches - 1]]) if warm_batches else 0.0
        last_s = float(answered_s[order[final]])
        while self._load.clients is None and self._arrived_s[-1] < last_s:
            self._arrived_s += islice(self._arrivals_s, requests)
        # Requests of each batch stand side by side, as they are taken in the order of their arrival.
        batches = order[warm_batches : final + 1]
        starts = np.cumsum(request_counts) - request_counts
        sizes = request_counts[batches]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        request_indices = np.repeat(starts[batches], sizes) + within
        arrived_s = np.array(self._arrived_s)
        began = (begun_s > first_s) & (begun_s <= last_s)
        window_s = last_s - first_s
        worked_s = self._service.period_s * float(np.cumsum(factors[began])[-1]) if began.any() else 0.0
        left_s = np.full(len(arrived_s), math.inf)
        left_s[: self._taken] = np.repeat(answered_s, request_counts)
        there_s = np.clip(np.minimum(left_s, last_s) - np.maximum(arrived_s, first_s), 0.0, None)
        return AnsweredRequests(
            arrived_s=arrived_s[request_indices],
            begun_s=np.repeat(begun_s[batches], sizes),
            answered_s=np.repeat(answered_s[batches], sizes),
            slower=np.repeat(factors[batches], sizes),
            first_s=first_s,
            last_s=last_s,
            busy=min(1.0, worked_s / (self._service.replicas * window_s)),
            filled=float(request_counts[began].sum()) / max(1, int(began.sum())),
            present=float(np.cumsum(there_s)[-1]) / window_s,
        )


def simulate(
    service: Service, load: Load, gaps_s: Sequence[float] = (), slower: Sequence[float] = (1.0,)
) -> AnsweredRequests:
    """The requests of a load: open-loop arrivals every `gaps_s`, closed-loop clients re-issue at once."""
    return Scheduler(service, load, gaps_s, slower).run()


def run(service: Service, load: Load, gaps_s: Sequence[float] = (), slower: Sequence[float] = (1.0,)) -> Delays:
    """What those requests saw."""
    requests = simulate(service, load, gaps_s, slower)
    delay_s = requests.latency_s
    mean_s = float(delay_s.mean())
    return Delays(
        requests_per_s=len(delay_s) / (requests.last_s - requests.first_s),
        mean_s=mean_s,
        p50_s=float(np.quantile(delay_s, 0.5)),
        p99_s=float(np.quantile(delay_s, 0.99)),
        queued_s=clean(float(requests.queued_s.mean()), mean_s),
        busy=requests.busy,
        filled=requests.filled,
        present=requests.present,
    )
