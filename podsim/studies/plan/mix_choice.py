"""One machine for a customer's jobs, on partitions side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.files import catalog, comparator_machines
from podsim.model.mix import HOUR_S, HOURS_A_MONTH, Job, Mix
from podsim.model.note import AnswerNote
from podsim.model.sums import sum_in_order
from podsim.planning import workload_sequence
from podsim.predicting.step_activity import together
from podsim.studies.plan import job_placement
from podsim.studies.plan.candidates import (
    CandidateEvaluation,
    CandidateEvaluator,
    PlanRequest,
    Progress,
    misses,
)
from podsim.studies.plan.choice import CHIPS, SIZES
from podsim.studies.plan.inventory_use import purchase
from podsim.studies.plan.mix_result import JobRuns, JobTime, MixCandidate, MixPlan, Month, Pool
from podsim.studies.plan.owned_machines import keep, split
from podsim.studies.plan.result import ExcludedMachine, Objective

if TYPE_CHECKING:
    from podsim.model.activity import StepActivity
    from podsim.model.fabric import Topology

Evaluations = dict[tuple[str, str], "CandidateEvaluation | str"]
"""One run of a job on a machine of its own, by job and machine; a text says why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedMachine:
    """A machine that was named, with its partitions: the name of a machine of that size, by IPUs."""

    topology: Topology
    partitions: dict[int, str]


@dataclass
class Sizing:
    """Machines evaluated for one mix; runs are predicted once for each size of partition."""

    mix: Mix
    request: PlanRequest  # its scenario is of no job
    known: Evaluations = field(default_factory=dict)
    machines: dict[str, SizedMachine] = field(default_factory=dict)  # by what the machine itself is called

    @property
    def available_hours(self) -> float:
        """Hours a month that a partition runs at most."""
        return HOURS_A_MONTH * self.request.terms.terms.use

    def of(self, mix: Mix) -> Sizing:
        """The same for another mix, with the runs that are predicted already."""
        return replace(self, mix=mix)

    def machine_of(self, name: str) -> SizedMachine:
        """A machine with its partitions."""
        return _partitions(name)

    def cheapest(self, mix: Mix, machines: Sequence[str]) -> MixCandidate | None:
        """The machine of these with the lowest price that holds a mix, bought as a whole; None where there is none."""
        other = replace(self, mix=mix, request=replace(self.request, own=None))
        return best([other.candidate(_partitions(name)) for name in machines], Objective.CAPITAL)

    def candidate(self, machine: SizedMachine) -> MixCandidate:
        """The machine with the partitions that the jobs need, or why it cannot hold them."""
        self.machines[machine.topology.name] = machine
        job_times = [self._times_of(job, machine) for job in self.mix.jobs]
        sizes = job_placement.fewest(
            [{row.ipus: row.hours for row in rows} for rows in job_times], self.available_hours
        )
        pools: tuple[Pool, ...] = ()
        if sizes:
            pools = tuple(
                self._pools(
                    [next(row for row in rows if row.ipus == size) for rows, size in zip(job_times, sizes, strict=True)]
                )
            )
        candidate = self._cost_of(machine, pools)
        if not pools or candidate.used_ipus > candidate.ipus:
            candidate = replace(candidate, month=self._month(machine, job_times, 1))
        late = [job.title for job, rows in zip(self.mix.jobs, job_times, strict=True) if not rows]
        if late:
            return replace(candidate, reason=f"no partition is fast enough for {', '.join(late)}")
        if candidate.used_ipus > candidate.ipus:
            short = f"{candidate.used_ipus - candidate.ipus:,} more than it has"
            return replace(candidate, reason=f"the partitions need {candidate.used_ipus:,} IPUs together, {short}")
        return candidate

    def _times_of(self, job: Job, machine: SizedMachine) -> list[JobTime]:
        """The job on each size of partition that meets its deadline and ends within a month."""
        job_times = []
        for ipus, name in machine.partitions.items():
            evaluation = self._evaluation(job, name)
            if isinstance(evaluation, str):
                continue
            candidate = evaluation.candidate
            limit_s = min(job.within_s or math.inf, self.available_hours * HOUR_S)
            if candidate.sure_s <= limit_s:
                job_times.append(
                    JobTime(
                        job=job.title,
                        ipus=ipus,
                        time_to_train_s=candidate.time_to_train_s,
                        sure_s=candidate.sure_s,
                        hours=job.runs_per_month * candidate.time_to_train_s.value / HOUR_S,
                        global_batch=candidate.global_batch,
                    )
                )
        return job_times

    def _evaluation(self, job: Job, name: str) -> CandidateEvaluation | str:
        key = job.workload, name
        if key not in self.known:
            scenario = replace(self.request.scenario, workload=job.workload)
            scale = CandidateEvaluator(
                request=replace(self.request, scenario=scenario), run=workload_sequence.run(job.workload)
            )
            try:
                self.known[key] = next(iter(scale.machine(name)))
            except (Infeasible, MissingParameter) as no:
                self.known[key] = no.message
        return self.known[key]

    def month(self, machine: SizedMachine, number: int) -> Month:
        """What fits on so many machines side by side, the job of the first priority first."""
        return self._month(machine, [self._times_of(job, machine) for job in self.mix.jobs], number)

    def _month(self, machine: SizedMachine, job_times: Sequence[Sequence[JobTime]], number: int) -> Month:
        pairs = sorted(zip(self.mix.jobs, job_times, strict=True), key=lambda pair: pair[0].priority or math.inf)
        hours = [{row.ipus: row.hours for row in rows} for _, rows in pairs]
        runs = job_placement.by_priority(
            hours, [job.runs_per_month for job, _ in pairs], self.available_hours, number * machine.topology.ipus
        )
        placed_times = [
            [replace(row, hours=row.hours * count / job.runs_per_month) for row in rows]
            for (job, rows), count in zip(pairs, runs, strict=True)
            if count
        ]
        sizes = job_placement.fewest(
            [{row.ipus: row.hours for row in rows} for rows in placed_times], self.available_hours
        )
        jobs = tuple(
            JobRuns(
                job=job.title,
                priority=job.priority,
                runs=count,
                runs_per_month=job.runs_per_month,
                quick=bool(rows),
            )
            for (job, rows), count in zip(pairs, runs, strict=True)
        )
        placements = zip(placed_times, sizes or (), strict=True)
        return Month(
            jobs=jobs,
            pools=tuple(self._pools([next(row for row in rows if row.ipus == size) for rows, size in placements])),
        )

    def notes(self, candidate: MixCandidate) -> tuple[AnswerNote, ...]:
        """What was assumed of the runs on the partitions of a machine; of one without any, nothing."""
        names = self.machines[candidate.topology].partitions
        runs = {names[job.ipus] for pool in candidate.pools for job in pool.jobs}
        notes = [
            evaluation.notes
            for (_, name), evaluation in self.known.items()
            if name in runs and not isinstance(evaluation, str)
        ]
        return tuple(dict.fromkeys(note for each in notes for note in each))

    def _pools(self, job_times: Sequence[JobTime]) -> list[Pool]:
        pools = []
        for size in sorted({item.ipus for item in job_times}, reverse=True):
            jobs = tuple(item for item in job_times if item.ipus == size)
            hours = sum_in_order(job.hours for job in jobs)
            count = job_placement.partitions(hours, self.available_hours)
            pools.append(Pool(ipus=size, partitions=count, jobs=jobs, busy=hours / (count * HOURS_A_MONTH)))
        return pools

    def _activity(self, machine: SizedMachine, pools: Sequence[Pool]) -> StepActivity | None:
        """Mean of the IPUs whose partitions run, by IPU-hours of their jobs; None where jobs differ in precision."""
        workloads = {job.title: job for job in self.mix.jobs}
        each, ipu_hours = [], []
        for job in (job for pool in pools for job in pool.jobs):
            evaluation = self._evaluation(workloads[job.job], machine.partitions[job.ipus])
            if isinstance(evaluation, str) or evaluation.activity is None:
                return None
            each.append(evaluation.activity)
            ipu_hours.append(job.ipus * job.hours)
        if len({activity.precision for activity in each}) != 1:
            return None
        whole = sum_in_order(ipu_hours)
        return together(each, [share / whole for share in ipu_hours])

    def _cost_of(self, machine: SizedMachine, pools: tuple[Pool, ...]) -> MixCandidate:
        """The machine with the servers that its hungriest job needs; a month's energy is that of the partitions.

        Power is that of the whole machine running the mean of its jobs.
        """
        topology = machine.topology
        questions = [
            part.question
            for (_, name), evaluation in self.known.items()
            if not isinstance(evaluation, str) and name == machine.partitions[topology.ipus]
            for part in evaluation.parts
        ]
        hosts = max((question.machine.hosts for question in questions), default=topology.hosts.servers)
        terms = self.request.terms
        ownership, reuse = purchase(self.request.own, topology, hosts, terms, activity=self._activity(machine, pools))
        capital, draw = ownership.capital, ownership.draw
        ipu_hours = sum_in_order(job.ipus * job.hours for pool in pools for job in pool.jobs)
        hours, each_usd = ipu_hours / topology.ipus, terms.rent_usd_per_ipu_hour
        candidate = MixCandidate(
            topology=topology.name,
            title=topology.title,
            chip=topology.chip.name,
            ipus=topology.ipus,
            hosts=hosts,
            pools=pools,
            reason="",
            capital_usd=capital.usd.value if capital else None,
            most_capital_usd=capital.usd.high if capital else None,
            power_w=draw.least_w if draw else None,
            most_power_w=draw.most_w if draw else None,
            owned=ownership,
            energy_j=draw.energy_j(hours * HOUR_S, terms.terms.pue).value if pools and draw else None,
            reuse=reuse,
            rent_month_usd=None if each_usd is None or not pools else ipu_hours * each_usd,
        )
        figures = {"budget": candidate.most_capital_usd, "power": candidate.most_power_w}
        return replace(candidate, misses=misses(self.request.demand, figures))


def plan(mix: Mix, request: PlanRequest, machines: Sequence[str], on_progress: Progress | None = None) -> MixPlan:
    """The machine that holds a mix; without one `chosen` is None. InputError for machines without IPUs."""
    own = request.own
    sizing = Sizing(mix=mix, request=request)
    new, machines = machines, (*machines, *(own.names(machines) if own else ()))
    candidates: list[MixCandidate] = []
    for number, name in enumerate(machines, start=1):
        if comparator_machines.names_comparator(name):
            raise InputError(
                f"{name} has no IPUs: how jobs share it is not known", code="no-chips", hint="--machines pod64,pod256"
            )
        candidates.append(sizing.candidate(_partitions(name)))
        if on_progress:
            on_progress(number, len(machines))
    titles = {job.workload: catalog.workload(job.workload).value.title for job in mix.jobs}
    chosen_candidate = best(candidates, request.demand.objective)
    has_priorities = any(job.priority is not None for job in mix.jobs)
    closest = None if chosen_candidate else min(candidates, key=_by_priority if has_priorities else _short)
    best_candidate = chosen_candidate or closest
    each = keep(sizing, own) if own else ()
    return MixPlan(
        jobs=mix.jobs,
        titles=titles,
        demand=request.demand,
        confidence=request.demand.confidence,
        use=request.terms.terms.use,
        chosen=chosen_candidate,
        closest=closest,
        candidates=tuple(candidates),
        excluded=_exclusions(sizing.known),
        assumptions=(
            *(sizing.notes(best_candidate) if best_candidate else ()),
            *(own.notes(best_candidate.reuse) if best_candidate and own else ()),
        ),
        terms=request.terms.terms,
        named=tuple(machines),
        currency=request.terms.currency,
        inventory=own.owned_machines if own else (),
        kept=each,
        split=split(sizing, each, new, chosen_candidate),
        cheaper=_cheaper(candidates, chosen_candidate) if has_priorities and chosen_candidate else None,
    )


def best(candidates: Sequence[MixCandidate], objective: Objective) -> MixCandidate | None:
    """The least by the objective of those that hold every job and meet every demand; None where there is none.

    A machine that is owned costs its capital, whoever uses it.
    """

    def worth(candidate: MixCandidate) -> tuple[float, float]:
        usd = math.inf if candidate.capital_usd is None else candidate.capital_usd
        return {
            Objective.TIME: candidate.hours,
            Objective.CAPITAL: usd,
            Objective.COST: usd,
            Objective.ENERGY: math.inf if candidate.energy_j is None else candidate.energy_j,
            Objective.PRICE_PERFORMANCE: usd * candidate.hours,
        }[objective], usd

    holding = [candidate for candidate in candidates if not candidate.reason and not candidate.misses]
    return min(holding, key=worth, default=None)


def _short(candidate: MixCandidate) -> tuple[bool, float]:
    """How far a machine is from holding the jobs: not at all, by its IPUs, or by its price and power."""
    over = max((miss.over for miss in candidate.misses), default=0.0)
    return not candidate.pools, max(over, candidate.used_ipus / candidate.ipus - 1, 0.0)


def _by_priority(candidate: MixCandidate) -> tuple[bool, tuple[float, ...], tuple[bool, float]]:
    """Machines that miss no demand first, then those that hold more runs of the jobs that go first."""
    shares = candidate.month.shares if candidate.month else ()
    return bool(candidate.misses), tuple(-share for share in shares) or (-math.inf,), _short(candidate)


def _cheaper(candidates: Sequence[MixCandidate], chosen_candidate: MixCandidate) -> MixCandidate | None:
    """Of the machines that cost less than the chosen one and hold part of the month, that with most by priority.

    None where there is none, or where no price of the chosen one is known.
    """
    limit_usd = chosen_candidate.capital_usd
    if limit_usd is None:
        return None
    less = [
        candidate
        for candidate in candidates
        if candidate.month
        and candidate.month.pools
        and candidate.capital_usd is not None
        and candidate.capital_usd < limit_usd
    ]
    return min(less, key=_by_priority, default=None)


def _partitions(name: str) -> SizedMachine:
    """A machine with its partitions: the whole, and every usual size below."""
    topology = catalog.topology(name).value
    smaller = {}
    if topology.chip.name in CHIPS:
        smaller = {size: catalog.pod_name(size, topology.chip.name) for size in SIZES if size < topology.ipus}
    return SizedMachine(topology=topology, partitions={**smaller, topology.ipus: name})


def _exclusions(evaluations: Evaluations) -> tuple[ExcludedMachine, ...]:
    return tuple(
        ExcludedMachine(topology=f"{workload} on {name}", reason=why)
        for (workload, name), why in evaluations.items()
        if isinstance(why, str)
    )
