"""What systems cost."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.quantity import Dollars, Key, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One published or derived price of one machine; without `high_usd` it is a single figure."""

    machine: str
    low_usd: Dollars
    high_usd: Dollars | None = None
    date: str
    covers: str
    kind: SourceKind
    source: str
    note: str = ""

    def __post_init__(self) -> None:
        if self.high_usd is not None and self.high_usd < self.low_usd:
            raise ValueError("high: must be at least low")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRange:
    """From the lowest to the highest quotation of a machine [USD]."""

    low_usd: float
    high_usd: float
    quoted: tuple[Price, ...]

    @property
    def derived(self) -> bool:
        """Whether nobody published any of it."""
        return all(price.kind is SourceKind.DERIVED for price in self.quoted)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """All prices."""

    prices: Annotated[tuple[Price, ...], Key("price")]

    def of(self, machine: str) -> PriceRange | None:
        """What a machine costs; None where nobody says."""
        quoted = tuple(price for price in self.prices if price.machine == machine)
        if not quoted:
            return None
        highs = [price.high_usd or price.low_usd for price in quoted]
        return PriceRange(low_usd=min(price.low_usd for price in quoted), high_usd=max(highs), quoted=quoted)
