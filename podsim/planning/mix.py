"""One machine for a customer's jobs, on partitions side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.model.mix import HOUR_S, HOURS_A_MONTH, Job, Mix, MixCandidate, MixPlan, Pool, Timed
from podsim.model.plan import Excluded, Objective
from podsim.model.sums import sum_in_order
from podsim.planning import packing, runs
from podsim.planning.plan import CHIPS, SIZES
from podsim.planning.weighing import Asked, Progress, Scale, Weighed, has_no_ipus, misses

if TYPE_CHECKING:
    from podsim.model.fabric import Topology

Known = dict[tuple[str, str], "Weighed | str"]
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
    asked: Asked  # its scenario is of no job
    known: Known = field(default_factory=dict)

    @property
    def available_hours(self) -> float:
        """Hours a month that a partition runs at most."""
        return HOURS_A_MONTH * self.asked.purse.terms.use

    def candidate(self, sized: Sized) -> MixCandidate:
        """The machine with the partitions that the jobs need, or why it cannot hold them."""
        timed = [self._timed(job, sized) for job in self.mix.jobs]
        chosen = packing.fewest([{one.ipus: one.hours for one in rows} for rows in timed], self.available_hours)
        pools: tuple[Pool, ...] = ()
        if chosen:
            pools = tuple(self._pools([
                next(one for one in rows if one.ipus == size) for rows, size in zip(timed, chosen, strict=True)
            ]))  # fmt: skip
        found = self._paid(sized.topology, pools)
        late = [job.called for job, rows in zip(self.mix.jobs, timed, strict=True) if not rows]
        if late:
            return replace(found, reason=f"no partition is quick enough for {', '.join(late)}")
        if found.used_ipus > found.ipus:
            return replace(found, reason=f"partitions of {found.used_ipus:,} IPUs are needed")
        return found

    def _timed(self, job: Job, sized: Sized) -> list[Timed]:
        """The job on each size of partition that meets its deadline and ends within a month."""
        found = []
        for ipus, name in sized.partitions.items():
            weighed = self._weighed(job, name)
            if isinstance(weighed, str):
                continue
            one = weighed.candidate
            limit_s = min(job.within_s or math.inf, self.available_hours * HOUR_S)
            if one.sure_s <= limit_s:
                found.append(Timed(
                    job=job.called, ipus=ipus, time_to_train_s=one.time_to_train_s, sure_s=one.sure_s,
                    hours=job.runs_per_month * one.time_to_train_s.value / HOUR_S, global_batch=one.global_batch,
                ))  # fmt: skip
        return found

    def _weighed(self, job: Job, name: str) -> Weighed | str:
        key = job.workload, name
        if key not in self.known:
            scenario = replace(self.asked.scenario, workload=job.workload)
            scale = Scale(asked=replace(self.asked, scenario=scenario), run=runs.run(job.workload))
            try:
                self.known[key] = next(iter(scale.machine(name)))
            except (Infeasible, MissingParameter) as no:
                self.known[key] = no.message
        return self.known[key]

    def said(self, one: MixCandidate) -> tuple[str, ...]:
        """What was assumed of the runs on the partitions of a machine; of one without any, nothing."""
        names = _sized(one.topology).partitions
        runs = {names[job.ipus] for pool in one.pools for job in pool.jobs}
        found = [weighed.said for (_, name), weighed in self.known.items()
                 if name in runs and not isinstance(weighed, str)]  # fmt: skip
        return tuple(dict.fromkeys(line for said in found for line in said))

    def _pools(self, timed: Sequence[Timed]) -> list[Pool]:
        found = []
        for size in sorted({one.ipus for one in timed}, reverse=True):
            jobs = tuple(one for one in timed if one.ipus == size)
            hours = sum_in_order(one.hours for one in jobs)
            count = packing.partitions(hours, self.available_hours)
            found.append(Pool(ipus=size, partitions=count, jobs=jobs, busy=hours / (count * HOURS_A_MONTH)))
        return found

    def _paid(self, topology: Topology, pools: tuple[Pool, ...]) -> MixCandidate:
        """The machine with the servers that its hungriest job needs; a month's energy is that of the partitions."""
        shared = [part.question for (_, name), weighed in self.known.items()
                  if not isinstance(weighed, str) and name == topology.name for part in weighed.parts]  # fmt: skip
        hosts = max((question.machine.hosts for question in shared), default=topology.hosts.servers)
        purse = self.asked.purse
        owned = purse.machine(topology, hosts)
        capital, drawn = owned.capital, owned.draw
        hours = sum_in_order(one.ipus * one.hours for pool in pools for one in pool.jobs) / topology.ipus
        found = MixCandidate(
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
            energy_j=hours * HOUR_S * drawn.least_w * purse.terms.pue if pools and drawn else None,
        )
        figures = {"budget": found.most_capital_usd, "power": found.most_power_w}
        return replace(found, misses=misses(self.asked.demand, figures))


def plan(mix: Mix, asked: Asked, machines: Sequence[str], on_progress: Progress | None = None) -> MixPlan:
    """The machine that holds a mix; without one `chosen` is None. InputError for machines without IPUs."""
    from podsim.files import catalog

    sizing = Sizing(mix=mix, asked=asked)
    candidates: list[MixCandidate] = []
    for done, name in enumerate(machines, start=1):
        if has_no_ipus(name):
            raise InputError(f"{name} has no IPUs: how jobs share it is not known", code="no-chips",
                             hint="--machines pod64,pod256")  # fmt: skip
        candidates.append(sizing.candidate(_sized(name)))
        if on_progress:
            on_progress(done, len(machines))
    titles = {job.workload: catalog.workload(job.workload).value.title for job in mix.jobs}
    chosen = best(candidates, asked.demand.objective)
    closest = None if chosen else min(candidates, key=_short)
    shown = chosen or closest
    return MixPlan(
        jobs=mix.jobs, titles=titles, demand=asked.demand, confidence=asked.demand.confidence,
        use=asked.purse.terms.use, chosen=chosen, closest=closest,
        candidates=tuple(candidates), excluded=_excluded(sizing.known), assumptions=sizing.said(shown) if shown else (),
        terms=asked.purse.terms, named=tuple(machines),
    )  # fmt: skip


def best(candidates: Sequence[MixCandidate], objective: Objective) -> MixCandidate | None:
    """The least by the objective of those that hold every job and meet every demand; None where there is none.

    A machine that is owned costs its capital, whoever uses it.
    """

    def worth(one: MixCandidate) -> tuple[float, float]:
        usd = math.inf if one.capital_usd is None else one.capital_usd
        return {
            Objective.TIME: one.hours,
            Objective.COST: usd,
            Objective.ENERGY: math.inf if one.energy_j is None else one.energy_j,
            Objective.PRICE_PERFORMANCE: usd * one.hours,
        }[objective], usd

    holding = [one for one in candidates if not one.reason and not one.misses]
    return min(holding, key=worth, default=None)


def _short(one: MixCandidate) -> tuple[bool, float]:
    """How far a machine is from holding the jobs: not at all, by its IPUs, or by its price and power."""
    over = max((miss.over for miss in one.misses), default=0.0)
    return not one.pools, max(over, one.used_ipus / one.ipus - 1, 0.0)


def _sized(name: str) -> Sized:
    """A machine with its partitions: the whole, and every usual size below."""
    from podsim.files import catalog

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
