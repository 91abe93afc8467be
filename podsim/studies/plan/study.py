"""Sizing as functions: wiring only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.mixes import mix
from podsim.planning import competitors, workload_sequence
from podsim.planning.ownership import OwnershipKeywords, one_rent, ownership_terms
from podsim.scenario import MachineSpec, RunLength, Scenario, Software
from podsim.studies.argument_check import check_arguments, takes_scenario
from podsim.studies.plan import candidates, demands, serving_choice, serving_demands
from podsim.studies.plan import choice as planning
from podsim.studies.plan import mix_choice as mix_planning
from podsim.studies.plan.inventory_use import stock
from podsim.studies.plan.result import Objective
from podsim.studies.plan.serving_candidates import ServingRequest

if TYPE_CHECKING:
    from podsim.planning.ownership import OwnershipTerms
    from podsim.studies.plan.inventory_use import Stock
    from podsim.studies.plan.mix_result import MixPlan
    from podsim.studies.plan.result import Plan
    from podsim.studies.plan.serving_result import ServingDemand, ServingPlan

Progress = Callable[[int, int], None]


Aim = Literal["capital", "time", "cost", "energy", "price-performance"]


@takes_scenario
def plan(
    scenario: Scenario,
    *,
    within: str | None = None,
    deadline: Literal["training", "wall-clock"] | None = None,
    compile: Literal["fresh", "cached"] = "fresh",  # noqa: A002  (named after its flag)
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: Aim | None = None,
    machines: str | Sequence[str] | None = None,
    against: str | Sequence[str] | None = None,
    own: str | None = None,
    explain: bool = False,
    on_progress: Progress | None = None,
    **more: Unpack[serving_demands.PlanKeywords],
) -> Plan | ServingPlan:
    """Recommend a machine for a workload, with the alternatives and their prices.

    Demands on training are `within`, `budget` and `max_power`. With a request rate and a latency limit (`rate`, `p99`)
    the machines serve instead, and the answer is a ServingPlan. Where no machine meets every demand, `chosen` is None.
    Raises InputError for a malformed question.
    """
    terms, names = ownership_terms(**serving_demands.money(more)), planning.machine_names(machines)
    one_rent(more.get("rent_per_hour"), names)
    owned_stock = None if own is None else stock(own)
    common_flags = serving_demands.DemandKeywords(
        within=within,
        budget=budget,
        max_power=max_power,
        confidence=confidence,
        objective=objective,
        currency=terms.currency,
        deadline=deadline,
        program=compile,
    )
    if serving_demands.is_serving(more):
        if explain:
            raise InputError(
                "--explain is about machines that train, and --rate asks for machines that serve",
                code="conflicting-flags",
                hint="leave out --explain, or --rate",
            )
        if against is not None:
            raise InputError(
                "--against compares times to train: no inference result of other machines is at hand",
                code="conflicting-flags",
                hint="leave out --against, or --rate",
            )
        demand_of_rate = serving_demands.demand(scenario, more, **common_flags)
        return _serving(scenario, demand_of_rate, terms, names, on_progress, owned_stock)
    demand = demands.demand(**common_flags)
    run = workload_sequence.by_name(scenario.workload, planning.of_models(scenario.what_if.changes))
    run.check(scenario)
    run.check_global_batch(scenario.mapping.global_batch)
    request = candidates.PlanRequest(
        scenario=planning.by_formula(scenario),
        demand=demand,
        terms=terms,
        models=run.models,
        own=owned_stock,
        explain=explain,
    )
    return planning.plan(run, request, names, on_progress, competitors.names(against))


def _serving(
    scenario: Scenario,
    demand: ServingDemand,
    terms: OwnershipTerms,
    names: Sequence[str],
    on_progress: Progress | None,
    own: Stock | None,
) -> ServingPlan:
    """Which machines serve the workload."""
    workload = catalog.workload(scenario.workload, planning.of_models(scenario.what_if.changes)).value
    request = ServingRequest(
        scenario=planning.by_formula(scenario), demand=demand, terms=terms, workload=workload, own=own
    )
    return serving_choice.plan(request, names, on_progress)


@check_arguments
def plan_mix(
    workloads: str,
    *,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: Aim | None = None,
    machines: str | Sequence[str] | None = None,
    own: str | None = None,
    sdk: str | None = None,
    division: Literal["closed", "open"] = "closed",
    parameters: str | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
    **money: Unpack[OwnershipKeywords],
) -> MixPlan:
    """Recommend one machine for all jobs of a file, which run side by side on partitions.

    Raises InputError where the question or the file is malformed.
    """
    result = mix(workloads)
    one_rent(money.get("rent_per_hour"), ("each partition", "the machine"))
    terms = ownership_terms(**money)
    demand = demands.demand(
        budget=budget, max_power=max_power, objective=objective or Objective.CAPITAL, currency=terms.currency
    )
    if confidence is not None and all(job.within_s is None for job in result.jobs):
        raise InputError(
            "--confidence is that of a time, and no job has one",
            code="conflicting-flags",
            hint='within = "30 min" of a job, or leave out --confidence',
        )
    demand = replace(demand, confidence=demands.sure(confidence))
    scenario = Scenario(
        workload="",
        machine=MachineSpec(parameters=parameters),
        length=RunLength(division=division),
        software=Software(sdk=sdk),
        seed=seed,
    )
    request = candidates.PlanRequest(
        scenario=planning.by_formula(scenario), demand=demand, terms=terms, own=None if own is None else stock(own)
    )
    return mix_planning.plan(result, request, planning.machine_names(machines), on_progress)
