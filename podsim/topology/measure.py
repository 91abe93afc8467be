"""What a network amounts to: its bisection and diameter, and what an endpoint can send.

Closed forms, so that any size is answered at once; tests hold them against networkx.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.fabric import GenericFabric, Shape
from podsim.topology import wiring
from podsim.topology.axes import axes, way_out

if TYPE_CHECKING:
    from podsim.model.fabric import Level, Topology
    from podsim.topology.axes import Axis


def bisection_bytes_per_s(topology: Topology | GenericFabric) -> dict[str, float]:
    """Least nominal bandwidth, one direction, cut by any even split of the members of each level [B/s].

    Members stay whole: a rack is split by machines, a pod by racks, a torus across one of its sides; of an odd number
    one half has one more. A level of one member has no entry. Hosts and overrides do not count.
    """
    return _stated_cuts(topology) if isinstance(topology, GenericFabric) else _machine_cuts(topology)


def _machine_cuts(topology: Topology) -> dict[str, float]:
    cuts: dict[str, float] = {}
    for level in topology.levels:
        if level.holds < 2:
            continue
        if level.shape is Shape.LADDER:
            links = _ladder_cut_links(level, 1 if level.name == "machine" else topology.ipus_per_machine)
        elif level.shape is Shape.RING:
            links = topology.machines_per_rack * wiring.gateway_links(level) * min(level.holds - 1, 2)
        else:
            links = topology.machines_per_rack * wiring.gateway_links(level) * (level.holds // 2)
        cuts[level.name] = links * topology.links[level.link].bandwidth_bytes_per_s
    return cuts


def _ladder_cut_links(level: Level, ipus_each: int) -> int:
    """Links cut between the halves of a ladder: across both rails, at two places of a loop, or along all rungs."""
    across = 2 * (level.rail_links or 0) * (2 if level.closed else 1)
    if ipus_each > 1:
        return across
    along = level.holds // 2 * (level.rung_links or 0)
    return min(across, along) if level.holds > 2 else along


def _stated_cuts(fabric: GenericFabric) -> dict[str, float]:
    table = {}
    for at, level in enumerate(fabric.levels):
        of_level = [axis for axis in axes(fabric) if axis.level == at]
        sides = [axis for axis in of_level if axis.size > 1]
        if sides:
            copies = of_level[0].copies if level.shape is Shape.TORUS else sides[0].copies
            table[level.name] = copies * min(_cut_bytes_per_s(fabric, axis, level.members) for axis in sides)
    return table


def _cut_bytes_per_s(fabric: GenericFabric, axis: Axis, members: int) -> float:
    """Bandwidth across the middle of one axis, of all its rows where it is the side of a torus."""
    value, half = axis.kind.bandwidth_bytes_per_s, axis.size // 2
    if axis.shape is Shape.SHARED:
        return value
    if axis.shape is Shape.FULL:
        return half * (axis.size - half) * value
    if axis.has_middle:
        hub = axis.hub.bandwidth_bytes_per_s if axis.hub else math.inf
        return min(half * value, hub)
    ways = 1 if axis.shape is Shape.LINE or axis.size == 2 else 2
    rows = members // axis.size if fabric.levels[axis.level].shape is Shape.TORUS else 1
    return rows * ways * value


def diameter_hops(topology: Topology | GenericFabric) -> int:
    """Links on the longest of the shortest ways between endpoints of each level, added up.

    Of a machine IPU-Link hops between the farthest IPUs of a rack, plus GW-Link hops between the farthest racks; of a
    stated fabric the longest route between two ranks.
    """
    if isinstance(topology, GenericFabric):
        return _longest_route_hops(topology)
    pairs = topology.ipus_per_rack // 2
    along = pairs // 2 if wiring.loops(topology) else max(pairs - 1, 0)
    pod = topology.level("pod")
    racks = 0 if pod is None or pod.holds < 2 else 2 if pod.shape is Shape.SWITCH else pod.holds // 2
    return along + min(pairs, 1) + racks


def _longest_route_hops(fabric: GenericFabric) -> int:
    every = axes(fabric)
    group_levels = {axis.level for axis in every if axis.has_group_links}
    within = {at: sum(_most_hops(axis) for axis in every if axis.level == at) for at in range(len(fabric.levels))}
    longest = sum(hops for at, hops in within.items() if at not in group_levels)
    for top in group_levels:
        if within[top]:
            ways = 2 * sum(1 for axis in way_out(every, top) for _ in axis.way_in(0))
            if every[-1].spread and top == every[-1].level:
                ways += 2 * within[top - 1]  # to the member that has the link, and from the one that it reaches
            above = sum(hops for at, hops in within.items() if at > top and at not in group_levels)
            longest = max(longest, ways + within[top] + above)
    return longest


def _most_hops(axis: Axis) -> int:
    if axis.size == 1:
        return 0
    if axis.shape is Shape.SWITCH:
        return 2
    if axis.shape is Shape.STAR:
        return 3 if axis.hub else 2
    if axis.shape in (Shape.FULL, Shape.SHARED):
        return 1
    return axis.size - 1 if axis.shape is Shape.LINE else axis.size // 2


def per_rank_bytes_per_s(fabric: GenericFabric, level: int) -> float | None:
    """What one rank can send at once over the links of a level, nominal; None where nothing is joined [B/s].

    Links of a group and a shared medium are split between those who share them.
    """
    total = 0.0
    for axis in axes(fabric):
        if axis.level != level or axis.size == 1:
            continue
        if axis.shape is Shape.SHARED:
            links = 1 / axis.size
        elif axis.shape is Shape.FULL:
            links = axis.size - 1
        else:
            links = 1 if axis.has_middle or axis.size == 2 else 2
        total += links * axis.kind.bandwidth_bytes_per_s / axis.unit
    return total or None
