"""A price list and terms of owning, read once for any number of machines."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from podsim.errors import InputError
from podsim.files import prices_file
from podsim.model.currency import DOLLARS, Currency
from podsim.model.prices import PriceList
from podsim.model.quantity import check_day
from podsim.model.run_cost import MachineOwnership
from podsim.planning import machine_cost as counting

if TYPE_CHECKING:  # most answers are given without money, and what counts it is loaded when it is asked for
    from collections.abc import Iterable

    from podsim.model.activity import StepActivity
    from podsim.model.comparator import ComparatorMachine
    from podsim.model.fabric import Topology
    from podsim.model.prices import Terms
    from podsim.model.quantity import Estimate
    from podsim.model.run_cost import Capital, Money, ServiceCost, TrainingPace

FLAGS = {"years": "years", "use": "use", "usd_per_kwh": "kwh_price", "pue": "pue"}
RATE: Final = re.compile(r"([A-Za-z]{3})\s*=\s*(\d{1,9}(?:\.\d{1,12})?|\.\d{1,12})", re.ASCII)
EXAMPLE: Final = "--currency EUR=0.92"


class OwnershipKeywords(TypedDict, total=False):
    """On what terms a machine is owned, as the flags of the same names; whatever is left out is as the list has it."""

    prices: str | Path | None
    machine_price: float | None
    years: float | None
    use: float | None
    kwh_price: float | None
    pue: float | None
    rent_per_hour: float | None
    rent_per_ipu_hour: float | None
    as_of: str | None
    currency: str | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OwnershipTerms:
    """Prices, terms, which of them the user stated, a currency to show, and a rent to hold owning against.

    `machine_usd` is what an IPU-Machine costs by the user's own word [USD].
    """

    prices: PriceList
    machine_usd: float | None = None
    terms: Terms
    given: frozenset[str] = frozenset()
    rent_usd_per_hour: float | None = None
    rent_usd_per_ipu_hour: float | None = None
    currency: Currency = DOLLARS

    def __repr__(self) -> str:
        """The terms: of the prices each would be listed."""
        rent = "" if self.rent_usd_per_hour is None else f", rent of {self.rent_usd_per_hour:g} USD an hour"
        return f"OwnershipTerms({self.terms.years:g} years at {100 * self.terms.use:g} % use{rent})"

    def machine(self, topology: Topology, hosts: int, *, activity: StepActivity | None = None) -> MachineOwnership:
        """What a machine of IPUs costs, and draws in a step of that activity, or typically where none is given.

        A price or power that the user states of the machine counts in place of published ones.
        """
        return MachineOwnership(
            capital=counting.capital(
                topology, hosts, self.prices, machine_usd=self.machine_usd, currency=self.currency
            ),
            draw=counting.draw(topology, hosts, self.prices, activity=activity),
            ipus=topology.ipus,
            hosts=hosts,
        )

    def servers(self, count: int) -> Capital | None:
        """What servers cost without the machine that they feed; None where that is not published."""
        return counting.server_capital(count, self.prices, self.currency)

    def comparator(self, machine: ComparatorMachine, chips: int) -> MachineOwnership:
        """What a machine without IPUs costs and draws."""
        return MachineOwnership(
            capital=counting.comparator_capital(machine, chips, self.prices),
            draw=counting.comparator_draw(machine, chips, self.prices),
        )

    def run(
        self, time: Estimate, ownership: MachineOwnership, tokens: float | None = None, pace: TrainingPace | None = None
    ) -> Money:
        """What a run of so long on a machine costs, and where its pace is given a step and a sample.

        `tokens` are those that a language model is trained on.
        """
        return counting.money(
            time,
            ownership,
            self.terms,
            hourly_usd=self.hourly_usd(ownership),
            stated_terms=self.given,
            tokens=tokens,
            pace=pace,
            currency=self.currency,
        )

    def service(
        self, ownership: MachineOwnership, load_per_s: float, capacity_per_s: Estimate, tokens_per_request: int = 0
    ) -> ServiceCost | None:
        """What a million requests cost on a machine that serves so many a second; None without price or power."""
        return counting.service(
            ownership,
            self.terms,
            load_per_s=load_per_s,
            capacity_per_s=capacity_per_s,
            tokens_per_request=tokens_per_request,
            hourly_usd=self.hourly_usd(ownership),
            currency=self.currency,
        )

    def hourly_usd(self, ownership: MachineOwnership) -> float | None:
        """The rent of a machine [USD/h]; None where none is stated, or only one for each IPU of which it has none."""
        if self.rent_usd_per_ipu_hour is not None:
            return self.rent_usd_per_ipu_hour * ownership.ipus if ownership.ipus else None
        return self.rent_usd_per_hour


def ownership_terms(**flags: Unpack[OwnershipKeywords]) -> OwnershipTerms:
    """Prices and terms of use of a machine, from a price list and from arguments.

    Amounts are in `currency` where it is given. Raises InputError for a faulty price list or for contradicting
    arguments.
    """
    own, rent, each = flags.get("prices"), flags.get("rent_per_hour"), flags.get("rent_per_ipu_hour")
    if rent is not None and each is not None:
        raise InputError(
            "--rent-per-hour and --rent-per-ipu-hour are two rents of the same machine",
            code="conflicting-flags",
            hint="give one of them",
        )
    money = rate(flags.get("currency"))
    machine = flags.get("machine_price")
    path = Path(own) if own is not None else None
    price_list = prices_file.prices(path)
    if (date := flags.get("as_of")) is not None:
        price_list = replace(price_list, as_of=_day(date))
    own_terms = prices_file.of_file(path).value.terms if path is not None else None
    return OwnershipTerms(
        prices=price_list,
        machine_usd=None if machine is None else money.usd(machine),
        terms=_terms(prices_file.terms(price_list), flags, money),
        given=frozenset(name for name, flag in FLAGS.items() if own_terms or flags.get(flag) is not None),
        rent_usd_per_hour=None if rent is None else money.usd(rent),
        rent_usd_per_ipu_hour=None if each is None else money.usd(each),
        currency=money,
    )


def rate(text: str | None) -> Currency:
    """The currency of "EUR=0.92", units of it a US dollar; US dollars for None, InputError for another text."""
    if text is None:
        return DOLLARS
    match = RATE.fullmatch(text.strip())
    if match is None or not float(match[2]):
        raise InputError(
            f'--currency must be three letters and what a US dollar is worth, not "{text[:40]}"',
            code="bad-value",
            hint=f"{EXAMPLE}: no rates are built in",
        )
    code, per_usd = match[1].upper(), float(match[2])
    if code == "USD" and per_usd != 1.0:
        raise InputError(f"a US dollar is worth one, not {per_usd:g}", code="bad-value", hint=EXAMPLE)
    return Currency(code, per_usd)


def one_rent(usd_per_hour: float | None, sizes: Iterable[object]) -> None:
    """Raise InputError for a rent of one machine where machines of several `sizes` are asked for."""
    if usd_per_hour is not None and len(set(sizes)) > 1:
        raise InputError(
            "--rent-per-hour is that of one machine, and these differ in size",
            code="conflicting-flags",
            hint="--rent-per-ipu-hour 2 in place of --rent-per-hour: multiplied by the IPUs of each machine",
        )


def _day(text: str) -> str:
    """A day, month or year of the calendar; InputError for any other text."""
    try:
        check_day("as_of", text)
    except ValueError as error:
        raise InputError(
            str(error).replace("as_of: ", "--as-of "), code="bad-value", hint="--as-of 2026-11-20"
        ) from None
    if not text:
        raise InputError("--as-of is empty", code="bad-value", hint="--as-of 2026-11-20")
    return text


def _terms(terms: Terms, flags: OwnershipKeywords, money: Currency) -> Terms:
    """The terms of the list, with those that flags state; the price of electricity is in the currency of the flags."""
    stated_terms = {name: value for name, flag in FLAGS.items() if (value := flags.get(flag)) is not None}
    if "usd_per_kwh" in stated_terms:
        stated_terms["usd_per_kwh"] = money.usd(float(str(stated_terms["usd_per_kwh"])))
    return replace(terms, **stated_terms)  # type: ignore[arg-type]
