"""Demands that machines miss, and what would have to change for them to be met, as texts and blocks."""

import math
from collections.abc import Iterator, Sequence

from podsim.model.currency import Currency
from podsim.model.parameters import LABELS
from podsim.report import numbers
from podsim.report.doc import Block, Heading, Note
from podsim.studies.plan.result import LIMITS, Candidate, Demand, Miss, Plan, Remedy

FIGURES = {"time": "time", "budget": "price", "power": "power"}
LEAST = 0.005  # share over a limit that is shown as a multiple of the limit


def exceeding(share: float, limit: str) -> str:
    """By how much a limit is exceeded: "1.03× the time limit", "2.2× the time limit"."""
    if share < LEAST:
        return f"less than {100 * LEAST:g} % over the {limit}"
    return f"{numbers.short(1 + share, 3 if share < 1 else 2)}× the {limit}"


def misses_text(misses: Sequence[Miss], demand: Demand) -> str:
    """By how much demands are missed: "P90 2.2× the time limit, 1.08× the budget"."""
    texts = [
        f"{f'{demand.quantile} ' if miss.demand == 'time' else ''}{exceeding(miss.over, LIMITS[miss.demand])}"
        for miss in misses
        if not math.isinf(miss.over)
    ]
    unpublished_figures = [FIGURES[miss.demand] for miss in misses if math.isinf(miss.over)]
    return ", ".join((*texts, *([f"{' and '.join(unpublished_figures)} not published"] if unpublished_figures else [])))


def changes(plan: Plan, *, verbose: bool, with_flags: bool = True) -> Iterator[Block]:
    """What would make each near miss meet all demands; `verbose` adds what would not be enough.

    `with_flags` names the flags of a change, which a document to hand over does not.
    """
    rows = [*plan.near]
    if plan.closest is not None and all(plan.closest.topology != candidate.topology for candidate in rows):
        rows.insert(0, plan.closest)
    if not rows:
        return
    yield Heading("What would have to change, with mapping and batch kept")
    for row in rows:
        late = any(miss.demand == "time" for miss in row.misses)
        remedies = [remedy for remedy in plan.remedies if late and remedy.topology == row.topology]
        texts = _limits(row, plan.currency, with_flags=with_flags), _ways(remedies, with_flags=with_flags)
        yield Note(_limit_text(*texts), row.title)
        short = [_short(remedy) for remedy in remedies if remedy.needed is None]
        if verbose and short:
            yield Note("; ".join(short), "Not enough")


def _limits(candidate: Candidate, currency: Currency, *, with_flags: bool) -> list[tuple[str, str]]:
    """Each demand that is missed with the limit that would do."""
    return [(miss.demand, _limit(miss, currency, with_flags=with_flags)) for miss in candidate.misses]


def _ways(remedies: Sequence[Remedy], *, with_flags: bool) -> list[str]:
    """Each change that is enough."""
    return [_remedy(remedy, with_flags=with_flags) for remedy in remedies if remedy.needed is not None]


def _limit_text(limits: Sequence[tuple[str, str]], others: Sequence[str]) -> str:
    """Every limit that has to move; for the time also each number that would do instead."""
    always = [text for demand, text in limits if demand != "time"]
    ways = [*(text for demand, text in limits if demand == "time"), *others]
    choice = [f"one of: {'; '.join(ways)}"] if len(ways) > 1 else ways
    return ", and ".join(filter(None, (", ".join(always), *choice)))


def _limit(miss: Miss, currency: Currency, *, with_flags: bool) -> str:
    """The limit at which a machine would meet a demand: "a budget of $1.08M instead of $1.00M"."""
    if miss.found is None:
        return f"its {FIGURES[miss.demand]}, not published{' (--prices FILE states it)' if with_flags else ''}"
    value, limit = limit_text(miss.demand, miss.found, currency), _limit_value(miss.demand, miss.limit, currency)
    return f"a {LIMITS[miss.demand]} of {value} instead of {limit}"


def limit_text(demand: str, least: float, currency: Currency) -> str:
    """A limit that is no lower than needed, so that it is enough where it is typed as it is shown."""
    if demand == "budget":
        return _limit_value(demand, currency.usd(numbers.round_up(currency.of(least))), currency)
    limit = numbers.round_up(least) if demand == "power" else numbers.round_up(least, numbers.TIME)
    return _limit_value(demand, limit, currency)


def _limit_value(demand: str, value: float, currency: Currency) -> str:
    if demand == "budget":
        return numbers.money(value, currency)
    return numbers.rate(value, "W") if demand == "power" else numbers.time(value)


def _remedy(remedy: Remedy, *, with_flags: bool) -> str:
    """A change that is enough, `with_flags` with the flag for it."""
    assert remedy.needed is not None, "those that are not enough are listed apart"
    if remedy.path == "hosts":
        return f"{remedy.needed:,.0f} hosts instead of {remedy.present:,.0f}"
    if remedy.path == "compile":
        flag = " (--compile cached)" if with_flags else ""
        return f"an executable in the cache, loaded in {numbers.time(remedy.needed, 2)}{flag}"
    factor = remedy.needed / remedy.present
    what = LABELS.get(remedy.path, remedy.path)
    if what != remedy.path:
        value, present = numbers.significant(remedy.needed), numbers.significant(remedy.present)
        return f"{what} in {numbers.percent(factor)} of the time ({remedy.path}={value}, was {present})"
    value, present = (numbers.rate(amount, remedy.unit) for amount in (remedy.needed, remedy.present))
    quantity = "clock" if remedy.unit == "Hz" else "bandwidth"
    same = numbers.split_unit(value)[1] == numbers.split_unit(present)[1]
    was = numbers.split_unit(present)[0] if same else present
    return f"{numbers.significant(factor)}× {quantity} ({what}={value}, was {was})"


def _short(remedy: Remedy) -> str:
    """A change that is not enough, with the time that it leaves."""
    what = LABELS.get(remedy.path, remedy.path)
    others = {"hosts": "more hosts", "compile": "an executable in the cache"}
    change_text = others.get(remedy.path, what if what == remedy.path else f"faster {what}")
    return change_text if remedy.best is None else f"{change_text} ({numbers.time(remedy.best)} at best)"
