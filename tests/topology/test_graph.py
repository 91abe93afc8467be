"""The graph of pods and stated fabrics in networkx: what its edges say, and that closed forms agree with it."""

from dataclasses import replace

import networkx as nx
import pytest
from topology.stated_worlds import KINDS, fabric, level

from podsim.model.fabric import Attach, Override, Shape
from podsim.topology.build import build, network
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_faults
from podsim.topology.graph import FabricGraph
from podsim.topology.network import Damage
from podsim.topology.stated_network import RankNetwork


def hops(graph, source, target):
    """Links on the shortest way; a step without a link is free."""
    return nx.dijkstra_path_length(graph, source, target, weight=lambda _a, _b, arc: int(arc["key"] is not None))


def test_edges_of_a_pod_say_what_files_say_of_its_links(build_pod):
    arc = build(build_pod(128)).graph["ipu4"]["ipu5"]
    assert arc["key"] == ("ipu4", "ipu5")
    assert (arc["kind"], arc["links"]) == ("ipu-link", 6)
    assert arc["bandwidth_bytes_per_s"] == 6 * 16e9
    assert arc["bytes_per_s"] == pytest.approx(6 * 16e9 * 0.866)
    assert arc["latency_s"] == pytest.approx(0.545e-6)
    assert build(build_pod(128)).graph["gateway3"]["gateway19"]["kind"] == "gw-link"


def test_edges_of_a_stated_fabric_count_overrides_and_free_steps_are_no_links():
    ring = replace(
        fabric(level("ring", Shape.RING, 4)), overrides=(Override(name="rank0->rank1", bandwidth_bytes_per_s=1e9),)
    )
    graph = network(ring).graph
    arc = graph["rank", 0, 0]["rank", 0, 1]
    assert (arc["kind"], arc["bandwidth_bytes_per_s"], arc["bytes_per_s"]) == ("wire", 50e9, 1e9)
    switch = network(fabric(level("pod", Shape.SWITCH, 3))).graph
    assert switch["in", 0, 0]["out", 0, 0] == {"key": None}


def test_a_link_that_is_down_is_no_edge_and_a_slow_one_has_its_share(build_pod):
    pod = apply_faults(build(build_pod(16)), parse(["link:ipu4->ipu5=down", "link:ipu4-ipu6=0.5"]))
    assert not pod.graph.has_edge("ipu4", "ipu5")
    assert pod.graph.has_edge("ipu5", "ipu4")
    assert pod.graph["ipu4"]["ipu6"]["bytes_per_s"] == pytest.approx(16e9 * 0.866)


def test_what_leads_to_a_node_is_what_leads_from_its_predecessors(build_pod):
    for result in (build(build_pod(16)), network(fabric(level("bus", Shape.SHARED, 3), level("top", Shape.RING, 2)))):
        graph = result.graph
        assert {(a, b) for b in graph for a in graph.predecessors(b)} == set(graph.edges)
        assert graph.number_of_edges() == sum(degree for _, degree in graph.out_degree())


def test_a_graph_is_a_view_that_nobody_changes(build_pod):
    with pytest.raises(nx.NetworkXError, match="Frozen"):
        build(build_pod(4)).graph.add_edge("ipu0", "ipu3")


def test_the_graph_of_some_nodes_is_a_graph_of_the_same_kind(build_pod):
    part = build(build_pod(16)).graph.between("ipu")
    assert isinstance(part, FabricGraph)
    assert set(part["ipu4"]) == {"ipu5", "ipu2", "ipu6"}
    assert len(part) == 16


def test_what_is_no_node_has_no_edges(build_pod):
    with pytest.raises(KeyError):
        build(build_pod(4)).graph["ipu4"]


@pytest.mark.parametrize("ipus", [2, 4, 16, 64])
def test_no_way_over_ipu_links_is_shorter_than_the_route_of_a_rack(build_pod, ipus):
    pod = build(build_pod(ipus))
    lengths = dict(nx.all_pairs_shortest_path_length(pod.graph.between("ipu")))
    for a in range(ipus):
        for b in range(ipus):
            assert pod.route(a, b).hops == lengths[f"ipu{a}"][f"ipu{b}"]


@pytest.mark.parametrize(("ipus", "shape"), [(128, Shape.RING), (256, Shape.RING), (256, Shape.SWITCH)])
def test_no_way_over_gw_links_is_shorter_than_the_route_between_gateways(build_pod, ipus, shape):
    pod = build(build_pod(ipus, shape))
    between = pod.graph.subgraph(node for node in pod.graph if node.startswith(("gateway", "switch")))
    for rack in range(1, ipus // 64):
        way = nx.shortest_path_length(between, "gateway3", f"gateway{16 * rack + 3}")
        assert pod.gateway_route(3, 0, rack).hops == way


@pytest.mark.parametrize(
    "levels",
    [
        (level("torus", Shape.TORUS, (4, 3)),),
        (level("leaf", Shape.SWITCH, 4), level("spine", Shape.SWITCH, 3, attach=Attach.GROUP)),
        (level("router", Shape.FULL, 4), level("all", Shape.FULL, 5, attach=Attach.SPREAD)),
        (level("leaf", Shape.SWITCH, 2), level("g", Shape.SWITCH, 2, attach=Attach.GROUP), level("r", Shape.RING, 2)),
    ],
)
def test_routes_of_symmetric_fabrics_are_shortest_ways(levels):
    stated = RankNetwork(fabric(*levels))
    for b in range(stated.endpoints):
        assert stated.route(1, b).hops >= hops(stated.graph, stated.node(1), stated.node(b))
    if len(levels) < 3 and levels[-1].attach is not Attach.SPREAD:
        every = range(stated.endpoints)
        assert all(stated.route(1, b).hops == hops(stated.graph, stated.node(1), stated.node(b)) for b in every)


def test_groups_of_a_dragonfly_are_joined_once_each_way_at_the_router_that_its_routes_use():
    stated = RankNetwork(fabric(level("router", Shape.FULL, 4), level("all", Shape.FULL, 9, attach=Attach.SPREAD)))
    long = [(a, b) for a, b, arc in stated.graph.edges(data=True) if a[2] // 4 != b[2] // 4]
    assert len(long) == 9 * 8
    for a, b in long:
        (link,) = stated.route(a[2], b[2]).links
        assert stated.link(link).name == f"router{a[2] // 4}->router{b[2] // 4}"
    assert nx.is_strongly_connected(stated.graph)


def test_ipus_at_the_ranks_of_a_fabric_reach_each_other_over_its_links(topology_of, ladder_of):
    plain = topology_of(ladder_of("machine", 4))
    topology = replace(plain, links={**plain.links, **KINDS}, fabric=(level("leaf", Shape.SWITCH, 8),))
    graph = build(topology).graph
    assert hops(graph, "ipu0", "ipu7") == 2
    assert {arc["kind"] for *_, arc in graph.edges("ipu0", data=True)} == {"wire", "pcie", "stream"}
    assert graph.between("ipu").number_of_edges() == 0  # a switch lies between them


def test_a_full_mesh_of_8192_ranks_is_searched_without_all_its_links():
    mesh = RankNetwork(fabric(level("mesh", Shape.FULL, 8192)), Damage(frozenset({(0, 0, 1)})))
    assert mesh.route(0, 1).hops == 2
    assert len(mesh.graph) == 8192
