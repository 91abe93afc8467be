"""Which algorithm of a collective is fastest: compared folded and in lockstep, whatever is to be run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.lowering import collective_choice as lowering
from podsim.lowering import pacing
from podsim.lowering.bound import out_bytes_per_s
from podsim.lowering.collective_parts import TooManyError
from podsim.model.collective import Algorithm, Collective, Pace, Rival
from podsim.model.program import Block, StepProgram
from podsim.physics.collectives import schedule, sent_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.engines.base import Engine
    from podsim.lowering.collective_parts import CollectiveContext, CollectivePlan
    from podsim.lowering.groups import Group
    from podsim.model.program import Task
    from podsim.studies.collective.simulation import CollectiveCase

FEW: Final = 256
"""Members up to which every algorithm is evaluated, however late what its busiest member sends would be out."""
MESSAGES_OF_FEW: Final = 70_000
"""Messages above which an algorithm of few members is not tried: all to all of 256 is less."""
MESSAGES_OF_MANY: Final = 5_000
"""Those of more members, unless the collective is a broadcast, of which each member has few."""
CROSSINGS: Final = 100_000
"""Links that they may cross."""
BY_STEP: Final = "--pace lockstep takes step by step what messages would take one by one"
MOST_UNWEIGHED: Final = 300_000
"""Messages of an algorithm that is run without having been evaluated, and of the one that is soonest without faults."""


def alternatives(
    case: CollectiveCase, context: CollectiveContext, group: Group, engine: Engine
) -> dict[Algorithm, Rival]:
    """Every algorithm with its time, or why it has none; large ones are left out.

    Folded whatever is to be run, so that `--fidelity full` runs what was chosen without.
    """
    limited_context = _limit(case, context, group)
    rate = out_bytes_per_s(context, group) if group.size > FEW else 0.0
    rivals: dict[Algorithm, Rival] = {}
    for algorithm in Algorithm:
        best_s = min((rival.time_s for rival in rivals.values() if rival.time_s is not None), default=math.inf)
        plan_context = limited_context
        if algorithm is case.usual:
            plan_context = replace(context, folded=True, most_messages=MOST_UNWEIGHED)
        try:
            if rate and (least_s := _sent_bytes(case, algorithm, group) / rate) > best_s:
                raise TooManyError(f"its busiest member sends for {1e3 * least_s:.3g} ms at least")  # noqa: TRY301
            seconds = _lockstep_s(lowering.plan(plan_context, group, case.collective, algorithm), case.chunks, engine)
        except TooManyError as error:
            rivals[algorithm] = Rival(algorithm=algorithm, time_s=None, why=f"not simulated: {error}")
        except ValueError as error:
            rivals[algorithm] = Rival(algorithm=algorithm, time_s=None, why=str(error))
        else:
            rivals[algorithm] = Rival(algorithm=algorithm, time_s=seconds)
    return rivals


def _limit(case: CollectiveCase, context: CollectiveContext, group: Group) -> CollectiveContext:
    few = group.size <= FEW or case.collective is Collective.BROADCAST
    most = MESSAGES_OF_FEW if few else MESSAGES_OF_MANY
    return replace(context, folded=True, most_messages=most, most_crossings=CROSSINGS)


def _sent_bytes(case: CollectiveCase, algorithm: Algorithm, group: Group) -> float:
    """What the busiest member sends; 0 where that depends on the phases."""
    if algorithm not in lowering.FLAT:
        return 0.0
    return sent_share(schedule(case.collective, algorithm, group.size)) * case.volume_bytes


def _lockstep_s(plan: CollectivePlan, chunks: int, engine: Engine) -> float:
    """The time by which algorithms are compared: in lockstep, each step alone on the links but for other parts [s]."""
    if chunks == 1:
        return plan.lockstep_s
    return engine(program(pacing.tasks(plan, Pace.LOCKSTEP, chunks)), plan.roads).step_s


def program(tasks: tuple[Task, ...]) -> StepProgram:
    """The tasks of a collective as what an engine runs."""
    return StepProgram(blocks=(Block("collective", tasks),), ipus=1, micro_batches=1, steady=())


def choose(
    case: CollectiveCase, context: CollectiveContext, group: Group, among: tuple[dict[Algorithm, Rival], Pace]
) -> tuple[CollectivePlan, tuple[Task, ...]]:
    """The plan and its tasks: of the algorithm asked for, else of the soonest that can be run.

    Raises InputError where the one asked for, or every one, cannot serve or is too large.
    """
    rivals, pace = among
    first: InputError | None = None
    for algorithm in _in_order(case, context, group, rivals):
        try:
            plan = lowering.plan(context, group, case.collective, algorithm)
        except TooManyError as error:
            first = first or _too_many(algorithm, error, _smaller(case))
            continue
        except ValueError as error:
            first = first or _unable(f"{algorithm} cannot serve this {case.collective}: {error}", rivals)
            continue
        try:
            return plan, pacing.tasks(plan, pace, case.chunks)
        except TooManyError as error:
            one_by_one = pace is Pace.MESSAGES
            first = first or _too_many(algorithm, error, BY_STEP if one_by_one else _smaller(case))
        except ValueError as error:
            first = first or _unable(f"{algorithm} cannot serve this {case.collective}: {error}", rivals)
    raise first or _unable(f"no algorithm can be run for {case.collective}", rivals)


def _in_order(
    case: CollectiveCase, context: CollectiveContext, group: Group, rivals: dict[Algorithm, Rival]
) -> Iterator[Algorithm]:
    """The algorithm asked for; else those that were tried, the soonest first, or if none was, by the closed form."""
    if case.algorithm is not None:
        yield case.algorithm
        return
    able = {rival.algorithm: rival.time_s for rival in rivals.values() if rival.time_s is not None}
    yield from sorted(able, key=lambda algorithm: able[algorithm])
    if not able:
        table = {algorithm: _closed_s(case, context, group, algorithm) for algorithm in lowering.FLAT}
        yield from sorted(
            (algorithm for algorithm in table if table[algorithm] < math.inf), key=lambda algorithm: table[algorithm]
        )


def _closed_s(case: CollectiveCase, context: CollectiveContext, group: Group, algorithm: Algorithm) -> float:
    """Steps times the latency, and bytes times the links that they cross, as the first member sees them [s].

    Infinite where it cannot serve, or has too many messages to be run without an estimate.
    """
    try:
        steps = schedule(case.collective, algorithm, group.size)
    except ValueError:
        return math.inf
    if sum(step.count(group.size) for step in steps) > MOST_UNWEIGHED:
        return math.inf
    seconds = 0.0
    for step in steps:
        pairs = list(step.messages(group.size, first=True))
        sends = pairs[:1] if step.pairs else pairs
        routes = [context.network.route(number * group.stride, to * group.stride) for number, to in sends]
        crossed_links = sum(len(route.links) for route in routes)
        rate = sum(context.network.capacities[link] for link in {route.links[0] for route in routes})
        flow_s = step.share * case.volume_bytes * crossed_links / rate
        seconds += step.repeat * (max(route.latency_s for route in routes) + flow_s)
    return seconds


def _too_many(algorithm: Algorithm, error: TooManyError, hint: str) -> InputError:
    return InputError(f"{algorithm} is too large to simulate: {error}", code="too-many-messages", hint=hint)


def _smaller(case: CollectiveCase) -> str:
    """What is smaller than every message of an algorithm."""
    if not case.folded:
        return "--fidelity folded runs equal members as one; or a smaller --group"
    return "another --algorithm, or a smaller --group"


def _unable(message: str, rivals: dict[Algorithm, Rival]) -> InputError:
    able = [rival.algorithm.value for rival in rivals.values() if rival.time_s is not None]
    others = [f"{rival.algorithm}: {rival.why}" for rival in rivals.values() if rival.time_s is None]
    return InputError(
        message,
        code="algorithm-cannot-serve",
        context=others,
        hint=f"--algorithm {' or '.join(able)}" if able else "name one with --algorithm",
    )
