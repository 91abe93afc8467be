"""Which endpoints a collective joins: the groups of training, and how they lie in the dimensions of a network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.model.fabric import Shape
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Dimension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.topology.network import Network

KINDS = ("all", "rack", "across-racks", "consecutive:N", "orthogonal:N")
_OF_SIZE: Final = re.compile(r"(?:(consecutive|orthogonal):)?([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Group:
    """Groups that work at once: `size` members `stride` endpoints apart; every endpoint is in one group."""

    size: int
    stride: int

    @property
    def reach(self) -> int:
        """Endpoints from the first member to the one after the last."""
        return self.size * self.stride

    def bases(self, endpoints: int) -> list[int]:
        """The first member of each group."""
        blocks = range(0, endpoints, self.reach)
        return [block + inner for block in blocks for inner in range(self.stride)]


@dataclass(frozen=True, slots=True)
class GroupDimension:
    """The members of a group that lie along one dimension; `covers` says whether they go all the way round it."""

    name: str
    group: Group
    index: int
    step: int
    covers: bool


def rack_ipus(network: Network) -> int | None:
    """IPUs of a rack; None on a stated fabric, which has no racks."""
    return network.topology.ipus_per_rack if isinstance(network, Fabric) and not network.topology.fabric else None


def sides(group: Group, dimensions: Sequence[Dimension]) -> tuple[GroupDimension, ...]:
    """A group as the product of its members along each dimension, innermost first; ValueError where it is none."""
    remaining_members, stride, result = group.size, group.stride, []
    for index, dimension in enumerate(dimensions):
        end = dimension.stride * dimension.size
        if remaining_members == 1 or stride >= end:
            continue
        step = stride // dimension.stride
        room = dimension.size // step if step else 0
        fits = step * dimension.stride == stride and room * step == dimension.size
        if not fits or (remaining_members % room and room % remaining_members):
            raise ValueError(f"the group does not come out even along {dimension.name}")
        here = min(remaining_members, room)
        result.append(GroupDimension(dimension.name, Group(here, stride), index, step, here == room))
        remaining_members, stride = remaining_members // here, end
    return tuple(result)


def parse(text: str, network: Network, ipus_per_replica: int) -> Group:
    """The group that a text names ("all", "rack", "consecutive:4", ...); InputError for what does not divide."""
    replicas = _replicas(network, ipus_per_replica)
    kind = text.strip()
    if kind == "all":
        return Group(replicas, ipus_per_replica)
    if kind in ("rack", "across-racks"):
        return _of_racks(kind, network, rack_ipus(network), ipus_per_replica)
    if match := _OF_SIZE.fullmatch(kind):
        size = int(match[2])
        if size < 1 or replicas % size:
            raise InputError(
                f"groups of {size:,} do not divide {replicas:,} members",
                code="group-does-not-divide",
                hint=f"take one of {', '.join(map(str, divisors(replicas)))}",
            )
        return Group(size, ipus_per_replica * (replicas // size if match[1] == "orthogonal" else 1))
    raise InputError(
        f'there is no group "{text}"',
        code="bad-value",
        context=[f"known: {', '.join(KINDS)}, or N"],
        hint="--group consecutive:4: neighbours, or --group orthogonal:4: equal places",
    )


def _replicas(network: Network, ipus_per_replica: int) -> int:
    rack = rack_ipus(network) or network.endpoints
    if network.endpoints % ipus_per_replica or (rack % ipus_per_replica and ipus_per_replica % rack):
        raise InputError(
            f"replicas of {ipus_per_replica:,} do not divide {network.endpoints:,} endpoints of {network.name}",
            code="group-does-not-divide",
            hint=f"take one of {', '.join(map(str, divisors(rack)))}",
        )
    return network.endpoints // ipus_per_replica


def _of_racks(kind: str, network: Network, rack: int | None, ipus_per_replica: int) -> Group:
    if rack is None:
        raise InputError(
            f"{network.name} has no racks",
            code="bad-value",
            hint="--group consecutive:4: neighbours, or --group orthogonal:4: equal places",
        )
    if ipus_per_replica > rack:
        raise InputError(
            f"a replica of {ipus_per_replica:,} IPUs is larger than a rack",
            code="group-does-not-divide",
            hint=f"at most --ipus-per-replica {rack}",
        )
    return (
        Group(rack // ipus_per_replica, ipus_per_replica) if kind == "rack" else Group(network.endpoints // rack, rack)
    )


def divisors(number: int) -> list[int]:
    """What divides a number, ascending, at most a dozen of them."""
    numbers = [size for size in range(1, int(number**0.5) + 1) if number % size == 0]
    every = sorted({*numbers, *(number // size for size in numbers)})
    return every if len(every) <= 12 else [*every[:6], *every[-6:]]


def rack_dimensions(network: Network) -> tuple[Dimension, ...]:
    """Levels as collectives see them: of a machine the rack as one, then the racks; else the fabric's dimensions."""
    rack = rack_ipus(network)
    if rack is None:
        return network.dimensions
    beyond = tuple(dimension for dimension in network.dimensions if dimension.stride >= rack)
    return (Dimension("rack", rack, 1, Shape.LADDER), *beyond)
