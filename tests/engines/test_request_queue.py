"""Requests that queue for replicas, by hand: strangers at even gaps, clients that ask again, batches that wait."""

import pytest

from podsim.engines.des.scheduler import run, simulate
from podsim.model.inference import Load, Service


def service(batch=1, replicas=1, period_s=1.0, latency_s=1.0):
    return Service(
        batch=batch, replicas=replicas, period_s=period_s, latency_s=latency_s, host_in_s=0, host_out_s=0, parts_s={}
    )


def test_strangers_who_come_slowly_wait_for_nobody():
    delays = run(service(), Load(rate_per_s=0.5, requests=100), (2.0,))
    assert (delays.mean_s, delays.p50_s, delays.p99_s, delays.queued_s) == pytest.approx((1, 1, 1, 0))
    assert (delays.requests_per_s, delays.present, delays.busy, delays.filled) == pytest.approx((0.5, 0.5, 0.5, 1))


def test_two_at_once_wait_for_each_other():
    """One of each pair waits a second for the other."""
    delays = run(service(), Load(rate_per_s=0.5, requests=100), (4.0, 0.0))
    assert (delays.mean_s, delays.queued_s) == pytest.approx((1.5, 0.5), rel=0.02)
    assert delays.p99_s == pytest.approx(2)
    assert run(service(replicas=2), Load(rate_per_s=0.5, requests=100), (4.0, 0.0)).mean_s == pytest.approx(1)


def test_clients_keep_a_replica_busy():
    """Three of them, one answered each second: each waits for the two others."""
    delays = run(service(), Load(clients=3, requests=50))
    assert (delays.requests_per_s, delays.mean_s, delays.busy, delays.present) == pytest.approx((1, 3, 1, 3))
    assert delays.queued_s == pytest.approx(2)


def test_a_replica_takes_the_next_batch_before_it_has_answered_the_last():
    """Every second one that takes five: four clients wait for nobody, eight find it busy."""
    few, many = (run(service(latency_s=5.0), Load(clients=clients, requests=80)) for clients in (4, 8))
    assert few.requests_per_s == pytest.approx(4 / 5)
    assert many.requests_per_s == pytest.approx(1, rel=0.02)
    assert many.mean_s == pytest.approx(8, rel=0.02)


def test_a_batch_begins_when_it_is_full_or_the_oldest_has_waited_enough():
    """One a second, batches of up to four: full after 3 s, or after 1.5 s with two."""
    full = run(service(batch=4), Load(rate_per_s=1, wait_s=100.0, requests=200), (1.0,))
    assert (full.filled, full.queued_s) == pytest.approx((4, 1.5))
    assert full.busy == pytest.approx(0.25, rel=0.05)
    hurry = run(service(batch=4), Load(rate_per_s=1, wait_s=1.5, requests=200), (1.0,))
    assert hurry.filled == pytest.approx(2)
    assert hurry.queued_s == pytest.approx((1.5 + 0.5) / 2)
    alone = run(service(batch=4), Load(rate_per_s=1, wait_s=0.0, requests=200), (1.0,))
    assert (alone.filled, alone.queued_s) == (1, 0)


def test_the_oldest_requests_are_taken_first():
    """Ten at once, then none for long: two by two, each pair a second after the one before."""
    delays = run(service(batch=2), Load(rate_per_s=1, requests=100), (20.0, *([0.0] * 9)))
    assert delays.mean_s == pytest.approx((1 + 2 + 3 + 4 + 5) / 5)
    assert delays.p99_s == pytest.approx(5)


@pytest.mark.parametrize("requests", [1, 10, 33])
def test_as_many_requests_are_measured_as_were_asked_for_and_the_first_are_left_out(requests):
    answered = simulate(service(), Load(clients=1, requests=requests))
    assert len(answered.latency_s) == requests
    assert answered.first_s == pytest.approx(requests // 10)
    assert answered.last_s == pytest.approx(requests + requests // 10)
    assert run(service(), Load(clients=1, requests=requests)).requests_per_s == pytest.approx(1)
