"""IPUs at the ranks of a stated fabric: its routes and rates, one sequence of links with those of the machine."""

from dataclasses import replace

import pytest
from topology.stated_worlds import KINDS, level

from podsim.model.fabric import Shape
from podsim.topology.stated_network import StatedFabric


@pytest.fixture
def network(topology_of, ladder_of):
    """Two machines of four IPUs each, joined by a torus of 4 x 2 whose sides are wires."""
    plain = topology_of(ladder_of("machine", 4), name="torus-8")
    topology = replace(
        plain, links={**plain.links, **KINDS}, fabric=(level("torus", Shape.TORUS, (4, 2)), level("top", Shape.RING, 1))
    )
    assert topology.stated_fabric is not None
    return StatedFabric(topology, topology.stated_fabric)


def test_routes_are_those_of_the_fabric(network):
    route = network.route(0, 6)
    assert [network.link(number).name for number in route.links] == ["rank0->rank1", "rank1->rank2", "rank2->rank6"]
    assert route.latency_s == pytest.approx(3 * 0.5e-6)
    assert [network.capacities[number] for number in route.links] == [50e9] * 3
    assert [network.kind(number) for number in route.links] == ["torus.0", "torus.0", "torus.1"]


def test_a_link_has_one_number_on_all_routes(network):
    one, other = network.route(0, 2), network.route(1, 2)
    assert one.links[1:] == other.links
    assert network.route(0, 2) is one


def test_links_to_memory_are_numbered_after_and_keep_their_kind(network):
    first = network.route(0, 1).links
    other = network.streaming_route(0).links
    assert not {*first} & {*other}
    assert {network.kind(number) for number in other} == {"ddr", "pcie", "stream"}


def test_activations_wait_for_the_latencies_of_their_links(network):
    route = network.route(0, 6)
    assert network.boundary_latency_s(route.links) == pytest.approx(1.5e-6)
    assert network.boundary_latency_s(()) == 0


def test_dimensions_are_those_of_the_fabric(network):
    assert [(each.name, each.size) for each in network.dimensions] == [("torus.0", 4), ("torus.1", 2), ("top", 1)]


def test_an_ipu_outside_is_refused(network):
    with pytest.raises(ValueError, match="ranks of torus-8 are 0 to 7, not 0 and 8"):
        network.route(0, 8)
