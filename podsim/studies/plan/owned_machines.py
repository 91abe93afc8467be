"""The jobs of a month on owned machines as they stand, and on one that is bought for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.model.mix import Job, Mix
from podsim.model.sums import sum_in_order
from podsim.studies.plan.candidates import misses
from podsim.studies.plan.inventory_result import Reuse
from podsim.studies.plan.inventory_use import missing
from podsim.studies.plan.mix_result import KeptMachines, MixSplit
from podsim.studies.plan.result import Objective

if TYPE_CHECKING:
    from podsim.studies.plan.inventory_use import Stock, StockItem
    from podsim.studies.plan.mix_choice import Sizing
    from podsim.studies.plan.mix_result import MixCandidate


def keep(sizing: Sizing, stock: Stock) -> tuple[KeptMachines, ...]:
    """What owned machines hold of a mix, those with the most IPUs first."""
    result: list[KeptMachines] = []
    for item in sorted(stock.items, key=lambda item: -item.topology.ipus):
        jobs = remaining_jobs(sizing.mix.jobs, result)
        if not jobs:
            break
        result.append(_keep_kind(sizing.of(Mix(jobs=jobs)), item))
    return tuple(result)


def remaining_jobs(jobs: Sequence[Job], each: Sequence[KeptMachines]) -> tuple[Job, ...]:
    """The jobs with the runs that these machines leave, without those of which nothing is left."""
    kept_runs: dict[str, float] = {}
    for part in each:
        for job in part.month.jobs:
            kept_runs[job.job] = kept_runs.get(job.job, 0.0) + job.runs
    rest = [(job, job.runs_per_month - kept_runs.get(job.title, 0.0)) for job in jobs]
    return tuple(replace(job, runs_per_month=runs) for job, runs in rest if runs > 0)


def _keep_kind(sizing: Sizing, item: StockItem) -> KeptMachines:
    """All owned machines of one kind, side by side: no partition is larger than one of them."""
    count, machine = item.owned.count, sizing.machine_of(item.name)
    month, single = sizing.month(machine, count), sizing.candidate(machine)
    hosts = count * max(0, single.hosts - item.owned.hosts) if month.pools else 0
    return KeptMachines(
        machines=item.owned,
        month=month,
        bought_hosts=hosts,
        capital=missing(None, Reuse(machines=(), bought_hosts=hosts), sizing.request.terms),
        power_w=None if single.power_w is None else count * single.power_w,
        most_power_w=None if single.most_power_w is None else count * single.most_power_w,
    )


def split(
    sizing: Sizing, each: Sequence[KeptMachines], machines: Sequence[str], chosen_candidate: MixCandidate | None
) -> MixSplit | None:
    """The cheapest machine for what owned ones leave; None where they hold nothing, or one for all is cheaper.

    `chosen_candidate` is the best machine for all jobs. Where an objective other than money chose it, it stands; of two
    with one price it stands unless racks have to be joined for it.
    """
    objective = sizing.request.demand.objective
    if not any(part.month.pools for part in each):
        return None
    if chosen_candidate is not None and objective not in (Objective.CAPITAL, Objective.COST):
        return None
    jobs = remaining_jobs(sizing.mix.jobs, each)
    new_machine = sizing.cheapest(Mix(jobs=jobs), machines) if jobs else None
    if jobs and new_machine is None:
        return None
    parts = [*(part for part in each if part.month.pools), *((new_machine,) if new_machine else ())]
    usd = _sum([part.capital_usd for part in parts])
    most_usd = _sum([part.most_capital_usd for part in parts])
    most_w = _sum([part.most_power_w for part in parts])
    figures = {"budget": most_usd, "power": most_w}
    if usd is None or most_usd is None or misses(sizing.request.demand, figures):
        return None
    if chosen_candidate is not None and chosen_candidate.capital_usd is not None:
        has_joined_racks = chosen_candidate.reuse is not None and chosen_candidate.reuse.extended
        if chosen_candidate.capital_usd < usd or (chosen_candidate.capital_usd == usd and not has_joined_racks):
            return None
    return MixSplit(
        added=new_machine,
        jobs=jobs,
        capital_usd=usd,
        most_capital_usd=most_usd,
        power_w=_sum([part.power_w for part in parts]),
        most_power_w=most_w,
    )


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum; None where one is not known."""
    addends = [value for value in values if value is not None]
    return sum_in_order(addends) if len(addends) == len(values) else None
