"""Links with their rates, and routes with their latencies."""

import math
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.model.fabric import Link, Shape
from podsim.topology.build import build

RAIL = 2 * 16e9 * 0.866
RUNG = 6 * 16e9 * 0.866
GW_LINK = 12.5e9 * 0.9
SIZES = [2**power for power in range(17)]


def ends(fabric, route):
    """Nodes a route passes; fails where one link does not start at the end of the last."""
    links = [fabric.link(number) for number in route.links]
    assert all(link.target == following.source for link, following in pairwise(links))
    return [links[0].source, *(link.target for link in links)]


def test_both_directions_of_every_edge_at_the_effective_rate(build_pod):
    fabric = build(build_pod(64))
    links = [fabric.link(number) for number in range(len(fabric.capacities))]
    assert len(links) == 2 * (32 + 64)
    assert len({(link.source, link.target) for link in links}) == len(links)
    assert sorted(fabric.capacities) == pytest.approx([RAIL] * 128 + [RUNG] * 64)
    assert [link.bytes_per_s for link in links] == list(fabric.capacities)


def test_links_and_back_are_different(build_pod):
    fabric = build(build_pod(4))
    there, back = fabric.route(0, 3), fabric.route(3, 0)
    assert ends(fabric, there) == ["ipu0", "ipu2", "ipu3"]
    assert ends(fabric, back) == ["ipu3", "ipu1", "ipu0"]
    assert not set(there.links) & set(back.links)


def test_farthest_pair_of_a_rack_is_17_hops(build_pod):
    fabric = build(build_pod(64))
    hops = {other: fabric.route(0, other).hops for other in range(64)}
    assert max(hops.values()) == hops[33] == 17
    assert fabric.route(0, 33).latency_s == pytest.approx(0.385e-6 + 17 * 0.160e-6)


def test_an_ipu_reaches_itself_at_once(build_pod):
    route = build(build_pod(16)).route(5, 5)
    assert (route.links, route.hops, route.latency_s) == ((), 0, 0.0)


def test_open_ladder_has_no_way_round(build_pod):
    assert build(build_pod(16)).route(0, 14).hops == 7
    assert build(build_pod(64)).route(0, 62).hops == 1


def test_every_rack_has_links_of_its_own_as_those_of_the_first(build_pod):
    fabric = build(build_pod(256))
    here, there = fabric.route(5, 40), fabric.route(3 * 64 + 5, 3 * 64 + 40)
    assert not set(here.links) & set(there.links)
    assert (here.hops, here.latency_s) == (there.hops, there.latency_s)
    assert [fabric.capacities[link] for link in here.links] == [fabric.capacities[link] for link in there.links]
    assert [f"ipu{int(node[3:]) + 192}" for node in ends(fabric, here)] == ends(fabric, there)


def test_two_machines_joined_at_both_ends_share_one_wider_link(topology_of, ladder_of):
    fabric = build(topology_of(ladder_of("machine", 2), ladder_of("rack", 2, closed=True)))
    (number,) = fabric.route(0, 2).links
    assert fabric.capacities[number] == fabric.link(number).bytes_per_s == pytest.approx(2 * RAIL)


def test_each_level_may_have_its_own_kind_of_link(topology_of, ladder_of):
    links = {
        "short": Link(bandwidth_bytes_per_s=10.0, hop_s=1.0, latency_s=3.0),
        "long": Link(bandwidth_bytes_per_s=1.0, hop_s=5.0),
    }
    fabric = build(topology_of(ladder_of("machine", 4, link="short"), ladder_of("rack", 2, link="long"), links=links))
    route = fabric.route(0, 4)
    assert [fabric.capacities[number] for number in route.links] == [20.0, 2.0]
    assert route.latency_s == 3.0 + 1.0 + 5.0


@given(st.lists(st.integers(0, 63), min_size=2, max_size=2, unique=True))
def test_routes_are_chains_of_links_with_no_node_twice(build_pod, pair):
    fabric = build(build_pod(64))
    a, b = pair
    route = fabric.route(a, b)
    nodes = ends(fabric, route)
    assert (nodes[0], nodes[-1]) == (f"ipu{a}", f"ipu{b}")
    assert len(set(nodes)) == len(nodes) == route.hops + 1


def test_two_racks_are_joined_by_all_their_gw_links(build_pod):
    fabric = build(build_pod(128))
    route = fabric.gateway_route(3, 0, 1)
    assert ends(fabric, route) == ["gateway3", "gateway19"]
    assert fabric.capacities[route.links[0]] == pytest.approx(2 * GW_LINK)
    assert (route.hops, route.latency_s) == (1, 2e-6)


def test_four_racks_on_a_ring_have_one_gw_link_each_way(build_pod):
    fabric = build(build_pod(256))
    route = fabric.gateway_route(0, 0, 2)
    assert ends(fabric, route) == ["gateway0", "gateway16", "gateway32"]
    assert ends(fabric, fabric.gateway_route(0, 0, 3)) == ["gateway0", "gateway48"]
    assert [fabric.capacities[number] for number in route.links] == pytest.approx([GW_LINK, GW_LINK])
    assert (route.hops, route.latency_s) == (2, 4e-6)


def test_switched_racks_go_up_and_down_with_one_latency(build_pod):
    fabric = build(build_pod(256, Shape.SWITCH))
    route = fabric.gateway_route(15, 1, 3)
    assert ends(fabric, route) == ["gateway31", "switch0", "gateway63"]
    assert [fabric.capacities[number] for number in route.links] == pytest.approx([2 * GW_LINK] * 2)
    assert (route.hops, route.latency_s) == (2, 2e-6)


def test_the_switch_is_not_shared(build_pod):
    fabric = build(build_pod(256, Shape.SWITCH))
    route, other = fabric.gateway_route(0, 0, 1), fabric.gateway_route(0, 2, 3)
    assert not set(route.links) & set(other.links)
    assert set(route.links) & set(fabric.gateway_route(0, 0, 3).links) == {route.links[0]}


def test_gw_links_exist_once_asked_for_and_keep_their_number(build_pod):
    fabric = build(build_pod(65536))
    capacities = fabric.capacities
    assert len(capacities) == 192
    first = fabric.gateway_route(0, 0, 1)
    assert len(capacities) == 193
    assert fabric.gateway_route(0, 0, 1) == first
    assert len(capacities) == 193


@pytest.mark.parametrize("ipus", SIZES)
def test_every_size_of_the_family_builds_one_rack(build_pod, ipus):
    topology = build_pod(ipus)
    size = min(ipus, 64)
    assert topology.ipus == ipus
    assert len(build(topology).capacities) == {1: 0, 2: 2, 64: 192}.get(size, 2 * (size // 2 + size - 2))


def test_staying_in_one_rack_takes_no_gw_link(build_pod):
    assert build(build_pod(128)).gateway_route(2, 1, 1).links == ()
    assert build(build_pod(16)).gateway_route(2, 0, 0).links == ()


def test_another_rack_is_reached_beside_the_ipu_that_is_meant(build_pod):
    fabric = build(build_pod(256))
    route = fabric.route(0, 3 * 64 + 6)
    assert ends(fabric, route) == ["ipu0", "ipu2", "ipu4", "ipu6", "gateway1", "gateway49", "ipu198"]
    assert [fabric.capacities[link] for link in route.links] == [RAIL] * 3 + [16e9, GW_LINK, 16e9]
    assert route.latency_s == pytest.approx(0.385e-6 + 3 * 0.160e-6 + 2e-6)
    assert fabric.route(0, 2 * 64).latency_s == pytest.approx(2 * 2e-6)
    assert fabric.route(64, 0).hops == 3


def test_another_rack_over_switches_pays_one_latency(build_pod):
    fabric = build(build_pod(256, Shape.SWITCH))
    route = fabric.route(1, 3 * 64 + 1)
    assert ends(fabric, route) == ["ipu1", "gateway0", "switch0", "gateway48", "ipu193"]
    assert route.latency_s == pytest.approx(2e-6)


def test_input_passes_server_gateway_port_and_pcie(build_pod):
    fabric = build(build_pod(64))
    first, other = fabric.host_route(0, 0), fabric.host_route(63, 0)
    assert ends(fabric, first) == ["host0", "network", "gateway0", "ipu0"]
    assert [fabric.capacities[link] for link in first.links] == [12.5e9, 12.5e9, 16e9]
    assert set(first.links) & set(other.links) == {first.links[0]}  # the server's card
    assert len(set(first.links) & set(fabric.host_route(3, 0).links)) == 2  # and the gateway's port
    assert first.latency_s == 0.0


def test_ipus_of_a_machine_share_its_ddr(build_pod):
    fabric = build(build_pod(16))
    route, beside, far = fabric.streaming_route(4), fabric.streaming_route(7), fabric.streaming_route(8)
    assert ends(fabric, route) == ["ddr1", "gateway1", "ipu4", "sram4"]
    assert [fabric.capacities[link] for link in route.links] == pytest.approx([4 * 6.64e9, 16e9, 6.64e9])
    assert set(route.links) & set(beside.links) == {route.links[0]}
    assert not set(route.links) & set(far.links)
    assert set(route.links) & set(fabric.host_route(4, 0).links) == {route.links[1]}  # PCIe


@pytest.mark.parametrize(("ipu", "server"), [(64, 0), (-1, 0), (0, 16), (0, -1)])
def test_no_such_ipu_or_server(build_pod, ipu, server):
    with pytest.raises(ValueError, match="are 0 to"):
        build(build_pod(64)).host_route(ipu, server)


@pytest.mark.parametrize("ipus", SIZES)
def test_dimensions_multiply_to_all_ipus(build_pod, ipus):
    fabric = build(build_pod(ipus))
    assert math.prod(dimension.size for dimension in fabric.dimensions) == fabric.endpoints == ipus
    strides = [math.prod(inner.size for inner in fabric.dimensions[:at]) for at in range(len(fabric.dimensions))]
    assert [dimension.stride for dimension in fabric.dimensions] == strides


@pytest.mark.parametrize(
    "pair",
    [
        ("ipu0", "ipu3"),
        ("ipu63", "ipu64"),
        ("gateway0", "gateway1"),
        ("ipu0", "gateway1"),
        ("switch0", "gateway0"),
        ("ipu0", "sram1"),
        ("ddr0", "ipu0"),
        ("ipu00", "ipu1"),
        ("ipu0", "ipu256"),
        ("gateway0", "gateway32"),
    ],
)
def test_what_is_not_joined_has_no_link(build_pod, pair):
    with pytest.raises(ValueError, match="no link"):
        build(build_pod(256)).number(pair)


@pytest.mark.parametrize(("a", "b", "says"), [(0, 128, "0 to 127"), (-1, 3, "0 to 127")])
def test_no_ipu_link_leads_there(build_pod, a, b, says):
    with pytest.raises(ValueError, match=says):
        build(build_pod(128)).route(a, b)


@pytest.mark.parametrize("trip", [(16, 0, 1), (0, 0, 2), (-1, 0, 1)])
def test_no_gateway_there(build_pod, trip):
    with pytest.raises(ValueError, match="no machine"):
        build(build_pod(128)).gateway_route(*trip)


def test_an_unconnected_machine_is_refused_with_all_its_faults(topology_of, ladder_of):
    with pytest.raises(InputError) as caught:
        build(topology_of(ladder_of("machine", 4, link="ipu-lnk"), ladder_of("rack", 32)))
    assert caught.value.code == "not-connected"
    assert len(caught.value.context) == 2


def test_building_loads_no_graph_library():
    code = "import sys, podsim.topology.machine_network, podsim.topology.measure; print('networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
