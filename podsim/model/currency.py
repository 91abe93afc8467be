"""The money in which costs are shown, at a rate that the user types."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency by its three letters, and how much of it one US dollar is."""

    code: str = "USD"
    per_usd: float = 1.0

    def of(self, usd: float) -> float:
        """So many US dollars in this currency."""
        return usd * self.per_usd

    def usd(self, amount: float) -> float:
        """An amount of this currency in US dollars [USD]."""
        return amount / self.per_usd

    @property
    def sign(self) -> str:
        """What stands before an amount: "$" for US dollars, else the letters and a space."""
        return "$" if self.code == "USD" else f"{self.code} "


DOLLARS: Final = Currency()
