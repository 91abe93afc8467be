"""Faults of generic fabrics: slow or missing links, slow or lost ranks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError
from podsim.model.fabric import RANK
from podsim.model.fault import FaultyPart
from podsim.topology.axes import HUB
from podsim.topology.cut import cut_off, split
from podsim.topology.damage import Gathered
from podsim.topology.edges import link_keys
from podsim.topology.generic import GenericNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.fault import PartFault
    from podsim.topology.axes import Key
    from podsim.topology.generic_graph import Node


def _refuse_spread(network: GenericNetwork) -> None:
    """Ways round a fault are not known where the links of a group are spread over its members."""
    if any(axis.spread for axis in network.axes):
        raise InputError(
            f"{network.name}: links that are spread over the members of a group have no way round a fault here",
            code="not-on-stated-fabric",
            hint='attach = "group" joins groups as wholes, and takes faults',
        )


def broken(network: GenericNetwork, faults: Sequence[PartFault]) -> GenericNetwork:
    """The fabric with these faults.

    Raises InputError: a fault names nothing, or two name the same. Infeasible: ranks that are left cannot reach others.
    """
    _refuse_spread(network)
    gathered: Gathered[Key] = Gathered()
    for fault in faults:
        if fault.part is FaultyPart.LINK:
            for key in _keys(network, fault):
                gathered.link(key, fault)
        else:
            gathered.endpoint(_rank(network, fault), fault)
    for rank, fault in gathered.lost.items():
        gathered.take_down(network.graph.of_rank(rank), fault)
    broken = GenericNetwork(network.fabric, gathered.damage())
    _check(broken)
    return broken


def _keys(network: GenericNetwork, fault: PartFault) -> tuple[Key, ...]:
    try:
        keys = link_keys(network.fabric, fault.name)
    except ValueError as error:
        raise InputError(
            f'"{fault.text}": {error}',
            code="unknown-part",
            hint=f"podsim topology show {shlex.quote(network.name)} --links",
        ) from None
    kinds = {_kind(network, key) for key in keys}
    if fault.link and fault.link not in kinds:
        raise InputError(
            f'"{fault.text}": {fault.name} is of kind {", ".join(sorted(kinds))}',
            code="unknown-part",
            hint=f"link:{fault.name} names a link of any kind",
        )
    return keys


def _kind(network: GenericNetwork, key: Key) -> str:
    axis = network.axes[key[0]]
    level = network.fabric.levels[axis.level]
    return level.hub if axis.middled and key[2] == HUB and level.hub else level.link


def _rank(network: GenericNetwork, fault: PartFault) -> int:
    if fault.part is not FaultyPart.RANK:
        raise InputError(
            f'"{fault.text}": {network.name} has ranks, no {fault.part}',
            code="unknown-part",
            hint=f"{FaultyPart.RANK}:{fault.name}=0.5, or a link: podsim topology show "
            f"{shlex.quote(network.name)} --links",
        )
    if fault.number >= network.endpoints:
        raise InputError(f'"{fault.text}": ranks are 0 to {network.endpoints - 1:,}', code="unknown-part")
    return fault.number


def _check(network: GenericNetwork) -> None:
    """Refuse a fabric whose ranks no longer reach each other."""
    damage = network.damage
    left: dict[Node, int] = {
        (RANK, 0, rank): rank for rank in range(network.endpoints if damage.down else 0) if rank not in damage.lost
    }
    if len(damage.lost) == network.endpoints:
        raise Infeasible(f"nothing is left of {network.name}: every rank is lost", code="cut-off")
    if parted := split(left, network.steps, *_suspects(network)):
        names = [network.link(network.number(key)).name for key in sorted(damage.down)]
        raise cut_off(network.name, RANK, parted, names)


def _suspects(network: GenericNetwork) -> tuple[list[tuple[Node, Node]], list[Node]]:
    """Nodes that a missing link joined; nodes next to lost ranks."""
    parted: list[tuple[Node, Node]] = []
    around: dict[Node, None] = {}
    for key in sorted(network.damage.down):
        for arc in network.graph.arcs(key):
            left = [node for node in arc if node[0] != RANK or node[2] not in network.damage.lost]
            if len(left) == len(arc):
                parted.append(arc)
            around |= dict.fromkeys(left if len(left) < len(arc) else ())
    return parted, list(around)
