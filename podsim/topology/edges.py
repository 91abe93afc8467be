"""Links of networks by the names that faults and overrides use; of stated fabrics by the names of their ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from podsim.model.fabric import RANK, Shape
from podsim.topology.axes import DOWN, HUB, UP, axes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fabric import GenericFabric
    from podsim.topology.axes import Axis, Key
    from podsim.topology.network import Network

MOST_NEIGHBOURS: Final = 8
"""Neighbours that a message names."""
MOST_LISTED: Final = 1024
"""Links of a stated fabric that are listed; those of a machine are those of one rack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLink:
    """One link: "a-b" where there is one each way or both share it, "a->b" where it goes one way only."""

    name: str
    kind: str
    links: int
    bytes_per_s: float


def links(network: Network) -> tuple[NamedLink, ...]:
    """The links of the first rack of a machine with those that leave it, or the first of a stated fabric."""
    rows = ((name, network.joint(key), network.rate(key)) for name, key in islice(network.sample_links(), MOST_LISTED))
    return tuple(
        NamedLink(name=name, kind=joint.name, links=joint.links, bytes_per_s=rate.bytes_per_s)
        for name, joint, rate in rows
    )


def every_link(fabric: GenericFabric) -> Iterator[Key]:
    """The links of a stated fabric, axis by axis; upwards alone where members meet in a middle, then its hubs."""
    for axis in axes(fabric):
        for endpoint in range(0, fabric.endpoints, axis.unit) if axis.shape is not Shape.SHARED else ():
            ports = [UP] if axis.has_middle else [port for port, _ in axis.beside(endpoint)]
            yield from (axis.key(endpoint, port) for port in ports)
        if axis.hub is not None:
            middles = fabric.endpoints // (axis.size * axis.unit)
            yield from ((axis.index, middle, HUB) for middle in range(middles))


def link_keys(fabric: GenericFabric, text: str) -> tuple[Key, ...]:
    """The links that "rank3-rank4" (both ways), "rank3->rank4" or "bus0" (a hub or medium) name.

    ValueError where there is no such link, with what there is.
    """
    axis = axes(fabric)
    if through := [(axis.index, middle, HUB) for axis in axis if (middle := _hub(axis, fabric, text)) is not None]:
        return tuple(through)
    if "->" in text:
        source, _, target = text.partition("->")
        both, ends = False, [(source, target)]
    else:
        parts = text.split("-")
        both, ends = True, [("-".join(parts[:at]), "-".join(parts[at:])) for at in range(1, len(parts))]
    for source, target in ends:
        there, back = _between(fabric, axis, source, target), _between(fabric, axis, target, source)
        if there and (back or not both):
            return tuple(dict.fromkeys((*there, *(back if both else ()))))
    raise ValueError(_nothing(fabric, axis, ends))


def _between(fabric: GenericFabric, result: Sequence[Axis], source: str, target: str) -> list[Key]:
    """Links from one node to another; links that both directions share are named either way."""
    keys = []
    for axis in result:
        candidates = [*_leaving(fabric, axis, source), *_leaving(fabric, axis, target)]
        for key in dict.fromkeys(candidates):
            ends = axis.ends(key)
            if ends == (source, target) or (axis.half and ends == (target, source)):
                keys.append(key)
    return keys


def _leaving(fabric: GenericFabric, axis: Axis, name: str) -> Iterator[Key]:
    """Every link of the axis that leaves the node of that name, or reaches it from a middle."""
    node = _number(name, axis.inner, fabric.endpoints // axis.unit)
    if node is None:
        return
    endpoint = node * axis.unit
    if axis.shape is Shape.SHARED:
        return
    ports = [UP, DOWN] if axis.has_middle else [port for port, _ in axis.beside(endpoint)]
    yield from (axis.key(endpoint, port) for port in ports)


def _hub(axis: Axis, fabric: GenericFabric, text: str) -> int | None:
    """The hub or medium of that name."""
    if axis.hub is None:
        return None
    group, dot, copy = text.partition(".")
    at = _number(group, axis.outer, fabric.endpoints // (axis.stride * axis.size))
    place = _number(copy, "", axis.copies) if dot else 0 if axis.copies == 1 else None
    return None if at is None or place is None else at * axis.copies + place


def _number(name: str, prefix: str, below: int) -> int | None:
    """The number after a prefix."""
    digits = name.removeprefix(prefix)
    if not name.startswith(prefix) or not digits.isascii() or not digits.isdigit() or len(digits) > len(str(below)):
        return None
    number = int(digits)
    return number if number < below and str(number) == digits else None


def _nothing(fabric: GenericFabric, axis: Sequence[Axis], ends: Sequence[tuple[str, str]]) -> str:
    """What there is instead of a link."""
    node_names = {name for pair in ends for name in pair if any(_is_node(fabric, axis, name) for axis in axis)}
    for source, target in ends:
        if source in node_names and target in node_names:
            near = [other for axis in axis for key in _leaving(fabric, axis, source) for other in axis.ends(key)]
            neighbours = [name for name in dict.fromkeys(near) if name != source][:MOST_NEIGHBOURS]
            return f"no link joins {source} and {target}; {source} is joined to {', '.join(neighbours) or 'nothing'}"
    return f"no such link; nodes are {nodes(fabric)}; a link is named by its ends, as {_example(fabric, axis)}"


def _is_node(fabric: GenericFabric, axis: Axis, name: str) -> bool:
    node = _number(name, axis.inner, fabric.endpoints // axis.unit)
    if node is not None or not axis.has_middle:
        return node is not None
    groups = fabric.endpoints // (axis.stride * axis.size)
    group, dot, copy = name.partition(".")
    inside = _number(copy, "", axis.copies) is not None if dot else axis.copies == 1
    return inside and _number(group, axis.outer, groups) is not None


def nodes(fabric: GenericFabric) -> str:
    """Every kind of node with its numbers, in words."""
    words = [f"{RANK}0 to {RANK}{fabric.endpoints - 1}"]
    for axis in axes(fabric):
        if axis.has_group_links:
            words.append(f"{axis.inner}0 to {axis.inner}{fabric.endpoints // axis.unit - 1}")
        if axis.has_middle:
            middles = fabric.endpoints // (axis.stride * axis.size) * axis.copies
            words.append(axis.middle_name(0) + (f" to {axis.middle_name(middles - 1)}" * (middles > 1)))
    return ", ".join(dict.fromkeys(words))


def _example(fabric: GenericFabric, result: Sequence[Axis]) -> str:
    for axis in result:
        for key in _leaving(fabric, axis, axis.inner + "0"):
            return "-".join(axis.ends(key))
        if axis.hub is not None:
            return axis.middle_name(0)
    return "rank0-rank1"
