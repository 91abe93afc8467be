"""When the messages of a collective may start: a plan as tasks for an engine.

In lockstep a step starts once every message of the one before has arrived. Else a member goes on once its own messages
have; where that comes to the same, whole steps stand for their messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.lowering.collective_parts import TooManyError
from podsim.lowering.moves import messages
from podsim.model.collective import Collective, Pace
from podsim.model.program import Flow, Part, Task, TaskKind, TimeByPart
from podsim.physics.links import max_min_rates
from podsim.topology.machine_network import Fabric
from podsim.topology.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from podsim.lowering.collective_parts import CollectivePlan, Move, Phase

MOST_TASKS: Final = 30_000
"""Messages that are simulated one by one, and steps of parts: ten seconds of event simulation."""
MOST_RESOLVED: Final = 50_000_000
"""Links of a step times the moments at which some of its messages start."""
MOST_FOLLOWED: Final = 300_000_000
"""The same where every message is simulated by itself."""
EQUAL: Final = 1e-9
Ends = tuple[int, ...]


def tasks(plan: CollectivePlan, pace: Pace, chunks: int = 1) -> tuple[Task, ...]:
    """The tasks of a collective, its buffer in `chunks` parts that follow each other through the phases.

    Raises TooManyError where too many messages have to be simulated one by one, ValueError where there is nothing to
    send parts through.
    """
    if chunks > 1:
        plan = _in_stages(plan)
    if pace is Pace.LOCKSTEP:
        return _by_step(plan, chunks, together=True)
    roads = plan.roads
    if isinstance(roads, Fabric) or not isinstance(roads, Network) or _alike(plan) or _one_is_slowest(plan):
        return _by_step(plan, chunks, together=False)
    return _by_message(plan, roads, chunks)


def _in_stages(plan: CollectivePlan) -> CollectivePlan:
    """A plan with something to pipeline: phases, or the steps of a buffer that is handed on."""
    if len(plan.phases) > 1:
        return plan
    (phase,), (moves,) = plan.phases, plan.moves
    if phase.collective is not Collective.BROADCAST or len(moves) < 2:
        raise ValueError("it has one phase, so parts would follow each other over the same links")
    return replace(
        plan,
        phases=tuple(replace(phase, steps=(step,)) for step in phase.steps),
        moves=tuple((move,) for move in moves),
    )


def _by_step(plan: CollectivePlan, chunks: int, *, together: bool) -> tuple[Task, ...]:
    """A task a step, or one for each latency of its messages."""
    _check_chunks(plan, chunks, together=together)
    tasks: list[Task] = []
    ends: dict[tuple[int, int], Ends] = {}
    for chunk in range(chunks):
        for at, phase in enumerate(plan.phases):
            needs = (*ends.get((chunk, at - 1), ()), *ends.get((chunk - 1, at), ()))
            for move in plan.moves[at]:
                for before, flows, repeat in _groups(plan, at, move, together=together):
                    parts = [
                        _task(phase, cut, _part(each, chunks), needs, repeat)
                        for cut, each in zip(before, flows, strict=True)
                    ]
                    needs = _add(tasks, parts)
            ends[chunk, at] = needs
    return tuple(tasks)


def _check_chunks(plan: CollectivePlan, chunks: int, *, together: bool) -> None:
    """TooManyError where the engine would take minutes."""
    moves = [move for moves in plan.moves for move in moves]
    count = chunks * sum(1 if together else len(move.by_latency) for move in moves)
    if chunks > 1 and count > MOST_TASKS:
        raise TooManyError(f"{chunks:,} parts are {count:,} steps, more than {MOST_TASKS:,}")
    for move in moves:
        crossings = sum(len(flow.route) for flow in move.flows)
        if not together and len(move.by_latency) * crossings > MOST_RESOLVED:
            raise TooManyError(f"its messages start at {len(move.by_latency):,} moments of each step")


def _groups(
    plan: CollectivePlan, at: int, move: Move, *, together: bool
) -> Iterable[tuple[list[TimeByPart], list[tuple[Flow, ...]], int]]:
    """What comes before the flows, the flows and the repeat of each step that a move stands for."""
    if together or len(move.by_latency) < 2:
        yield [_before(plan, at, move.latency_s)], [move.flows], move.repeat
        return
    before = [_before(plan, at, latency_s) for latency_s, _ in move.by_latency]
    for _ in range(move.repeat):
        yield before, [flows for _, flows in move.by_latency], 1


def _add(tasks: list[Task], new_tasks: Sequence[Task]) -> Ends:
    first = len(tasks)
    tasks += new_tasks
    return tuple(range(first, len(tasks)))


def _part(flows: tuple[Flow, ...], chunks: int) -> tuple[Flow, ...]:
    if chunks == 1:
        return flows
    return tuple(Flow(flow.route, flow.volume_bytes / chunks, flow.count) for flow in flows)


def task_name(phase: Phase) -> str:
    """What engines and traces call the steps of a phase."""
    return f"{phase.collective} by {phase.algorithm}"


def overhead_lines(name: str) -> list[str]:
    """What the name of a step says: the collective of its phase, and by which algorithm."""
    return name.split(" by ")


def _before(plan: CollectivePlan, at: int, latency_s: float) -> TimeByPart:
    """Software and latency before the flows of a step: what `CollectivePlan.before_s` adds up."""
    software_s, whole_s = plan.software_s(at), plan.before_s(at, latency_s)
    if not software_s:
        return ((Part.ALL_REDUCE, whole_s),)
    near = plan.context.rack is None or plan.context.inside(plan.phases[at].group)
    part = Part.COLLECTIVE_STEPS if near else Part.RACK_STEPS
    return (part, software_s), (Part.ALL_REDUCE, whole_s - software_s)


def _task(phase: Phase, cut: TimeByPart, flows: tuple[Flow, ...], needs: Ends, repeat: int) -> Task:
    return Task(TaskKind.TRANSFER, task_name(phase), -1, cut, needs, flows, Part.ALL_REDUCE, repeat)


def _alike(plan: CollectivePlan) -> bool:
    """Whether all messages of every step take the same time, and who sends next has just sent or received.

    Then all members finish each step together, so that waiting for others costs nothing.
    """
    before: set[int] | None = None
    for phase, moves in zip(plan.phases, plan.moves, strict=True):
        for step, move in zip(phase.steps, moves, strict=True):
            if len(move.by_latency) > 1 or not _equal(move.flows, plan.roads.capacities):
                return False
            senders: set[int] = set()
            taking: set[int] = set()
            for sender, to, _ in messages(plan.context, phase, step):
                senders.add(sender)
                taking |= {sender, to}
            if before is not None and not senders <= before:
                return False
            before = taking
    return True


def _equal(flows: tuple[Flow, ...], capacities: Sequence[float]) -> bool:
    rates = max_min_rates([(flow.route, flow.count) for flow in flows], capacities)
    needed_s = [flow.volume_bytes / rate for flow, rate in zip(flows, rates, strict=True)]
    return max(needed_s, default=0.0) <= min(needed_s, default=0.0) * (1 + EQUAL)


def _one_is_slowest(plan: CollectivePlan) -> bool:
    """Whether no two messages share a link and one member has the slowest message of every step.

    Its steps follow each other without a gap, and none takes longer: the collective takes the sum of the slowest.
    """
    network = plan.context.network
    owner: dict[int, tuple[int, int]] = {}
    slowest: set[int] | None = None
    for phase in plan.phases:
        for step in phase.steps:
            times: list[tuple[float, int, int]] = []
            pairs: set[tuple[int, int]] = set()
            for sender, to, volume in messages(plan.context, phase, step):
                route = network.route(sender, to)
                if (sender, to) in pairs or any(
                    owner.setdefault(link, (sender, to)) != (sender, to) for link in route.links
                ):
                    return False
                pairs.add((sender, to))
                rate = min((network.capacities[link] for link in route.links), default=float("inf"))
                times.append((route.latency_s + volume / rate, sender, to))
            longest_s = max(seconds for seconds, _, _ in times) * (1 - EQUAL)
            here = {member for seconds, *ends in times if seconds >= longest_s for member in ends}
            slowest = here if slowest is None else slowest & here
            if not slowest:
                return False
    return True


def _by_message(plan: CollectivePlan, network: Network, chunks: int) -> tuple[Task, ...]:
    """A task a message; a member begins a step when its own messages of the step before have arrived."""
    every = [move for moves in plan.moves for move in moves]
    count = chunks * sum(flow.count * move.repeat for move in every for flow in move.flows)
    crossings = max(sum(flow.count * len(flow.route) for flow in move.flows) for move in every)
    if count > MOST_TASKS or count * crossings > MOST_FOLLOWED:
        raise TooManyError(
            f"{count:,} messages, up to {crossings:,} links at once, are too many to simulate one by one"
        )
    tasks: list[Task] = []
    ends: dict[tuple[int, int], dict[int, Ends]] = {}
    for chunk in range(chunks):
        for at, phase in enumerate(plan.phases):
            ready = _merge(ends.get((chunk, at - 1), {}), ends.get((chunk - 1, at), {}))
            for step in phase.steps:
                step_messages = [
                    (sender, to, volume / chunks) for sender, to, volume in messages(plan.context, phase, step)
                ]
                for _ in range(step.repeat):
                    ready = {**ready, **_send(tasks, step_messages, ready, (network, task_name(phase)))}
            ends[chunk, at] = ready
    return tuple(tasks)


def _send(
    tasks: list[Task], step_messages: list[tuple[int, int, float]], ready: dict[int, Ends], over: tuple[Network, str]
) -> dict[int, Ends]:
    """The messages of one step, each after what its two members did before; who has which of them now."""
    network, name = over
    after: dict[int, Ends] = {}
    for sender, to, volume in step_messages:
        route = network.route(sender, to)
        needs = tuple(sorted({*ready.get(sender, ()), *ready.get(to, ())}))
        here = (len(tasks),)
        cut = ((Part.ALL_REDUCE, route.latency_s),)
        flows = (Flow(route.links, volume),)
        tasks.append(Task(TaskKind.TRANSFER, name, -1, cut, needs, flows, Part.ALL_REDUCE))
        after[sender], after[to] = after.get(sender, ()) + here, after.get(to, ()) + here
    return after


def _merge(table: dict[int, Ends], other: dict[int, Ends]) -> dict[int, Ends]:
    return {member: (*table.get(member, ()), *other.get(member, ())) for member in {**table, **other}}
