"""What a file describes to the network it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.fabric import GenericFabric
from podsim.topology import machine_network
from podsim.topology.stated_network import RankNetwork

if TYPE_CHECKING:
    from podsim.model.fabric import Topology


def network(described: Topology | GenericFabric) -> machine_network.Fabric | RankNetwork:
    """The links and routes of a machine or a stated fabric; InputError where a machine is not connected."""
    return RankNetwork(described) if isinstance(described, GenericFabric) else machine_network.build(described)
