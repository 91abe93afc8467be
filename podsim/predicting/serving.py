"""What a batch takes on a replica that only answers, and what requests see under load."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podsim.engines.des import scheduler
from podsim.lowering.lower import lower_evaluation
from podsim.lowering.pipeline import Pipeline
from podsim.lowering.work import StageWork
from podsim.model.inference import QUANTILE_OF_MEDIAN, Service
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.parameters import PROGRAM, sensitivities
from podsim.model.program import PART_NAMES, Flow, Part
from podsim.model.quantity import Cause, Grade
from podsim.model.sums import sum_in_order
from podsim.physics.hostio import HOST_CALL_S, HOST_START_S
from podsim.physics.links import alone_s
from podsim.predicting import intervals
from podsim.predicting.noisy_steps import stream
from podsim.predicting.uncertainty import step_doubt
from podsim.tiles.cost import TileCost

if TYPE_CHECKING:
    from podsim.engines.base import Engine
    from podsim.model.inference import Delays, Load, ServedState
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping
    from podsim.model.program import StepTimeline
    from podsim.model.quantity import Estimate
    from podsim.model.workload import Workload
    from podsim.topology.machine_network import Fabric

LEAST_SHARE = 0.005  # of a latency, for a part behind the longest to be named
LIKELY_GAPS = 2  # draws held for each request measured, so that arrivals never run out


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCase:
    """What is served: a workload without what training alone needs, on a machine; `known` is how files call it."""

    workload: Workload
    known: str
    machine: Machine
    fabric: Fabric
    engine: Engine


def service(case: ServingCase, mapping: Mapping, served_state: ServedState) -> Service:
    """Period and unloaded latency of a batch [s] on replicas that only answer (Eq. 85).

    Parameters: `case`, workload, machine, fabric and engine; `mapping`, with the rows of a batch; `served_state`, bytes
    of rows and results [B] and where weights and cache lie. Result: batch [requests], replicas, period, latency,
    transfers from and to the host, and parts of a batch by itself [s].

    Equation: period = program of n + 1 batches − program of n, n = stages + 1, at least the transfer of the results;
    latency = start + max(batch by itself, stages × that period + input where several stages are full) + start +
    results; each with a call of the host program where the configuration returns to it. Validity: all replicas load at
    once; a batch that is not full is as slow; no queue; no other time of a framework on the host. Source: derived:
    differences of programs that the engine runs; jia-2019 for starts (Mk1), hydronet-gnn for the call.
    """
    stages = len(mapping.stages)
    alone = _time(case, mapping, served_state, 1, prefetch=0)
    fewer = stages + 1
    period_s = (
        _time(case, mapping, served_state, fewer + 1, prefetch=1).step_s
        - _time(case, mapping, served_state, fewer, prefetch=1).step_s
    )
    arrive_s, leave_s = _host_s(case, mapping, served_state)
    period_s = max(period_s, leave_s)
    call_s = HOST_CALL_S / mapping.updates_per_call if mapping.configuration.returns_to_host else 0.0
    parts_s = {**alone.breakdown_s, Part.HOST_STEP: call_s}
    full = stages > 1 and not served_state.one_at_a_time
    through_s = max(alone.step_s, stages * period_s + arrive_s) if full else alone.step_s
    return Service(
        batch=mapping.micro_batch,
        replicas=mapping.replicas,
        period_s=period_s + call_s,
        latency_s=call_s + HOST_START_S + through_s + HOST_START_S + leave_s,
        host_in_s=HOST_START_S + arrive_s,
        host_out_s=HOST_START_S + leave_s,
        parts_s={part: seconds for part, seconds in parts_s.items() if seconds},
    )


def _time(
    case: ServingCase, mapping: Mapping, served_state: ServedState, batches: int, *, prefetch: int
) -> StepTimeline:
    """So many batches of every replica."""
    ahead = replace(mapping, configuration=replace(mapping.configuration, prefetch=prefetch))
    rows = batches * mapping.micro_batch * mapping.replicas
    program = lower_evaluation(case.workload, ahead, case.machine, case.fabric, rows=rows, served_state=served_state)
    return case.engine(program, case.fabric)


def _host_s(case: ServingCase, mapping: Mapping, served_state: ServedState) -> tuple[float, float]:
    """A batch of every replica on its way in, and its results on their way out over the same links (Eq. 85) [s]."""
    work = tuple(StageWork(stage, TileCost(), TileCost(), 0.0) for stage in mapping.stages)
    line = Pipeline(case.workload, mapping, case.machine, case.fabric, work, 1, folded=True, forward_only=True)
    out = served_state.result_bytes * mapping.micro_batch
    results = tuple(Flow(flow.route, out, flow.count) for flow in line.inputs)
    return alone_s(line.inputs, case.fabric.capacities), alone_s(results, case.fabric.capacities)


def delays(service: Service, load: Load) -> Delays:
    """Delays of requests [s] and answers per second under a load, the same for the same seed (Eq. 88).

    Parameters: `service`, batch [requests], replicas, period and latency [s]; `load`, rate [1/s] or clients, longest
    wait [s], requests, seed and variation of batches (a share). Result: mean, P50, P99 and queued time [s], rate [1/s],
    busy share and mean batch [requests].

    Equation: a batch begins once a replica is free and it is full or its oldest request has waited long enough.
    Validity: Poisson arrivals below the capacity, or clients that ask anew once answered; gamma-distributed times of
    batches; the first tenth is left out; no request joins a running batch. Source: derived: the events of that queue;
    tests compare with M/D/1, M/D/c, M/M/c and cosmetatos-1976.
    """
    return scheduler.run(service, load, *_draws(load))


def simulate_requests(service: Service, load: Load) -> scheduler.AnsweredRequests:
    """Every request of the same simulation, for what `delays` does not tell of them."""
    return scheduler.simulate(service, load, *_draws(load))


def _draws(load: Load) -> tuple[list[float], list[float]]:
    """Times between arrivals [s], none for clients; and what batches take over the mean, gamma distributed."""
    gaps_s: list[float] = []
    if load.rate_per_s is not None:
        draws = stream(load.seed, "arrivals").exponential(1 / load.rate_per_s, LIKELY_GAPS * load.requests)
        gaps_s = draws.tolist()
    if not load.variation:
        return gaps_s, [1.0]
    variance = load.variation**2
    return gaps_s, stream(load.seed, "service").gamma(1 / variance, variance, LIKELY_GAPS * load.requests).tolist()


def capacity(case: ServingCase, service: Service, level: float) -> Estimate:
    """Requests a second with every batch full [1/s], with the doubt of a step of the same operators (Eq. 31).

    Parameters: `case`, workload, machine and the name by which files call the workload; `service`, batch, replicas,
    period and parts [s]; `level`, confidence of the interval. Result: an estimate [1/s].

    Equation: replicas × batch / period (Eq. 85); variances of Eq. 31, with the share of programs in a batch as
    sensitivity and no term of distance. Validity: nothing was fitted to inference, so no grade is better than
    extrapolated; errors of transfers and calls are not counted. Source: derived: the definition of capacity; for the
    variances as `step_doubt`.
    """
    whole_s = sum_in_order(service.parts_s.values())
    share = sum_in_order(seconds for part, seconds in service.parts_s.items() if part in PROGRAM) / whole_s
    parameters = case.machine.parameters
    factor = case.machine.program_factor
    others = {name: case.machine.in_form(name).program_factor for name in parameters.near_forms}
    forms = {name: share * math.log(other / factor) for name, other in others.items()}
    sensitivity = sensitivities(parameters.fitted, {Part.COMPUTE: share}, case.machine.like)
    doubt = step_doubt(case.machine, case.known, sensitivity, ipus=case.machine.topology.ipus, forms=forms)
    variances = {**doubt.variances, Cause.DISTANCE: 0.0}
    grade = intervals.worst(doubt.grade, Grade.EXTRAPOLATED)
    return intervals.lognormal(service.capacity_per_s, variances, grade, 1.0, level=level)


def slower(capacity: Estimate, confidence: float, level: float) -> float:
    """Service time that is not exceeded with that confidence, over the expected one [1] (Eq. 32, Eq. 88).

    Parameters: `capacity`, requests a second with its interval [1/s]; `confidence`, probability between 0 and 1;
    `level`, confidence of that interval. Result: a factor, 1 at a confidence of 0.5.

    Equation: (high / value)^(z(confidence) / z), z of a two-sided interval of `level`. Validity: all times of a service
    err by one lognormal factor, that of the capacity. Source: derived: quantiles of the lognormal distribution.
    """
    return 1.0 if confidence == QUANTILE_OF_MEDIAN else intervals.below(capacity, confidence, level) / capacity.value


def limited_by(service: Service, stages: int) -> AnswerNote:
    """The three longest parts of unloaded latency with their shares; of several stages also waits for the slower."""
    parts_s = {PART_NAMES[part]: seconds for part, seconds in service.parts_s.items()}
    parts_s["results to the host"] = service.host_out_s
    if stages > 1:
        parts_s["waits for the busiest stage"] = service.latency_s - sum_in_order(parts_s.values())
    shares = sorted(((seconds / service.latency_s, name) for name, seconds in parts_s.items()), reverse=True)
    longest = [(share, name) for place, (share, name) in enumerate(shares[:3]) if place == 0 or share >= LEAST_SHARE]
    parts = AnswerNote.of(
        NoteCode.LATENCY_PARTS,
        names=tuple(name for _, name in longest),
        shares=tuple(share for share, _ in longest),
    )
    if service.host_in_s > service.period_s * 0.99 and service.parts_s.get(Part.HOST):
        return AnswerNote.of(NoteCode.HOST_LINK_IS_FULL, parts=parts)
    return parts
