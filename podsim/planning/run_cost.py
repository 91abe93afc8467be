"""What machines cost, and what a run of a given time costs on one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.prices import SERVER
from podsim.model.quantity import Estimate, Grade
from podsim.model.run_cost import HOUR_S, J_PER_KWH, YEAR_S, Capital, Draw, Money, Owned, Range, Rent

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorMachine
    from podsim.model.fabric import Topology
    from podsim.model.prices import PriceList, PriceRange, Terms


def capital(topology: Topology, hosts: int, prices: PriceList, *, changed: bool = False) -> Capital | None:
    """The price of a machine with so many servers: as quoted, else of its parts (Eq. 59); None where nobody says.

    With `changed` the price of one machine was set by hand, so that quotations of the whole do not hold.
    """
    quoted = None if changed else prices.of(topology.name)
    server = prices.of(SERVER)
    if quoted is not None:
        more = 0 if quoted.servers is None else max(0, hosts - quoted.servers)
        if more and server is None:
            return None
        added = f" and {_servers(more, server)}" if more and server else ""
        basis = f"{_quotation(quoted)}{added}"
        return _capital(quoted, 1, server, more, basis, derived=quoted.derived or bool(more))
    if server is None:
        return None
    item = None if changed else prices.of(prices.unit(topology.chip.name))
    each = item or topology.economics.machine_usd
    if each is None:
        return None
    machines = f"{topology.machines:,} machine{'' if topology.machines == 1 else 's'}"
    text = f"{machines} of {_dollars(each)} and {_servers(hosts, server)}"
    return _capital(each, topology.machines, server, hosts, f"{text}; switches are not in it", derived=True)


def comparator_capital(machine: ComparatorMachine, chips: int, prices: PriceList) -> Capital | None:
    """The price of so many comparator chips, by the machine that holds them (Eq. 59); None where nobody says."""
    quoted = prices.of(machine.name)
    if quoted is None:
        return None
    machines = chips / machine.chips
    times = "" if machines == 1 else f"{machines:g} × "
    return _capital(quoted, machines, None, 0, f"{times}{_quotation(quoted)}", derived=quoted.derived or machines != 1)


def _capital(
    each: PriceRange | float, count: float, server: PriceRange | None, servers: int, basis: str, *, derived: bool
) -> Capital:
    low, high = (each, each) if isinstance(each, float) else (each.low_usd, each.high_usd)
    low, high = count * low, count * high
    lists = (*(() if isinstance(each, float) else (each,)), *((server,) if server and servers else ()))
    sources = dict.fromkeys(source for quoted in lists for source in _sources(quoted))
    if server is not None:
        low, high = low + servers * server.low_usd, high + servers * server.high_usd
    return Capital(
        usd=Range(value=(low + high) / 2, low=low, high=high), derived=derived, basis=basis, sources=tuple(sources)
    )


def _quotation(quoted: PriceRange) -> str:
    """Whose price it is, and when."""
    what = "derived" if quoted.derived else "quoted"
    return f"{what}: {'; '.join(_sources(quoted))}"


def _sources(quoted: PriceRange) -> tuple[str, ...]:
    texts = (", ".join(filter(None, (price.source, price.date))) or "the list given" for price in quoted.quoted)
    return tuple(dict.fromkeys(texts))


def _dollars(each: PriceRange | float) -> str:
    low, high = (each, each) if isinstance(each, float) else (each.low_usd, each.high_usd)
    return f"{low:,.0f} USD" if low == high else f"{low:,.0f} to {high:,.0f} USD"


def _servers(count: int, server: PriceRange) -> str:
    return f"{count:,} server{'' if count == 1 else 's'} of {_dollars(server)}"


def draw(topology: Topology, hosts: int, prices: PriceList, *, changed: bool = False) -> Draw:
    """What a machine draws with so many servers, which count at their peak (Eq. 60)."""
    power = prices.power(prices.unit(topology.chip.name))
    server = prices.power(SERVER)
    servers_w = hosts * (server.peak_w or server.typical_w or 0.0) if server else 0.0
    typical_w = topology.economics.machine_w if changed or power is None or power.typical_w is None else power.typical_w
    peak_w = power.peak_w if power else None
    machines = f"{topology.machines:,} machine{'' if topology.machines == 1 else 's'}"
    basis = f"{machines} and {hosts:,} server{'' if hosts == 1 else 's'}, without switches"
    return Draw(
        typical_w=topology.machines * typical_w + servers_w,
        peak_w=None if peak_w is None else topology.machines * max(peak_w, typical_w) + servers_w,
        basis=basis if server else f"{basis}; nobody says what a server draws",
    )


def comparator_draw(machine: ComparatorMachine, chips: int, prices: PriceList) -> Draw | None:
    """What so many comparator chips draw, by the machine that holds them (Eq. 60); None where nobody says."""
    power = prices.power(machine.name)
    if power is None or (power.typical_w is None and power.peak_w is None):
        return None
    count = chips / machine.chips
    typical_w, peak_w = (None if each is None else count * each for each in (power.typical_w, power.peak_w))
    return Draw(typical_w=typical_w, peak_w=peak_w, basis="the whole system")


def money(time: Estimate, owned: Owned, terms: Terms, *, rent_usd_per_hour: float | None = None) -> Money:
    """What a run of so long costs (Eq. 61): its share of the machine's life, and its energy.

    Intervals run from the low end of time, price and power together to the high end of all.
    """
    hours = terms.years * YEAR_S * terms.use / HOUR_S
    capital_usd = energy_j = energy_usd = run_usd = None
    if owned.capital is not None:
        usd = owned.capital.usd
        capital_usd = _times(time, usd.value, usd.low, usd.high, 1 / (hours * HOUR_S))
    if owned.draw is not None:
        energy_j = _times(time, owned.draw.least_w, owned.draw.least_w, owned.draw.most_w, terms.pue)
        energy_usd = _times(energy_j, 1.0, 1.0, 1.0, terms.usd_per_kwh / J_PER_KWH)
    if capital_usd is not None and energy_usd is not None:
        run_usd = Estimate(
            value=capital_usd.value + energy_usd.value,
            low=capital_usd.low + energy_usd.low,
            high=capital_usd.high + energy_usd.high,
            grade=Grade.ASSUMED,
            beyond=time.beyond,
        )
    rented = None if rent_usd_per_hour is None else rent(time, owned, terms, rent_usd_per_hour)
    return Money(
        terms=terms,
        owned=owned,
        capital_usd=capital_usd,
        energy_j=energy_j,
        energy_usd=energy_usd,
        run_usd=run_usd,
        rent=rented,
    )


def _times(estimate: Estimate, value: float, low: float, high: float, factor: float) -> Estimate:
    return Estimate(
        value=estimate.value * value * factor,
        low=estimate.low * low * factor,
        high=estimate.high * high * factor,
        grade=Grade.ASSUMED,
        beyond=estimate.beyond,
    )


def rent(time: Estimate, owned: Owned, terms: Terms, usd_per_hour: float) -> Rent:
    """Renting a like machine by the hour, electricity included in the rent (Eq. 62)."""
    hours = None
    if owned.capital is not None and owned.draw is not None:
        saved = usd_per_hour - owned.draw.least_w * terms.pue * HOUR_S / J_PER_KWH * terms.usd_per_kwh
        hours = owned.capital.usd.value / saved if saved > 0 else None
    return Rent(
        usd_per_hour=usd_per_hour,
        run_usd=_times(time, 1.0, 1.0, 1.0, usd_per_hour / HOUR_S),
        break_even_hours=hours,
        break_even_use=None if hours is None else hours * HOUR_S / (terms.years * YEAR_S),
    )
