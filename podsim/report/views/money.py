"""What a machine and a run on it cost, as blocks."""

from collections.abc import Iterable, Iterator

from podsim.model.money import Capital, Draw, Money, Owned, Range, Rent
from podsim.model.prices import Terms
from podsim.model.quantity import Estimate
from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts, Heading, Note, Tone

UNKNOWN = "no price or no power of this machine is known: --prices FILE states them"


def blocks(money: Money) -> Iterator[Block]:
    """Price and power of the machine, cost of a run, rent where it was asked for."""
    yield Heading("what it costs")
    yield Facts((*owned(money.owned), *_facts(money)))
    yield from bases(money.owned)
    yield Note(terms(money.terms), "terms", Tone.QUIET)


def owned(found: Owned) -> Iterator[Fact]:
    """Price and power of a machine."""
    if found.capital is not None:
        said = "derived from its parts" if found.capital.derived else "as quoted"
        yield Fact("price", dollars(found.capital.usd.value), "USD", said, interval(found.capital.usd))
    if found.draw is not None:
        yield Fact("power", *watts(found.draw))


def bases(found: Owned) -> Iterator[Note]:
    """Where price and power are from."""
    if found.capital is None or found.draw is None:
        yield Note(UNKNOWN, "", Tone.WARNING)
    if found.capital is not None:
        yield Note(_sourced(found.capital), "price", Tone.QUIET)
    if found.draw is not None:
        yield Note(found.draw.basis, "power", Tone.QUIET)


def _sourced(found: Capital) -> str:
    """Whose price it is; a sum of parts with the documents that price them."""
    named = [source for source in found.sources if source not in found.basis]
    return f"{found.basis} ({'; '.join(named)})" if named else found.basis


def priced_by(found: Iterable[Owned]) -> Iterator[Note]:
    """Every document that prices machines, with its date."""
    sources = dict.fromkeys(source for one in found if one.capital for source in one.capital.sources)
    if sources:
        yield Note("; ".join(sorted(sources)), "prices", Tone.QUIET)


def _facts(money: Money) -> Iterator[Fact]:
    if money.run_usd is not None:
        yield Fact("a run", dollars(money.run_usd.value), "USD", interval(money.run_usd), strong=True)
    if money.capital_usd is not None:
        yield Fact("its machine", dollars(money.capital_usd.value), "USD", interval(money.capital_usd))
    if money.energy_usd is not None and money.energy_j is not None:
        yield Fact("its energy", dollars(money.energy_usd.value), "USD", interval(money.energy_usd),
                   f"{energy(money.energy_j.value)} with cooling")  # fmt: skip
    if money.rent is not None:
        yield from _rent(money.rent, money.terms)


def _rent(rent: Rent, terms: Terms) -> Iterator[Fact]:
    yield Fact("rented instead", dollars(rent.run_usd.value), "USD", interval(rent.run_usd), "a run")
    if rent.break_even_hours is None or rent.break_even_use is None:
        yield Fact("break-even", numbers.UNKNOWN, "", "owning is never cheaper, or its price is not known")
        return
    use = rent.break_even_use
    said = "more than there is" if use > 1 else f"{numbers.percent(use)} of {numbers.short(terms.years)} years"
    yield Fact("break-even", numbers.count(rent.break_even_hours), "h", said, "of use, from which owning is cheaper")


def dollars(usd: float) -> str:
    """An amount of money: whole thousands apart from 1,000 on, two or three digits below."""
    return f"{usd:,.0f}" if usd >= 1000 else numbers.significant(usd, 3)


def interval(found: Estimate | Range) -> str:
    """From the low to the high end; nothing where they are one."""
    return "" if found.low == found.high else f"{dollars(found.low)} – {dollars(found.high)}"


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


def terms(found: Terms) -> str:
    """For how long and how much a machine is used, and what electricity costs."""
    return (
        f"{numbers.short(found.years)} years at {numbers.percent(found.use)} use, "
        f"{numbers.short(found.usd_per_kwh)} USD/kWh, PUE {numbers.short(found.pue)}: assumed unless you say so"
    )
