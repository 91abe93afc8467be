"""Sizing as functions: wiring only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

from podsim.api.checking import checked, takes_scenario
from podsim.errors import InputError
from podsim.files.mixes import mix
from podsim.planning import candidates, demands, workload_sequence
from podsim.planning import mix as mix_planning
from podsim.planning import plan as planning
from podsim.planning.ownership import OwnershipKeywords, no_rent, purse
from podsim.scenario import MachineSpec, RunLength, Scenario, Software

if TYPE_CHECKING:
    from podsim.model.mix import MixPlan
    from podsim.model.plan import Plan

Progress = Callable[[int, int], None]


Aim = Literal["time", "cost", "energy", "price-performance"]


@takes_scenario
def plan(
    scenario: Scenario,
    *,
    within: str | None = None,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: Aim = "cost",
    machines: str | Sequence[str] | None = None,
    on_progress: Progress | None = None,
    **money: Unpack[OwnershipKeywords],
) -> Plan:
    """Which machine to take for a workload; flags as those of `podsim plan`. InputError for a malformed question.

    `within` is a text such as "5min", `max_power` one such as "100 kW", `budget` US dollars, "3M" or a number. Where no
    machine meets every demand `chosen` is None; `changes` are those of the workload.
    """
    demand = demands.demand(
        within=within, budget=budget, max_power=max_power, confidence=confidence, objective=objective
    )
    run, named = (
        workload_sequence.named(scenario.workload, planning.of_models(scenario.what_if.changes)),
        planning.named(machines),
    )
    run.check(scenario)
    run.check_global_batch(scenario.mapping.global_batch)
    request = candidates.PlanRequest(
        scenario=planning.by_formula(scenario), demand=demand, terms=purse(**money), models=run.models
    )
    no_rent(money.get("rent_per_hour") if len(named) > 1 else None)
    return planning.plan(run, request, named, on_progress)


@checked
def plan_mix(
    workloads: str,
    *,
    budget: str | float | None = None,
    max_power: str | None = None,
    confidence: float | None = None,
    objective: Aim = "cost",
    machines: str | Sequence[str] | None = None,
    sdk: str | None = None,
    division: Literal["closed", "open"] = "closed",
    parameters: str | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
    **money: Unpack[OwnershipKeywords],
) -> MixPlan:
    """One machine for the jobs of a file, on partitions side by side: `podsim plan --workloads FILE`.

    Raises InputError where the question or the file is malformed.
    """
    result = mix(workloads)
    no_rent(money.get("rent_per_hour"))  # partitions share the machine
    demand = demands.demand(budget=budget, max_power=max_power, objective=objective)
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
    request = candidates.PlanRequest(scenario=planning.by_formula(scenario), demand=demand, terms=purse(**money))
    return mix_planning.plan(result, request, planning.named(machines), on_progress)
