"""A price list and terms of owning, read once for any number of machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from podsim.errors import InputError
from podsim.files import prices
from podsim.model.run_cost import Owned
from podsim.planning import run_cost as counting

if TYPE_CHECKING:  # most answers are given without money, and what counts it is loaded when it is asked for
    from podsim.model.comparator import ComparatorMachine
    from podsim.model.fabric import Topology
    from podsim.model.prices import PriceList, Terms
    from podsim.model.quantity import Estimate
    from podsim.model.run_cost import Money

FLAGS = {"years": "years", "use": "use", "usd_per_kwh": "kwh_price", "pue": "pue"}


class OwnershipKeywords(TypedDict, total=False):
    """On what terms a machine is owned, as the flags of the same names; whatever is left out is as the list has it."""

    prices: str | Path | None
    years: float | None
    use: float | None
    kwh_price: float | None
    pue: float | None
    rent_per_hour: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipTerms:
    """Prices, terms, and a rent to hold owning against."""

    prices: PriceList
    terms: Terms
    rent_usd_per_hour: float | None = None

    def machine(self, topology: Topology, hosts: int, *, changed: bool = False) -> Owned:
        """What a machine of IPUs costs and draws; `changed` where its price or power was set by hand."""
        return Owned(
            capital=counting.capital(topology, hosts, self.prices, changed=changed),
            draw=counting.draw(topology, hosts, self.prices, changed=changed),
        )

    def comparator(self, machine: ComparatorMachine, chips: int) -> Owned:
        """What a machine without IPUs costs and draws."""
        return Owned(
            capital=counting.comparator_capital(machine, chips, self.prices),
            draw=counting.comparator_draw(machine, chips, self.prices),
        )

    def run(self, time: Estimate, owned: Owned) -> Money:
        """What a run of so long on a machine costs."""
        return counting.money(time, owned, self.terms, rent_usd_per_hour=self.rent_usd_per_hour)


def purse(**flags: Unpack[OwnershipKeywords]) -> OwnershipTerms:
    """The purse that flags mean; InputError for a price list with faults."""
    own, rent = flags.get("prices"), flags.get("rent_per_hour")
    result = prices.prices(Path(own) if own is not None else None)
    return OwnershipTerms(prices=result, terms=_terms(prices.terms(result), flags), rent_usd_per_hour=rent)


def no_rent(usd_per_hour: float | None) -> None:
    """Raise InputError for a rent, which is that of one machine, where several are asked for."""
    if usd_per_hour is not None:
        raise InputError(
            "--rent-per-hour is that of one machine, and these differ in size",
            code="conflicting-flags",
            hint="podsim predict bert --pod 64 --rent-per-hour 120",
        )


def _terms(listed: Terms, flags: OwnershipKeywords) -> Terms:
    """The terms of the list, with those that flags state."""
    stated = {name: value for name, flag in FLAGS.items() if (value := flags.get(flag)) is not None}
    return replace(listed, **stated)  # type: ignore[arg-type]
