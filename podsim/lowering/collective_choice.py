"""A collective on a network: which algorithms can serve it, phase by phase, and which is soonest.

Used by `podsim collective` and by the weight update alike. Where every endpoint of a fabric does the same, one stands
for all; of an IPU machine one rack stands for the others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.lowering import moves
from podsim.lowering.collective_parts import CollectiveContext, CollectivePlan, Phase
from podsim.lowering.groups import Group, GroupDimension, rack_dimensions, sides
from podsim.model.collective import Algorithm, Collective
from podsim.model.fabric import Shape
from podsim.physics.collectives import ring_order, schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.topology.network import Network

    Methods = Callable[[Group, Collective], tuple[Algorithm, ...]]

IN_RACK: Final = (Algorithm.LADDER_RING, Algorithm.RING_PAIR, Algorithm.MEET_IN_THE_MIDDLE)
"""What Graphcore's collectives library documents over IPU-Links (gcl-user-guide); the first of equals is taken.

Its one-way ring is left out: links are as fast backwards, so a pair of rings with half the buffer each is never later.
"""
BETWEEN_RACKS: Final = (Algorithm.HALVING_DOUBLING, Algorithm.RING_PAIR, Algorithm.MEET_IN_THE_MIDDLE)
"""Over GW-Links: its rings, and the exchange in halves that suits the powers of two it insists on."""
HIERARCHICAL: Final = (Algorithm.TORUS, Algorithm.THREE_PHASE)
"""Dimension after dimension: rings along each side of a torus, or the soonest method in each level."""
REDUCING: Final = (Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.ALL_GATHER)
RINGS: Final = (Algorithm.RING, Algorithm.RING_PAIR, Algorithm.MEET_IN_THE_MIDDLE)
FLAT: Final = (*RINGS, Algorithm.LADDER_RING, Algorithm.HALVING_DOUBLING, Algorithm.TREE, Algorithm.DIRECT)
ROUND: Final = (Shape.RING, Shape.LINE)


def plan(context: CollectiveContext, group: Group, collective: Collective, algorithm: Algorithm) -> CollectivePlan:
    """A collective over `group` by one algorithm; ValueError says why it cannot serve."""
    if algorithm is Algorithm.TORUS:
        along = _torus_sides(context, group)
        return _by_side(context, along, collective, algorithm, lambda _group, _what: RINGS)
    if algorithm is Algorithm.THREE_PHASE:
        along = sides(group, rack_dimensions(context.network))
        if len(along) < 2:
            raise ValueError("the group lies in one level")
        return _by_side(context, along, collective, algorithm, lambda group, what: flat_methods(context, group, what))
    return flat(context, group, collective, algorithm)


def flat_methods(context: CollectiveContext, group: Group, collective: Collective) -> tuple[Algorithm, ...]:
    """Methods of one phase: on machines those that reductions are known to use, elsewhere all."""
    if context.rack is None or collective not in REDUCING:
        return FLAT
    return IN_RACK if context.inside(group) else BETWEEN_RACKS


def in_domain(
    context: CollectiveContext, group: Group, collective: Collective, only: Algorithm | None = None
) -> CollectivePlan:
    """A collective over the IPUs of a rack by the soonest documented method, or by `only`.

    Over a stated fabric, which is one domain, also dimension by dimension: whichever is soonest, the first of equals.
    ValueError where nothing serves.
    """
    if context.rack is not None:
        return soonest(context, group, collective, (only,) if only else IN_RACK)
    if only:
        return plan(context, group, collective, only)
    weighing, best, reasons = replace(context, folded=True), None, []
    for algorithm in (*HIERARCHICAL, *BETWEEN_RACKS):
        try:
            result = plan(weighing, group, collective, algorithm)
        except ValueError as error:
            reasons.append(str(error))
            continue
        if best is None or result.least_s < best.least_s:
            best = result
    if best is None:
        raise ValueError("; ".join(dict.fromkeys(reasons)))
    return best if context.folded else _plan(context, best.algorithm, best.phases)


def in_training(context: CollectiveContext, group: Group, collective: Collective) -> CollectivePlan:
    """A collective of a weight update: in the rack, between racks or in three phases, by documented methods alone."""
    if context.rack is None:
        return in_domain(context, group, collective)
    if context.inside(group) or group.stride % context.rack == 0:
        return soonest(context, group, collective, flat_methods(context, group, collective))
    return plan(context, group, collective, Algorithm.THREE_PHASE)


def flat(context: CollectiveContext, group: Group, collective: Collective, algorithm: Algorithm) -> CollectivePlan:
    """A collective in one phase; ValueError says why the algorithm cannot serve."""
    return _plan(context, algorithm, (_phase(context, group, collective, algorithm),))


def soonest(
    context: CollectiveContext, group: Group, collective: Collective, algorithms: Sequence[Algorithm]
) -> CollectivePlan:
    """The soonest of several algorithms in one phase, the first named of equals; ValueError where none serves.

    Parameters: where the collective runs, its groups, what it does and the algorithms to weigh. Result: the plan of the
    soonest, whose `lockstep_s` is its time [s].

    Equation: each is evaluated by `CollectivePlan.least_s` [s], every step at its most loaded link, which on symmetric
    groups is never idle; folded whatever is to be run, so that the choice is the same. Validity: static routes, no
    other traffic meanwhile. Source: patarasuk-2009, thakur-2005 for the steps (`physics.collectives`).
    """
    requested_context, context = context, replace(context, folded=True)
    best: tuple[float, CollectivePlan] | None = None
    reasons = []
    for algorithm in algorithms:
        try:
            phase = _phase(context, group, collective, algorithm)
            if best is not None and _software_s(context, phase) > best[0]:
                continue
            item = _plan(context, algorithm, (phase,))
        except ValueError as error:
            reasons.append(str(error))
            continue
        if len(algorithms) == 1:
            best = 0.0, item
        elif best is None or item.least_s < best[0]:
            best = item.least_s, item
    if best is None:
        raise ValueError("; ".join(dict.fromkeys(reasons)))
    plan = best[1]
    return plan if requested_context.folded else _plan(requested_context, plan.algorithm, plan.phases)


def _software_s(context: CollectiveContext, phase: Phase) -> float:
    """Software of a phase, which it takes at least; known without a look at its messages [s]."""
    return context.software_s(phase.group) * phase.count


def _torus_sides(context: CollectiveContext, group: Group) -> tuple[GroupDimension, ...]:
    dimensions = context.network.dimensions
    along = sides(group, dimensions)
    if len(along) < 2:
        raise ValueError("the group lies in one dimension")
    for dimension in along:
        if dimensions[dimension.index].shape not in ROUND:
            raise ValueError(f"{dimension.name} is joined as a {dimensions[dimension.index].shape}, not a ring")
    return along


def _phase(
    context: CollectiveContext,
    group: Group,
    collective: Collective,
    algorithm: Algorithm,
    *,
    share: float = 1.0,
    along: tuple[GroupDimension, ...] = (),
    roots: Group | None = None,
) -> Phase:
    order: tuple[int, ...] = ()
    if algorithm is Algorithm.LADDER_RING:
        if not context.inside(group) or group.stride > 1 or group.size % 2:
            raise ValueError("the group is not an even number of adjacent IPUs of one rack")
        order = ring_order(group.size, around_ladder=True)
    steps = schedule(collective, algorithm, group.size)
    if not along:
        along = _named_sides(context.network, group)
    return Phase(
        collective=collective,
        algorithm=algorithm,
        group=group,
        along=along,
        steps=steps,
        share=share,
        order=order,
        roots=roots,
    )


def _named_sides(network: Network, group: Group) -> tuple[GroupDimension, ...]:
    """Where a group lies; all of it in one where it does not come out even."""
    try:
        return sides(group, rack_dimensions(network))
    except ValueError:
        return (GroupDimension("all", group, 0, 0, covers=False),)


def _by_side(
    context: CollectiveContext,
    along: tuple[GroupDimension, ...],
    collective: Collective,
    algorithm: Algorithm,
    methods: Methods,
) -> CollectivePlan:
    """Phase after phase, each with the fastest of its methods, as folded simulation has them."""
    phases, weighing = [], replace(context, folded=True)
    for what, at, share in _legs(collective, [side.group.size for side in along]):
        dimension, inner = along[at], math.prod(side.group.size for side in along[:at])
        roots = Group(inner, along[0].group.stride) if collective is Collective.BROADCAST else None
        best: tuple[float, Phase] | None = None
        for method in methods(dimension.group, what):
            try:
                phase = _phase(context, dimension.group, what, method, share=share, along=(dimension,), roots=roots)
                seconds = _plan(weighing, method, (phase,)).lockstep_s
            except ValueError:
                continue
            if best is None or seconds < best[0]:
                best = (seconds, phase)
        if best is None:
            raise ValueError(f"nothing serves {what} along {dimension.name}")
        phases.append(best[1])
    return _plan(context, algorithm, tuple(phases))


def _legs(collective: Collective, sizes: list[int]) -> list[tuple[Collective, int, float]]:
    """What happens along which side, and the share of the buffer that a member then works on.

    Reductions scatter from the innermost level outwards, so that the outer links carry least, and gather back.
    """
    count, everywhere = len(sizes), range(len(sizes))
    shares = [1 / math.prod(sizes[:at]) for at in everywhere]
    scatter = [(Collective.REDUCE_SCATTER, at, shares[at]) for at in everywhere]
    gather = [(Collective.ALL_GATHER, at, shares[at]) for at in reversed(everywhere)]
    if collective is Collective.ALL_REDUCE:
        return [*scatter[:-1], (Collective.ALL_REDUCE, count - 1, shares[-1]), *gather[1:]]
    if collective is Collective.REDUCE_SCATTER:
        return scatter
    if collective is Collective.ALL_GATHER:
        return gather
    backwards = reversed(everywhere) if collective is Collective.BROADCAST else everywhere
    return [(collective, at, 1.0) for at in backwards]


def _plan(context: CollectiveContext, algorithm: Algorithm, phases: tuple[Phase, ...]) -> CollectivePlan:
    """Phases with their moves: over the quotient where all of them fold, else over the network itself."""
    if (quotient := context.quotient) is not None:
        folded_moves = [moves.fold_moves(context, quotient, phase) for phase in phases]
        if all(result is not None for result in folded_moves):
            every = tuple(result for result in folded_moves if result is not None)
            return CollectivePlan(context=context, algorithm=algorithm, phases=phases, moves=every, roads=quotient)
    whole = moves.whole(context, phases)
    return CollectivePlan(context=context, algorithm=algorithm, phases=phases, moves=whole, roads=context.network)
