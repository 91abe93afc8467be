"""Requests that queue for replicas, against queues with known answers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.model.inference import Load, Service
from podsim.predicting.serving import delays

ONE = Service(batch=1, replicas=1, period_s=1e-3, latency_s=1e-3, host_in_s=0.0, host_out_s=0.0, parts_s={})


def poisson(share: float, service: Service = ONE, **more: float) -> Load:
    return Load(rate_per_s=share * service.capacity_per_s, **{"requests": 20_000, **more})


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_one_server_waits_as_pollaczek_and_khinchine_say(share):
    result = delays(ONE, poisson(share))
    assert result.queued_s == pytest.approx(share * 1e-3 / (2 * (1 - share)), rel=0.06)
    assert result.busy == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize(("servers", "share"), [(2, 0.7), (4, 0.8), (8, 0.8)])
def test_several_servers_wait_as_cosmetatos_approximates(servers, share):
    """M/D/c by the approximation of Cosmetatos over M/M/c by Erlang's formula, which is within a few per cent."""
    service = replace(ONE, replicas=servers)
    offered = servers * share
    tail = offered**servers / math.factorial(servers) / (1 - share)
    queued = tail / (sum(offered**n / math.factorial(n) for n in range(servers)) + tail)
    memoryless_s = queued * 1e-3 / (servers * (1 - share))
    more = (1 - share) * (servers - 1) * (math.sqrt(4 + 5 * servers) - 2) / (16 * share * servers)
    assert delays(service, poisson(share, service)).queued_s == pytest.approx(memoryless_s / 2 * (1 + more), rel=0.08)


def test_a_pipeline_takes_the_next_before_it_answers():
    """The queue is that of the period; the rest of the latency is on top."""
    through = delays(replace(ONE, latency_s=5e-3), poisson(0.5))
    assert through.queued_s == delays(ONE, poisson(0.5)).queued_s
    assert through.mean_s == pytest.approx(through.queued_s + 5e-3)


@settings(max_examples=10, deadline=None)
@given(
    batch=st.integers(1, 8),
    replicas=st.integers(1, 4),
    share=st.floats(0.2, 0.9),
    wait=st.sampled_from([0.0, 2e-3]),
    stages=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_littles_law(batch, replicas, share, wait, stages, seed):
    service = replace(ONE, batch=batch, replicas=replicas, latency_s=stages * 1e-3)
    result = delays(service, poisson(share, service, wait_s=wait, requests=3_000, seed=seed))
    assert result.present == pytest.approx(result.requests_per_s * result.mean_s, rel=0.02)
    assert result.mean_s >= result.queued_s + service.latency_s * (1 - 1e-9)
    assert result.p50_s <= result.p99_s
    assert result.filled <= batch


@settings(max_examples=10, deadline=None)
@given(batch=st.integers(1, 8), replicas=st.integers(1, 4), clients=st.integers(1, 40), stages=st.integers(1, 4))
def test_clients_ask_no_faster_than_either_limit(batch, replicas, clients, stages):
    service = replace(ONE, batch=batch, replicas=replicas, latency_s=stages * 1e-3)
    result = delays(service, Load(clients=clients, requests=1_000))
    most = min(service.capacity_per_s, clients / service.latency_s)
    assert result.requests_per_s <= most * 1.02
    assert result.present == pytest.approx(clients, rel=0.05)


def test_one_client_is_answered_alone_and_many_fill_every_batch():
    service = replace(ONE, batch=4, replicas=2)
    alone = delays(service, Load(clients=1, requests=500))
    assert alone.p99_s == pytest.approx(1e-3)
    assert alone.requests_per_s == pytest.approx(1000, rel=0.01)
    many = delays(service, Load(clients=80, requests=4_000))
    assert many.requests_per_s == pytest.approx(service.capacity_per_s, rel=0.01)
    assert many.filled == pytest.approx(4)
    assert many.busy == pytest.approx(1.0, rel=0.01)


def test_a_lonely_request_waits_for_others_as_long_as_it_may():
    service = replace(ONE, batch=8)
    result = delays(service, Load(rate_per_s=1.0, wait_s=4e-3, requests=1_000))
    assert result.p50_s == pytest.approx(5e-3)


def test_a_full_batch_waits_for_nobody():
    service = replace(ONE, batch=4)
    result = delays(service, Load(clients=4, wait_s=1.0, requests=400))
    assert result.p99_s == pytest.approx(1e-3)


def test_the_same_seed_is_the_same_luck():
    load = poisson(0.7, requests=3_000)
    assert delays(ONE, load) == delays(ONE, load)
    assert delays(ONE, load) != delays(ONE, replace(load, seed=1))
