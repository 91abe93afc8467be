"""Replicas that stand for all others on a machine with faults: one of each kind."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise

from podsim.model.mapping import Mapping
from podsim.model.training import StatePlace
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Route
from podsim.topology.rack_symmetry import rack_classes

Routes = tuple[tuple[Route, ...], tuple[Route, ...]]  # between stages, and from streaming memory


def unlike(mapping: Mapping, fabric: Fabric) -> tuple[int, ...]:
    """One replica of each kind, the first of them; where state streams, with those that share its machine (Eq. 51).

    Parameters: `mapping` of the replicas; `fabric` with its faults. Result: numbers of replicas, ascending.

    Equation: replicas are of one kind whose clocks, link rates and routes are equal. Validity: static routes; all
    replicas have the same work. Of racks with the same faults the first stands for all. Replicas whose links others
    cross as well, those larger than a rack and, with overlapped reductions, all of a rack are shown. Source: derived:
    equal work at equal clocks over equal links takes equal time.
    """
    if not fabric.damage:
        return (0,)
    size, rack = mapping.ipus_per_replica, fabric.topology.ipus_per_rack
    if size > rack:
        return tuple(range(mapping.replicas))
    per = rack // size
    firsts = (number * per for number, _ in rack_classes(fabric))
    near = [replica for first in firsts for replica in range(first, min(first + per, mapping.replicas))]
    if mapping.configuration.overlaps_reduction:  # boundaries meet reductions, which lead round a fault as they can
        return tuple(near)
    routes = {replica: _routes(mapping, fabric, replica) for replica in near}
    crossings = Counter(link for route in routes.values() for link in {at for route in route[0] for at in route.links})
    kinds: dict[object, tuple[int, ...]] = {}
    for unit in _units(mapping, fabric, near):
        kind = tuple(_kind(mapping, fabric, replica, routes[replica], crossings) for replica in unit)
        kinds.setdefault(kind, unit)
    return tuple(sorted(chain.from_iterable(kinds.values())))


def _units(mapping: Mapping, fabric: Fabric, near: list[int]) -> Iterator[tuple[int, ...]]:
    """Replicas that are shown or not shown together: those whose state streams through one gateway, or share norms."""
    together = mapping.configuration.norm_span
    if mapping.configuration.state is StatePlace.STREAMING:
        together = max(together, fabric.topology.ipus_per_machine // mapping.ipus_per_replica)
    units: dict[int, tuple[int, ...]] = {}
    for replica in near:
        units[replica // together] = (*units.get(replica // together, ()), replica)
    yield from units.values()


def _routes(mapping: Mapping, fabric: Fabric, replica: int) -> Routes:
    first = replica * mapping.ipus_per_replica
    hops = [(stage.ipu, other.ipu) for stage, other in pairwise(mapping.stages) if stage.ipu != other.ipu]
    ways = dict.fromkeys(way for number, other in hops for way in ((number, other), (other, number)))
    streams = range(first, first + mapping.ipus_per_replica) if mapping.state is StatePlace.STREAMING else ()
    return (
        tuple(fabric.route(first + number, first + other) for number, other in ways),
        tuple(fabric.streaming_route(ipu) for ipu in streams),
    )


def _kind(mapping: Mapping, fabric: Fabric, replica: int, routes: Routes, crossings: Counter[int]) -> object:
    """What a replica has in common with those like it: clocks, rates of its links and which of its routes share them.

    A replica whose links another one crosses as well is like no other.
    """
    first = replica * mapping.ipus_per_replica
    clocks = tuple(fabric.damage.slow.get(ipu, 1.0) for ipu in range(first, first + mapping.ipus_per_replica))
    numbers: dict[int, int] = {}
    ways = tuple(
        (tuple(numbers.setdefault(link, len(numbers)) for link in route.links), route.latency_s)
        for route in chain(*routes)
    )
    rates = tuple(fabric.capacities[link] for link in numbers)
    has_shared_link = any(crossings[link] > 1 for route in routes[0] for link in route.links)
    return clocks, ways, rates, replica if has_shared_link else None
