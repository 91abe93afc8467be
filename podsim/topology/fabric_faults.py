"""Faults of machines: IPU-Links, GW-Links, gateways' ports, slow IPUs, lost machines and racks."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible, InputError
from podsim.model.fault import FaultyPart
from podsim.topology import wiring
from podsim.topology.cut import cut_off, split
from podsim.topology.damage import Gathered
from podsim.topology.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fault import PartFault
    from podsim.topology.joints import Ends

_ONLY_WAY: Final = {wiring.NETWORK, wiring.HOST, wiring.DDR, wiring.SRAM}


def broken(fabric: Fabric, faults: Sequence[PartFault]) -> Fabric:
    """The machine with these faults.

    Raises InputError: a fault names nothing, or two name the same. Infeasible: IPUs that are left cannot reach others.
    """
    broken = damaged(fabric, faults)
    check(broken)
    return broken


def damaged(fabric: Fabric, faults: Sequence[PartFault]) -> Fabric:
    """The machine with these faults, whether or not its IPUs reach each other; InputError as `broken`."""
    if fabric.topology.fabric:
        raise InputError(
            f"{fabric.name}: faults of a stated fabric that trains are not known",
            code="not-on-stated-fabric",
            hint="podsim collective takes --fault on stated fabrics",
        )
    gathered: Gathered[Ends] = Gathered()
    for fault in faults:
        if fault.part is FaultyPart.LINK:
            for ends in _links(fabric, fault):
                gathered.link(ends, fault)
        else:
            for ipu in _ipus(fabric, fault):
                gathered.endpoint(ipu, fault)
    for ipu, fault in gathered.lost.items():
        gathered.take_down(_of_node(fabric, wiring.ipu(ipu)), fault)
        if fault.part in (FaultyPart.MACHINE, FaultyPart.RACK) and ipu % fabric.topology.ipus_per_machine == 0:
            machine = ipu // fabric.topology.ipus_per_machine
            gathered.take_down(_of_node(fabric, wiring.gateway(machine)), fault)
    return Fabric(fabric.topology, gathered.damage())


def _of_node(fabric: Fabric, node: str) -> Iterator[Ends]:
    """Both directions of every link of a node."""
    for there in fabric.joints.around(node):
        for ends in ((node, there), (there, node)):
            if fabric.joints.between(*ends):
                yield ends


def _links(fabric: Fabric, fault: PartFault) -> list[Ends]:
    """The links that a fault names: both ways unless an arrow says one."""
    arrow = "->" in fault.name
    source, _, target = fault.name.partition("->" if arrow else "-")
    ways = [(source, target)] if arrow else [(source, target), (target, source)]
    joints = {ends: joint for ends in ways if (joint := fabric.joints.between(*ends))}
    if not joints:
        raise InputError(
            f'"{fault.text}": {_nothing(fabric, source, target)}',
            code="unknown-part",
            hint=f"podsim topology show {shlex.quote(fabric.name)} --links",
        )
    name = next(iter(joints.values())).name
    if fault.link not in ("", name):
        raise InputError(
            f'"{fault.text}": {fault.name} is of kind {name}',
            code="unknown-part",
            hint=f"{name}:{fault.name}, or link: for any kind",
        )
    return list(joints)


def _nothing(fabric: Fabric, source: str, target: str) -> str:
    """What there is instead of a link."""
    for node, other in ((source, target), (target, source)):
        if fabric.joints.parsed(node):
            near = list(fabric.joints.around(node))
            meant = get_close_matches(other, near, n=1)
            hint = f'; did you mean "{node}-{meant[0]}"?' if meant else ""
            return f"{node} is joined to {', '.join(near[:8])}" + (" and others" if len(near) > 8 else "") + hint
    return f"no such link; nodes are {fabric.joints.nodes()}; a link is named by its ends, as ipu0-gateway0"


def _ipus(fabric: Fabric, fault: PartFault) -> range:
    """The IPUs of a part."""
    topology = fabric.topology
    each = {FaultyPart.IPU: 1, FaultyPart.MACHINE: topology.ipus_per_machine, FaultyPart.RACK: topology.ipus_per_rack}
    if fault.part not in each:
        raise InputError(
            f'"{fault.text}": {fabric.name} has IPUs, no {fault.part}',
            code="unknown-part",
            hint=f"{FaultyPart.IPU}:{fault.name}=0.5",
        )
    size = each[fault.part]
    count = topology.ipus // size
    if fault.number >= count:
        called = "IPU" if fault.part is FaultyPart.IPU else fault.part.value
        there = f"{called}s 0 to {count - 1:,}" if count > 1 else f"one {called}, number 0"
        raise InputError(f'"{fault.text}": {fabric.name} has {there}', code="unknown-part")
    return range(fault.number * size, (fault.number + 1) * size)


def check(fabric: Fabric) -> None:
    """Refuse a machine whose IPUs no longer reach each other, or have lost their host or streaming memory."""
    damage = fabric.damage
    if len(damage.lost) == fabric.endpoints:
        raise Infeasible(f"nothing is left of {fabric.name}: every IPU is lost", code="cut-off")
    down = sorted(damage.down)
    gone = _lost_nodes(fabric)
    alive = [ends for ends in down if not gone.intersection(ends)]
    for source, target in alive:
        kinds = {source.rstrip("0123456789"), target.rstrip("0123456789")}
        if kinds & _ONLY_WAY or kinds == {wiring.IPU, wiring.GATEWAY}:
            raise Infeasible(
                f"{target} is cut off: {source}->{target} is down, and there is no way round it",
                code="cut-off",
                hint="leave the link a fraction of its rate, such as =0.5, to see what it costs",
            )
    for rack in _racks(fabric, down):
        _check_rack(fabric, rack, down, gone)
    across = [ends for ends in down if not all(end.startswith(wiring.IPU) for end in ends)]
    if fabric.topology.racks > 1 and across:
        left = {wiring.ipu(ipu): ipu for ipu in range(fabric.endpoints) if ipu not in damage.lost}
        parted = split(left, lambda node: fabric.steps(node, across=True), *_suspects(down, gone))
        if parted:
            raise cut_off(fabric.name, wiring.IPU, parted, [f"{a}->{b}" for a, b in across])


def _check_rack(fabric: Fabric, rack: int, down: Sequence[Ends], gone: set[str]) -> None:
    """IPUs of one rack reach each other over IPU-Links only."""
    size = fabric.topology.ipus_per_rack
    members = range(rack * size, (rack + 1) * size)
    left = {wiring.ipu(ipu): ipu for ipu in members if ipu not in fabric.damage.lost}
    names = {wiring.ipu(ipu) for ipu in members}
    inside = [ends for ends in down if names.issuperset(ends)]
    if parted := split(left, lambda node: fabric.steps(node, across=False), *_suspects(inside, gone)):
        raise cut_off(fabric.name, wiring.IPU, parted, [f"{a}->{b}" for a, b in inside])


def _racks(fabric: Fabric, down: Sequence[Ends]) -> list[int]:
    """Racks in which an IPU-Link is down."""
    size = fabric.topology.ipus_per_rack
    ipus = [source for source, target in down if source.startswith(wiring.IPU) and target.startswith(wiring.IPU)]
    return list(dict.fromkeys(int(name.removeprefix(wiring.IPU)) // size for name in ipus))


def _lost_nodes(fabric: Fabric) -> set[str]:
    """IPUs that are lost, and gateways all of whose IPUs are."""
    lost, each = fabric.damage.lost, fabric.topology.ipus_per_machine
    machines = {ipu // each for ipu in lost}
    nodes = {wiring.ipu(ipu) for ipu in lost}
    for machine in machines:
        if lost.issuperset(range(machine * each, (machine + 1) * each)):
            nodes |= {wiring.gateway(machine), wiring.ddr(machine)}
    return nodes | {wiring.sram(ipu) for ipu in lost}


def _suspects(down: Sequence[Ends], gone: set[str]) -> tuple[list[Ends], list[str]]:
    """Nodes that a missing link joined; nodes next to lost ones."""
    parted: list[Ends] = []
    around: dict[str, None] = {}
    for ends in down:
        left = [end for end in ends if end not in gone and not end.startswith(tuple(_ONLY_WAY))]
        if len(left) == len(ends):
            parted.append(ends)
        else:
            around |= dict.fromkeys(left)
    return parted, list(around)
