"""One machine for a customer's jobs, on partitions side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.files import catalog
from podsim.model.mix import HOUR_S, HOURS_A_MONTH, Job, Mix, MixCandidate, MixPlan, Pool, Timed
from podsim.model.plan import Excluded, Objective
from podsim.model.sums import sum_in_order
from podsim.planning import job_placement, workload_sequence
from podsim.planning.candidates import (
    CandidateEvaluation,
    CandidateEvaluator,
    PlanRequest,
    Progress,
    has_no_ipus,
    misses,
)
from podsim.planning.plan import CHIPS, SIZES

if TYPE_CHECKING:
    from podsim.model.fabric import Topology

Known = dict[tuple[str, str], "CandidateEvaluation | str"]
"""One run of a job on a machine of its own, by job and machine; a text says why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A machine that was named, with its partitions: the name of a machine of that size, by IPUs."""

    topology: Topology
    partitions: dict[int, str]


@dataclass
class Sizing:
    """Machines weighed for one mix; runs are predicted once for each size of partition."""

    mix: Mix
    request: PlanRequest  # its scenario is of no job
    known: Known = field(default_factory=dict)
    machines: dict[str, Sized] = field(default_factory=dict)  # by what the machine itself is called

    @property
    def available_hours(self) -> float:
        """Hours a month that a partition runs at most."""
        return HOURS_A_MONTH * self.request.terms.terms.use

    def candidate(self, sized: Sized) -> MixCandidate:
        """The machine with the partitions that the jobs need, or why it cannot hold them."""
        self.machines[sized.topology.name] = sized
        timed = [self._timed(job, sized) for job in self.mix.jobs]
        chosen = job_placement.fewest([{row.ipus: row.hours for row in rows} for rows in timed], self.available_hours)
        pools: tuple[Pool, ...] = ()
        if chosen:
            pools = tuple(
                self._pools(
                    [next(row for row in rows if row.ipus == size) for rows, size in zip(timed, chosen, strict=True)]
                )
            )
        candidate = self._paid(sized, pools)
        late = [job.called for job, rows in zip(self.mix.jobs, timed, strict=True) if not rows]
        if late:
            return replace(candidate, reason=f"no partition is quick enough for {', '.join(late)}")
        if candidate.used_ipus > candidate.ipus:
            return replace(candidate, reason=f"partitions of {candidate.used_ipus:,} IPUs are needed")
        return candidate

    def _timed(self, job: Job, sized: Sized) -> list[Timed]:
        """The job on each size of partition that meets its deadline and ends within a month."""
        timeds = []
        for ipus, name in sized.partitions.items():
            evaluation = self._evaluation(job, name)
            if isinstance(evaluation, str):
                continue
            candidate = evaluation.candidate
            limit_s = min(job.within_s or math.inf, self.available_hours * HOUR_S)
            if candidate.sure_s <= limit_s:
                timeds.append(
                    Timed(
                        job=job.called,
                        ipus=ipus,
                        time_to_train_s=candidate.time_to_train_s,
                        sure_s=candidate.sure_s,
                        hours=job.runs_per_month * candidate.time_to_train_s.value / HOUR_S,
                        global_batch=candidate.global_batch,
                    )
                )
        return timeds

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

    def notes(self, candidate: MixCandidate) -> tuple[str, ...]:
        """What was assumed of the runs on the partitions of a machine; of one without any, nothing."""
        names = self.machines[candidate.topology].partitions
        runs = {names[job.ipus] for pool in candidate.pools for job in pool.jobs}
        texts = [
            evaluation.notes
            for (_, name), evaluation in self.known.items()
            if name in runs and not isinstance(evaluation, str)
        ]
        return tuple(dict.fromkeys(line for text in texts for line in text))

    def _pools(self, timed: Sequence[Timed]) -> list[Pool]:
        pools = []
        for size in sorted({item.ipus for item in timed}, reverse=True):
            jobs = tuple(item for item in timed if item.ipus == size)
            hours = sum_in_order(job.hours for job in jobs)
            count = job_placement.partitions(hours, self.available_hours)
            pools.append(Pool(ipus=size, partitions=count, jobs=jobs, busy=hours / (count * HOURS_A_MONTH)))
        return pools

    def _paid(self, sized: Sized, pools: tuple[Pool, ...]) -> MixCandidate:
        """The machine with the servers that its hungriest job needs; a month's energy is that of the partitions."""
        topology = sized.topology
        shared = [
            part.question
            for (_, name), evaluation in self.known.items()
            if not isinstance(evaluation, str) and name == sized.partitions[topology.ipus]
            for part in evaluation.parts
        ]
        hosts = max((question.machine.hosts for question in shared), default=topology.hosts.servers)
        terms = self.request.terms
        owned = terms.machine(topology, hosts)
        capital, drawn = owned.capital, owned.draw
        hours = sum_in_order(job.ipus * job.hours for pool in pools for job in pool.jobs) / topology.ipus
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
            power_w=drawn.least_w if drawn else None,
            most_power_w=drawn.most_w if drawn else None,
            owned=owned,
            energy_j=hours * HOUR_S * drawn.least_w * terms.terms.pue if pools and drawn else None,
        )
        figures = {"budget": candidate.most_capital_usd, "power": candidate.most_power_w}
        return replace(candidate, misses=misses(self.request.demand, figures))


def plan(mix: Mix, request: PlanRequest, machines: Sequence[str], on_progress: Progress | None = None) -> MixPlan:
    """The machine that holds a mix; without one `chosen` is None. InputError for machines without IPUs."""
    sizing = Sizing(mix=mix, request=request)
    candidates: list[MixCandidate] = []
    for done, name in enumerate(machines, start=1):
        if has_no_ipus(name):
            raise InputError(
                f"{name} has no IPUs: how jobs share it is not known", code="no-chips", hint="--machines pod64,pod256"
            )
        candidates.append(sizing.candidate(_sized(name)))
        if on_progress:
            on_progress(done, len(machines))
    titles = {job.workload: catalog.workload(job.workload).value.title for job in mix.jobs}
    chosen = best(candidates, request.demand.objective)
    closest = None if chosen else min(candidates, key=_short)
    shown = chosen or closest
    return MixPlan(
        jobs=mix.jobs,
        titles=titles,
        demand=request.demand,
        confidence=request.demand.confidence,
        use=request.terms.terms.use,
        chosen=chosen,
        closest=closest,
        candidates=tuple(candidates),
        excluded=_excluded(sizing.known),
        assumptions=sizing.notes(shown) if shown else (),
        terms=request.terms.terms,
        named=tuple(machines),
    )


def best(candidates: Sequence[MixCandidate], objective: Objective) -> MixCandidate | None:
    """The least by the objective of those that hold every job and meet every demand; None where there is none.

    A machine that is owned costs its capital, whoever uses it.
    """

    def worth(candidate: MixCandidate) -> tuple[float, float]:
        usd = math.inf if candidate.capital_usd is None else candidate.capital_usd
        return {
            Objective.TIME: candidate.hours,
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


def _sized(name: str) -> Sized:
    """A machine with its partitions: the whole, and every usual size below."""
    topology = catalog.topology(name).value
    smaller = {}
    if topology.chip.name in CHIPS:
        smaller = {size: catalog.pod_name(size, topology.chip.name) for size in SIZES if size < topology.ipus}
    return Sized(topology=topology, partitions={**smaller, topology.ipus: name})


def _excluded(known: Known) -> tuple[Excluded, ...]:
    return tuple(
        Excluded(topology=f"{workload} on {name}", reason=why)
        for (workload, name), why in known.items()
        if isinstance(why, str)
    )
