"""What a file describes to the network it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.fabric import GenericFabric
from podsim.topology import fabric
from podsim.topology.generic import GenericNetwork

if TYPE_CHECKING:
    from podsim.model.fabric import Topology


def network(described: Topology | GenericFabric) -> fabric.Fabric | GenericNetwork:
    """The links and routes of a machine or a generic fabric; InputError where a machine is not connected."""
    return GenericNetwork(described) if isinstance(described, GenericFabric) else fabric.build(described)
