"""Which machines to buy to serve a workload: the best that meet every demand, what else there is, what would help."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.sums import sum_in_order
from podsim.predicting import intervals
from podsim.studies.plan import pareto
from podsim.studies.plan.candidates import OUT
from podsim.studies.plan.result import ExcludedMachine, Objective
from podsim.studies.plan.serving_candidates import evaluate, settle, trials
from podsim.studies.plan.serving_result import ServingChange, ServingPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from podsim.studies.plan.serving_candidates import ServingEvaluation, ServingRequest
    from podsim.studies.plan.serving_result import ServingCandidate

MOST_NEAR: Final = 2
LEAST_SERVICE_TIME: Final = (
    0.5  # share of the predicted service times below which a change is no advice: half, as of a plan
)
LATENCIES: Final = ("p99", "ttft", "tpot")


def plan(
    request: ServingRequest, machines: Sequence[str], on_progress: Callable[[int, int], None] | None = None
) -> ServingPlan:
    """The plan; without machines that meet every demand `chosen` is None. Infeasible where none serves at all."""
    own = request.own
    machines = (*machines, *(own.names(machines) if own else ()))
    evaluations, exclusions = _evaluations(request, machines, on_progress)
    if not evaluations:
        why = [f"{exclusion.topology}: {exclusion.reason}" for exclusion in exclusions]
        hint = "podsim infer says what would fit: " + f"podsim infer {request.scenario.workload} --pod 64"
        raise Infeasible(f"no machine named serves {request.workload.name}", context=why, hint=hint)
    _settle_best(evaluations, request)
    candidates = sorted((item.candidate for item in evaluations), key=_price)
    chosen_candidate = best(candidates, request.demand.objective)
    closest = None if chosen_candidate else min(candidates, key=shortfall)
    first = next(item for item in evaluations if item.candidate is (chosen_candidate or closest))
    near = _near(candidates, closest)
    machine, demand = first.case.machine, request.demand
    return ServingPlan(
        workload=request.workload.name,
        workload_title=request.workload.title,
        row=request.workload.row,
        demand=demand,
        chosen=chosen_candidate,
        closest=closest,
        candidates=tuple(candidates),
        near=near,
        changes=tuple(change for candidate in near for change in _changes(candidate, request)),
        checks=trials(chosen_candidate, request) if chosen_candidate else (),
        excluded=tuple(exclusions),
        assumptions=(*_of_load(request), *first.notes, *(own.notes(first.candidate.reuse) if own else ())),
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
        terms=request.terms.terms,
        named=tuple(dict.fromkeys(item.candidate.topology for item in evaluations)),
        currency=request.terms.currency,
        inventory=own.owned_machines if own else (),
    )


def _evaluations(
    request: ServingRequest, machines: Sequence[str], on_progress: Callable[[int, int], None] | None
) -> tuple[list[ServingEvaluation], list[ExcludedMachine]]:
    """Every machine that can serve, in the order of the names, and the others with the reason."""
    evaluations: list[ServingEvaluation] = []
    exclusions: list[ExcludedMachine] = []
    for number, name in enumerate(machines, start=1):
        try:
            evaluations += evaluate(request, name)
        except (Infeasible, MissingParameter) as no:
            exclusions.append(ExcludedMachine(topology=name, reason=no.message))
        except InputError as no:
            if no.code not in OUT:
                raise
            exclusions.append(ExcludedMachine(topology=name, reason=no.message))
        if on_progress:
            on_progress(number, len(machines))
    return evaluations, exclusions


def _settle_best(evaluations: list[ServingEvaluation], request: ServingRequest) -> None:
    """Settle the rate of the best machine, until the best is one whose rate is settled; of none, of the closest."""
    settled_indices: set[int] = set()
    while True:
        candidates = [item.candidate for item in evaluations]
        target = best(candidates, request.demand.objective) or min(candidates, key=shortfall)
        at = next(at for at, candidate in enumerate(candidates) if candidate is target)
        if at in settled_indices or not target.each_per_s:
            return
        evaluations[at] = settle(evaluations[at], request)
        settled_indices.add(at)


def best(candidates: Sequence[ServingCandidate], objective: Objective) -> ServingCandidate | None:
    """The least by the objective of those that miss nothing, then the cheapest; None where there is none."""
    meeting = [candidate for candidate in candidates if not candidate.misses]
    return min(meeting, key=lambda candidate: (worth(candidate, objective), *_price(candidate)), default=None)


def worth(candidate: ServingCandidate, objective: Objective) -> float:
    """What the objective has least of: price [USD], cost of a request [USD] or power [W]; infinite if not known."""
    value = {
        Objective.CAPITAL: candidate.capital_usd,
        Objective.COST: candidate.cost.request.value if candidate.cost else None,
        Objective.ENERGY: candidate.power_w,
    }[objective]
    return math.inf if value is None else value


def _price(candidate: ServingCandidate) -> tuple[float, float, float]:
    """Price, then power, then what is left of the rate, the most first."""
    usd, power_w = candidate.capital_usd, candidate.power_w
    return math.inf if usd is None else usd, math.inf if power_w is None else power_w, -candidate.holds_per_s


def shortfall(candidate: ServingCandidate) -> tuple[float, float, float]:
    """How far machines are from what is demanded: a latency first, then by the demand that is missed most."""
    late = sum_in_order(miss.over for miss in candidate.misses if miss.demand in LATENCIES)
    most = max((miss.over for miss in candidate.misses), default=0.0)
    return float(f"{late:.2g}"), float(f"{most:.2g}"), _price(candidate)[0]


def front(candidates: Sequence[ServingCandidate]) -> list[ServingCandidate]:
    """The Pareto-optimal ones of those that are quick enough, by price, power and the rate that they hold."""
    able = [candidate for candidate in candidates if candidate.each_per_s]
    merits = [(candidate.capital_usd, candidate.power_w, -candidate.holds_per_s) for candidate in able]
    return [able[at] for at in pareto.front(merits)]


def _near(candidates: Sequence[ServingCandidate], closest: ServingCandidate | None) -> tuple[ServingCandidate, ...]:
    """Machines that miss a demand, the nearest first, one number of hosts of each; the closest where none meets all."""
    late = [candidate for candidate in candidates if candidate.misses and candidate is not closest]
    each = {item.topology: item for item in sorted(late, key=shortfall, reverse=True)}
    if closest:
        each.pop(closest.topology, None)
    return (*((closest,) if closest else ()), *sorted(each.values(), key=shortfall))[:MOST_NEAR]


def _changes(candidate: ServingCandidate, request: ServingRequest) -> Iterator[ServingChange]:
    """What would have to change, one at a time, for a machine to meet each demand."""
    for miss in candidate.misses:
        if miss.found is None:
            continue

        def change(what: str, present: float, requirement: float, demand: str = miss.demand) -> ServingChange:
            return ServingChange(
                topology=candidate.topology, demand=demand, what=what, present=present, needed=requirement
            )

        yield change(miss.demand, miss.limit, miss.found)
        if miss.demand in LATENCIES:
            if miss.limit / miss.found >= LEAST_SERVICE_TIME:
                yield change("service time", 1.0, miss.limit / miss.found)
            continue
        demand = request.demand
        there = candidate.machines - math.ceil((miss.found - miss.limit) / (miss.found / candidate.machines))
        able_per_s = max(0, there - demand.spares) * candidate.each_per_s
        if able_per_s:
            yield change("rate", demand.rate_per_s, able_per_s / (1 + demand.headroom))
        if demand.headroom and able_per_s >= demand.rate_per_s:
            yield change("headroom", demand.headroom, able_per_s / demand.rate_per_s - 1)
        if demand.spares and there * candidate.each_per_s >= demand.needed_per_s:
            yield change("spares", demand.spares, there - math.ceil(demand.needed_per_s / candidate.each_per_s))


def _of_load(request: ServingRequest) -> Iterator[AnswerNote]:
    """What is assumed of the requests and of how machines share them."""
    yield AnswerNote.of(NoteCode.ARRIVALS_SPLIT)
    if request.demand.variation:
        yield AnswerNote.of(NoteCode.SERVING_TIMES_VARY, variation=request.demand.variation)
    yield AnswerNote.of(NoteCode.ONE_WORKLOAD_SERVED)
