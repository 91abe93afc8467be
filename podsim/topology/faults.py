"""Faults of networks: links that are down or slow, endpoints that are slow or lost, and who is then cut off."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final, TypeVar

from podsim.errors import Infeasible, InputError
from podsim.model.fault import FaultyPart
from podsim.topology.network import Damage, Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from podsim.model.fault import PartFault
    from podsim.topology.network import LinkKey, Node

AnyNetwork = TypeVar("AnyNetwork", bound=Network)
MOST_LISTED: Final = 6
"""Ranges of endpoints, and links, that a message names."""


class DamageReader:
    """Damage as it is read fault by fault; what is said of a part once cannot be said again."""

    def __init__(self) -> None:
        self.down: dict[LinkKey, None] = {}
        self.rates: dict[LinkKey, float] = {}
        self.lost: dict[int, PartFault] = {}
        self.slow: dict[int, float] = {}
        self._fault_of: dict[object, PartFault] = {}

    def link(self, key: LinkKey, fault: PartFault) -> None:
        """One link that is down or slow."""
        self.say(key, fault)
        if fault.rate:
            self.rates[key] = fault.rate
        else:
            self.down[key] = None

    def endpoint(self, number: int, fault: PartFault) -> None:
        """One endpoint that is slow or lost."""
        self.say(number, fault)
        if fault.rate:
            self.slow[number] = fault.rate
        else:
            self.lost[number] = fault

    def take_down(self, keys: Iterable[LinkKey], fault: PartFault) -> None:
        """Links that are down because a part at their end is lost; InputError where more is said of one of them."""
        for key in keys:
            text = self._fault_of.get(key)
            if text is not None and text is not fault:
                raise _twice(text, fault)
            self.down[key] = None

    def say(self, part: object, fault: PartFault) -> None:
        """Note that a fault is about a part; InputError where another is too."""
        if part in self._fault_of:
            raise _twice(self._fault_of[part], fault)
        self._fault_of[part] = fault

    def damage(self) -> Damage:
        """The damage of all faults noted so far."""
        return Damage(frozenset(self.down), dict(self.rates), frozenset(self.lost), dict(self.slow))


def _twice(fault: PartFault, other: PartFault) -> InputError:
    return InputError(
        f'"{fault.text}" and "{other.text}" are about the same part',
        code="conflicting-faults",
        hint="give one fault for each part; a lost machine or rack includes its IPUs",
    )


def apply_faults(network: AnyNetwork, faults: Sequence[PartFault]) -> AnyNetwork:
    """The network with these faults, in place of any it had: slow links at their share of the rate, routes found anew.

    A route over a link that is down becomes the one of fewest hops, of those the widest. `damage` says which endpoints
    are lost or slow. Raises InputError: a fault names nothing (unknown-part), or two are about one part
    (conflicting-faults). Infeasible: what is left is cut in two (cut-off).
    """
    faulty_network = apply_unchecked(network, faults)
    check(faulty_network)
    return faulty_network


def apply_unchecked(network: AnyNetwork, faults: Sequence[PartFault]) -> AnyNetwork:
    """The network with these faults, whether or not its endpoints reach each other; InputError as `apply_faults`."""
    network.refuse_faults()
    reader = DamageReader()
    for fault in faults:
        if fault.part is FaultyPart.LINK:
            for key in _links(network, fault):
                reader.link(key, fault)
        else:
            for endpoint in _endpoints(network, fault):
                reader.endpoint(endpoint, fault)
    for endpoint, fault in reader.lost.items():
        reader.take_down(network.links_of(endpoint, fault.part), fault)
    damaged_network = network.with_damage(reader.damage())
    assert isinstance(damaged_network, type(network)), "damage does not change what a network is"
    return damaged_network


def _links(network: Network, fault: PartFault) -> tuple[LinkKey, ...]:
    """The links that a fault names; InputError where there are none, or they are of another kind than it says."""
    try:
        keys = network.links_named(fault.name)
    except ValueError as error:
        raise InputError(
            f'"{fault.text}": {error}',
            code="unknown-part",
            hint=f"podsim topology show {shlex.quote(network.name)} --links",
        ) from None
    kinds = sorted({network.joint(key).name for key in keys})
    if fault.link and fault.link not in kinds:
        raise InputError(
            f'"{fault.text}": {fault.name} is of kind {", ".join(kinds)}',
            code="unknown-part",
            hint=f"{kinds[0]}:{fault.name}, or link: for any kind",
        )
    return keys


def _endpoints(network: Network, fault: PartFault) -> range:
    """The endpoints of a part."""
    if fault.part not in network.parts:
        raise InputError(
            f'"{fault.text}": {network.name} has {network.called}s, no {fault.part}',
            code="unknown-part",
            hint=f"{network.word}:{fault.name}=0.5",
        )
    size = network.parts[fault.part]
    count = network.endpoints // size
    if fault.number >= count:
        part_name = network.called if size == 1 else fault.part.value
        there = f"{part_name}s 0 to {count - 1:,}" if count > 1 else f"one {part_name}, number 0"
        last = fault.text.replace(f":{fault.name}", f":{count - 1}", 1)
        hint = f"--fault {last}" if count > 1 else ""  # a machine of one rack has nothing left without it
        raise InputError(f'"{fault.text}": {network.name} has {there}', code="unknown-part", hint=hint)
    return range(fault.number * size, (fault.number + 1) * size)


def check(network: Network) -> None:
    """Refuse a network whose endpoints no longer reach each other, or have lost their host or streaming memory."""
    damage = network.damage
    if len(damage.lost) == network.endpoints:
        raise Infeasible(f"nothing is left of {network.name}: every {network.called} is lost", code="cut-off")
    if not damage.down:
        return
    lost_nodes = network.lost_nodes()
    for source, target in network.only_ways():
        if lost_nodes.isdisjoint((source, target)):
            raise Infeasible(
                f"{target} is cut off: {source}->{target} is down, and there is no way round it",
                code="cut-off",
                hint="leave the link a fraction of its rate, such as =0.5, to see what it costs",
            )
    for endpoints, graph, down in network.domains():
        remaining_nodes = {network.node(number): number for number in endpoints if number not in damage.lost}
        if sides := graph.split(remaining_nodes, *_suspects(network, down, lost_nodes)):
            names = [network.link(network.number(key)).name for key in down]
            raise _cut_off(network.name, network.word, sides, names)


def _suspects(
    network: Network, down: Iterable[LinkKey], lost_nodes: set[Node]
) -> tuple[list[tuple[Node, Node]], list[Node]]:
    """Nodes that a missing link joined; nodes next to lost ones."""
    missing_arcs: list[tuple[Node, Node]] = []
    around: dict[Node, None] = {}
    for arc in (arc for key in down for arc in network.arcs_of(key)):
        remaining_nodes = [node for node in arc if node not in lost_nodes]
        if len(remaining_nodes) == len(arc):
            missing_arcs.append(arc)
        else:
            around |= dict.fromkeys(remaining_nodes)
    return missing_arcs, list(around)


def _cut_off(network: str, word: str, sides: tuple[Sequence[int], Sequence[int]], down: Iterable[str]) -> Infeasible:
    """The answer no, with the two sides of the cut and the links that were lost."""
    smaller, larger = sorted(sides, key=len)
    links = sorted(dict.fromkeys(down), key=lambda name: (len(name), name))
    more = [f"… and {len(links) - MOST_LISTED:,} more"] if len(links) > MOST_LISTED else []
    return Infeasible(
        f"{network} is cut in two: {ranges(smaller, word)} and {ranges(larger, word)} no longer reach each other",
        code="cut-off",
        context=[f"down: {', '.join((*links[:MOST_LISTED], *more))}"],
        hint="leave one link of the cut at a fraction of its rate, such as =0.5, to see what it costs",
    )


def ranges(numbers: Sequence[int], word: str) -> str:
    """Numbers in words, the first few ranges of them: "ipu0 to ipu15, ipu20"."""
    result: list[list[int]] = []
    for number in sorted(numbers):
        if result and number == result[-1][1] + 1:
            result[-1][1] = number
        else:
            result.append([number, number])
    texts = [f"{word}{low}" + (f" to {word}{high}" if high > low else "") for low, high in result[:MOST_LISTED]]
    return ", ".join(texts) + (" and others" if len(result) > MOST_LISTED else "")
