"""Costs of a run on machines of growing size, as columns and notes."""

from collections.abc import Iterator

from podsim.model.currency import DOLLARS, Currency
from podsim.model.prediction import Prediction
from podsim.model.run_cost import Money
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone
from podsim.report.views import run_cost_view
from podsim.studies.scale.result import ScaleReport, ScaleRow


def extra_usd(small: Prediction, large: Prediction) -> float | None:
    """Extra cost of a run on the larger machine; None where a price is not known."""
    costs = [p.money.run_usd.value if p.money and p.money.run_usd else None for p in (small, large)]
    return None if costs[0] is None or costs[1] is None else costs[1] - costs[0]


def with_sign(usd: float, money: Currency) -> str:
    """An amount with its sign, "+$1.55"."""
    return f"{'+' if usd >= 0 else '−'}{numbers.money(abs(usd), money)}"


def currency(report: ScaleReport) -> Currency:
    """The currency of all amounts."""
    return next((prediction.money.currency for prediction in report.predictions if prediction.money), DOLLARS)


def cell(p: Prediction) -> str:
    """Cost of a run."""
    cost = p.money.run_usd if p.money else None
    if cost is None or p.money is None:
        return numbers.NO_VALUE
    return numbers.money(cost.value, p.money.currency, 2 if numbers.is_coarse(cost) else 3)


def terms(report: ScaleReport) -> Iterator[Note]:
    """The terms and the prices behind the cost of a run; `podsim predict --money` says them of one machine."""
    result = next((prediction.money for prediction in report.predictions if prediction.money), None)
    if result is not None:
        yield from run_cost_view.priced_by(
            prediction.money.owned for prediction in report.predictions if prediction.money
        )
        text = run_cost_view.terms(result.terms, result.currency)
        yield Note(
            f"Training cost: a share of the price of machine and hosts for the time to train, and energy; {text}",
            "",
            Tone.QUIET,
        )


def age(report: ScaleReport) -> Iterator[Note]:
    """A warning where prices are old, with their dates."""
    yield from run_cost_view.old_prices(money.owned for money in monies(report))


def monies(report: ScaleReport) -> list[Money]:
    """What every machine and every competitor costs, as far as it is known."""
    each = (*(p.money for p in report.predictions), *(item.prediction.money for item in report.against))
    return [money for money in each if money]


def rent_columns(report: ScaleReport) -> tuple[Column, ...]:
    """What renting costs, where a rent is stated."""
    if not any(prediction.money and prediction.money.rent for prediction in report.predictions):
        return ()
    return Column("Rent/run", number=True, priority=1), Column("Break-even h", number=True, priority=2)


def rent_cells(report: ScaleReport, row: ScaleRow) -> tuple[str, ...]:
    """Rent of a run, and hours of use from which on owning is cheaper."""
    if not rent_columns(report):
        return ()
    money = row.prediction.money if row.prediction else None
    if money is None or money.rent is None:
        return "", ""
    hours = money.rent.break_even_hours
    cost = numbers.money(money.rent.run_usd.value, money.currency)
    return cost, numbers.NO_VALUE if hours is None else numbers.count(hours)


def ownership(report: ScaleReport) -> Iterator[Block]:
    """The total cost of ownership of each machine, with the assumptions of the last."""
    monies = [(p.topology, p.money) for p in report.predictions if p.money and p.money.total]
    if not monies:
        return
    _, last = monies[-1]
    years = numbers.short(last.terms.years)
    yield Heading(f"Total cost of ownership, {years} years")
    columns = (
        Column("Machine"),
        Column("Purchase", number=True),
        Column("Electricity", number=True),
        Column("Total", number=True),
    )
    rows = []
    for name, money in monies:
        assert money.total is not None, "those without are left out above"
        parts = (money.total.purchase_usd, money.total.energy_usd, money.total.usd)
        rows.append((name, *(numbers.money(part.value, money.currency) for part in parts)))
    yield DocTable(columns, tuple(rows))
    yield Note(run_cost_view.LEFT_OUT, "", Tone.QUIET)
