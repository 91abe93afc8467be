"""What is demanded of a machine, the machines that were weighed, and which of them to take."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.mapping import Mapping as TrainingMapping
from podsim.model.prices import Terms
from podsim.model.program import StepTimeline
from podsim.model.quantity import Estimate
from podsim.model.run_cost import Owned, Rent


class Objective(StrEnum):
    """What the best machine has least of; price-performance is capital times time."""

    TIME = "time"
    COST = "cost"
    ENERGY = "energy"
    PRICE_PERFORMANCE = "price-performance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What a machine has to meet; None where nothing is said. `confidence` is that of the time."""

    within_s: float | None = None
    budget_usd: float | None = None
    most_power_w: float | None = None
    confidence: float = 0.9
    objective: Objective = Objective.COST


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """One demand that a machine does not meet: "time", "budget" or "power"; `found` is None where nobody knows it."""

    demand: str
    limit: float
    found: float | None

    @property
    def over(self) -> float:
        """By which share the limit is exceeded; infinite where nobody knows."""
        return float("inf") if self.found is None else self.found / self.limit - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One machine with its hosts and the mapping that is quickest on it; None where nobody knows.

    `sure_s` is the time that a run stays below with the confidence asked for, `chance` that it stays below the
    time demanded. Power is typical, and the most it is known to be; so is the price where quotations differ.
    `owned` says whose prices and draws these are.
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
    owned: Owned | None = None
    cost_usd: float | None = None
    energy_j: float | None = None
    rent: Rent | None = None
    timeline: StepTimeline | None = None
    misses: tuple[Miss, ...] = ()

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
class Excluded:
    """A machine that was not weighed, and why."""

    topology: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Displayable):
    """Which machine to take for a workload: the best that meets every demand, or the closest where none does.

    `candidates` are all that were weighed, by chips; `frontier` are those that no other betters. `counts` say how
    many mappings were left out and why. `settled` is the largest change of a step time by the event engine, over so
    many candidates. `named` are the machines weighed, as the question has them.
    """

    workload: str
    workload_title: str
    target: str
    stated_length: bool  # nothing is to be reached: a run is as long as it is stated to be
    demand: Demand
    chosen: Candidate | None
    closest: Candidate | None
    candidates: tuple[Candidate, ...]
    frontier: tuple[Candidate, ...]
    near: tuple[Candidate, ...]
    remedies: tuple[Remedy, ...]
    contradiction: str
    excluded: tuple[Excluded, ...]
    legal: int
    counts: Mapping[str, int]
    settled: tuple[int, float]
    assumptions: tuple[str, ...]
    calibration: str
    terms: Terms
    named: tuple[str, ...]
