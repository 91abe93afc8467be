"""What is left of a machine that has lost some of itself: the largest partition of whole machines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.topology import wiring
from podsim.topology.faults import check
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Damage

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.topology.wiring import Ends


def largest(fabric: Fabric) -> range | None:
    """Machines of the largest partition without a lost IPU, of those the first; None where none is whole.

    Parameters: `fabric`, with the IPUs that are lost. Result: numbers of machines that follow each other, from 0.

    Equation: a power of two of whole machines in one rack, or of whole racks (Eq. 51). Validity: levels hold powers of
    two, as files of machines must; slow IPUs and links that are slow or down do not count. Source: podsim's own
    assumption (Eq. 51 of the model).
    """
    topology = fabric.topology
    faulty_machines = {ipu // topology.ipus_per_machine for ipu in fabric.damage.lost}
    size, rack = topology.machines, topology.machines_per_rack
    while size:
        step = min(size, rack)
        for first in range(0, topology.machines - size + 1, rack if size > rack else 1):
            one_rack = first // rack == (first + step - 1) // rack
            if one_rack and faulty_machines.isdisjoint(range(first, first + size)):
                return range(first, first + size)
        size //= 2
    return None


def part(fabric: Fabric, machines: range) -> Fabric:
    """The fabric of some machines of a larger one, numbered from 0, with the faults that are theirs.

    Raises Infeasible where these cut it in two.
    """
    part = Fabric(whole_machines(fabric.topology, len(machines)))
    damage = fabric.damage
    first = machines.start * fabric.topology.ipus_per_machine
    down = {ends for was in damage.down if (ends := _move(part, was, machines))}
    rates = {ends: rate for was, rate in damage.rates.items() if (ends := _move(part, was, machines))}
    slow = {ipu - first: rate for ipu, rate in damage.slow.items() if 0 <= ipu - first < part.endpoints}
    part = Fabric(part.topology, Damage(frozenset(down), rates, frozenset(), slow))
    check(part)
    return part


def _move(fabric: Fabric, ends: Ends, machines: range) -> Ends | None:
    """A link as the partition numbers its ends; None where it has no such link."""
    source, target = (rename_node(fabric.topology, end, -machines.start) for end in ends)
    pair = source, target
    return pair if fabric.joints.between(*pair) else None


def rename_node(topology: Topology, node: str, machines: int) -> str:
    """The node in the same place so many machines further on; servers, their network and switches stay."""
    kind, each = node.rstrip("0123456789"), topology.ipus_per_machine
    of_machine = {wiring.IPU: each, wiring.SRAM: each, wiring.GATEWAY: 1, wiring.DDR: 1}
    return f"{kind}{int(node.removeprefix(kind)) + machines * of_machine[kind]}" if kind in of_machine else node


def whole_machines(whole: Topology, machines: int) -> Topology:
    """A machine with so many of the machines of another; a ladder that is not all of its rack is open."""
    rack = whole.machines_per_rack
    counts = {"pod": machines // rack, "rack": min(machines, rack)}
    levels = [
        replace(level, holds=counts.get(level.name, level.holds), closed=level.closed and machines >= rack)
        for level in whole.levels
        if counts.get(level.name, 2) > 1
    ]
    hosts, share = whole.hosts, machines / whole.machines
    most = max(1, int(hosts.most_servers * share))
    return replace(
        whole,
        title=f"{machines * whole.ipus_per_machine:,} IPUs of {whole.title}",
        levels=tuple(levels),
        hosts=replace(hosts, servers=min(most, max(1, int(hosts.servers * share))), most_servers=most),
    )
