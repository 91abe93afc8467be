"""Links of a pod by their two ends: what they are called, how many are parallel, which nodes lie beside one."""

from collections import Counter

import pytest

from podsim.model.fabric import Shape
from podsim.topology.wiring import Joints

IPU_LINK = 16e9 * 0.866


@pytest.fixture(scope="module")
def one(build_pod):
    return Joints(build_pod(16))


@pytest.fixture(scope="module")
def ring(build_pod):
    return Joints(build_pod(256))


def joint(joints, source, target):
    result = joints.between(source, target)
    return result and (result.name, result.links)


def test_rungs_and_rails_of_a_ladder(one):
    assert joint(one, "ipu0", "ipu1") == ("ipu-link", 6)
    assert joint(one, "ipu2", "ipu4") == joint(one, "ipu4", "ipu2") == ("ipu-link", 2)
    assert one.between("ipu0", "ipu3") is None
    assert one.between("ipu14", "ipu0") is None  # open
    assert one.between("ipu0", "ipu1").bytes_per_s == pytest.approx(6 * IPU_LINK)


def test_two_machines_joined_at_both_ends_have_parallel_edges_added_up(topology_of, ladder_of):
    """Ends 2 and 0 of a closed ladder of four: the rail inside and the closing one join the same IPUs."""
    loop = Joints(topology_of(ladder_of("machine", 2), ladder_of("rack", 2, closed=True)))
    assert joint(loop, "ipu0", "ipu2") == ("ipu-link", 4)
    assert Counter(loop.beyond("ipu0")) == {"ipu1": 1, "ipu2": 1, "gateway0": 1, "sram0": 1}


def test_ipus_of_different_racks_are_not_joined(ring):
    assert joint(ring, "ipu62", "ipu0") == ("ipu-link", 2)
    assert ring.between("ipu62", "ipu64") is None
    assert joint(ring, "ipu126", "ipu64") == ("ipu-link", 2)


@pytest.mark.parametrize(
    ("source", "target", "name", "bytes_per_s"),
    [
        ("ipu5", "gateway1", "pcie", 16e9),
        ("gateway1", "ipu7", "pcie", 16e9),
        ("network", "gateway3", "host-link", 12.5e9),
        ("host15", "network", "server-link", 12.5e9),
        ("ddr2", "gateway2", "ddr", 4 * 6.64e9),
        ("ipu5", "sram5", "stream", 6.64e9),
    ],
)
def test_links_to_gateways_hosts_and_memory(one, source, target, name, bytes_per_s):
    link = one.between(source, target)
    assert (link.name, link.links, link.bytes_per_s) == (name, 1, pytest.approx(bytes_per_s))


@pytest.mark.parametrize(
    ("source", "target"),
    [("ipu5", "gateway0"), ("gateway0", "ipu4"), ("ddr2", "gateway1"), ("ipu5", "sram4"), ("gateway0", "network")],
)
def test_what_is_of_another_machine_or_the_other_way_is_not_joined(one, source, target):
    assert one.between(source, target) is None


def test_racks_are_joined_machine_by_machine_to_both_neighbours(ring):
    """Four racks of 16 machines; a machine splits its two GW-Links."""
    assert joint(ring, "gateway3", "gateway19") == joint(ring, "gateway3", "gateway51") == ("gw-link", 1)
    assert ring.between("gateway3", "gateway20") is None
    assert ring.between("gateway3", "switch0") is None


def test_on_a_ring_of_four_the_rack_opposite_is_not_joined(ring):
    assert joint(ring, "gateway0", "gateway48") == ("gw-link", 1)
    assert ring.between("gateway0", "gateway32") is None


def test_switched_racks_are_joined_to_the_switch_with_all_their_links(build_pod):
    switched = Joints(build_pod(256, Shape.SWITCH))
    assert joint(switched, "gateway3", "switch0") == joint(switched, "switch0", "gateway3") == ("gw-link", 2)
    assert switched.between("gateway3", "gateway19") is None
    assert list(switched.beyond("switch0")) == [f"gateway{at}" for at in range(64)]
    assert switched.in_words().endswith("host0 to host15, switch0, network")


@pytest.mark.parametrize(
    "name", ["ipu16", "gateway4", "ipu01", "ipu", "switch0", "host16", "tile0", "IPU0", "network1"]
)
def test_what_is_no_node_joins_nothing(one, name):
    assert one.parse_node(name) is None
    assert one.between(name, "ipu0") is None
    assert list(one.around(name)) == []


def test_nodes_beside_an_ipu_and_its_gateway(one, ring):
    assert set(one.beyond("ipu4")) == {"ipu5", "ipu2", "ipu6", "gateway1", "sram4"}
    assert set(one.around("ipu4")) == {"ipu5", "ipu2", "ipu6", "gateway1", "sram4"}
    assert list(one.beyond("gateway1")) == ["ipu4", "ipu5", "ipu6", "ipu7"]
    assert list(one.around("gateway1")) == ["ipu4", "ipu5", "ipu6", "ipu7", "network", "ddr1"]
    assert [node for node in ring.beyond("gateway3") if node.startswith("gate")] == [
        "gateway19",
        "gateway51",
    ]


def test_nodes_beside_what_lies_at_the_edge(one):
    assert [list(one.around(node)) for node in ("sram4", "ddr1", "host2")] == [["ipu4"], ["gateway1"], ["network"]]
    assert len(list(one.around("network"))) == 16 + 4


def test_every_node_in_words(one):
    assert (
        one.in_words() == "ipu0 to ipu15, sram0 to sram15, gateway0 to gateway3, ddr0 to ddr3, host0 to host15, network"
    )


def test_every_link_of_a_rack_is_a_link(ring):
    """64 IPUs: 32 rungs and 64 rails both ways, PCIe both ways, a stream; 16 machines: 2 neighbours both ways."""
    ends = list(ring.of_rack(1))
    assert len(ends) == 2 * 96 + 3 * 64 + 16 * (2 * 2 + 2)
    assert len(set(ends)) == len(ends)
    assert all(ring.between(source, target) for source, target in ends)
    assert ("ipu64", "ipu66") in ends
    assert ("gateway16", "gateway0") in ends
