"""What a machine and a run on it cost."""

from dataclasses import dataclass

from podsim.model.prices import Terms
from podsim.model.quantity import Estimate

HOUR_S = 3600.0
YEAR_S = 365.25 * 86400.0
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

    `basis` says whose price that is, `sources` each document behind it with its date: "crn-2020, 2020-07".
    """

    usd: Range
    derived: bool
    basis: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What a machine draws with its servers [W]: typically, and at its peak; None where nobody says."""

    typical_w: float | None
    peak_w: float | None
    basis: str

    @property
    def least_w(self) -> float:
        """The typical draw, or the peak where that is all that is known [W]."""
        known = self.typical_w if self.typical_w is not None else self.peak_w
        assert known is not None, "a draw has one of the two"
        return known

    @property
    def most_w(self) -> float:
        """The peak, or the typical draw where that is all that is known [W]."""
        return self.peak_w if self.peak_w is not None else self.least_w


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """What a machine costs and draws; None where nobody says."""

    capital: Capital | None
    draw: Draw | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rent:
    """Renting a like machine instead: from how many hours of use on owning is cheaper (Eq. 62).

    `use` is that of the years of life, None where owning never is.
    """

    usd_per_hour: float
    run_usd: Estimate
    break_even_hours: float | None
    break_even_use: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What a machine and a run on it cost on these terms; None where price or power is not known."""

    terms: Terms
    owned: Owned
    capital_usd: Estimate | None  # of one run
    energy_j: Estimate | None
    energy_usd: Estimate | None
    run_usd: Estimate | None
    rent: Rent | None = None


def per_dollar(seconds: float, usd: float, base_s: float, base_usd: float) -> float:
    """Performance per dollar over that of a baseline: one over time and price (Eq. 61)."""
    return base_s * base_usd / (seconds * usd)
