"""A collective by itself: the algorithm that is soonest, its time, what it loads and how near it comes to the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.errors import InputError
from podsim.lowering import collective as lowering
from podsim.lowering.bound import lower_bound
from podsim.lowering.groups import parse, rack_ipus
from podsim.lowering.phases import Setting
from podsim.lowering.update import in_training
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
from podsim.model.trace import Trace, TraceLevel
from podsim.physics.collectives import bus_factor
from podsim.predicting import drawing, tracing, weighing
from podsim.predicting.link_loads import Links, loads

if TYPE_CHECKING:
    from podsim.engines.base import Engine
    from podsim.lowering.groups import Group
    from podsim.lowering.phases import Plan
    from podsim.model.calibration import ParameterSet
    from podsim.model.program import StepProgram, StepTimeline
    from podsim.topology.fabric import Fabric
    from podsim.topology.generic import GenericNetwork

MOST_LINKS: Final = 5


class Flags(NamedTuple):
    """A collective as flags say it; names and meanings are those of `podsim collective`."""

    bytes: str | float
    group: str
    ipus_per_replica: int
    algorithm: str | None
    chunks: int
    pace: str | None
    fidelity: str


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A collective to be answered; `parameters` where there are fitted software costs, `pace` where one was named.

    `usual` is what would be soonest without faults: it is weighed, however many messages it has.
    """

    collective: Collective
    network: Fabric | GenericNetwork
    group: str
    ipus_per_replica: int
    volume_bytes: float
    algorithm: Algorithm | None
    chunks: int
    pace: Pace | None
    folded: bool
    parameters: ParameterSet | None
    usual: Algorithm | None = None


def asked(collective: str, network: Fabric | GenericNetwork, flags: Flags, parameters: ParameterSet) -> Asked:
    """What flags mean; InputError where one of them does not suit the network."""
    machine = rack_ipus(network) is not None
    pace = None if flags.pace is None else Pace(flags.pace)
    if pace is Pace.MESSAGES and machine:
        raise InputError(f"IPUs of {network.name} exchange in supersteps, all at once", code="conflicting-flags",
                         hint="leave --pace messages to generic fabrics")  # fmt: skip
    return Asked(
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


def _pace(asked: Asked, engine: str) -> Pace:
    """Lockstep on machines, and where an engine lets every task have the links to itself."""
    if engine == "des":
        return asked.pace or (Pace.MESSAGES if asked.parameters is None else Pace.LOCKSTEP)
    if asked.pace is Pace.MESSAGES:
        raise InputError(f"the {engine} engine times each step alone on the links", code="conflicting-flags",
                         hint="--pace messages goes with --engine des")  # fmt: skip
    return Pace.LOCKSTEP


class _Ran(NamedTuple):
    """A collective as it was run."""

    setting: Setting
    group: Group
    pace: Pace
    weighed: dict[Algorithm, Rival]
    plan: Plan
    program: StepProgram
    timeline: StepTimeline


def _run(asked: Asked, engine: Engine, engine_name: str, *, weighs: bool) -> _Ran:
    """Run the algorithm asked for, or the soonest; others are weighed where `weighs` or where none is asked for."""
    pace = _pace(asked, engine_name)
    group = parse(asked.group, asked.network, asked.ipus_per_replica)
    volumes = (asked.volume_bytes,) * asked.ipus_per_replica
    setting = Setting(asked.network, volumes, asked.network.endpoints, asked.folded)
    rivals = weighing.weighed(asked, setting, group, engine) if weighs or asked.algorithm is None else {}
    plan, tasks = weighing.chosen(asked, setting, group, (rivals, pace))
    program = weighing.program(tasks)
    program = program if weighs else drawing.apart(program)
    return _Ran(setting, group, pace, rivals, plan, program, engine(program, plan.roads))


def trace(asked: Asked, engine: Engine, engine_name: str, most_spans: int) -> Trace:
    """The steps of the collective and the load of links over time; InputError as `answer`."""
    tracing.Wanted(most_spans=most_spans).check()
    ran = _run(asked, drawing.recording(engine, engine_name), engine_name, weighs=False)
    blocks = drawing.runs(ran.program, ran.timeline)
    drawn = drawing.Drawing(blocks, drawing.of_machine, (1.0,), most_spans)
    roads = ran.plan.roads
    links = loads(ran.timeline.links, Links(roads.link, roads.kind), drawn, most_spans)
    return Trace(
        workload=asked.collective,
        topology=asked.network.name,
        chip="",
        level=TraceLevel.COLLECTIVE,
        title=f"{asked.collective} among {ran.group.size:,} on {asked.network.name}",
        shown=f"by {ran.plan.algorithm}, {'equal members as one' if asked.folded else 'all members'}",
        length_s=drawn.length_s,
        step_s=ran.timeline.step_s,
        spans=drawn.spans,
        busy=drawing.busy(blocks, drawing.of_machine),
        links=links,
        notes=(*_notes(asked, ran.setting, ran.plan), *drawn.notes),
    )


def answer(asked: Asked, engine: Engine, engine_name: str) -> CollectiveReport:
    """The report; InputError where the group does not divide, or no algorithm or not the one asked for can serve."""
    setting, group, pace, weighed, plan, _, timeline = _run(asked, engine, engine_name, weighs=True)
    time_s = timeline.step_s
    bound = lower_bound(setting, group, asked.collective)
    factor = bus_factor(asked.collective, group.size)
    rate = asked.volume_bytes / time_s if time_s else 0.0
    return CollectiveReport(
        collective=asked.collective,
        topology=asked.network.name,
        group=asked.group,
        members=group.size,
        groups=asked.network.endpoints // group.size,
        volume_bytes=asked.volume_bytes,
        algorithm=plan.algorithm,
        chosen=asked.algorithm is None,
        engine=engine_name,
        fidelity=Fidelity.FOLDED if asked.folded else Fidelity.FULL,
        pace=pace,
        chunks=asked.chunks,
        time_s=time_s,
        algorithm_bandwidth_bytes_per_s=rate,
        bus_bandwidth_bytes_per_s=rate * factor,
        bus_factor=factor,
        lower_bound_s=bound.seconds,
        bound=bound.what,
        reached=bound.seconds / time_s if time_s else 1.0,
        training_time_s=_training_s(asked, setting, group),
        phases=_legs(plan),
        links=_links(plan, time_s),
        rivals=tuple(rival for rival in weighed.values() if rival.algorithm is not plan.algorithm),
        events=timeline.events,
        notes=tuple(_notes(asked, setting, plan)),
    )


def _training_s(asked: Asked, setting: Setting, group: Group) -> float | None:
    """What a weight update pays, by its own methods unless one is asked for; None without fitted costs."""
    if asked.parameters is None or asked.collective not in lowering.REDUCING:
        return None
    taxed = replace(setting, toll=in_training(asked.parameters))
    try:
        if asked.algorithm is not None:
            return lowering.plan(taxed, group, asked.collective, asked.algorithm).lockstep_s
        return lowering.in_training(taxed, group, asked.collective).lockstep_s
    except ValueError:
        return None


def _legs(plan: Plan) -> tuple[Leg, ...]:
    return tuple(
        Leg(
            name=phase.name,
            algorithm=phase.algorithm,
            members=phase.group.size,
            steps=phase.count,
            volume_bytes=phase.sent * plan.setting.volumes_bytes[0],
            time_s=plan.leg_s(at),
            latency_s=plan.latency_s(at),
        )
        for at, phase in enumerate(plan.phases)
    )


def _links(plan: Plan, time_s: float) -> tuple[LoadedLink, ...]:
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


def _notes(asked: Asked, setting: Setting, plan: Plan) -> list[str]:
    notes = []
    if plan.roads is not setting.network:
        notes.append("every rank does the same, so one stands for all: links are its share of those of a dimension")
    elif setting.followed is not None and asked.network.endpoints > (setting.rack or 0):
        kinds = "racks" if len(setting.followed) == 1 else f"racks of {len(setting.followed)} kinds"
        notes.append(f"{kinds} do the same, so links are those of the first")
    if setting.rack is not None:
        notes.append("time of the links and their latency alone, without arithmetic; GW-Link latency is assumed")
    if asked.parameters is not None and asked.collective in lowering.REDUCING:
        notes.append("in training: collective.efficiency and rack.step as fitted to published step times")
    return notes
