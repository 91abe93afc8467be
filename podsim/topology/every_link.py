"""The links of a network by the names that faults and overrides use."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import Shape
from podsim.topology import wiring
from podsim.topology.axes import HUB, UP
from podsim.topology.generic import GenericNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.topology.axes import Key
    from podsim.topology.fabric import Fabric

MOST_LISTED: Final = 1024
"""Links of a generic fabric that are listed; those of a machine are those of one rack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLink:
    """One link: "a-b" where there is one each way or both share it, "a->b" where it goes one way only."""

    name: str
    kind: str
    links: int
    bytes_per_s: float


def links(network: Fabric | GenericNetwork) -> tuple[NamedLink, ...]:
    """The links of the first rack of a machine with those that leave it, or the first of a generic fabric."""
    rows = _of_generic(network) if isinstance(network, GenericNetwork) else _of_rack(network)
    return tuple(islice(rows, MOST_LISTED))


def _of_rack(fabric: Fabric) -> Iterator[NamedLink]:
    hosts = ((wiring.host(server), wiring.NETWORK) for server in range(fabric.topology.hosts.servers))
    seen: set[tuple[str, str]] = set()
    for source, target in (*fabric.joints.of_rack(0), *hosts):
        joint = fabric.joints.between(source, target)
        if joint is None or (target, source) in seen or (source, target) in seen:
            continue
        seen.add((source, target))
        arrow = "-" if fabric.joints.between(target, source) else "->"
        yield NamedLink(
            name=f"{source}{arrow}{target}", kind=joint.name, links=joint.links, bytes_per_s=joint.bytes_per_s
        )


def _of_generic(network: GenericNetwork) -> Iterator[NamedLink]:
    seen: set[tuple[str, str]] = set()
    for key in _keys(network):
        axis = network.axes[key[0]]
        source, target = axis.ends(key)
        if (target, source) in seen or (source, target) in seen:
            continue
        seen.add((source, target))
        level = network.fabric.levels[axis.level]
        kind = level.hub if source == target and level.hub else level.link
        name = source if source == target else f"{source}-{target}"
        yield NamedLink(name=name, kind=kind, links=1, bytes_per_s=network.rate(key).bytes_per_s)


def _keys(network: GenericNetwork) -> Iterator[Key]:
    for axis in network.axes:
        for endpoint in range(0, network.endpoints, axis.unit) if axis.shape is not Shape.SHARED else ():
            ports = [UP] if axis.middled else [port for port, _ in axis.beside(endpoint)]
            yield from (axis.key(endpoint, port) for port in ports)
        if axis.hub is not None:
            middles = network.endpoints // (axis.size * axis.unit)
            yield from ((axis.index, middle, HUB) for middle in range(middles))
