"""What is demanded of a machine, the machines that were evaluated, and which of them to take."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from podsim.model.currency import DOLLARS, Currency
from podsim.model.displayable import Displayable
from podsim.model.goodput import GoodputReport
from podsim.model.mapping import Mapping as TrainingMapping
from podsim.model.note import AnswerNote
from podsim.model.prices import Terms
from podsim.model.program import StepTimeline
from podsim.model.quantity import Estimate
from podsim.model.run_cost import MachineOwnership, Rent, TotalCost
from podsim.model.wall_clock import ProgramStart, WallClock
from podsim.planning.competitors import PublishedRun
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse

SLOWER: Final = "not the quickest of their machine"
"""Mappings that were timed and are not shown."""
LIMITS: Final = {"time": "time limit", "budget": "budget", "power": "power limit"}
"""What each demand is called."""


class Deadline(StrEnum):
    """What has to end within the time demanded."""

    TRAINING = "training"  # as MLPerf times it
    WALL_CLOCK = "wall-clock"  # the job from its start: compile, weights to the IPUs, training, the last checkpoint


class Objective(StrEnum):
    """What the best machine has least of: its purchase price is capital, price-performance is capital times time."""

    CAPITAL = "capital"
    TIME = "time"
    COST = "cost"
    ENERGY = "energy"
    PRICE_PERFORMANCE = "price-performance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a machine has to meet; None where nothing is said. `confidence` is that of the time.

    `deadline` says what the time is of, `program` how a job comes by its program.
    """

    within_s: float | None = None
    budget_usd: float | None = None
    most_power_w: float | None = None
    confidence: float = 0.9
    objective: Objective = Objective.CAPITAL
    deadline: Deadline = Deadline.TRAINING
    program: ProgramStart = ProgramStart.FRESH

    @property
    def is_limited(self) -> bool:
        """Whether anything is demanded."""
        return any(limit is not None for limit in (self.within_s, self.budget_usd, self.most_power_w))

    @property
    def quantile(self) -> str:
        """The name of the time below which a run stays with this confidence: "P90"."""
        return f"P{100 * self.confidence:.3g}"

    @property
    def judged_time(self) -> str:
        """The name of the time that is judged: "P90", or "P90 wall clock"."""
        return f"{self.quantile}{' wall clock' if self.deadline is Deadline.WALL_CLOCK else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One demand that a machine does not meet: "time", "budget" or "power"; `found` is None where it is not known."""

    demand: str
    limit: float
    found: float | None

    @property
    def over(self) -> float:
        """By which share the limit is exceeded; infinite where it is not known."""
        return float("inf") if self.found is None else self.found / self.limit - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One machine with its hosts and the mapping that is quickest on it; None where it is not known.

    `sure_s` is the quantile of the time of a run at the confidence asked for, `chance` that it is below the
    time demanded; both are of the wall clock where the deadline is. `wall_clock` is known of the recommended machine,
    and of all where they are judged by it. Power is typical, and the most it is known to be; so is the price where
    quotations differ. `owned` says whose prices and draws these are. Where a run is long enough to see failures inside
    the time demanded, `failures` is what `podsim goodput` says of it, and `finish_s` its mean time to the end with
    them, which `sure_s` and `chance` include.
    """

    topology: str
    title: str
    chip: str
    chips: int
    hosts: int
    mapping: TrainingMapping | None
    global_batch: int
    time_to_train_s: Estimate
    sure_s: float
    chance: float | None
    engine: str
    capital_usd: float | None = None
    most_capital_usd: float | None = None
    power_w: float | None = None
    most_power_w: float | None = None
    owned: MachineOwnership | None = None
    cost_usd: float | None = None
    energy_j: float | None = None
    rent: Rent | None = None
    total: TotalCost | None = None
    million_tokens_usd: float | None = None
    timeline: StepTimeline | None = None
    finish_s: float | None = None
    failures: tuple[GoodputReport, ...] = ()
    wall_clock: WallClock | None = None
    misses: tuple[Miss, ...] = ()
    all_ipus: AnswerNote | None = None  # what all IPUs would do, where some idle because the run is quicker so
    reuse: Reuse | None = None  # what of it is owned already; the purchase is then of the missing part

    @property
    def ipus_used(self) -> int | None:
        """IPUs of its mapping; None where it has none."""
        return None if self.mapping is None else self.mapping.ipus

    @property
    def merits(self) -> tuple[float | None, ...]:
        """What a better machine has less of: time [s], capital [USD], energy [J] and cost [USD] of a run."""
        return self.time_to_train_s.value, self.capital_usd, self.energy_j, self.cost_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change after which a machine meets a demand: `path` from `present` to `needed`.

    `needed` is None where no value is enough; `best` is then the time that remains with as much as was tried [s].
    """

    topology: str
    demand: str
    path: str
    unit: str
    present: float
    needed: float | None
    best: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A machine near the recommended one, and why it is not the answer beside the demands that it misses.

    `roles` say what makes it a neighbour: "owned", "smaller", "larger", "other chip", "cheapest", "fastest". `more` is
    by how much its objective is above that of the recommended machine [USD, s, J or USD s], None where one of the two
    is not known; `dominated_by` names a candidate that is nowhere worse and somewhere better, "" where there is none.
    """

    candidate: Candidate
    roles: tuple[str, ...]
    more: float | None
    dominated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """A candidate, and whether it is Pareto-optimal."""

    candidate: Candidate
    front: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSize:
    """A machine without IPUs at one size, and its published runs."""

    candidate: Candidate
    published: tuple[PublishedRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompetitorSizes:
    """A machine without IPUs that a plan is compared with, at each size with a published result, smallest first.

    `nearest` is the size that a buyer would put beside the recommendation, `published` the runs of each by its name.
    """

    machine: str
    nearest: Candidate
    sizes: tuple[Candidate, ...]
    published: Mapping[str, tuple[PublishedRun, ...]]

    @property
    def published_sizes(self) -> tuple[PublishedSize, ...]:
        """Each size with its runs."""
        return tuple(PublishedSize(candidate=each, published=self.published[each.topology]) for each in self.sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedMachine:
    """A machine that was not evaluated, and why."""

    topology: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan(Displayable):
    """Which machine to take for a workload: the best that meets every demand, or the closest where none does.

    `candidates` are all that were evaluated, by chips; `frontier` are the Pareto-optimal ones. `counts` say how
    many mappings were left out and why. `settled` is the largest change of a step time by event simulation, over so
    many candidates. `named` are the machines tried, as the question has them. `inventory` are machines that are owned
    already, `neighbours` those next to the best one where the question asks why they are not the answer; `with_cache`
    is the machine recommended if the executable is in the cache, where the wall clock is judged and it is another one.
    """

    workload: str
    workload_title: str
    target: str
    run_tokens: float | None  # of a language model
    stated_length: bool  # nothing is to be reached: a run is as long as it is stated to be
    ends_with_samples: bool  # whether `target` is a number of samples
    demand: Demand
    chosen: Candidate | None
    closest: Candidate | None
    candidates: tuple[Candidate, ...]
    frontier: tuple[Candidate, ...]
    near: tuple[Candidate, ...]
    remedies: tuple[Remedy, ...]
    contradiction: str
    excluded: tuple[ExcludedMachine, ...]
    legal: int
    counts: Mapping[str, int]
    settled: tuple[int, float]
    assumptions: tuple[AnswerNote, ...]
    calibration: str
    terms: Terms
    named: tuple[str, ...]
    currency: Currency = DOLLARS
    against: tuple[CompetitorSizes, ...] = ()
    unranked: bool = False  # the objective is known of no machine that meets the demands: the quickest is chosen
    inventory: tuple[OwnedMachines, ...] = ()
    explain: bool = False  # whether the question asks why not its neighbours
    neighbours: tuple[Neighbour, ...] = ()
    with_cache: Candidate | None = None

    @property
    def ranking(self) -> tuple[RankedCandidate, ...]:
        """The candidates, and which are Pareto-optimal."""
        front = {id(candidate) for candidate in self.frontier}
        return tuple(RankedCandidate(candidate=each, front=id(each) in front) for each in self.candidates)
