"""What a generic fabric amounts to: its bisection and diameter, and what a rank can send."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.fabric import Shape

if TYPE_CHECKING:
    from podsim.model.fabric import GenericFabric
    from podsim.topology.axes import Axis
    from podsim.topology.generic import GenericNetwork


def bisection_bytes_per_s(network: GenericNetwork) -> dict[str, float]:
    """Nominal bandwidth, one direction, between the halves of one group of each level, overrides aside [B/s].

    Members stay whole; of an odd number one half has one more, and a torus is parted across one of its sides. A level
    of one member has no entry.
    """
    table = {}
    for at, level in enumerate(network.fabric.levels):
        axes = [axis for axis in network.axes if axis.level == at and axis.size > 1]
        if axes:
            copies = network.axes[axes[0].index].copies if level.shape is not Shape.TORUS else _copies(network, at)
            table[level.name] = copies * min(_cut_bytes_per_s(network.fabric, axis, level.members) for axis in axes)
    return table


def _copies(network: GenericNetwork, level: int) -> int:
    first = next(axis for axis in network.axes if axis.level == level)
    return first.stride // first.unit


def _cut_bytes_per_s(fabric: GenericFabric, axis: Axis, members: int) -> float:
    """Bandwidth across the middle of one axis, of all its rows where it is the side of a torus."""
    value, half = axis.kind.bandwidth_bytes_per_s, axis.size // 2
    if axis.shape is Shape.SHARED:
        return value
    if axis.shape is Shape.FULL:
        return half * (axis.size - half) * value
    if axis.middled:
        hub = axis.hub.bandwidth_bytes_per_s if axis.hub else math.inf
        return min(half * value, hub)
    ways = 1 if axis.shape is Shape.LINE or axis.size == 2 else 2
    rows = members // axis.size if fabric.levels[axis.level].shape is Shape.TORUS else 1
    return rows * ways * value


def diameter_hops(network: GenericNetwork) -> int:
    """Links on the longest route between two ranks."""
    levels = range(len(network.fabric.levels))
    grouped = {axis.level for axis in network.axes if axis.grouped}
    within = {at: sum(_most_hops(axis) for axis in network.axes if axis.level == at) for at in levels}
    longest = sum(hops for at, hops in within.items() if at not in grouped)
    for top in grouped:
        if within[top]:
            ways = 2 * sum(1 for _ in network.out_of(0, top))
            if network.axes[-1].spread and top == network.axes[-1].level:
                ways += 2 * within[top - 1]  # to the member that has the link, and from the one that it reaches
            above = sum(hops for at, hops in within.items() if at > top and at not in grouped)
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


def per_rank_bytes_per_s(network: GenericNetwork, level: int) -> float | None:
    """What one rank can send at once over the links of a level, nominal; None where nothing is joined [B/s].

    Links of a group and a shared medium are split between those who share them.
    """
    total = 0.0
    for axis in network.axes:
        if axis.level != level or axis.size == 1:
            continue
        if axis.shape is Shape.SHARED:
            links = 1 / axis.size
        elif axis.shape is Shape.FULL:
            links = axis.size - 1
        else:
            links = 1 if axis.middled or axis.size == 2 else 2
        total += links * axis.kind.bandwidth_bytes_per_s / axis.unit
    return total or None
