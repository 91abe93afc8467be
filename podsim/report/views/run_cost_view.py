"""What a machine and a run on it cost, as blocks."""

import calendar
from collections.abc import Iterable, Iterator
from typing import Final

from podsim.files import inputs
from podsim.model.currency import DOLLARS, Currency
from podsim.model.prices import Terms
from podsim.model.quantity import NINETY_PERCENT, Estimate
from podsim.model.run_cost import Capital, Draw, MachineOwnership, Money, Range, Rent, ServiceCost, TotalCost
from podsim.model.sums import sum_in_order
from podsim.physics.power import PowerLoad
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Fact, Facts, Heading, Note, Tone

TERMS: Final = ("years", "use", "kwh_price", "pue")
"""Flags of the terms on which a machine is owned."""
TOTAL_COST: Final = 3
"""Priority of the total cost, whose parts are the price and the cost of a run."""
LOADS: Final = {PowerLoad.MACHINE.value: "IPU-Machines without their IPUs"}
"""Loads whose key does not say on its own what draws the power."""
GIVE_PRICE = "give it with --machine-price AMOUNT, or in a file with --prices FILE"
GIVE_PRICES = "give them with --prices FILE"
OF_TRAINING = "training only"
LEFT_OUT = "Not included: staff, floor space, support, switches, interest, resale, power when idle."


def _gap(machine: MachineOwnership) -> str:
    """What is not known of a machine, so that it has no cost."""
    values = {"price": machine.capital, "power": machine.draw}
    lacking = " and ".join(name for name, value in values.items() if value is None)
    return f"{lacking} of this machine not known".capitalize()


def _remedy(machine: MachineOwnership) -> str:
    """How to state what is not known."""
    return GIVE_PRICES if machine.draw is None else GIVE_PRICE


def blocks(money: Money) -> Iterator[Block]:
    """What `summary` leaves out: parts of the cost of a run with their ends, sources, and the cost of each year."""
    yield Heading("Cost")
    if facts := tuple(_facts(money)):
        yield Facts(facts)
    yield from bases(money.owned)
    yield from ownership(money.total, money.currency)


def summary(money: Money, level: float = NINETY_PERCENT) -> Iterator[Fact]:
    """Cost and energy of a run, price and power of the machine, rent where a rate was given, each in a line."""
    currency = money.currency
    yield _cost_per_run(money, level)
    if money.energy_j is not None:
        yield _energy(money.energy_j, money)
    yield from ownership_facts(money.owned, currency)
    yield from total_fact(money.total, money.terms, currency)
    if money.rent is not None:
        yield from rents(money.rent, money.terms, currency)
    yield Fact("Terms", "", remark=terms(money.terms, currency))


def facts(money: Money, *, in_short: bool, verbose: bool, level: float = NINETY_PERCENT) -> Iterator[Fact]:
    """Cost of a run: its cost and energy alone, all that is known of it in few lines, or a line each.

    `level` is the confidence level of its intervals.
    """
    if in_short:
        return _in_short(money, level)
    return summary(money, level) if verbose else on_one_screen(money)


def on_one_screen(money: Money) -> Iterator[Fact]:
    """`summary` in fewer lines: power with the energy, the price with the total cost, the break-even with the rent."""
    currency, draw = money.currency, money.owned.draw
    yield _cost_per_run(money)
    if money.energy_j is not None and draw is not None:
        yield Fact("Training energy", *energy(money.energy_j.value), _power_text(draw))
    if money.total is None:
        yield from ownership_facts(money.owned, currency)
    else:
        yield _purchase_and_electricity(money.total, money)
    if money.rent is not None:
        yield _rent_in_a_line(money.rent, currency)
    yield Fact("Terms", "", remark=terms(money.terms, currency))


def _cost_per_run(money: Money, level: float | None = None) -> Fact:
    """The cost of a run with its interval and parts, then the cost of tokens or what of the wall clock is paid."""
    currency, cost = money.currency, money.run_usd
    if cost is None:
        return Fact("Training cost", "", remark=_gap(money.owned), hint=_remedy(money.owned))
    parts = ", ".join(
        f"{name} {numbers.money(estimate.value, currency)}"
        for name, estimate in (
            ("machine", money.capital_usd),
            ("energy", money.energy_usd),
        )
        if estimate is not None
    )
    tokens = money.million_tokens_usd
    last = OF_TRAINING if tokens is None else f"{numbers.money(tokens.value, currency)}/M tokens"
    ends = interval(cost, currency) if level is None else _at_level(cost, currency, level)
    remark = _join(ends, parts, last)
    return Fact("Training cost", numbers.money(cost.value, currency), "", remark, strong=True)


def _power_text(draw: Draw) -> str:
    """The power that an energy is at, with the interval of a predicted one: "102 kW (90 %: 86.1 – 118) + cooling"."""
    number, unit, _ = watts(draw)
    if draw.predicted is not None:
        return f"{number} {unit} ({_power_interval(draw.predicted, draw.least_w)}) + cooling"
    return f"{number} {unit}{'' if draw.typical_w is not None else ' peak'} + cooling"


def _power_interval(predicted: Range, least_w: float) -> str:
    """The interval of a predicted power, in the unit of the power that is shown: "90 %: 86.1 – 118"."""
    scale = numbers.rates((least_w,), "W")
    return f"90 %: {scale.number(predicted.low)} – {scale.number(predicted.high)}"


def _per_sample(money: Money) -> str:
    return "" if money.sample_j is None else f"{numbers.rate(money.sample_j.value, 'J')} per sample in steps"


def _purchase_and_electricity(total: TotalCost, money: Money) -> Fact:
    """The total cost of ownership with its two parts and the years of the prices."""
    energy_text, purchase = (
        numbers.money(part.value, money.currency) for part in (total.energy_usd, total.purchase_usd)
    )
    remark = _join(f"machine {purchase}, electricity {energy_text}", _priced_in(money.owned.capital))
    return Fact("Total cost", numbers.money(total.usd.value, money.currency), "", remark)


def _rent_in_a_line(rent: Rent, currency: Currency) -> Fact:
    """Rent of a run, its rate, and from how many hours of use on owning is cheaper."""
    cost, hours = rent.run_usd, rent.break_even_hours
    rate = f"{numbers.money(rent.usd_per_hour, currency)}/h"
    owning = "no break-even, or the price is not known"
    if hours is not None:
        owning = f"break-even {numbers.count(hours)} h"
    remark = _join(", ".join(filter(None, (interval(cost, currency), rate, OF_TRAINING))), owning)
    return Fact("Rent for training", numbers.money(cost.value, currency), "", remark)


def _in_short(money: Money, level: float) -> Iterator[Fact]:
    """Cost of a run with its interval, terms and the years of its prices, and its energy, a line each."""
    currency, terms, ownership = money.currency, money.terms, money.owned
    if money.run_usd is None:
        yield Fact("Training cost", numbers.NO_VALUE, "", _gap(money.owned), hint=_remedy(money.owned))
    else:
        cost = money.run_usd
        remark = _join(
            _at_level(cost, currency, level),
            f"{numbers.percent(terms.use)} use, {_years(terms)}",
            _priced_in(ownership.capital),
        )
        yield Fact("Training cost", numbers.money(cost.value, currency), "", remark)
    if money.energy_j is not None and ownership.draw is not None:
        draw = ownership.draw
        peak = " peak" if draw.predicted is None and draw.typical_w is None else ""
        power = f"with cooling (PUE {numbers.short(terms.pue)}); {numbers.rate(draw.least_w, 'W')}{peak or ' in use'}"
        yield Fact("Training energy", *energy(money.energy_j.value), power)


def _priced_in(capital: Capital | None) -> str:
    """The years of all prices: "2020–2021 prices"; "" where none is dated."""
    years = sorted({date[:4] for date in capital.dates}) if capital else []
    return f"{'–'.join(dict.fromkeys((years[0], years[-1])))} prices" if years else ""


def _years(terms: Terms) -> str:
    return f"{numbers.short(terms.years)} year{'' if terms.years == 1 else 's'}"


def _join(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def ownership_facts(ownership: MachineOwnership, currency: Currency = DOLLARS) -> Iterator[Fact]:
    """Price and power of a machine."""
    capital = ownership.capital
    if capital is not None:
        text = "sum of its parts" if capital.derived else "as quoted"
        parts = _join(interval(capital.usd, currency), text, age([capital]))
        yield Fact("Machine price", numbers.money(capital.usd.value, currency), "", parts)
    if ownership.draw is not None:
        yield Fact("Power", *watts(ownership.draw))


def age(capitals: Iterable[Capital | None]) -> str:
    """From when old prices are: "prices date from July 2020 to March 2022"; "" where none is old."""
    dates = sorted({date for capital in capitals if capital for date in capital.old})
    ends = dict.fromkeys(_month(date) for date in (dates[0], dates[-1])) if dates else ()
    return f"prices date from {' to '.join(ends)}" if ends else ""


def _month(date: str) -> str:
    """A day, month or year of a price as its month: "2022-03-03" as "March 2022", "2021" as it is."""
    year, *rest = date.split("-")
    return f"{calendar.month_name[int(rest[0])]} {year}" if rest else year


def old_prices(ownerships: Iterable[MachineOwnership | None]) -> Iterator[Note]:
    """A warning where prices behind an answer are old, with their months."""
    text = age(ownership.capital for ownership in ownerships if ownership)
    if text:
        yield Note(f"{text[0].upper()}{text[1:]}.", "", Tone.WARNING, "use --prices FILE for current ones.")


def total_fact(total: TotalCost | None, terms: Terms, currency: Currency) -> Iterator[Fact]:
    """The total cost of ownership in a line."""
    if total is None:
        return
    energy_text, purchase = (numbers.money(part.value, currency) for part in (total.energy_usd, total.purchase_usd))
    remark = f"over {_years(terms)}: purchase {purchase}, electricity {energy_text}"
    yield Fact("Total cost", numbers.money(total.usd.value, currency), "", remark, priority=TOTAL_COST)


def ownership(total: TotalCost | None, currency: Currency) -> Iterator[Block]:
    """The total cost of ownership by year, and every number behind it with its grade."""
    if total is None:
        return
    yield Heading("Total cost of ownership by year")
    has_rent = any(year.rent_usd is not None for year in total.years)
    columns = (
        Column("Year", number=True),
        Column("Hours in use", number=True, priority=2),
        Column("Purchase", number=True, priority=1),
        Column("Electricity to date", number=True, priority=1),
        Column("Total to date", number=True),
        Column("Range", number=True, priority=3),
        *((Column("Rent to date", number=True),) if has_rent else ()),
    )
    yield DocTable(
        columns,
        tuple(
            (
                numbers.short(year.year, 4),
                numbers.count(year.use_hours),
                numbers.money(total.purchase_usd.value, currency),
                numbers.money(year.energy_usd.value, currency),
                numbers.money(year.total_usd.value, currency),
                interval(year.total_usd, currency),
                *((numbers.money(year.rent_usd, currency),) if has_rent else ()),
            )
            for year in total.years
        ),
    )
    yield DocTable(
        (Column("Assumption"), Column("Value", number=True), Column("Kind")),
        tuple(
            (assumption.name, _assumption_text(assumption.value, assumption.unit, currency), assumption.grade.value)
            for assumption in total.assumptions
        ),
    )
    yield Note(LEFT_OUT, "", Tone.QUIET)


def _assumption_text(value: float, unit: str, currency: Currency) -> str:
    """A number behind a total cost, in its unit."""
    if unit.startswith("USD"):
        per = unit.removeprefix("USD")
        return f"{numbers.money(value, currency)}{per}" if not per else f"{_each(value, currency)}{per}"
    if unit == "share":
        return numbers.percent(value)
    return numbers.rate(value, unit) if unit == "W" else f"{numbers.short(value, 3)} {unit}".rstrip()


def _each(usd: float, currency: Currency) -> str:
    """A small price: $0.12."""
    return f"{currency.sign}{numbers.short(currency.of(usd))}"


def service_facts(cost: ServiceCost | None) -> Iterator[Fact]:
    """What a million requests and generated tokens cost."""
    if cost is None:
        missing = "give what is missing with --machine-price AMOUNT, or in a file with --prices FILE"
        yield Fact("Cost", numbers.NO_VALUE, "", "price or power of this machine not known", hint=missing)
        return
    currency = cost.currency
    use = f"{numbers.percent(cost.terms.use)} use"
    each = f"per M requests at this load, {use}"
    if cost.token is not None:
        each = f"per M requests, {numbers.money(cost.token.value, currency)}/M tokens at {use}"
    parts = _join(each, _priced_in(cost.owned.capital))
    if cost.rented is not None:
        parts += f"; {numbers.money(cost.rented, currency)} per million requests on a rented machine"
    yield Fact("Cost", numbers.money(cost.request.value, currency), "", parts)


def service_blocks(cost: ServiceCost | None) -> Iterator[Block]:
    """Price and power behind the cost of requests, their ends, and the terms."""
    if cost is None:
        return
    currency = cost.currency
    yield Heading("Cost")
    hourly = Fact("Cost per hour", numbers.money(cost.hour_usd.value, currency), "", interval(cost.hour_usd, currency))
    each = [("Per M requests", cost.request), ("At the maximum", cost.request_full), ("Per M tokens", cost.token)]
    facts = [
        Fact(title, numbers.money(estimate.value, currency), "", interval(estimate, currency))
        for title, estimate in each
        if estimate is not None
    ]
    yield Facts((*ownership_facts(cost.owned, currency), hourly, *facts))
    yield from bases(cost.owned)
    yield from old_prices([cost.owned])
    yield Note(terms(cost.terms, currency), "Terms", Tone.QUIET)


def bases(ownership: MachineOwnership) -> Iterator[Note]:
    """Sources of price and power."""
    if ownership.capital is None or ownership.draw is None:
        yield Note(_gap(ownership), "", Tone.WARNING, _remedy(ownership))
    if ownership.capital is not None:
        yield Note(_price_sources(ownership.capital), "Price", Tone.QUIET)
    if ownership.draw is not None:
        yield Note(_join(ownership.draw.basis, loads(ownership.draw)), "Power", Tone.QUIET)


def _price_sources(capital: Capital) -> str:
    """Whose price it is; a sum of parts with the documents that price them."""
    price_documents = [source for source in capital.sources if source not in capital.basis]
    return f"{capital.basis} ({'; '.join(price_documents)})" if price_documents else capital.basis


def priced_by(ownerships: Iterable[MachineOwnership]) -> Iterator[Note]:
    """Every document that prices machines, with its date."""
    sources = dict.fromkeys(
        source for ownership in ownerships if ownership.capital for source in ownership.capital.sources
    )
    if sources:
        yield Note("; ".join(sorted(sources)), "Prices", Tone.QUIET)


def loads(draw: Draw) -> str:
    """What a power is drawn for, largest first; nothing where it is not predicted."""
    whole = sum_in_order(draw.loads.values())
    ranked_loads = sorted(draw.loads.items(), key=lambda item: -item[1])
    return ", ".join(
        f"{LOADS.get(name, name)} {numbers.percent(each_w / whole)}" for name, each_w in ranked_loads if each_w
    )


def _energy(joules: Estimate, money: Money) -> Fact:
    """Energy of a run, and of a sample."""
    remark = ", ".join(filter(None, (_per_sample(money), "with cooling")))
    return Fact("Training energy", *energy(joules.value), remark)


def _facts(money: Money) -> Iterator[Fact]:
    currency = money.currency
    for title, estimate in (
        ("Machine share", money.capital_usd),
        ("Energy cost", money.energy_usd),
        ("Cost per M tokens", money.million_tokens_usd),
    ):
        if estimate is not None:
            amount = numbers.money(estimate.value, currency)
            yield Fact(title, amount, "", interval(estimate, currency))


def rents(rent: Rent, terms: Terms, currency: Currency) -> Iterator[Fact]:
    """Rent of a run, and from when on owning is cheaper."""
    cost = rent.run_usd
    rate = f"{numbers.money(rent.usd_per_hour, currency)} per hour"
    remark = _join(interval(cost, currency), f"at {rate}", OF_TRAINING)
    yield Fact("Rent for training", numbers.money(cost.value, currency), "", remark)
    yield _break_even(rent, terms)


def _break_even(rent: Rent, terms: Terms) -> Fact:
    """After how many hours and months of use owning is cheaper than renting."""
    if rent.break_even_hours is None or rent.break_even_months is None:
        return Fact("Break-even", numbers.NO_VALUE, "", "owning is never cheaper, or the price is not known")
    at = f"at {numbers.percent(terms.use)} use"
    text = f"of use, {numbers.short(rent.break_even_months)} months {at}: owning is cheaper beyond"
    if rent.break_even_months > 12 * terms.years:
        text = f"of use, more than {numbers.short(terms.years)} years {at} have: renting is cheaper"
    return Fact("Break-even", numbers.count(rent.break_even_hours), "h", text)


def _at_level(estimate: Estimate, currency: Currency, level: float) -> str:
    """The range with the confidence that it has at least, whose ends add up low and high ends: "≥ 90 %: $17.1 – $26.8".

    Time, price and power are at their low ends together, and at their high ends (Eq. 61).
    """
    ends = interval(estimate, currency)
    return f"≥ {numbers.level(level)}: {ends}" if ends else ""


def interval(estimate: Estimate | Range, currency: Currency = DOLLARS) -> str:
    """From the low to the high end; nothing where they are equal."""
    if estimate.low == estimate.high:
        return ""
    return f"{numbers.money(estimate.low, currency)} – {numbers.money(estimate.high, currency)}"


def watts(draw: Draw) -> tuple[str, str, str]:
    """Number, unit and remark on the power of a machine."""
    number, unit = numbers.split_unit(numbers.rate(draw.least_w, "W"))
    if draw.predicted is not None:
        most = "" if draw.peak_w is None else f"; {numbers.rate(draw.peak_w, 'W')} peak"
        return number, unit, f"{_power_interval(draw.predicted, draw.least_w)} in use{most}"
    if draw.typical_w is None:
        return number, unit, "peak, typical power not published"
    peak = "peak power not published" if draw.peak_w is None else f"{numbers.rate(draw.peak_w, 'W')} peak"
    return number, unit, f"typical, {peak}"


def peak_mark(ownership: MachineOwnership | None) -> str:
    """The mark of a power of which nothing but the peak is known; "" where typical power is known or predicted."""
    draw = ownership.draw if ownership else None
    return " (peak)" if draw is not None and draw.predicted is None and draw.typical_w is None else ""


def energy(joules: float) -> tuple[str, str]:
    """An energy as electricity is sold, from 1,000 MWh on in GWh."""
    ladder: numbers.Ladder = ((3.6e12, 3.6e12, "GWh"), (3.6e9, 3.6e9, "MWh"), (0.0, 3.6e6, "kWh"))
    unit = numbers.scale(joules, ladder)
    return numbers.short(joules / unit.factor, 3), unit.unit


def terms(terms: Terms, currency: Currency = DOLLARS) -> str:
    """For how long and how much a machine is used, what electricity costs, and the rate of another currency.

    What flags gave is marked.
    """
    ledger = inputs.current()
    flags = ledger.flags if ledger else {}
    years, use, kwh, pue = (" (given)" if name in flags else "" for name in TERMS)
    rate = "" if currency == DOLLARS else f"; {currency.sign}{numbers.short(currency.per_usd, 6)} per US dollar (given)"
    assumption_remark = "" if all(name in flags for name in TERMS) else "; assumed where not given"
    return (
        f"{numbers.short(terms.years)} years{years} at {numbers.percent(terms.use)} use{use}, "
        f"{_each(terms.usd_per_kwh, currency)}/kWh{kwh}, PUE {numbers.short(terms.pue)}{pue}{assumption_remark}{rate}"
    )
