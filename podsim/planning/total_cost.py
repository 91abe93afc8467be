"""Total cost of ownership, year by year, with every number behind it named and graded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from podsim.model.run_cost import (
    HOUR_S,
    YEAR_S,
    AssumptionGrade,
    Capital,
    CostAssumption,
    CostYear,
    Draw,
    MachineOwnership,
    Range,
    TotalCost,
)

if TYPE_CHECKING:
    from podsim.model.prices import Terms

TERMS: Final = (
    ("Years of use", "years", "years"),
    ("Utilisation", "use", "share"),
    ("Electricity price", "usd_per_kwh", "USD/kWh"),
    ("PUE", "pue", ""),
)
"""What a term is called, its field and its unit."""


def of(
    ownership: MachineOwnership,
    terms: Terms,
    stated_terms: frozenset[str] = frozenset(),
    hourly_usd: float | None = None,
) -> TotalCost | None:
    """Purchase and electricity over the years of life (Eq. 61); None where price or power are not known.

    A last year may be part of one. Electricity is that of the hours in use, at the power in a step with its interval,
    or at typical power up to the peak.
    """
    capital, draw = ownership.capital, ownership.draw
    if capital is None or draw is None:
        return None
    ends = [*range(1, math.ceil(terms.years)), terms.years]
    years = tuple(_year(float(end), capital.usd, draw, terms, hourly_usd) for end in ends)
    return TotalCost(
        usd=years[-1].total_usd,
        purchase_usd=capital.usd,
        energy_usd=years[-1].energy_usd,
        years=years,
        assumptions=tuple(_assumptions(ownership, capital, draw, terms, stated_terms)),
    )


def _year(end: float, purchase: Range, draw: Draw, terms: Terms, hourly_usd: float | None) -> CostYear:
    hours = end * terms.use * YEAR_S / HOUR_S
    energy = draw.electricity_usd(hours * HOUR_S, terms)
    return CostYear(
        year=end,
        use_hours=hours,
        energy_usd=energy,
        total_usd=Range(
            value=purchase.value + energy.value, low=purchase.low + energy.low, high=purchase.high + energy.high
        ),
        rent_usd=None if hourly_usd is None else hours * hourly_usd,
    )


def _assumptions(
    ownership: MachineOwnership, capital: Capital, draw: Draw, terms: Terms, stated_terms: frozenset[str]
) -> Iterator[CostAssumption]:
    price = AssumptionGrade.DERIVED if capital.derived else AssumptionGrade.PUBLISHED
    yield CostAssumption(
        name="Purchase price",
        value=capital.usd.value,
        unit="USD",
        grade=AssumptionGrade.GIVEN if capital.given else price,
    )
    if ownership.hosts:
        yield CostAssumption(name="Hosts", value=float(ownership.hosts), unit="", grade=AssumptionGrade.ASSUMED)
    parts = AssumptionGrade.DERIVED if ownership.hosts else AssumptionGrade.PUBLISHED
    yield CostAssumption(name="Power in use", value=draw.least_w, unit="W", grade=parts)
    for name, field, unit in TERMS:
        grade = AssumptionGrade.GIVEN if field in stated_terms else AssumptionGrade.ASSUMED
        yield CostAssumption(name=name, value=getattr(terms, field), unit=unit, grade=grade)
