"""What is demanded of machines that serve, the machines that were evaluated, and which of them to buy."""

from dataclasses import dataclass

from podsim.model.currency import DOLLARS, Currency
from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote
from podsim.model.prices import Terms
from podsim.model.quantity import Grade
from podsim.model.run_cost import MachineOwnership, ServiceCost
from podsim.planning.serving_rate import LatencyLimits, QueuedService
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse
from podsim.studies.plan.result import ExcludedMachine, Miss, Objective


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingDemand:
    """What machines have to meet: a rate of requests [1/s] and latencies; None where nothing is said.

    `tokens_per_s` is the rate as it was asked for, of generated tokens. Room to grow is a share of the rate, `spares`
    are machines that may fail, `confidence` is that of service times, `variation` their spread over their mean.
    """

    rate_per_s: float
    limits: LatencyLimits
    tokens_per_s: float | None = None
    generate: int = 0
    prompt: int | None = None
    headroom: float = 0.0
    spares: int = 0
    budget_usd: float | None = None
    most_power_w: float | None = None
    confidence: float = 0.9
    variation: float = 0.0
    objective: Objective = Objective.CAPITAL

    @property
    def needed_per_s(self) -> float:
        """The rate with room to grow [1/s]."""
        return self.rate_per_s * (1 + self.headroom)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Requests at a rate of one machine, simulated: P99 of the answer and of the first token [s].

    Both are None at the capacity or beyond it, where a queue has no end. `meets` is whether the limits hold.
    """

    rate_per_s: float
    requests: int
    p99_s: float | None
    ttft_s: float | None
    meets: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingCandidate:
    """So many machines of one kind that serve, each with a queue of its own, and the batch that serves most.

    `holds_per_s` is the largest rate of all of them within the latencies, with the confidence asked for; spare machines
    are not counted. `expected_per_s` is the same at expected service times, of the machines to buy. `batch` is what a
    batch takes with that confidence, `slower` how many times the expected. `p99_s` and `ttft_s` are those at the rate
    demanded, of all machines; where no rate is held, at the one demanded or half the capacity of one, whichever is
    less; `busy` and `filled` likewise. Money and power are those of all machines.
    """

    topology: str
    title: str
    chip: str
    ipus: int
    hosts: int  # of one machine
    other_hosts: bool  # than usual
    machines: int
    spares: int
    replicas: int  # of one machine
    ipus_per_replica: int
    batch: QueuedService
    slower: float
    grade: Grade
    each_per_s: float  # the largest rate of one machine; 0 where none is held
    expected_each_per_s: float | None
    load_per_s: float  # of one machine, at which latencies are shown
    p99_s: float
    ttft_s: float | None
    busy: float
    filled: float
    owned: MachineOwnership
    cost: ServiceCost | None
    capital_usd: float | None
    most_capital_usd: float | None
    power_w: float | None
    most_power_w: float | None
    misses: tuple[Miss, ...] = ()
    reuse: Reuse | None = None  # which of them are owned already; the price is then of the others

    @property
    def holds_per_s(self) -> float:
        """The largest rate of all machines but the spare ones [1/s]."""
        return (self.machines - self.spares) * self.each_per_s

    @property
    def expected_per_s(self) -> float | None:
        """The same at expected service times [1/s]; None where it was not searched."""
        each_per_s = self.expected_each_per_s
        return None if each_per_s is None else (self.machines - self.spares) * each_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingChange:
    """One change of the question after which a machine meets a demand: `what` from `present` to `needed`."""

    topology: str
    demand: str
    what: str
    present: float
    needed: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServingPlan(Displayable):
    """Which machines to buy to serve a workload: the best that meet every demand, or the closest where none does.

    `candidates` are all that were tried, by price; `checks` are trials of the machine chosen just below and above the
    largest rate that it holds, with other arrivals.
    """

    workload: str
    workload_title: str
    row: str
    demand: ServingDemand
    chosen: ServingCandidate | None
    closest: ServingCandidate | None
    candidates: tuple[ServingCandidate, ...]
    near: tuple[ServingCandidate, ...]
    changes: tuple[ServingChange, ...]
    checks: tuple[Trial, ...]
    excluded: tuple[ExcludedMachine, ...]
    assumptions: tuple[AnswerNote, ...]
    calibration: str
    terms: Terms
    named: tuple[str, ...]
    currency: Currency = DOLLARS
    inventory: tuple[OwnedMachines, ...] = ()
