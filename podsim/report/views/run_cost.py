"""What a machine and a run on it cost, as blocks."""

from collections.abc import Iterable, Iterator

from podsim.model.prices import Terms
from podsim.model.quantity import Estimate
from podsim.model.run_cost import Capital, Draw, Money, Owned, Range, Rent
from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts, Heading, Note, Tone

UNKNOWN = "no price or no power of this machine is known: --prices FILE states them"


def blocks(money: Money) -> Iterator[Block]:
    """Price and power of the machine, cost of a run, rent where it was asked for."""
    yield Heading("what it costs")
    yield Facts((*owned(money.owned), *_facts(money)))
    yield from bases(money.owned)
    yield Note(terms(money.terms), "terms", Tone.QUIET)


def owned(ownership: Owned) -> Iterator[Fact]:
    """Price and power of a machine."""
    if ownership.capital is not None:
        text = "derived from its parts" if ownership.capital.derived else "as quoted"
        yield Fact("price", dollars(ownership.capital.usd.value), "USD", text, interval(ownership.capital.usd))
    if ownership.draw is not None:
        yield Fact("power", *watts(ownership.draw))


def bases(ownership: Owned) -> Iterator[Note]:
    """Where price and power are from."""
    if ownership.capital is None or ownership.draw is None:
        yield Note(UNKNOWN, "", Tone.WARNING)
    if ownership.capital is not None:
        yield Note(_sourced(ownership.capital), "price", Tone.QUIET)
    if ownership.draw is not None:
        yield Note(ownership.draw.basis, "power", Tone.QUIET)


def _sourced(capital: Capital) -> str:
    """Whose price it is; a sum of parts with the documents that price them."""
    named = [source for source in capital.sources if source not in capital.basis]
    return f"{capital.basis} ({'; '.join(named)})" if named else capital.basis


def priced_by(ownerships: Iterable[Owned]) -> Iterator[Note]:
    """Every document that prices machines, with its date."""
    sources = dict.fromkeys(
        source for ownership in ownerships if ownership.capital for source in ownership.capital.sources
    )
    if sources:
        yield Note("; ".join(sorted(sources)), "prices", Tone.QUIET)


def _facts(money: Money) -> Iterator[Fact]:
    if money.run_usd is not None:
        yield Fact("a run", dollars(money.run_usd.value), "USD", interval(money.run_usd), strong=True)
    if money.capital_usd is not None:
        yield Fact("its machine", dollars(money.capital_usd.value), "USD", interval(money.capital_usd))
    if money.energy_usd is not None and money.energy_j is not None:
        yield Fact(
            "its energy",
            dollars(money.energy_usd.value),
            "USD",
            interval(money.energy_usd),
            f"{energy(money.energy_j.value)} with cooling",
        )
    if money.rent is not None:
        yield from _rent(money.rent, money.terms)


def _rent(rent: Rent, terms: Terms) -> Iterator[Fact]:
    yield Fact("rented instead", dollars(rent.run_usd.value), "USD", interval(rent.run_usd), "a run")
    if rent.break_even_hours is None or rent.break_even_use is None:
        yield Fact("break-even", numbers.UNKNOWN, "", "owning is never cheaper, or its price is not known")
        return
    use = rent.break_even_use
    text = "more than there is" if use > 1 else f"{numbers.percent(use)} of {numbers.short(terms.years)} years"
    yield Fact("break-even", numbers.count(rent.break_even_hours), "h", text, "of use, from which owning is cheaper")


def dollars(usd: float) -> str:
    """An amount of money: whole thousands apart from 1,000 on, two or three digits below."""
    return f"{usd:,.0f}" if usd >= 1000 else numbers.significant(usd, 3)


def interval(estimate: Estimate | Range) -> str:
    """From the low to the high end; nothing where they are one."""
    return "" if estimate.low == estimate.high else f"{dollars(estimate.low)} – {dollars(estimate.high)}"


def watts(draw: Draw) -> tuple[str, str, str, str]:
    """Number, unit and two remarks on what a machine draws."""
    number, unit = numbers.parted(numbers.rate(draw.least_w, "W"))
    if draw.typical_w is None:
        return number, unit, "at its peak", "a typical draw is not known"
    peak = "a peak is not known" if draw.peak_w is None else f"{numbers.rate(draw.peak_w, 'W')} at its peak"
    return number, unit, "typically", peak


def energy(joules: float) -> str:
    """An energy as electricity is sold."""
    return f"{numbers.short(joules / 3.6e6, 3)} kWh"


def terms(terms: Terms) -> str:
    """For how long and how much a machine is used, and what electricity costs."""
    return (
        f"{numbers.short(terms.years)} years at {numbers.percent(terms.use)} use, "
        f"{numbers.short(terms.usd_per_kwh)} USD/kWh, PUE {numbers.short(terms.pue)}: assumed unless you say so"
    )
