"""Machines that serve a workload: the batch that serves most on each, how many of them it takes, what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible, MissingParameter
from podsim.files import comparator_machines
from podsim.model.framework import NAMES
from podsim.model.note import AnswerNote
from podsim.planning import serving_mapping
from podsim.planning.serving_case import activity, assumptions, serving_case, with_prompt
from podsim.planning.serving_mapping import ServingConstraints
from podsim.planning.serving_rate import FEW_SEEDS, SEEDS, QueuedService, largest, settle_rate
from podsim.predicting import convolutions, serving
from podsim.resolve import assumption_notes, target
from podsim.studies.plan.candidates import SAME, misses, other_hosts
from podsim.studies.plan.result import Demand, Miss
from podsim.studies.plan.serving_result import ServingCandidate, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.quantity import Estimate
    from podsim.model.run_cost import MachineOwnership, ServiceCost
    from podsim.model.workload import Workload
    from podsim.planning.ownership import OwnershipTerms
    from podsim.planning.serving_mapping import ServingChoice
    from podsim.predicting.serving import ServingCase
    from podsim.scenario import Scenario
    from podsim.studies.plan.inventory_use import Stock
    from podsim.studies.plan.serving_result import ServingDemand

NINETY: Final = 0.9
MOST_BATCH: Final = 65_536
SHOWN_LOAD: Final = 0.5  # of the capacity, up to which a machine that misses a latency is shown with the rate; assumed
CHECKED_RATES: Final = (0.95, 1.05)  # of the largest rate: the first meets the latencies, the second does not


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRequest:
    """What is asked of every machine, which `scenario` does not name, and the workload, which is read already."""

    scenario: Scenario
    demand: ServingDemand
    terms: OwnershipTerms
    workload: Workload
    own: Stock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOption:
    """A batch size on a machine: its mapping, and what it takes expected and with the confidence asked for."""

    choice: ServingChoice
    expected: QueuedService
    confident: QueuedService
    slower: float
    capacity_per_s: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineOffer:
    """The batches that a machine can serve, and what is assumed of it; `other_hosts` where these are not the usual."""

    case: ServingCase
    options: tuple[ServingOption, ...]
    notes: tuple[AnswerNote, ...]
    other_hosts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingEvaluation:
    """One machine as a candidate, with the batch that it serves."""

    candidate: ServingCandidate
    offer: MachineOffer
    option: ServingOption
    notes: tuple[AnswerNote, ...]

    @property
    def case(self) -> ServingCase:
        """What is served where."""
        return self.offer.case


def evaluate(request: ServingRequest, name: str) -> Iterator[ServingEvaluation]:
    """The candidates of one machine (Eq. 88): its usual hosts, fewer, and more where batches are quicker for them.

    More hosts are left out where one machine serves all with the usual ones. Errors of `podsim infer` pass, Infeasible
    where it cannot serve.
    """
    if comparator_machines.names_comparator(name):
        raise MissingParameter("no result of serving is published of it: podsim predicts serving on IPUs alone")
    offer = _offer(request, name)
    usual = _evaluation(request, offer)
    yield usual
    hosts = usual.candidate.hosts
    enough = usual.candidate.each_per_s and usual.candidate.machines == 1 + request.demand.spares
    for count in other_hosts(usual.case.machine):
        if count > hosts and enough:
            continue
        other = _offer(request, name, count)
        if count < hosts or _is_other_time(offer.options, other.options):
            yield _evaluation(request, other)


def _is_other_time(options: tuple[ServingOption, ...], others: tuple[ServingOption, ...]) -> bool:
    """Whether any batch takes another time."""
    periods = [[option.expected.service.period_s for option in each] for each in (options, others)]
    return any(abs(after / before - 1) > SAME for before, after in zip(*periods, strict=False))


def _offer(request: ServingRequest, name: str, hosts: int | None = None) -> MachineOffer:
    """What a machine with so many hosts can do; with the usual ones where none are stated."""
    machine = replace(request.scenario.machine, topology=name, hosts=hosts)
    scenario, demand = replace(request.scenario, machine=machine), request.demand
    result = target(scenario, read=request.workload)
    case, prompts = with_prompt(
        serving_case(result.machine, result.workload, None, "des"), demand.generate, demand.prompt
    )
    notes = [note for note in result.workload.notes if note.caveat]
    evidence = convolutions.unmeasured_notes(result.workload, result.machine.chip)
    offer_notes = (
        *prompts,
        *notes,
        *result.machine.topology.notes,
        *evidence,
        *assumption_notes(scenario, result.machine),
    )
    return MachineOffer(
        case=case, options=tuple(_options(case, request)), notes=offer_notes, other_hosts=hosts is not None
    )


def _evaluation(request: ServingRequest, offer: MachineOffer) -> ServingEvaluation:
    """The batch that serves most, and so many machines as it takes."""
    options = {option.confident.service.batch: option for option in offer.options}
    confident = (option.confident for option in offer.options)
    best = largest(confident, request.demand.limits, request.scenario.seed)
    option = options[best.batch.service.batch] if best else offer.options[0]
    batch, each_per_s = (best.batch, best.rate_per_s) if best else (option.confident, 0.0)
    constraints = _constraints(request, batch.service.batch)
    return ServingEvaluation(
        candidate=_candidate(request, offer, option, batch, each_per_s),
        offer=offer,
        option=option,
        notes=(
            *serving_mapping.lowering(offer.case, constraints, option.choice),
            *assumptions(offer.case, constraints, option.choice),
            *offer.notes,
        ),
    )


def _constraints(request: ServingRequest, batch: int) -> ServingConstraints:
    framework = request.scenario.software.framework
    return ServingConstraints(
        batch=batch,
        generated=request.demand.generate,
        framework=None if framework is None else NAMES[framework],
    )


def _options(case: ServingCase, request: ServingRequest) -> Iterator[ServingOption]:
    """Every batch size of a ladder that fits and is quick enough alone; the first even where it is not.

    Raises Infeasible where not even one row fits.
    """
    for batch in _ladder():
        try:
            choice = serving_mapping.find(case, _constraints(request, batch), batch, advise=batch == 1)
        except Infeasible:
            if batch == 1:
                raise
            return
        option = _option(case, choice, request.demand)
        if batch > 1 and option.confident.slack_s(request.demand.limits) < 0:
            return
        yield option


def _ladder() -> Iterator[int]:
    """Batch sizes: powers of two and those halfway between."""
    size = 1
    while size <= MOST_BATCH:
        yield size
        if size > 1:
            yield size + size // 2
        size *= 2


def _option(case: ServingCase, choice: ServingChoice, demand: ServingDemand) -> ServingOption:
    expected = QueuedService.of(choice.service, choice.decoding, demand.variation)
    capacity = serving.capacity(case, choice.service, NINETY)
    slower = serving.slower(capacity, demand.confidence, NINETY)
    return ServingOption(
        choice=choice,
        expected=expected,
        confident=expected.slower(slower),
        slower=slower,
        capacity_per_s=capacity,
    )


def settle(evaluation: ServingEvaluation, request: ServingRequest) -> ServingEvaluation:
    """The same with the largest rate of its batch by longer trials, and that at expected service times."""
    candidate, limits, seed = evaluation.candidate, request.demand.limits, request.scenario.seed
    each = settle_rate(candidate.batch, limits, candidate.each_per_s, seed)
    usual = replace(evaluation.option.expected, wait_s=candidate.batch.wait_s)
    expected = settle_rate(usual, limits, each * candidate.slower, seed)
    again = _candidate(request, evaluation.offer, evaluation.option, candidate.batch, each, expected)
    return replace(evaluation, candidate=again)


def trials(candidate: ServingCandidate, request: ServingRequest) -> tuple[Trial, ...]:
    """Requests of one machine at 0.95 and at 1.05 of the largest rate that it holds, with arrivals of another seed."""
    return tuple(_trial(candidate.batch, share * candidate.each_per_s, request) for share in CHECKED_RATES)


def _trial(batch: QueuedService, rate_per_s: float, request: ServingRequest) -> Trial:
    """What requests see at a rate; at the capacity or beyond it a queue has no end."""
    if rate_per_s >= batch.service.capacity_per_s:
        return Trial(rate_per_s=rate_per_s, requests=0, p99_s=None, ttft_s=None, meets=False)
    first = request.scenario.seed + FEW_SEEDS + SEEDS  # arrivals that settled no rate
    steady = batch.steady(rate_per_s, range(first, first + SEEDS))
    return Trial(
        rate_per_s=rate_per_s,
        requests=steady.requests,
        p99_s=steady.p99_s,
        ttft_s=steady.ttft_s,
        meets=steady.meets(request.demand.limits),
    )


def _candidate(
    request: ServingRequest,
    offer: MachineOffer,
    option: ServingOption,
    batch: QueuedService,
    each_per_s: float,
    expected_each_per_s: float | None = None,
) -> ServingCandidate:
    """So many machines as the rate needs, with the demands that they miss; one where they hold no rate."""
    demand, machine = request.demand, offer.case.machine
    active = max(1, math.ceil(demand.needed_per_s / each_per_s - 1e-9)) if each_per_s else 1
    machines = active + demand.spares
    half_per_s = SHOWN_LOAD * batch.service.capacity_per_s
    load = demand.rate_per_s / machines if each_per_s else min(demand.needed_per_s, half_per_s)
    seed = request.scenario.seed
    if expected_each_per_s is not None:  # settled: at the arrivals that it was settled with
        steady = batch.steady(load, range(seed + FEW_SEEDS, seed + FEW_SEEDS + SEEDS))
    else:  # a machine that holds a rate is tried for as long as the search that found it
        steady = batch.steady(load, (seed,), longer=1 if each_per_s else None)
    drawn_for = activity(offer.case, option.choice.mapping, option.choice.service, option.choice.decoding)
    ownership, reuse = request.terms.machine(machine.topology, machine.hosts, activity=drawn_for), None
    if request.own is not None:
        ownership, reuse = request.own.fleet(machine.topology, ownership, machines, request.terms)
    capital, draw = ownership.capital, ownership.draw
    candidate = ServingCandidate(
        topology=machine.topology.name,
        title=machine.topology.title,
        chip=machine.chip.name,
        ipus=machine.topology.ipus,
        hosts=machine.hosts,
        other_hosts=offer.other_hosts,
        machines=machines,
        spares=demand.spares,
        replicas=option.choice.mapping.replicas,
        ipus_per_replica=option.choice.mapping.ipus_per_replica,
        batch=batch,
        slower=option.slower,
        grade=option.capacity_per_s.grade,
        each_per_s=each_per_s,
        expected_each_per_s=expected_each_per_s,
        load_per_s=load,
        p99_s=steady.p99_s,
        ttft_s=steady.ttft_s,
        busy=steady.busy,
        filled=steady.filled,
        owned=ownership,
        cost=_cost(request, ownership, load, option) if each_per_s else None,
        capital_usd=machines * capital.usd.value if capital else None,
        most_capital_usd=machines * capital.usd.high if capital else None,
        power_w=machines * draw.least_w if draw else None,
        most_power_w=machines * draw.most_w if draw else None,
        reuse=reuse,
    )
    return replace(candidate, misses=tuple(_misses(candidate, demand)))


def _cost(
    request: ServingRequest, ownership: MachineOwnership, load_per_s: float, option: ServingOption
) -> ServiceCost | None:
    """What a million requests cost where each machine serves its part of the rate."""
    return request.terms.service(ownership, load_per_s, option.capacity_per_s, request.demand.generate)


def _misses(candidate: ServingCandidate, demand: ServingDemand) -> Iterator[Miss]:
    """The demands that machines miss: a latency, shown at half load; of those that are quick enough price and power."""
    if not candidate.each_per_s:
        limits, batch = demand.limits, candidate.batch
        for name, limit, seconds in (
            ("p99", limits.p99_s, candidate.p99_s),
            ("ttft", limits.ttft_s, candidate.ttft_s),
            ("tpot", limits.tpot_s, batch.token_s),
        ):
            if limit is not None and seconds is not None and seconds > limit:
                yield Miss(demand=name, limit=limit, found=seconds)
        return
    limits_of_plan = Demand(budget_usd=demand.budget_usd, most_power_w=demand.most_power_w)
    yield from misses(limits_of_plan, {"budget": candidate.most_capital_usd, "power": candidate.most_power_w})
