"""What a file describes to the network it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError
from podsim.model.fabric import GenericFabric
from podsim.topology import wiring
from podsim.topology.machine_network import Fabric

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.topology.stated_network import RankNetwork

_FABRICS: Final = TABLES.add("fabrics", Table[object, Fabric](8))


def network(topology: Topology | GenericFabric) -> Fabric | RankNetwork:
    """The links and routes of a machine or a stated fabric; InputError where a machine is not connected."""
    if isinstance(topology, GenericFabric):
        from podsim.topology.stated_network import RankNetwork  # no pod needs it

        return RankNetwork(topology)
    return build(topology)


def shared_fabric(topology: Topology) -> Fabric:
    """One fabric for all machines whose links are the same, with what is known of it; InputError as `build`."""
    names = sorted({topology.levels[0].link, *topology.joining})
    links = tuple((name, topology.links.get(name)) for name in names)
    wires = topology.levels, topology.gateway, topology.hosts, topology.fabric, topology.overrides
    return _FABRICS.remember((topology.name, topology.title, links, wires), lambda: build(topology))


def rebuild(fabric: Fabric, topology: Topology) -> Fabric:
    """The fabric of another machine with the nodes of the first, its faults kept; InputError as `build`."""
    healthy = build(topology)
    return Fabric(topology, fabric.damage) if fabric.damage else healthy


def build(topology: Topology) -> Fabric:
    """The fabric of a machine; InputError where its parts are not connected."""
    if (stated_fabric := topology.stated_fabric) is not None:
        from podsim.topology.stated_network import StatedFabric  # no pod needs it

        return StatedFabric(topology, stated_fabric)
    if faults := wiring.connection_faults(topology):
        raise InputError(
            f"{topology.name} is not connected",
            code="not-connected",
            context=faults,
            hint="podsim topology show pod128   prints a complete example",
        )
    return Fabric(topology)
