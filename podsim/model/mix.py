"""A customer's jobs, and one machine that holds them on partitions side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from podsim.model.displayable import Displayable
from podsim.model.plan import Demand, Excluded, Miss
from podsim.model.prices import Terms
from podsim.model.quantity import Estimate, Key, Positive, Seconds
from podsim.model.run_cost import Owned
from podsim.model.sums import sum_in_order

MOST_JOBS = 12
HOURS_A_MONTH = 365.25 * 24 / 12
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One workload, how many runs of it a month brings, and the time one may take; None where that is free."""

    workload: str
    runs_per_month: Positive
    within_s: Seconds | None = None
    name: str = ""

    @property
    def called(self) -> str:
        """What to call it: its name, else its workload."""
        return self.name or self.workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The jobs of a month."""

    jobs: Annotated[tuple[Job, ...], Key("job")]

    def __post_init__(self) -> None:
        if not 1 <= len(self.jobs) <= MOST_JOBS:
            raise ValueError(f"job: a mix has from 1 to {MOST_JOBS} jobs")
        called = [job.called for job in self.jobs]
        if len(set(called)) < len(called):
            raise ValueError("job: two are called alike; give one a name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A job on a partition of so many IPUs: one run, the time it stays below as sure as asked, the month's hours."""

    job: str
    ipus: int
    time_to_train_s: Estimate
    sure_s: float
    hours: float
    global_batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Partitions of one size, and the jobs that share them; `busy` is the share of their hours that is used."""

    ipus: int
    partitions: int
    jobs: tuple[Timed, ...]
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MixCandidate:
    """One machine: its partitions, or why it cannot hold the jobs (`reason`); prices and power as of a plan."""

    topology: str
    title: str
    chip: str
    ipus: int
    hosts: int
    pools: tuple[Pool, ...]
    reason: str
    capital_usd: float | None
    most_capital_usd: float | None
    power_w: float | None
    most_power_w: float | None
    owned: Owned
    energy_j: float | None  # of a month: partitions that run draw their share
    misses: tuple[Miss, ...] = ()

    @property
    def used_ipus(self) -> int:
        """IPUs in partitions."""
        return sum(pool.ipus * pool.partitions for pool in self.pools)

    @property
    def hours(self) -> float:
        """Hours of all runs of a month, one after another."""
        return sum_in_order(timed.hours for pool in self.pools for timed in pool.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixPlan(Displayable):
    """Which machine holds a month's jobs; `chosen` is None where none does, and `closest` then what comes nearest.

    `named` are the machines weighed, as the question has them.
    """

    jobs: tuple[Job, ...]
    titles: Mapping[str, str]
    demand: Demand
    confidence: float
    use: float
    chosen: MixCandidate | None
    closest: MixCandidate | None
    candidates: tuple[MixCandidate, ...]
    excluded: tuple[Excluded, ...]
    assumptions: tuple[str, ...]
    terms: Terms
    named: tuple[str, ...]
