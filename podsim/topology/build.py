"""What a file describes to the network it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.fabric import GenericFabric
from podsim.topology import fabric
from podsim.topology.stated import RankNetwork

if TYPE_CHECKING:
    from podsim.model.fabric import Topology


def network(described: Topology | GenericFabric) -> fabric.Fabric | RankNetwork:
    """The links and routes of a machine or a stated fabric; InputError where a machine is not connected."""
    return RankNetwork(described) if isinstance(described, GenericFabric) else fabric.build(described)
