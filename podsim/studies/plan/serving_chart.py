"""Machines that serve as a chart: what they cost, and the rate that they sustain or, where none does, their latency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.report import numbers
from podsim.report.doc import Chart, ChartAxis, DocSeries, ReferenceLine, label
from podsim.studies.plan.candidates_report import MONEY
from podsim.studies.plan.serving_choice import front

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.studies.plan.serving_result import ServingCandidate, ServingPlan

FEWEST: Final = 2  # machines of a chart


def charts(plan: ServingPlan) -> Iterator[Chart]:
    """Purchase price against sustained rate, of machines that are paid for; against P99 where none holds the limits."""
    priced_candidates = [candidate for candidate in plan.candidates if candidate.capital_usd]
    able = [candidate for candidate in priced_candidates if candidate.each_per_s]
    candidates = able or priced_candidates
    if len(candidates) < FEWEST:
        return
    usd = numbers.scale([plan.currency.of(candidate.capital_usd or 0.0) for candidate in candidates], MONEY)
    axis = _rate_axis(plan) if able else _latency_axis(plan, priced_candidates)
    optimal = {id(candidate) for candidate in front(candidates)}
    first = plan.chosen or plan.closest
    others = [candidate for candidate in candidates if candidate is not first]
    groups = (
        (
            "Recommended" if plan.chosen else "Nearest",
            [candidate for candidate in candidates if candidate is first],
            True,
        ),
        ("Pareto-optimal", [candidate for candidate in others if id(candidate) in optimal], True),
        ("Dominated" if able else "Too slow", [each for each in others if id(each) not in optimal], False),
    )

    def series(name: str, rows: Sequence[ServingCandidate], has_names: bool) -> DocSeries:
        rows = sorted(rows, key=lambda row: (axis.of(row), row.capital_usd))
        return DocSeries(
            name,
            tuple((axis.of(row), plan.currency.of(row.capital_usd or 0.0) / usd.factor) for row in rows),
            joined=False,
            names=tuple(f"{row.machines:,} × {row.topology}" for row in rows) if has_names else (),
            marked=name == "Recommended",
        )

    price = f"Purchase price, {usd.unit} {plan.currency.code}"
    limits = [axis.limit] if axis.limit else []
    if plan.demand.budget_usd is not None:
        budget = plan.currency.of(plan.demand.budget_usd) / usd.factor
        limits.append(ReferenceLine(budget, f"budget {numbers.money(plan.demand.budget_usd, plan.currency)}"))
    yield Chart(
        f"{price}, against {axis.title}",
        ChartAxis(label(axis.title), log=True),
        ChartAxis(price, log=True),
        tuple(series(name, rows, has_names) for name, rows, has_names in groups if rows),
        tuple(limits),
    )


@dataclass(frozen=True)
class _Axis:
    """What machines are compared by in the chart, with the limit of it."""

    title: str
    of: Callable[[ServingCandidate], float]
    limit: ReferenceLine | None


def _rate_axis(plan: ServingPlan) -> _Axis:
    rate_per_s = plan.demand.needed_per_s
    line = ReferenceLine(rate_per_s, f"needed {numbers.significant(rate_per_s)}/s", vertical=True)
    return _Axis("sustained rate, requests/s", lambda candidate: candidate.holds_per_s, line)


def _latency_axis(plan: ServingPlan, candidates: Sequence[ServingCandidate]) -> _Axis:
    unit = numbers.scale((plan.closest or candidates[0]).p99_s, numbers.TIME)
    limit = plan.demand.limits.p99_s
    line = None
    if limit is not None:
        line = ReferenceLine(limit / unit.factor, f"P99 limit {numbers.time(limit)}", vertical=True)
    return _Axis(f"P99 latency, {unit.unit}", lambda candidate: candidate.p99_s / unit.factor, line)
