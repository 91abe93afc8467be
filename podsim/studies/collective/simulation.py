"""A collective by itself: the algorithm that is soonest, its time, what it loads and how near it comes to the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.errors import InputError
from podsim.lowering import collective_choice as lowering
from podsim.lowering.bound import lower_bound
from podsim.lowering.collective_parts import CollectiveContext
from podsim.lowering.groups import parse, rack_ipus
from podsim.lowering.weight_update import in_training
from podsim.model.arguments import BYTES
from podsim.model.collective import (
    Algorithm,
    Collective,
    CollectiveReport,
    Fidelity,
    Leg,
    LoadedLink,
    Pace,
    Rival,
)
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.trace import Trace, TraceLevel
from podsim.physics.collectives import bus_factor
from podsim.predicting import drawing, tracing
from podsim.predicting.link_loads import Links, loads
from podsim.studies.collective import algorithm as algorithm_choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.engines.base import Engine
    from podsim.lowering.collective_parts import CollectivePlan
    from podsim.lowering.groups import Group
    from podsim.model.calibration import ParameterSet
    from podsim.model.program import StepProgram, StepTimeline
    from podsim.topology.machine_network import Fabric
    from podsim.topology.stated_network import RankNetwork

MOST_LINKS: Final = 5


class CollectiveArguments(NamedTuple):
    """A collective as flags say it; names and meanings are those of `podsim collective`."""

    bytes: str | float
    group: str
    ipus_per_replica: int
    algorithm: str | None
    chunks: int
    pace: str | None
    fidelity: str


@dataclass(frozen=True, kw_only=True)
class CollectiveCase:
    """A collective to be answered; `parameters` where there are fitted software costs, `pace` where one was named.

    `usual` is what would be soonest without faults: it is evaluated, however many messages it has.
    """

    collective: Collective
    network: Fabric | RankNetwork
    group: str
    ipus_per_replica: int
    volume_bytes: float
    algorithm: Algorithm | None
    chunks: int
    pace: Pace | None
    folded: bool
    parameters: ParameterSet | None
    usual: Algorithm | None = None


def resolved_case(
    collective: str, network: Fabric | RankNetwork, flags: CollectiveArguments, parameters: ParameterSet
) -> CollectiveCase:
    """What flags mean; InputError where one of them does not suit the network."""
    machine = rack_ipus(network) is not None
    pace = None if flags.pace is None else Pace(flags.pace)
    if pace is Pace.MESSAGES and machine:
        raise InputError(
            f"IPUs of {network.name} exchange in supersteps, all at once",
            code="conflicting-flags",
            hint="leave --pace messages to generic fabrics",
        )
    return CollectiveCase(
        collective=Collective(collective),
        network=network,
        group=flags.group,
        ipus_per_replica=flags.ipus_per_replica,
        volume_bytes=BYTES.si(flags.bytes),
        algorithm=None if flags.algorithm is None else Algorithm(flags.algorithm),
        chunks=flags.chunks,
        pace=pace,
        folded=Fidelity(flags.fidelity) is Fidelity.FOLDED,
        parameters=parameters if machine else None,
    )


def _pace(case: CollectiveCase, engine: str) -> Pace:
    """Lockstep on machines, and where an engine lets every task have the links to itself."""
    if engine == "des":
        return case.pace or (Pace.MESSAGES if case.parameters is None else Pace.LOCKSTEP)
    if case.pace is Pace.MESSAGES:
        raise InputError(
            f"the {engine} engine times each step alone on the links",
            code="conflicting-flags",
            hint="--pace messages goes with --engine des",
        )
    return Pace.LOCKSTEP


class _Ran(NamedTuple):
    """A collective as it was run."""

    setting: CollectiveContext
    group: Group
    pace: Pace
    alternatives: dict[Algorithm, Rival]
    plan: CollectivePlan
    program: StepProgram
    timeline: StepTimeline


def _run(case: CollectiveCase, engine: Engine, engine_name: str, *, weighs: bool) -> _Ran:
    """Run the algorithm asked for, or the soonest; others are evaluated where `weighs` or where none is asked for."""
    pace = _pace(case, engine_name)
    group = parse(case.group, case.network, case.ipus_per_replica)
    volumes = (case.volume_bytes,) * case.ipus_per_replica
    context = CollectiveContext(case.network, volumes, case.network.endpoints, case.folded)
    rivals = algorithm_choice.alternatives(case, context, group, engine) if weighs or case.algorithm is None else {}
    plan, tasks = algorithm_choice.choose(case, context, group, (rivals, pace))
    program = algorithm_choice.program(tasks)
    program = program if weighs else drawing.apart(program)
    return _Ran(context, group, pace, rivals, plan, program, engine(program, plan.roads))


def trace(case: CollectiveCase, engine: Engine, engine_name: str, most_spans: int) -> Trace:
    """The steps of the collective and the load of links over time; InputError as `answer`."""
    tracing.TraceLimits(most_spans=most_spans).check()
    ran = _run(case, drawing.recording(engine, engine_name), engine_name, weighs=False)
    blocks = drawing.runs(ran.program, ran.timeline)
    trace_drawing = drawing.Drawing(blocks, drawing.of_machine, (1.0,), most_spans)
    roads = ran.plan.roads
    links = loads(ran.timeline.links, Links(roads.link, roads.kind), trace_drawing, most_spans)
    return Trace(
        workload=case.collective,
        topology=case.network.name,
        chip="",
        level=TraceLevel.COLLECTIVE,
        title=f"{case.collective} over {ran.group.size:,} members on {case.network.name}",
        shown=f"with {ran.plan.algorithm}, {'equal members as one' if case.folded else 'all members'}",
        length_s=trace_drawing.length_s,
        step_s=ran.timeline.step_s,
        spans=trace_drawing.spans,
        parts_s={part: seconds for part, seconds in ran.timeline.breakdown_s.items() if seconds},
        segments=drawing.segments(blocks),
        busy=drawing.busy(blocks, drawing.of_machine),
        links=links,
        notes=(*_notes(case, ran.setting, ran.plan), *trace_drawing.notes),
    )


def answer(case: CollectiveCase, engine: Engine, engine_name: str) -> CollectiveReport:
    """The report; InputError where the group does not divide, or no algorithm or not the one asked for can serve."""
    context, group, pace, rivals, plan, _, timeline = _run(case, engine, engine_name, weighs=True)
    time_s = timeline.step_s
    bound = lower_bound(context, group, case.collective)
    factor = bus_factor(case.collective, group.size)
    rate = case.volume_bytes / time_s if time_s else 0.0
    return CollectiveReport(
        collective=case.collective,
        topology=case.network.name,
        group=case.group,
        members=group.size,
        groups=case.network.endpoints // group.size,
        volume_bytes=case.volume_bytes,
        algorithm=plan.algorithm,
        chosen=case.algorithm is None,
        engine=engine_name,
        fidelity=Fidelity.FOLDED if case.folded else Fidelity.FULL,
        pace=pace,
        chunks=case.chunks,
        time_s=time_s,
        algorithm_bandwidth_bytes_per_s=rate,
        bus_bandwidth_bytes_per_s=rate * factor,
        bus_factor=factor,
        lower_bound_s=bound.seconds,
        bound=bound.what,
        reached=bound.seconds / time_s if time_s else 1.0,
        training_time_s=_training_s(case, context, group),
        phases=_legs(plan),
        links=_links(plan, time_s),
        rivals=tuple(rival for rival in rivals.values() if rival.algorithm is not plan.algorithm),
        events=timeline.events,
        notes=tuple(_notes(case, context, plan)),
    )


def _training_s(case: CollectiveCase, context: CollectiveContext, group: Group) -> float | None:
    """What a weight update pays, by its own methods unless one is asked for; None without fitted costs."""
    if case.parameters is None or case.collective not in lowering.REDUCING:
        return None
    training_context = replace(context, overhead=in_training(case.parameters))
    try:
        if case.algorithm is not None:
            return lowering.plan(training_context, group, case.collective, case.algorithm).lockstep_s
        return lowering.in_training(training_context, group, case.collective).lockstep_s
    except ValueError:
        return None


def _legs(plan: CollectivePlan) -> tuple[Leg, ...]:
    return tuple(
        Leg(
            name=phase.name,
            algorithm=phase.algorithm,
            members=phase.group.size,
            steps=phase.count,
            volume_bytes=phase.sent_share * plan.context.volumes_bytes[0],
            time_s=plan.leg_s(at),
            latency_s=plan.latency_s(at),
        )
        for at, phase in enumerate(plan.phases)
    )


def _links(plan: CollectivePlan, time_s: float) -> tuple[LoadedLink, ...]:
    """The links that would need longest for what they carry, the first found of equals."""
    load: dict[int, float] = {}
    for move in (move for moves in plan.moves for move in moves):
        for flow in move.flows:
            for link in flow.route:
                load[link] = load.get(link, 0.0) + flow.volume_bytes * flow.count * move.repeat
    capacities = plan.roads.capacities
    order = sorted(load, key=lambda link: (-round(load[link] / capacities[link], 15), link))[:MOST_LINKS]
    return tuple(
        LoadedLink(
            name=plan.roads.link(link).name,
            volume_bytes=load[link],
            busy=min(1.0, load[link] / capacities[link] / time_s) if time_s else 0.0,
        )
        for link in order
    )


def _notes(case: CollectiveCase, context: CollectiveContext, plan: CollectivePlan) -> Iterator[AnswerNote]:
    if plan.roads is not context.network:
        yield AnswerNote.of(NoteCode.ONE_RANK_FOR_ALL)
    elif context.followed_racks is not None and case.network.endpoints > (context.rack or 0):
        yield AnswerNote.of(NoteCode.ONE_RACK_FOR_ALL, kinds=len(context.followed_racks))
    if context.rack is not None:
        yield AnswerNote.of(NoteCode.LINKS_ALONE)
    if case.parameters is not None and case.collective in lowering.REDUCING:
        yield AnswerNote.of(NoteCode.FITTED_IN_TRAINING)
