"""What machines cost, and what a run of a given time costs on one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from podsim.model.currency import DOLLARS, Currency
from podsim.model.prices import SERVER, is_old
from podsim.model.quantity import Estimate, Grade
from podsim.model.run_cost import (
    HOUR_S,
    J_PER_KWH,
    MONTH_S,
    YEAR_S,
    Capital,
    Draw,
    MachineOwnership,
    Money,
    Range,
    Rent,
    ServiceCost,
    TrainingPace,
)
from podsim.physics import power as watts
from podsim.planning import total_cost

if TYPE_CHECKING:
    from podsim.model.activity import StepActivity
    from podsim.model.comparator import ComparatorMachine
    from podsim.model.fabric import Topology
    from podsim.model.prices import Power, PriceList, PriceRange, Terms

MILLION: Final = 1e6
PRICE, POWER = "machine_price", "machine_power"
"""Keys of the economics of a machine that the user may state."""


def capital(
    topology: Topology,
    hosts: int,
    prices: PriceList,
    *,
    machine_usd: float | None = None,
    currency: Currency = DOLLARS,
) -> Capital | None:
    """The price of a machine with so many servers: as quoted, else of its parts (Eq. 59); None where not published.

    Where the price of one machine is stated by hand, in its economics or as `machine_usd` [USD], quotations of the
    whole do not hold. Prices in the basis are in `currency`.
    """
    by_hand = PRICE in topology.economics.by_hand or machine_usd is not None
    quotation = None if by_hand else prices.of(topology.name)
    server = prices.of(SERVER)
    if quotation is not None:
        more = 0 if quotation.servers is None else max(0, hosts - quotation.servers)
        if more and server is None:
            return None
        servers_text = f" and {_servers(more, server, currency)}" if more and server else ""
        basis = f"{_quotation(quotation)}{servers_text}"
        return _capital(prices, (quotation, 1), (server, more), basis, derived=quotation.is_derived or bool(more))
    if server is None:
        return None
    item = None if by_hand else prices.of(prices.unit(topology.chip.name))
    each = machine_usd or item or topology.economics.machine_usd
    if each is None:
        return None
    text = f"{_machines(topology)} at {_amounts(each, currency)} and {_servers(hosts, server, currency)}"
    return _capital(prices, (each, topology.machines), (server, hosts), f"{text}, without switches", derived=True)


def server_capital(count: int, prices: PriceList, currency: Currency = DOLLARS) -> Capital | None:
    """The price of so many servers alone (Eq. 59); None where not published. The basis is in `currency`."""
    server = prices.of(SERVER)
    if server is None:
        return None
    return _capital(prices, (server, count), (None, 0), _servers(count, server, currency), derived=server.is_derived)


def _machines(topology: Topology) -> str:
    """How many machines of a gateway each there are; those with streaming memory are IPU-Machines."""
    unit = "IPU-Machine" if topology.gateway.streaming_bytes else "machine"
    return f"{topology.machines:,} {unit}{'' if topology.machines == 1 else 's'}"


def comparator_capital(machine: ComparatorMachine, chips: int, prices: PriceList) -> Capital | None:
    """The price of so many comparator chips, by the machine that holds them (Eq. 59); None where not published."""
    quotation = prices.of(machine.name)
    if quotation is None:
        return None
    machines = chips / machine.chips
    times = "" if machines == 1 else f"{machines:g} × "
    basis, is_derived = f"{times}{_quotation(quotation)}", quotation.is_derived or machines != 1
    return _capital(prices, (quotation, machines), (None, 0), basis, derived=is_derived)


def _capital(
    prices: PriceList,
    machines: tuple[PriceRange | float, float],
    servers: tuple[PriceRange | None, int],
    basis: str,
    *,
    derived: bool,
) -> Capital:
    """So many machines and servers, each at its price; a price that is a number was set by hand."""
    (each, count), (server, number) = machines, servers
    low, high = (each, each) if isinstance(each, float) else (each.low_usd, each.high_usd)
    low, high = count * low, count * high
    lists = (*(() if isinstance(each, float) else (each,)), *((server,) if server and number else ()))
    sources = dict.fromkeys(source for quotation in lists for source in _sources(quotation))
    if server is not None:
        low, high = low + number * server.low_usd, high + number * server.high_usd
    each_price = [price for quotation in lists for price in quotation.quoted]
    dates = sorted({price.date for price in each_price if price.date})
    return Capital(
        usd=Range(value=(low + high) / 2, low=low, high=high),
        derived=derived,
        basis=basis,
        sources=tuple(sources),
        dates=tuple(dates),
        old=tuple(date for date in dates if is_old(date, prices.as_of)),
        given=all(not price.source for price in each_price),
    )


def _quotation(quotation: PriceRange) -> str:
    """Whose price it is, and when."""
    what = "derived" if quotation.is_derived else "quoted"
    return f"{what}: {'; '.join(_sources(quotation))}"


def _sources(quotation: PriceRange) -> tuple[str, ...]:
    texts = (", ".join(filter(None, (price.source, price.date))) or "your price list" for price in quotation.quoted)
    return tuple(dict.fromkeys(texts))


def _amounts(each: PriceRange | float, currency: Currency) -> str:
    low, high = (each, each) if isinstance(each, float) else (each.low_usd, each.high_usd)
    texts = [f"{currency.sign}{currency.of(usd):,.0f}" for usd in (low, high)]
    return texts[0] if low == high else " to ".join(texts)


def _servers(count: int, server: PriceRange, currency: Currency) -> str:
    return f"{count:,} server{'' if count == 1 else 's'} at {_amounts(server, currency)}"


def draw(
    topology: Topology,
    hosts: int,
    prices: PriceList,
    *,
    activity: StepActivity | None = None,
) -> Draw:
    """What a machine draws with so many servers, which count at their peak (Eq. 60).

    Predicted from the `activity` of a step where that is known and no typical power is given by the user; else
    typical.
    """
    by_hand = POWER in topology.economics.by_hand
    power = prices.power(prices.unit(topology.chip.name))
    server = prices.power(SERVER)
    servers_w = hosts * (server.peak_w or server.typical_w or 0.0) if server else 0.0
    typical_w = topology.economics.machine_w if by_hand or power is None or power.typical_w is None else power.typical_w
    peak_w = power.peak_w if power else None
    most_w = None if peak_w is None else topology.machines * max(peak_w, typical_w) + servers_w
    basis = _drawn_by(topology, hosts, server)
    has_stated_power = by_hand or (power is not None and power.typical_w is not None)
    loads = () if activity is None or has_stated_power else watts.machines(activity, topology)
    if not loads:
        return Draw(typical_w=topology.machines * typical_w + servers_w, peak_w=most_w, basis=basis)
    step = watts.total(loads)
    value, low, high = (min(each + servers_w, most_w or math.inf) for each in (step.value, step.low, step.high))
    other = topology.chip.activity_power.energies_of if topology.chip.activity_power else ""
    energies_text = f", with the energy per operation of {other} (assumed)" if other else ""
    return Draw(
        typical_w=value,
        peak_w=most_w,
        basis=f"{basis}, modelled from what IPUs do in a step{energies_text}; servers at their peak",
        predicted=Range(value=value, low=low, high=high),
        loads={**{part.load.value: part.watts for part in loads}, "servers": servers_w},
        energies_of=other,
    )


def _drawn_by(topology: Topology, hosts: int, server: Power | None) -> str:
    """What is counted, and what is not."""
    basis = f"{_machines(topology)} and {hosts:,} server{'' if hosts == 1 else 's'}, without switches"
    return basis if server else f"{basis}; server power not published"


def comparator_draw(machine: ComparatorMachine, chips: int, prices: PriceList) -> Draw | None:
    """What so many comparator chips draw, by the machine that holds them (Eq. 60); None where not published."""
    power = prices.power(machine.name)
    if power is None or (power.typical_w is None and power.peak_w is None):
        return None
    count = chips / machine.chips
    typical_w, peak_w = (None if each is None else count * each for each in (power.typical_w, power.peak_w))
    return Draw(typical_w=typical_w, peak_w=peak_w, basis="whole system")


def money(
    time: Estimate,
    ownership: MachineOwnership,
    terms: Terms,
    *,
    hourly_usd: float | None = None,
    stated_terms: frozenset[str] = frozenset(),
    tokens: float | None = None,
    pace: TrainingPace | None = None,
    currency: Currency = DOLLARS,
) -> Money:
    """What a run of so long costs (Eq. 61): its share of the machine's life, and its energy, by step and sample too.

    Start-up, evaluation and checkpoints draw as steps do. Intervals run from the low end of time, price and power
    together to the high end of all. `hourly_usd` is a rent, `stated_terms` are the names of terms that the user stated,
    `tokens` those that a language model is trained on.
    """
    hours = terms.years * YEAR_S * terms.use / HOUR_S
    capital_usd = energy_j = energy_usd = run_usd = None
    if ownership.capital is not None:
        usd = ownership.capital.usd
        capital_usd = _times(time, usd.value, usd.low, usd.high, 1 / (hours * HOUR_S))
    if ownership.draw is not None:
        energy_j = _energy(time, ownership.draw, terms)
        energy_usd = _times(energy_j, 1.0, 1.0, 1.0, terms.usd_per_kwh / J_PER_KWH)
    if capital_usd is not None and energy_usd is not None:
        run_usd = Estimate(
            value=capital_usd.value + energy_usd.value,
            low=capital_usd.low + energy_usd.low,
            high=capital_usd.high + energy_usd.high,
            grade=Grade.ASSUMED,
            beyond=time.beyond,
            smaller=time.smaller,
        )
    return Money(
        terms=terms,
        owned=ownership,
        capital_usd=capital_usd,
        energy_j=energy_j,
        energy_usd=energy_usd,
        run_usd=run_usd,
        rent=None if hourly_usd is None else rent(time, ownership, terms, hourly_usd),
        total=total_cost.of(ownership, terms, stated_terms, hourly_usd),
        million_tokens_usd=_times(run_usd, 1.0, 1.0, 1.0, MILLION / tokens) if run_usd and tokens else None,
        step_j=None if pace is None or ownership.draw is None else _energy(pace.step_s, ownership.draw, terms),
        sample_j=None if pace is None or ownership.draw is None else _energy(pace.sample_s, ownership.draw, terms),
        currency=currency,
    )


def _energy(time: Estimate, draw: Draw, terms: Terms) -> Estimate:
    """What a machine and its cooling take in so long [J]."""
    each_s = draw.energy_j(1.0, terms.pue)
    return _times(time, each_s.value, each_s.low, each_s.high, 1.0)


def _times(estimate: Estimate, value: float, low: float, high: float, factor: float) -> Estimate:
    return Estimate(
        value=estimate.value * value * factor,
        low=estimate.low * low * factor,
        high=estimate.high * high * factor,
        grade=Grade.ASSUMED,
        beyond=estimate.beyond,
        smaller=estimate.smaller,
    )


def hour(ownership: MachineOwnership, terms: Terms) -> Range | None:
    """An hour of use of a machine: its share of the life and its energy (Eq. 61) [USD]; None where one is not known."""
    if ownership.capital is None or ownership.draw is None:
        return None
    hours = terms.years * YEAR_S * terms.use / HOUR_S
    usd, electricity = ownership.capital.usd, ownership.draw.electricity_usd(HOUR_S, terms)
    return Range(
        value=usd.value / hours + electricity.value,
        low=usd.low / hours + electricity.low,
        high=usd.high / hours + electricity.high,
    )


def service(
    ownership: MachineOwnership,
    terms: Terms,
    *,
    load_per_s: float,
    capacity_per_s: Estimate,
    tokens_per_request: int = 0,
    hourly_usd: float | None = None,
    currency: Currency = DOLLARS,
) -> ServiceCost | None:
    """What a million requests, and of generated tokens, cost on a machine (Eq. 61); None where price or power are not.

    The machine serves in the hours that it is in use, at the load and with every batch full.
    """
    hour_usd = hour(ownership, terms)
    if hour_usd is None:
        return None
    load = Estimate(value=load_per_s, low=load_per_s, high=load_per_s, grade=Grade.ASSUMED)
    request = _million(hour_usd, load)
    return ServiceCost(
        owned=ownership,
        terms=terms,
        currency=currency,
        hour_usd=hour_usd,
        request=request,
        request_full=_million(hour_usd, capacity_per_s),
        token=_times(request, 1.0, 1.0, 1.0, 1 / tokens_per_request) if tokens_per_request else None,
        rented=None if hourly_usd is None else MILLION * hourly_usd / (HOUR_S * load_per_s),
    )


def _million(hour_usd: Range, rate_per_s: Estimate) -> Estimate:
    """A million of what is served at a rate [USD]."""
    factor = MILLION / HOUR_S
    return Estimate(
        value=hour_usd.value / rate_per_s.value * factor,
        low=hour_usd.low / rate_per_s.high * factor,
        high=hour_usd.high / rate_per_s.low * factor,
        grade=Grade.ASSUMED,
        beyond=rate_per_s.beyond,
    )


def rent(time: Estimate, ownership: MachineOwnership, terms: Terms, usd_per_hour: float) -> Rent:
    """Renting a like machine by the hour, electricity included in the rent (Eq. 62)."""
    hours = None
    if ownership.capital is not None and ownership.draw is not None:
        saving_usd_per_hour = usd_per_hour - ownership.draw.electricity_usd(HOUR_S, terms).value
        hours = ownership.capital.usd.value / saving_usd_per_hour if saving_usd_per_hour > 0 else None
    return Rent(
        usd_per_hour=usd_per_hour,
        run_usd=_times(time, 1.0, 1.0, 1.0, usd_per_hour / HOUR_S),
        break_even_hours=hours,
        break_even_use=None if hours is None else hours * HOUR_S / (terms.years * YEAR_S),
        break_even_months=None if hours is None else hours * HOUR_S / (terms.use * MONTH_S),
        usd_per_ipu_hour=usd_per_hour / ownership.ipus if ownership.ipus else None,
    )
