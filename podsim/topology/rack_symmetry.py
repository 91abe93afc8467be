"""Which racks of a machine with faults are alike, and which machines of a rack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.topology import wiring

if TYPE_CHECKING:
    from podsim.topology.machine_network import Fabric


def rack_classes(fabric: Fabric) -> tuple[tuple[int, int], ...]:
    """One rack of every kind with how many are like it, racks that are lost as a whole left out.

    Racks are alike where the same of their IPUs, IPU-Links, ports and GW-Links are at fault. How GW-Links lead round a
    fault of another rack is not part of it.
    """
    size = fabric.topology.ipus_per_rack
    marks: dict[int, set[tuple[str, float]]] = {}
    for ipu in fabric.damage.lost:
        marks.setdefault(ipu // size, set()).add((f"ipu{ipu % size}", 0.0))
    for ipu, rate in fabric.damage.slow.items():
        marks.setdefault(ipu // size, set()).add((f"ipu{ipu % size}", rate))
    for ends, rate in [*((ends, 0.0) for ends in fabric.damage.down), *fabric.damage.rates.items()]:
        for rack in dict.fromkeys(_rack_of(fabric, end) for end in ends):
            if rack is not None:
                marks.setdefault(rack, set()).add(("->".join(_local(fabric, end, rack) for end in ends), rate))
    whole = {rack for rack in marks if _all_lost(fabric, rack)}
    counts: dict[frozenset[tuple[str, float]], list[int]] = {}
    intact_rack = next((rack for rack in range(fabric.topology.racks) if rack not in marks), None)
    if intact_rack is not None:
        counts[frozenset()] = [intact_rack, fabric.topology.racks - len(marks)]
    for rack in sorted(marks.keys() - whole):
        counts.setdefault(frozenset(marks[rack]), [rack, 0])[1] += 1
    return tuple(sorted((rack, count) for rack, count in counts.values()))


def unlike_columns(fabric: Fabric) -> frozenset[int] | None:
    """Machines of a rack that have in some rack a slow way out; None where a way round may lead to others."""
    numbers = set()
    for ends in (*fabric.damage.down, *fabric.damage.rates):
        places = [fabric.joints.parse_node(end) for end in ends]
        if all(place and place[0] == wiring.IPU for place in places):
            continue
        if ends in fabric.damage.down:
            return None
        for kind, number in filter(None, places):
            if kind in (wiring.GATEWAY, wiring.DDR):
                numbers.add(number % fabric.topology.machines_per_rack)
    return frozenset(numbers)


def same_inputs(fabric: Fabric) -> bool:
    """Whether every way from a host is as without faults: only IPU-Links and IPUs are at fault."""
    kinds = {fabric.joints.parse_node(end) for ends in (*fabric.damage.down, *fabric.damage.rates) for end in ends}
    return all(node and node[0] == wiring.IPU for node in kinds)


def _all_lost(fabric: Fabric, rack: int) -> bool:
    size = fabric.topology.ipus_per_rack
    return fabric.damage.lost.issuperset(range(rack * size, (rack + 1) * size))


def _rack_of(fabric: Fabric, node: str) -> int | None:
    """The rack of an IPU or of what belongs to a machine; None for switches, servers and their network."""
    kind_and_number = fabric.joints.parse_node(node)
    each = {wiring.IPU: fabric.topology.ipus_per_rack, wiring.SRAM: fabric.topology.ipus_per_rack}
    each |= {wiring.GATEWAY: fabric.topology.machines_per_rack, wiring.DDR: fabric.topology.machines_per_rack}
    return kind_and_number[1] // each[kind_and_number[0]] if kind_and_number and kind_and_number[0] in each else None


def _local(fabric: Fabric, node: str, rack: int) -> str:
    """A node as its own rack knows it; in another rack, by how many racks further."""
    kind_and_number, there = fabric.joints.parse_node(node), _rack_of(fabric, node)
    if kind_and_number is None or there is None:
        return node
    of_ipu = kind_and_number[0] in (wiring.IPU, wiring.SRAM)
    each = fabric.topology.ipus_per_rack if of_ipu else fabric.topology.machines_per_rack
    return f"{kind_and_number[0]}{kind_and_number[1] % each}+{(there - rack) % fabric.topology.racks}"
