"""Networks with parts that are down, slow or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from podsim.topology import fabric_faults, generic_faults
from podsim.topology.generic import GenericNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.fault import PartFault
    from podsim.topology.fabric import Fabric


@overload
def broken(network: Fabric, faults: Sequence[PartFault]) -> Fabric: ...
@overload
def broken(network: GenericNetwork, faults: Sequence[PartFault]) -> GenericNetwork: ...
@overload
def broken(network: Fabric | GenericNetwork, faults: Sequence[PartFault]) -> Fabric | GenericNetwork: ...
def broken(network: Fabric | GenericNetwork, faults: Sequence[PartFault]) -> Fabric | GenericNetwork:
    """The network with these faults, in place of any it had: slow links at their share of the rate, routes found anew.

    A route over a link that is down becomes the one of fewest hops, of those the widest. `damage` says which endpoints
    are lost or slow. Raises InputError: a fault names nothing (unknown-part), or two are about one part
    (conflicting-faults). Infeasible: what is left is cut in two (cut-off).
    """
    if isinstance(network, GenericNetwork):
        return generic_faults.broken(network, faults)
    return fabric_faults.broken(network, faults)
