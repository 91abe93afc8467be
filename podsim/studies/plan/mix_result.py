"""One machine for the jobs of a month: partitions side by side, and machines that hold them."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.currency import DOLLARS, Currency
from podsim.model.displayable import Displayable
from podsim.model.mix import Job
from podsim.model.note import AnswerNote
from podsim.model.prices import Terms
from podsim.model.quantity import Estimate
from podsim.model.run_cost import Capital, MachineOwnership
from podsim.model.sums import sum_in_order
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse
from podsim.studies.plan.result import Demand, ExcludedMachine, Miss


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTime:
    """A job on a partition of so many IPUs: time of a run, its quantile, hours in a month."""

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
    jobs: tuple[JobTime, ...]
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRuns:
    """How many of the runs that a month brings of a job fit; `quick` is false where no partition meets its deadline."""

    job: str
    priority: int | None
    runs: float
    runs_per_month: float
    quick: bool

    @property
    def short(self) -> bool:
        """Whether some runs do not fit."""
        return self.runs < self.runs_per_month


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What fits on a machine that cannot hold all jobs: the jobs by priority, and the partitions of their runs."""

    jobs: tuple[JobRuns, ...]
    pools: tuple[Pool, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the runs of each job that fit, by priority."""
        return tuple(job.runs / job.runs_per_month for job in self.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixCandidate:
    """One machine: the partitions that all jobs need, or why it cannot hold them (`reason`); prices as of a plan."""

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
    owned: MachineOwnership
    energy_j: float | None  # of a month: partitions that run draw their share
    misses: tuple[Miss, ...] = ()
    rent_month_usd: float | None = None  # of the hours that partitions run; None without a rent of an IPU
    month: Month | None = None  # what fits by priority; None where all jobs do
    reuse: Reuse | None = None  # what of it is owned already; the purchase is then of the missing part

    @property
    def used_ipus(self) -> int:
        """IPUs in partitions."""
        return sum(pool.ipus * pool.partitions for pool in self.pools)

    @property
    def hours(self) -> float:
        """Hours of all runs of a month, one after another."""
        return sum_in_order(job_time.hours for pool in self.pools for job_time in pool.jobs)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMachines:
    """Owned machines of one kind as they stand, filled by priority with what those before them left.

    `bought_hosts` are servers that they lack in all, `capital` what these cost, None where that is not known; power is
    that of all of them.
    """

    machines: OwnedMachines
    month: Month
    bought_hosts: int
    capital: Capital | None
    power_w: float | None
    most_power_w: float | None

    @property
    def capital_usd(self) -> float | None:
        """What the servers cost [USD]."""
        return self.capital.usd.value if self.capital else None

    @property
    def most_capital_usd(self) -> float | None:
        """What they cost at most [USD]."""
        return self.capital.usd.high if self.capital else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MixSplit:
    """Owned machines that keep what they hold, and one that is bought for the rest; None where nothing is left."""

    added: MixCandidate | None
    jobs: tuple[Job, ...]  # with the runs that are left for it
    capital_usd: float
    most_capital_usd: float
    power_w: float | None
    most_power_w: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MixPlan(Displayable):
    """Which machine holds a month's jobs; `chosen` is None where none does, and `closest` then what comes nearest.

    `named` are the machines tried, as the question has them. `inventory` are machines that are owned already, `kept`
    what each of them holds as it stands. `split` is there where keeping these and buying one for the rest meets every
    demand and is cheaper than one machine for all jobs, or no one machine does. `cheaper` is there where jobs have
    priorities: of the machines that cost less than the chosen one and do not hold all jobs, the one that holds most.
    """

    jobs: tuple[Job, ...]
    titles: Mapping[str, str]
    demand: Demand
    confidence: float
    use: float
    chosen: MixCandidate | None
    closest: MixCandidate | None
    candidates: tuple[MixCandidate, ...]
    excluded: tuple[ExcludedMachine, ...]
    assumptions: tuple[AnswerNote, ...]
    terms: Terms
    named: tuple[str, ...]
    currency: Currency = DOLLARS
    inventory: tuple[OwnedMachines, ...] = ()
    kept: tuple[KeptMachines, ...] = ()
    split: MixSplit | None = None
    cheaper: MixCandidate | None = None
