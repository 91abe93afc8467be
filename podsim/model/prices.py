"""What systems cost and draw, and on what terms they are owned."""

from dataclasses import dataclass, replace
from typing import Annotated

from podsim.model.quantity import Dollars, Key, NotNegative, Positive, SourceKind, Watts, Whole, check_day

SERVER = "server"
"""What price lists call one server that feeds a machine."""
FRESH_MONTHS = 18
"""Months after which a price is told to be old."""


def is_old(date: str, as_of: str) -> bool:
    """Whether a price of that date is more than `FRESH_MONTHS` older than a day; one without a date is not known to be.

    Dates are days, months or years: what is left out of a price's is taken as late, of the day's as early as can be.
    """
    if not date or not as_of:
        return False
    year, month, day = (int(part) for part in (*date.split("-"), *("12", "31")[date.count("-") :]))
    years, months = divmod(month - 1 + FRESH_MONTHS, 12)
    now = tuple(int(part) for part in (*as_of.split("-"), *("01", "01")[as_of.count("-") :]))
    return (year + years, months + 1, day) < now


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One published or derived price of one machine; without `high_usd` it is a single figure.

    `variant_of` names the machine of which this is one of several kinds. `servers` counts those in the price; None: all
    that the machine takes.
    """

    machine: str
    low_usd: Dollars
    high_usd: Dollars | None = None
    date: str = ""
    covers: str = ""
    servers: Whole | None = None
    variant_of: str = ""
    kind: SourceKind = SourceKind.ASSUMED
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_day("date", self.date)
        if self.high_usd is not None and self.high_usd < self.low_usd:
            raise ValueError("high: must be at least low")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRange:
    """From the lowest to the highest quotation of a machine [USD]."""

    low_usd: float
    high_usd: float
    quoted: tuple[Price, ...]

    @property
    def middle_usd(self) -> float:
        """Halfway between the lowest and the highest quotation [USD]."""
        return (self.low_usd + self.high_usd) / 2

    @property
    def is_derived(self) -> bool:
        """Whether none of it is published."""
        return all(price.kind is SourceKind.DERIVED for price in self.quoted)

    @property
    def servers(self) -> int | None:
        """Servers that every quotation includes; None where that is all that the machine takes."""
        server_counts = [price.servers for price in self.quoted if price.servers is not None]
        return min(server_counts, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a machine draws; `chip` where larger machines of that chip are made of it."""

    machine: str
    typical_w: Watts | None = None
    peak_w: Watts | None = None
    chip: str = ""

    def __post_init__(self) -> None:
        if self.typical_w is not None and self.peak_w is not None and self.peak_w < self.typical_w:
            raise ValueError("peak: must be at least typical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a machine is owned: years of life, share of them in use, electricity, its overhead in the hall."""

    years: Positive
    use: Positive
    usd_per_kwh: NotNegative
    pue: Positive

    def __post_init__(self) -> None:
        if self.use > 1:
            raise ValueError("use: must be at most 1")
        if self.pue < 1:
            raise ValueError("pue: must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """Prices and powers of machines, and terms; a list may have any of them.

    `as_of` is the day, month or year at which ages of prices are reckoned.
    """

    prices: Annotated[tuple[Price, ...], Key("price")] = ()
    powers: Annotated[tuple[Power, ...], Key("power")] = ()
    terms: Terms | None = None
    as_of: str = ""

    def __post_init__(self) -> None:
        check_day("as_of", self.as_of)

    def of(self, machine: str) -> PriceRange | None:
        """What a machine costs, over all of its variants; None where it is not known, or for no name."""
        quotations = tuple(price for price in self.prices if machine and machine in (price.machine, price.variant_of))
        if not quotations:
            return None
        highs = [price.high_usd or price.low_usd for price in quotations]
        return PriceRange(low_usd=min(price.low_usd for price in quotations), high_usd=max(highs), quoted=quotations)

    def power(self, machine: str) -> Power | None:
        """What a machine draws; None where it is not known."""
        return next((power for power in self.powers if power.machine == machine), None)

    def unit(self, chip: str) -> str:
        """The machine that larger machines of a chip are made of; "" where it is not known."""
        return next((power.machine for power in self.powers if power.chip == chip), "")

    def over(self, other: "PriceList") -> "PriceList":
        """What this list says, and of another what this one is silent on."""
        priced_names = {name for price in self.prices for name in (price.machine, price.variant_of) if name}
        prices = (price for price in other.prices if not priced_names & {price.machine, price.variant_of})
        powers = tuple(self._with_chip(power, other) for power in self.powers)
        machines = {power.machine for power in powers}
        more = (power for power in other.powers if power.machine not in machines)
        return PriceList(
            prices=(*self.prices, *prices),
            powers=(*powers, *more),
            terms=self.terms or other.terms,
            as_of=self.as_of or other.as_of,
        )

    @staticmethod
    def _with_chip(power: Power, other: "PriceList") -> Power:
        other_power = other.power(power.machine)
        return replace(power, chip=other_power.chip) if other_power and not power.chip else power
