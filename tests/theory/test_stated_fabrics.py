"""One step of a ring algorithm on each shape: every rank sends S / N to the next, all at once.

The busiest link decides: on a ring, torus row, full mesh or switch it carries one message, so the step takes
S / (N B); a hub or shared medium carries all N of them, S / H; an uplink those of its group that leave it.
"""

import pytest

from podsim.files import catalog
from podsim.model.program import Flow
from podsim.physics.links import alone_s
from podsim.topology.build import network

S = 64 * 2.0**20
CASES = [
    ("ring-64", (1,), S / 64 / 50e9, 0.5e-6),
    ("ring-64", (3,), 3 * S / 64 / 50e9, 1.5e-6),  # three hops: three messages on every link
    ("torus-2d-8x8", (1, 0), S / 64 / 50e9, 0.5e-6),
    ("torus-2d-8x8", (2, 1), 2 * S / 64 / 50e9, 1.5e-6),
    ("fully-connected-64", (17,), S / 64 / 50e9, 0.5e-6),
    ("switch-64", (1,), S / 64 / 50e9, 1.0e-6),
    ("star-64", (1,), S / 400e9, 1.5e-6),
    ("star-4", (1,), S / 4 / 50e9, 1.5e-6),
    ("shared-link-64", (1,), S / 50e9, 0.5e-6),
    ("ring-with-half-speed-link-64", (1,), S / 64 / 25e9, 0.5e-6),
    ("switch-of-rings-4x16", (0, 1), S / 64 / 25e9, 2e-6),
    ("switch-of-switches-4x16", (0, 1), S / 64 / 25e9, 3e-6),  # four ranks share an uplink of 100 GB/s
]


def to_offset(result, rank, offsets):
    for axis, offset in zip(result.axes, offsets, strict=True):
        rank = axis.move(rank, (axis.coordinate(rank) + offset) % axis.size)
    return rank


@pytest.mark.parametrize(("name", "offsets", "step_s", "latency_s"), CASES)
def test_a_step_takes_what_its_busiest_link_needs(name, offsets, step_s, latency_s):
    fabric = network(catalog.network(name).value)
    routes = [fabric.route(rank, to_offset(fabric, rank, offsets)) for rank in range(fabric.endpoints)]
    flows = [Flow(route.links, S / fabric.endpoints) for route in routes]
    assert alone_s(flows, fabric.capacities) == pytest.approx(step_s, rel=1e-9)
    assert max(route.latency_s for route in routes) == pytest.approx(latency_s)


@pytest.mark.parametrize(("name", "offsets", "step_s", "latency_s"), CASES)
def test_one_rank_stands_for_all(name, offsets, step_s, latency_s):
    fabric = network(catalog.network(name).value)
    if fabric.quotient is None:
        assert fabric.different
        return
    quotient = fabric.quotient
    route = quotient.folded_route(offsets)
    assert alone_s([Flow(route.links, S / fabric.endpoints)], quotient.capacities) == pytest.approx(step_s, rel=1e-9)
    assert route.latency_s == pytest.approx(latency_s)


def test_two_collectives_on_one_ring_share_it_evenly():
    """Both ways at once nothing is shared; the same way each has half."""
    ring = network(catalog.network("ring-16").value)
    up = [Flow(ring.route(rank, (rank + 1) % 16).links, S) for rank in range(16)]
    down = [Flow(ring.route(rank, (rank - 1) % 16).links, S) for rank in range(16)]
    assert alone_s([*up, *down], ring.capacities) == pytest.approx(S / 50e9)
    assert alone_s([*up, *up], ring.capacities) == pytest.approx(2 * S / 50e9)
