"""Collectives on networks with faults, against closed forms."""

import pytest

import podsim
from podsim.errors import Infeasible, InputError


def all_reduce(topology: str, *faults: str, **flags):
    return podsim.collective("all-reduce", bytes="64 MiB", topology=topology, faults=faults, **flags)


@pytest.mark.parametrize("rate", [0.5, 0.25])
def test_a_slow_link_slows_every_step_of_a_ring(rate):
    healthy, slow = (
        all_reduce("ring-16", *faults, algorithm="ring", pace="lockstep")
        for faults in ((), (f"link:rank3->rank4={rate}",))
    )
    latency_s = sum(leg.latency_s for leg in healthy.phases)
    assert slow.time_s - latency_s == pytest.approx((healthy.time_s - latency_s) / rate, rel=1e-9)
    assert slow.faults.healthy_time_s == healthy.time_s
    assert slow.faults.slowdown == pytest.approx(slow.time_s / healthy.time_s - 1, rel=1e-12)


def test_what_no_step_uses_costs_nothing():
    result = all_reduce("ring-16", "link:rank4->rank3=down", algorithm="ring")
    assert result.faults.slowdown == pytest.approx(0, abs=1e-12)


def test_round_the_ring_the_other_way():
    """A link down: its message goes 15 hops over the links of the other direction, which nobody else uses."""
    result = all_reduce("ring-16", "link:rank3->rank4=down", algorithm="ring", pace="lockstep")
    healthy = all_reduce("ring-16", algorithm="ring", pace="lockstep")
    hop_s = healthy.phases[0].latency_s / healthy.phases[0].steps
    assert result.time_s == pytest.approx(healthy.time_s + 30 * 14 * hop_s, rel=1e-9)


@pytest.mark.parametrize(
    "faults", [["link:gateway3-gateway19=down"], ["link:ipu68-ipu70=0.5"], ["link:ipu2-ipu4=down"]]
)
def test_folded_or_not_is_the_same(faults):
    folded, full = (
        all_reduce("pod128", *faults, algorithm="three-phase", fidelity=fidelity) for fidelity in ("folded", "full")
    )
    assert folded.time_s == pytest.approx(full.time_s, rel=1e-9)
    assert folded.faults.slowdown > 0
    assert folded.reached <= 1


def test_members_that_are_lost_or_slow():
    with pytest.raises(Infeasible) as lost:
        all_reduce("pod64", "machine:3=lost")
    assert lost.value.code == "parts-lost"
    assert all_reduce("pod64", "ipu:3=0.5").faults.slowdown == 0
    with pytest.raises(InputError) as unknown:
        all_reduce("ring-16", "link:rank3-rank9=down")
    assert unknown.value.code == "unknown-part"
