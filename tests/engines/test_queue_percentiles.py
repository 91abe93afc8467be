"""The queue of requests against a calendar of events, and its P99 against M/M/c and M/D/c in closed form."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pytest
from engines.event_queue import events
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines.des.scheduler import run
from podsim.model.inference import Load, Service
from podsim.predicting.serving import delays

ONE = Service(batch=1, replicas=1, period_s=1.0, latency_s=1.0, host_in_s=0.0, host_out_s=0.0, parts_s={})
STATES = 300  # of the queue in front of the replicas: beyond it lies less than a billionth


@settings(max_examples=25, deadline=None)
@given(
    batch=st.integers(1, 9),
    replicas=st.integers(1, 6),
    latency=st.sampled_from([1.0, 2.3, 7.1]),
    share=st.floats(0.1, 0.97),
    wait=st.sampled_from([0.0, 0.7, 5.0]),
    variation=st.sampled_from([0.0, 0.4]),
    requests=st.sampled_from([7, 100, 1500]),
    seed=st.integers(0, 1000),
)
def test_batches_begin_when_a_calendar_of_events_lets_them(
    batch, replicas, latency, share, wait, variation, requests, seed
):
    service = replace(ONE, batch=batch, replicas=replicas, latency_s=latency)
    random = np.random.default_rng(seed)
    gaps_s = random.exponential(1 / (share * service.capacity_per_s), 4 * requests).tolist()
    slower = random.uniform(1 - variation, 1 + variation, 4 * requests).tolist() if variation else [1.0]
    load = Load(rate_per_s=1.0, wait_s=wait, requests=requests)
    assert asdict(run(service, load, gaps_s, slower)) == pytest.approx(
        asdict(events(service, load, gaps_s, slower)), rel=1e-9, abs=1e-12
    )


def erlang(servers: int, share: float) -> float:
    """The share of requests that wait at all where batches take exponentially long (Erlang C)."""
    offered = servers * share
    tail = offered**servers / math.factorial(servers) / (1 - share)
    return tail / (sum(offered**n / math.factorial(n) for n in range(servers)) + tail)


def exponential_tail(servers: int, share: float, latency_s: float) -> float:
    """The share of requests of M/M/c that take longer than so many mean service times."""
    free = servers - 1 - servers * share
    waiting = erlang(servers, share) * (1 - math.exp(-latency_s * free)) / free
    return math.exp(-latency_s) * (1 + waiting)


@cache
def states(servers: int, share: float) -> np.ndarray:
    """The share of time with so many requests in M/D/c, of which those of one service time leave in the next."""
    mean, size = servers * share, servers + STATES
    arrivals = np.exp([n * math.log(mean) - mean - math.lgamma(n + 1) for n in range(size)])
    moves = np.zeros((size, size))
    for present in range(size):
        left = max(0, present - servers)
        moves[present, left:] = arrivals[: size - left]
    balance = np.vstack([(moves.T - np.eye(size))[:-1], np.ones(size)])
    return np.linalg.solve(balance, np.eye(size)[-1])


def constant_tail(servers: int, share: float, wait_s: float) -> float:
    """The share of requests of M/D/c that wait longer than so many service times (Crommelin; in the form of Franx)."""
    queue = np.cumsum(states(servers, share))[servers:]
    turns = math.floor(wait_s) + 1
    come, places = servers * share * (turns - wait_s), turns * servers
    return 1 - sum(
        queue[places - 1 - n] * math.exp(n * math.log(come) - come - math.lgamma(n + 1)) for n in range(places)
    )


def p99(tail, high: float) -> float:
    """Where a falling share is 0.01."""
    low = 0.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 0.01 else (low, middle)
    return high


@pytest.mark.parametrize(("servers", "share", "table"), [(1, 0.5, 0.5), (2, 0.5, 1 / 3), (3, 2 / 3, 4 / 9)])
def test_the_formula_of_erlang_gives_its_table(servers, share, table):
    assert erlang(servers, share) == pytest.approx(table)


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_formula_of_crommelin_gives_the_mean_of_pollaczek_and_khinchine(share):
    waits = np.linspace(0, 20, 2001)
    tails = [constant_tail(1, share, wait) for wait in waits]
    assert np.trapezoid(tails, waits) == pytest.approx(share / (2 * (1 - share)), rel=1e-3)
    assert constant_tail(1, share, 0.0) == pytest.approx(share)


@pytest.mark.parametrize(
    ("servers", "share"),
    [(1, 0.5), (4, 0.7), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(2, 0.8), (8, 0.85), (16, 0.9)])],
)
def test_p99_of_exponential_batches_is_that_of_m_m_c(servers, share):
    service = replace(ONE, replicas=servers)
    load = Load(rate_per_s=servers * share, requests=1_000_000, variation=1.0)
    exact = p99(lambda latency_s: exponential_tail(servers, share, latency_s), 100.0)
    assert delays(service, load).p99_s == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    ("servers", "share"),
    [(1, 0.5), (4, 0.8), *(pytest.param(*case, marks=pytest.mark.slow) for case in [(1, 0.8), (8, 0.9), (16, 0.9)])],
)
def test_p99_of_equal_batches_is_that_of_m_d_c(servers, share):
    service = replace(ONE, replicas=servers)
    load = Load(rate_per_s=servers * share, requests=1_000_000)
    exact = 1.0 + p99(lambda wait_s: constant_tail(servers, share, wait_s), 30.0)
    assert delays(service, load).p99_s == pytest.approx(exact, rel=0.02)
