"""A collective by its flags: on a pod, on a topology by name, with numbers changed on both."""

import pytest

from podsim.errors import InputError
from podsim.studies.collective.collective_case import collective
from podsim.topology.machine_network import Fabric
from podsim.topology.stated_network import RankNetwork


def question(**flags):
    usual = {
        "pod": None,
        "topology": None,
        "group": "all",
        "ipus_per_replica": 1,
        "algorithm": None,
        "chunks": 1,
        "pace": None,
        "changes": (),
        "fidelity": "folded",
    }
    return collective("all-reduce", "2 MB", **(usual | flags))


def test_a_pod_is_a_machine_and_a_name_any_network():
    machine, ring = question(pod=16), question(topology="ring-16")
    assert isinstance(machine.network, Fabric)
    assert isinstance(ring.network, RankNetwork)
    assert (machine.network.endpoints, ring.network.endpoints) == (16, 16)
    assert machine.volume_bytes == ring.volume_bytes == 2e6


@pytest.mark.parametrize("flags", [{"pod": 16}, {"topology": "pod16"}])
def test_changes_reach_the_links(flags):
    case = question(changes={"ipu-link.bandwidth": "8 GB/s"}, **flags)
    assert case.network.topology.links["ipu-link"].bandwidth_bytes_per_s == 8e9


def test_pod_and_name_together_are_refused_as_of_any_machine():
    with pytest.raises(InputError):
        question(pod=16, topology="ring-16")
