"""Bisection and diameter of machines against networkx, and what keeps a machine from being one."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.fabric import Shape
from podsim.topology.build import build
from podsim.topology.measure import bisection_bytes_per_s, diameter_hops
from podsim.topology.wiring import connection_faults

MACHINES = [
    *((ipus, Shape.RING) for ipus in (1, 2, 4, 8, 16, 32, 64, 128, 256)),
    (128, Shape.SWITCH),
    (256, Shape.SWITCH),
]


def of_kind(drawn, *kinds):
    return [node for node in drawn if node.rstrip("0123456789") in kinds]


def fabric_only(topology):
    """IPUs with what routes between them may pass."""
    drawn = build(topology).graph
    return drawn.subgraph(of_kind(drawn, "ipu", "gateway", "switch"))


def least_cut(drawn, members):
    """Least bandwidth, one way, from one half of `members` (sets of nodes that stay whole) to the other."""
    first, *rest = members
    everywhere = set().union(*members)
    cuts = []
    for companions in combinations(rest, len(members) // 2 - 1):
        side = first.union(*companions)
        if everywhere.issuperset(drawn):  # no node is free to go to either side
            cuts.append(sum(cut for *_, cut in nx.edge_boundary(drawn, side, data="bandwidth_bytes_per_s")))
        else:
            cuts.append(_least_between(drawn, side, everywhere - side))
    return min(cuts)


def _least_between(drawn, side, other):
    flow = nx.DiGraph()
    for item, two, bandwidth in drawn.edges(data="bandwidth_bytes_per_s"):
        flow.add_edge(item, two, capacity=bandwidth)
    flow.add_edges_from(("a", node) for node in side)
    flow.add_edges_from((node, "b") for node in other)
    return nx.minimum_cut_value(flow, "a", "b")


def members_of(topology, each):
    return [{f"ipu{first + number}" for number in range(each)} for first in range(0, topology.ipus, each)]


@pytest.mark.parametrize(("ipus", "shape"), MACHINES)
def test_every_machine_is_connected_without_its_hosts(build_pod, ipus, shape):
    topology = build_pod(ipus, shape)
    assert connection_faults(topology) == ()
    drawn = fabric_only(topology)
    assert len(of_kind(drawn, "ipu")) == ipus
    assert len(of_kind(drawn, "gateway")) == topology.machines
    assert nx.is_strongly_connected(drawn)


def test_bisection_of_the_machines_sold(build_pod):
    # machine: two rails of 2 links; open ladder: the same; loop: twice that; rack to rack: 16 machines x 2 GW-Links
    assert bisection_bytes_per_s(build_pod(4)) == {"machine": 64e9}
    assert bisection_bytes_per_s(build_pod(16)) == {"machine": 64e9, "rack": 64e9}
    assert bisection_bytes_per_s(build_pod(64)) == {"machine": 64e9, "rack": 128e9}
    assert bisection_bytes_per_s(build_pod(128))["pod"] == 400e9
    assert bisection_bytes_per_s(build_pod(256))["pod"] == 400e9
    assert bisection_bytes_per_s(build_pod(256, Shape.SWITCH))["pod"] == 800e9


def test_two_ipus_are_cut_along_their_rung(build_pod):
    assert bisection_bytes_per_s(build_pod(2)) == {"machine": 96e9}
    assert bisection_bytes_per_s(build_pod(1)) == {}


@given(
    each=st.sampled_from([1, 2, 4]),
    machines=st.sampled_from([2, 4, 8]),
    closed=st.booleans(),
    rung=st.integers(1, 8),
    rail=st.integers(1, 8),
)
def test_bisection_is_the_least_even_split_of_the_graph(topology_of, ladder_of, each, machines, closed, rung, rail):
    levels = [
        ladder_of("machine", each, rung_links=rung, rail_links=rail),
        ladder_of("rack", machines, closed=closed, rung_links=rung, rail_links=rail),
    ]
    topology = topology_of(*levels)
    drawn = build(topology).graph
    ipu_links = drawn.subgraph(of_kind(drawn, "ipu"))
    stated = bisection_bytes_per_s(topology)
    assert stated["rack"] == least_cut(ipu_links, members_of(topology, each))
    if each > 1:
        machine = ipu_links.subgraph(f"ipu{number}" for number in range(each))
        assert stated["machine"] == least_cut(machine, members_of(topology, 1)[:each])


@pytest.mark.parametrize("shape", [Shape.RING, Shape.SWITCH])
@pytest.mark.parametrize("racks", [2, 4, 8])
def test_bisection_of_a_pod_is_the_least_even_split_of_its_racks(topology_of, ladder_of, pod_of, racks, shape):
    topology = topology_of(ladder_of("machine", 2), ladder_of("rack", 2), pod_of(racks, shape))
    stated = bisection_bytes_per_s(topology)["pod"]
    assert stated == least_cut(fabric_only(topology), members_of(topology, 4))


@pytest.mark.parametrize(("ipus", "shape"), MACHINES)
def test_diameter_is_that_of_the_graph(build_pod, ipus, shape):
    topology = build_pod(ipus, shape)
    drawn = build(topology).graph
    rack = drawn.subgraph(f"ipu{number}" for number in range(topology.ipus_per_rack))
    between = drawn.subgraph(of_kind(drawn, "gateway", "switch"))
    racks = between.subgraph(nx.descendants(between, "gateway0") | {"gateway0"})
    assert diameter_hops(topology) == nx.diameter(rack) + (nx.diameter(racks) if topology.racks > 1 else 0)


def test_diameter_of_the_machines_sold(build_pod):
    assert [diameter_hops(build_pod(ipus)) for ipus in (1, 2, 4, 16, 64)] == [0, 1, 2, 8, 17]
    assert diameter_hops(build_pod(65536, Shape.SWITCH)) == 19


def faults_of(topology_of, ladder_of, pod_of):
    machine, rack = ladder_of("machine", 4), ladder_of("rack", 16, closed=True)
    return {
        "at most 64 IPUs": topology_of(machine, ladder_of("rack", 32)),
        'no link "ipu-lnk" in [link]; did you mean "ipu-link"?': topology_of(ladder_of("machine", 4, link="ipu-lnk")),
        'no link "gw-link" in [link]': topology_of(machine, rack, pod_of(2), links={"ipu-link": None}),
        'level rak: not a level; did you mean "rack"?': topology_of(machine, ladder_of("rak", 16)),
        "level rack: given 2 times": topology_of(machine, rack, rack),
        "out of order": topology_of(rack, machine),
        "level machine: missing": topology_of(rack),
        "level pod: a ladder joins IPUs": topology_of(machine, rack, ladder_of("pod", 2)),
        "level machine: closed joins": topology_of(ladder_of("machine", 4, closed=True)),
        "even number of links each": topology_of(machine, rack, pod_of(4, links_each=1)),
    }


def test_each_fault_is_named_alone(topology_of, ladder_of, pod_of):
    for says, topology in faults_of(topology_of, ladder_of, pod_of).items():
        faults = connection_faults(topology)
        assert len(faults) == 1, faults
        assert says in faults[0]


def test_a_rack_is_a_ladder(topology_of, ladder_of, pod_of):
    ring = topology_of(ladder_of("machine", 4), pod_of(2))
    assert connection_faults(ring) == ()
    level = type(ring.levels[1])(name="rack", holds=4, shape=Shape.RING, link="ipu-link", links_each=2)
    assert connection_faults(topology_of(ladder_of("machine", 4), level)) == (
        "level rack: IPU-Links join IPUs as a ladder, not as a ring",
    )


def test_two_racks_need_no_even_number_of_links(topology_of, ladder_of, pod_of):
    assert connection_faults(topology_of(ladder_of("machine", 4), pod_of(2, links_each=1))) == ()
    assert connection_faults(topology_of(ladder_of("machine", 4), pod_of(8, Shape.SWITCH, links_each=3))) == ()
