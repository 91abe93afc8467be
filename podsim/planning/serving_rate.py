"""The largest rate that replicas answer within a latency: batch and wait searched, each tried in the queue itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.model.inference import Load, Service
from podsim.predicting import serving

if TYPE_CHECKING:
    from podsim.engines.des.scheduler import AnsweredRequests
    from podsim.model.inference import Decoding

SHARE: Final = 0.99  # of requests that are answered within the latency: P99
FEWEST: Final = 20_000  # requests of a trial
TURNS: Final = 20  # times the requests that are there at once, in a trial at least; assumed
DELAYS: Final = (0.0, 0.3, 0.9)
"""Longest waits tried, as shares of what the latency leaves beside the batch itself."""
BETTER: Final = 0.01  # share by which a longer wait or a larger batch has to raise the rate
CLOSE: Final = 0.01  # share of the rate to which it is searched
CLOSEST: Final = 0.005  # the same of a batch and a wait that are settled
MOST_LOAD: Final = 0.96  # of the capacity: beyond it a queue does not settle within a trial; assumed
LEAST_LOAD: Final = 0.01  # of the capacity: where not even this is held, no rate is; assumed
LONGER: Final = 5  # times the requests of a trial where a rate is settled; assumed
BATCHES: Final = 1_500  # full batches of a trial where a rate is settled, at least; assumed
SEEDS: Final = 8  # trials of a rate that is settled, each with arrivals of its own; assumed
FEW_SEEDS: Final = 4  # the same while the rate is searched
SURE: Final = 1.0  # standard errors of P99 that a settled rate leaves to the limit; assumed
STEP: Final = 0.005  # share by which a settled rate is lowered until it leaves them
LOADS: Final = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03, LEAST_LOAD)
"""Shares of the most load, of which the first that holds is where the search begins."""
LOWER_LOADS: Final = (0.3, 0.5, 0.7, 0.85, 0.95)
"""Shares of a rate at which the latency has to be met too: with a wait it may be longer at less load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLimits:
    """What 99 of 100 requests have to stay below [s]: whole answer, first token, and each further token."""

    p99_s: float | None = None
    ttft_s: float | None = None
    tpot_s: float | None = None

    def are_met(self, p99_s: float, ttft_s: float | None) -> bool:
        """Whether P99 of the answer and of the first token stay within them [s]."""
        pairs = ((self.p99_s, p99_s), (self.ttft_s, ttft_s))
        return all(limit is None or latency_s is None or latency_s <= limit for limit, latency_s in pairs)


@dataclass(frozen=True, kw_only=True)
class QueuedService:
    """One batch size on replicas: a batch takes so long, its first tokens and each further one where it has any.

    `wait_s` is the longest that a request waits for others to fill its batch. Without slots, for what it remembers.
    """

    service: Service
    first_s: float | None = None  # of a prompt: until its first token
    token_s: float | None = None
    wait_s: float = 0.0
    variation: float = 0.0

    @classmethod
    def of(cls, service: Service, decoding: Decoding | None, variation: float) -> QueuedService:
        """That of a batch that is served."""
        if decoding is None:
            return cls(service=service, variation=variation)
        first_s, token_s = decoding.prefill.latency_s, decoding.token.latency_s
        return cls(service=service, first_s=first_s, token_s=token_s, variation=variation)

    def slower(self, factor: float) -> QueuedService:
        """The same where all takes so many times as long."""
        return replace(
            self,
            service=self.service.slower(factor),
            first_s=None if self.first_s is None else factor * self.first_s,
            token_s=None if self.token_s is None else factor * self.token_s,
        )

    def slack_s(self, limits: LatencyLimits) -> float:
        """What the limits leave for queueing and waiting [s]; below 0 where a batch takes longer by itself."""
        if limits.tpot_s is not None and self.token_s is not None and self.token_s > limits.tpot_s:
            return limits.tpot_s - self.token_s
        pairs = ((limits.p99_s, self.service.latency_s), (limits.ttft_s, self.first_s))
        slacks_s = [limit - latency_s for limit, latency_s in pairs if limit is not None and latency_s is not None]
        return min(slacks_s, default=math.inf)

    def requests(self, rate_per_s: float) -> int:
        """Requests of a trial at a rate: many times those that are there at once."""
        return max(FEWEST, math.ceil(TURNS * rate_per_s * (self.service.latency_s + self.wait_s)))

    def simulate(self, rate_per_s: float, seed: int, longer: int = 1) -> AnsweredRequests:
        """The requests of a trial at a rate, so many times as long as usual."""
        load = Load(
            rate_per_s=rate_per_s,
            wait_s=self.wait_s,
            requests=longer * self.requests(rate_per_s),
            seed=seed,
            variation=self.variation,
        )
        return serving.simulate_requests(self.service, load)

    def latencies_s(self, answered_requests: AnsweredRequests) -> tuple[float, float | None]:
        """P99 of the whole answer and of the first token [s]; None where no tokens are generated."""
        first = (
            None if self.first_s is None else _p99(answered_requests.queued_s + answered_requests.slower * self.first_s)
        )
        return _p99(answered_requests.latency_s), first

    def meets(self, limits: LatencyLimits, rate_per_s: float, seed: int) -> bool:
        """Whether a trial at that rate stays within the limits."""
        if rate_per_s >= self.service.capacity_per_s:
            return False
        return limits.are_met(*self.latencies_s(self.simulate(rate_per_s, seed)))

    def steady(self, rate_per_s: float, seeds: Sequence[int], longer: int | None = None) -> SteadyLatencies:
        """P99 over trials at a rate, one for each seed, with its standard error from trial to trial.

        They are `longer` times as long as those of the search; without it long enough to settle a rate.
        """
        if longer is None:
            longer = max(LONGER, math.ceil(BATCHES * self.service.batch / self.requests(rate_per_s)))
        trials = [self.simulate(rate_per_s, seed, longer) for seed in seeds]
        each = [self.latencies_s(trial) for trial in trials]
        p99_s, p99_error_s = _mean([p99_s for p99_s, _ in each])
        ttft_s, ttft_error_s = _mean([ttft_s for _, ttft_s in each if ttft_s is not None])
        return SteadyLatencies(
            p99_s=p99_s,
            p99_error_s=p99_error_s,
            ttft_s=ttft_s if self.first_s is not None else None,
            ttft_error_s=ttft_error_s,
            requests=longer * len(trials) * self.requests(rate_per_s),
            busy=_mean([trial.busy for trial in trials])[0],
            filled=_mean([trial.filled for trial in trials])[0],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyLatencies:
    """Means of P99 over several trials with their standard errors [s], and how replicas and batches are filled."""

    p99_s: float
    p99_error_s: float
    ttft_s: float | None
    ttft_error_s: float
    requests: int
    busy: float
    filled: float

    def meets(self, limits: LatencyLimits, errors: float = 0.0) -> bool:
        """Whether so many standard errors above the means are within the limits."""
        ttft_s = None if self.ttft_s is None else self.ttft_s + errors * self.ttft_error_s
        return limits.are_met(self.p99_s + errors * self.p99_error_s, ttft_s)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error; of nothing zero, of one value without an error."""
    if len(values) < 2:
        return (values[0], 0.0) if values else (0.0, 0.0)
    return float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _p99(seconds: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(np.quantile(seconds, SHARE))


@dataclass(frozen=True, slots=True, kw_only=True)
class SustainedRate:
    """The largest rate at which a batch and a wait meet the limits [1/s]."""

    batch: QueuedService
    rate_per_s: float


def largest(services: Iterable[QueuedService], limits: LatencyLimits, seed: int) -> SustainedRate | None:
    """Batch and wait that meet the limits at the largest rate (Eq. 88); None where none holds the least load.

    Batches with more capacity are tried first. A shorter wait and the batch tried before are kept where another raises
    the rate by less than one per cent.
    """
    best: SustainedRate | None = None
    for batch in sorted(services, key=_order):
        slack_s = batch.slack_s(limits)
        if slack_s < 0:
            continue
        for wait in _with_delays(batch, slack_s):
            least = (1 + BETTER) * best.rate_per_s if best else 0.0
            rate = _largest(wait, limits, seed, least)
            if rate is not None:
                best = SustainedRate(batch=wait, rate_per_s=rate)
    return best


def _order(batch: QueuedService) -> tuple[float, int]:
    """More capacity first; of capacities that are alike to a thousandth the smaller batch."""
    return -float(f"{batch.service.capacity_per_s:.3g}"), batch.service.batch


def _with_delays(batch: QueuedService, slack_s: float) -> Iterator[QueuedService]:
    """The batch with each wait tried; a batch of one has none, and without a limit waiting gains nothing."""
    for share in DELAYS if batch.service.batch > 1 and slack_s < math.inf else (0.0,):
        yield replace(batch, wait_s=share * slack_s)


def _largest(batch: QueuedService, limits: LatencyLimits, seed: int, least: float) -> float | None:
    """The largest rate that a batch and a wait hold; None where they hold no more than `least`."""
    high = MOST_LOAD * batch.service.capacity_per_s

    def meets(rate_per_s: float) -> bool:
        return batch.meets(limits, rate_per_s, seed)

    if high <= least or (least and not meets(least)):
        return None
    bracket = (least, high) if least else _bracket(meets, high)
    rate = None if bracket is None else _bisect(meets, *bracket, CLOSE)
    if rate is None or (batch.wait_s and any(not meets(share * rate) for share in LOWER_LOADS)):
        return None
    return rate


def settle_rate(batch: QueuedService, limits: LatencyLimits, near_per_s: float, seed: int) -> float:
    """The largest rate of a batch and a wait near one that was searched (Eq. 88) [1/s].

    It is searched with few long trials, then lowered until the mean P99 of more, with other arrivals, is below the
    limits by one standard error: the rate that suits the arrivals of one trial is too high for others.
    """
    high = MOST_LOAD * batch.service.capacity_per_s
    few, many = range(seed, seed + FEW_SEEDS), range(seed + FEW_SEEDS, seed + FEW_SEEDS + SEEDS)

    def meets(rate_per_s: float) -> bool:
        return batch.steady(rate_per_s, few).meets(limits)

    low, more = near_per_s * (1 - 4 * CLOSE), min(near_per_s * (1 + 4 * CLOSE), high)
    while more < high and meets(more):
        low, more = more, min(more * (1 + 4 * CLOSE), high)
    rate = _bisect(meets, low, more, CLOSEST) or _bisect(meets, low / 2, low, CLOSEST) or low / 2
    least = rate / 2
    while rate > least and not batch.steady(rate, many).meets(limits, SURE):
        rate *= 1 - STEP
    return rate


def _bisect(meets: Callable[[float], bool], low: float, high: float, close: float) -> float | None:
    """The largest of the rates between two at which something holds that holds below it; None where not at `low`."""
    if meets(high):
        return high
    if not meets(low):
        return None
    while high - low > close * low:
        middle = (low + high) / 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low


def _bracket(meets: Callable[[float], bool], most: float) -> tuple[float, float] | None:
    """Two rates of which the lower one holds and the other does not; None where none above the least load does."""
    high = most
    for share in LOADS:
        if meets(share * most):
            return share * most, high
        high = share * most
    return None
