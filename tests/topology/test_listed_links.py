"""Every link that is listed can be said to be slow, and no other can."""

import math

import pytest

from podsim.model.fabric import Attach, Duplex, GenericFabric, GenericLevel, Link, Shape
from podsim.topology.build import build, network
from podsim.topology.edges import MOST_LISTED, links
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_faults

LINKS = {
    "wire": Link(bandwidth_bytes_per_s=8e9),
    "half": Link(bandwidth_bytes_per_s=2e9, duplex=Duplex.HALF),
}


def generic(*levels):
    return network(GenericFabric(name="some", title="Some", levels=levels, links=LINKS))


def level(name, shape, holds, link="wire", **more):
    size = {"sides": holds} if shape is Shape.TORUS else {"holds": holds}
    return GenericLevel(name=name, shape=shape, link=link, **size, **more)


NETWORKS = [
    generic(level("ring", Shape.RING, 5, "half")),
    generic(level("ring", Shape.RING, 2)),
    generic(level("torus", Shape.TORUS, (4, 2, 3))),
    generic(level("mesh", Shape.FULL, 5, "half")),
    generic(level("line", Shape.LINE, 4), level("sw-1-", Shape.SWITCH, 3, "half")),
    generic(level("bus", Shape.SHARED, 4), level("star", Shape.STAR, 3, hub="half", attach=Attach.GROUP)),
    generic(level("leaf", Shape.SWITCH, 3), level("top", Shape.RING, 4, attach=Attach.GROUP)),
]


@pytest.mark.parametrize("found", NETWORKS)
def test_every_link_listed_is_one_that_a_fault_takes(found):
    rows = links(found)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        slow = apply_faults(found, parse([f"{row.kind}:{row.name}=0.5"]))
        assert slow.damage.rates
        assert all(slow.rate(key).bytes_per_s == row.bytes_per_s / 2 for key in slow.damage.rates)
    everything = apply_faults(found, parse([f"link:{row.name}=0.5" for row in rows]))
    crossed = {
        key for a in range(found.endpoints) for b in range(found.endpoints) for key in found.links_of_route(a, b)
    }
    assert crossed <= set(everything.damage.rates)


@pytest.mark.parametrize("ipus", [1, 2, 4, 16, 64, 128, 256])
def test_every_link_of_a_rack_is_one_that_a_fault_takes(build_pod, ipus):
    fabric = build(build_pod(ipus))
    rows = links(fabric)
    assert len({row.name for row in rows}) == len(rows)
    everything = apply_faults(fabric, parse([f"{row.kind}:{row.name}=0.5" for row in rows]))
    size = min(ipus, 64)
    routes = [fabric.route(a, b) for a in range(size) for b in range(0, size, 3)]
    routes += [fabric.streaming_route(ipu) for ipu in range(size)] + [fabric.host_route(ipu, 0) for ipu in range(size)]
    names = {(fabric.link(at).source, fabric.link(at).target) for route in routes for at in route.links}
    if ipus > 64:
        names |= {("ipu0", "gateway0"), ("gateway0", "gateway16"), ("gateway16", "gateway0")}
    assert names <= set(everything.damage.rates)


def test_the_ten_links_of_an_ipu_are_counted(build_pod):
    rows = [row for row in links(build(build_pod(64))) if row.kind == "ipu-link"]
    assert sum(row.links for row in rows if "ipu7" in row.name.split("-")) == 10
    assert len(rows) == 96


def test_a_list_ends():
    assert len(links(generic(level("ring", Shape.RING, 10 * MOST_LISTED)))) == MOST_LISTED
    assert math.isclose(links(generic(level("bus", Shape.SHARED, 4)))[0].bytes_per_s, 8e9)
