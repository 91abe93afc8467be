"""What a machine and a run on it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from podsim.model.currency import DOLLARS, Currency
from podsim.model.prices import Terms
from podsim.model.quantity import Estimate

HOUR_S = 3600.0
YEAR_S = 365.25 * 86400.0
MONTH_S = YEAR_S / 12
J_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A quantity of which no more is known than its ends; `value` lies between them."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Capital:
    """What a machine costs with the servers that feed it [USD].

    `basis` says whose price that is, `sources` each document behind it with its date: "crn-2020, 2020-07". `dates` are
    those of the prices, `old` the ones more than 18 months before the day that ages are reckoned at. `given` says that
    every price is the user's.
    """

    usd: Range
    derived: bool
    basis: str
    sources: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    given: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What a machine draws with its servers [W]: typically, and at its peak; None where it is not known.

    Where it is predicted from what IPUs do in a step, `predicted` has the mean of the step, which `typical_w` is then,
    with its 90 % interval, and `loads` what it is drawn for [W].
    """

    typical_w: float | None
    peak_w: float | None
    basis: str
    predicted: Range | None = None
    loads: Mapping[str, float] = field(default_factory=dict)
    energies_of: str = ""  # the chip whose energies are assumed for this one; "" where its own are known

    @property
    def low_w(self) -> float:
        """The low end of the power in a step, or the one figure that is known [W]."""
        return self.predicted.low if self.predicted else self.least_w

    @property
    def least_w(self) -> float:
        """The power in a step or the typical one, or the peak where that is all that is known [W]."""
        power_w = self.typical_w if self.typical_w is not None else self.peak_w
        assert power_w is not None, "a draw has one of the two"
        return power_w

    @property
    def most_w(self) -> float:
        """The high end of the power in a step; else the peak, or the typical draw where no peak is known [W]."""
        if self.predicted:
            return self.predicted.high
        return self.peak_w if self.peak_w is not None else self.least_w

    def energy_j(self, seconds: float, pue: float) -> Range:
        """Energy of so long with its overhead in the hall (Eq. 61) [J].

        At the power in a step with its interval; at typical power where that is not known, from there to the peak.
        """
        value, low, high = (watts * pue * seconds for watts in (self.least_w, self.low_w, self.most_w))
        return Range(value=value, low=low, high=high)

    def electricity_usd(self, seconds: float, terms: Terms) -> Range:
        """The price of that energy (Eq. 61) [USD]."""
        energy = self.energy_j(seconds, terms.pue)
        each = (joules / J_PER_KWH * terms.usd_per_kwh for joules in (energy.value, energy.low, energy.high))
        value, low, high = each
        return Range(value=value, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineOwnership:
    """What a machine costs and draws; None where it is not known. One without IPUs has none, and no hosts apart."""

    capital: Capital | None
    draw: Draw | None
    ipus: int = 0
    hosts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rent:
    """Renting a like machine instead: from how many hours of use on owning is cheaper (Eq. 62).

    `use` is that of the years of life, None where owning never is; months are those of the utilisation stated.
    `usd_per_ipu_hour` is None where the rent is that of the whole machine.
    """

    usd_per_hour: float
    run_usd: Estimate
    break_even_hours: float | None
    break_even_use: float | None
    break_even_months: float | None
    usd_per_ipu_hour: float | None = None


class AssumptionGrade(StrEnum):
    """Where a number behind a cost is from."""

    GIVEN = "given"
    PUBLISHED = "published"
    DERIVED = "derived"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAssumption:
    """One number behind a total cost: what it is, in which unit, where it is from."""

    name: str
    value: float
    unit: str
    grade: AssumptionGrade


@dataclass(frozen=True, slots=True, kw_only=True)
class CostYear:
    """Owning a machine up to the end of a year: hours in use so far, electricity and total so far [USD].

    `rent_usd` is what renting it for these hours costs, None without a rent.
    """

    year: float
    use_hours: float
    energy_usd: Range
    total_usd: Range
    rent_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalCost:
    """Total cost of ownership over the years of life [USD]: purchase and electricity, year by year (Eq. 61)."""

    usd: Range
    purchase_usd: Range
    energy_usd: Range
    years: tuple[CostYear, ...]
    assumptions: tuple[CostAssumption, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCost:
    """What serving costs [USD a million], its share of the machine and energy while it serves (Eq. 61).

    `request` is at the load of the question, `request_full` with every batch full, `token` of generated tokens at the
    load, None where none are; `rented` is a request at the load on a rented machine, None without a rent.
    """

    owned: MachineOwnership
    terms: Terms
    currency: Currency
    hour_usd: Range
    request: Estimate
    request_full: Estimate
    token: Estimate | None
    rented: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPace:
    """How long a weight update takes, and a sample in training [s]."""

    step_s: Estimate
    sample_s: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What a machine and a run on it cost on these terms; None where price or power is not known.

    Energies include cooling (PUE).
    """

    terms: Terms
    owned: MachineOwnership
    capital_usd: Estimate | None  # of one run
    energy_j: Estimate | None
    energy_usd: Estimate | None
    run_usd: Estimate | None
    rent: Rent | None = None
    total: TotalCost | None = None
    million_tokens_usd: Estimate | None = None  # of a language model that is trained
    step_j: Estimate | None = None  # of one weight update
    sample_j: Estimate | None = None
    currency: Currency = DOLLARS


def per_dollar(seconds: float, usd: float, base_s: float, base_usd: float) -> float:
    """Performance per dollar over that of a baseline: one over time and price (Eq. 61)."""
    return base_s * base_usd / (seconds * usd)
