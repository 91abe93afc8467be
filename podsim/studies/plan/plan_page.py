"""A plan as a document to hand over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from podsim.report import numbers
from podsim.report.doc import Chart, ChartAxis, DocSeries, Fact, Facts, ReferenceLine
from podsim.report.handout import Handout, Section, assumptions, paragraph, sections, with_title
from podsim.report.origins import MachineNames, of_page
from podsim.report.views import caveats_view, run_cost_view
from podsim.report.views.grades_view import grade
from podsim.studies.plan import (
    candidates_report,
    competitor_sizes_report,
    misses_report,
    neighbours_report,
    search_report,
    time_report,
)
from podsim.studies.plan import report as view
from podsim.studies.plan.result import Deadline
from podsim.studies.predict.report import step_waterfall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from podsim.studies.plan.result import Candidate, Plan

LARGE: Final = ("Time to train", "Purchase price", "Training cost", "Power")
"""Facts in large type; where a time is demanded, the chance of keeping it takes the place of the cost of a run."""
FEWEST: Final = 2  # machines that make a chart


def page(plan: Plan, question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of all candidates and of the workload come from.

    `question` has the arguments of the call; where it is not known, sources are left out.
    """
    origins: Iterable[Section] = ()
    if question is not None:
        machines = [MachineNames(called=name, topology=name) for name in plan.named]
        others = [candidate.owned for item in plan.against for candidate in item.sizes]
        ownerships = [*(candidate.owned for candidate in plan.candidates), *others]
        origins = of_page(machines, [question["workload"]], ownerships)
    verdict, *notes = view.verdict(plan)
    best = plan.chosen or plan.closest
    facts = tuple(view.facts(plan, best)) if best else ()
    figures = _figures(plan, facts)
    rest = tuple(row for row in facts if row not in figures)
    return Handout(
        subject=_subject(plan),
        answer=verdict.text if plan.chosen is None else _sentence(plan, plan.chosen),
        figures=figures,
        body=tuple(
            filter(
                None,
                (
                    with_title("Time and price of the candidates", *_charts(plan)),
                    (*_table(plan, best), *notes, *competitor_sizes_report.notes(plan)),
                    *_reasons(plan, best),
                    with_title("In detail", Facts(rest)) if rest else (),
                ),
            )
        ),
        risks=_risks(plan, best),
        appendix=sections((*_details(plan, best), assumptions(plan.assumptions), *origins)),
    )


def _subject(plan: Plan) -> str:
    """The workload and what is demanded."""
    demands = view.question_text(plan.demand, plan.currency, plan.candidates)
    return f"{view.title(plan)}; demanded: {demands}" if demands else view.title(plan)


def _sentence(plan: Plan, candidate: Candidate) -> str:
    """What to take, how long it trains, how surely, and for how much."""
    time = numbers.format_estimate(candidate.time_to_train_s, numbers.TIME)
    name = view.machine_text(candidate)
    trains = f"trains in {time.text} (90 %: {time.interval} {time.unit})"
    price = numbers.money(candidate.capital_usd, plan.currency)
    cost = "price not known" if candidate.capital_usd is None else f"for {price}"
    within = plan.demand.within_s
    chance = (
        ""
        if candidate.chance is None or within is None
        else f", {time_report.chance(candidate.chance)} likely within {numbers.time(within)}"
    )
    if candidates_report.is_open(plan):
        return f"Nothing is demanded; of the Pareto-optimal machines {name} {trains}, {cost}: least price × time."
    which = view.rank_text(plan, "the ")
    meets = " that meets every demand" if plan.demand.is_limited and not plan.unranked else ""
    return f"Recommended: {name} {trains}{chance}, {cost}: {which}{meets}."


def _figures(plan: Plan, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    rows = [row for row in facts if row.label in LARGE and row.number != numbers.NO_VALUE]
    best = plan.chosen or plan.closest
    if best is None or best.chance is None or plan.demand.within_s is None:
        return tuple(rows)
    limit = f"of training within {numbers.time(plan.demand.within_s)}"
    quantile = f"{plan.demand.quantile}: {numbers.time(best.sure_s)}"
    sure = Fact("Chance", time_report.chance(best.chance), "", limit, quantile)
    return tuple(sure if row.label == "Training cost" else row for row in rows)


def _table(plan: Plan, best: Candidate | None) -> Section:
    """Other machines near the recommended one, or why not those."""
    if best is not None and plan.explain:
        return tuple(neighbours_report.table(plan, best))
    return tuple(candidates_report.candidate_blocks(plan, verbose=False)) if plan.candidates else ()


def _reasons(plan: Plan, best: Candidate | None) -> Iterator[Section]:
    """What would have to change, and where a step of the recommended machine goes."""
    if plan.chosen is None:
        yield from sections([tuple(misses_report.changes(plan, verbose=True, with_flags=False))])
    if best is not None and best.timeline is not None:
        coarse = numbers.is_coarse(best.time_to_train_s)
        yield with_title(f"Where a step goes on {best.title}", step_waterfall(best.timeline.breakdown_s, coarse=coarse))


def _risks(plan: Plan, best: Candidate | None) -> tuple[str, ...]:
    evidence = f"Evidence: {grade(best.time_to_train_s)}; {plan.calibration}" if best else plan.calibration
    warnings = [
        *view.unpublished_peak(best.owned if best else None, plan.demand),
        *view.unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates}),
        *view.exclusion_notes(plan.excluded),
    ]
    return paragraph(
        evidence,
        _beyond_training(plan, best),
        plan.contradiction,
        f"{view.cache_text(plan.with_cache, plan)}." if plan.with_cache else "",
        run_cost_view.age(candidate.owned.capital for candidate in _all(plan) if candidate.owned),
        *(f"{note.label}: {note.text}" if note.label else note.text for note in warnings),
        f"Cost: {run_cost_view.terms(plan.terms, plan.currency)}",
        run_cost_view.LEFT_OUT,
        view.NO_RACKS,
        *caveats_view.texts(plan.assumptions),
    )


def _beyond_training(plan: Plan, best: Candidate | None) -> str:
    """What users wait besides training, where the time limit is of training alone and the wall clock is above it."""
    within = plan.demand.within_s
    clock = best.wall_clock.total_s if best and best.wall_clock else None
    if clock is None or within is None or plan.demand.deadline is not Deadline.TRAINING or clock.value <= within:
        return ""
    time = numbers.format_estimate(clock, numbers.TIME)
    return (
        "The time limit applies to training alone: with compilation, loading and the last checkpoint a job takes "
        f"{time.text} (90 %: {time.interval} {time.unit})"
    )


def _details(plan: Plan, best: Candidate | None) -> Iterator[Section]:
    yield tuple(candidates_report.candidate_blocks(plan, verbose=True))
    if plan.chosen is not None:
        yield tuple(misses_report.changes(plan, verbose=True, with_flags=False))
    yield with_title("Sources of price and power", *view.price_sources(plan), *search_report.search_blocks(plan))
    yield tuple(run_cost_view.ownership(best.total, plan.currency)) if best else ()
    yield tuple(competitor_sizes_report.table(plan))


def _all(plan: Plan) -> list[Candidate]:
    return [*plan.candidates, *(size for item in plan.against for size in item.sizes)]


def _charts(plan: Plan) -> Iterator[Chart]:
    """Time against capital, where both are known; an axis of ratios has no place for what costs nothing.

    The limits demanded are lines across, intervals are bars.
    """
    priced_candidates = [candidate for candidate in _all(plan) if candidate.capital_usd]
    if len(priced_candidates) < FEWEST:
        return
    of = plan.currency.of
    money = numbers.scale(
        [of(candidate.capital_usd or 0.0) for candidate in priced_candidates], candidates_report.MONEY
    )
    of_unit = plan.chosen or plan.closest or priced_candidates[0]
    unit = numbers.scale(of_unit.time_to_train_s.value, numbers.TIME)
    front = {id(candidate) for candidate in plan.frontier}
    others = {id(size) for item in plan.against for size in item.sizes}

    def series(label: str, rows: Sequence[Candidate], *, marked: bool = False) -> DocSeries:
        rows = sorted(rows, key=lambda row: (row.capital_usd or 0.0, row.time_to_train_s.value))
        return DocSeries(
            label,
            tuple((of(row.capital_usd or 0.0) / money.factor, row.time_to_train_s.value / unit.factor) for row in rows),
            joined=False,
            band=tuple((row.time_to_train_s.low / unit.factor, row.time_to_train_s.high / unit.factor) for row in rows),
            names=_names(rows),
            marked=marked,
        )

    def those(*, chosen: bool = False, optimal: bool = False, other: bool = False) -> list[Candidate]:
        return [
            row
            for row in priced_candidates
            if (row is plan.chosen, id(row) in front, id(row) in others) == (chosen, optimal or chosen, other)
            or (chosen and row is plan.chosen)
        ]

    rows = (
        series("Recommended", those(chosen=True), marked=True),
        series("Pareto-optimal", those(optimal=True)),
        series("Competitors", those(other=True)),
        series("Dominated", those()),
    )
    free = any(candidate.capital_usd == 0 for candidate in plan.candidates)
    left_out = "; owned machines, which cost nothing more, are left out" if free else ""
    price = f"Purchase price, {money.unit} {plan.currency.code}"
    yield Chart(
        f"Time to train against purchase price, {unit.unit} and {money.unit} {plan.currency.code}"
        f"{left_out}{_without_price(plan)}",
        ChartAxis(price, log=True),
        ChartAxis(f"Time to train, {unit.unit}", log=True),
        tuple(row for row in rows if row.points),
        tuple(_limits(plan, money, unit)),
    )


def _without_price(plan: Plan) -> str:
    """Competitors that the chart has no place for: "; dgx-h100 is left out: price not published"."""
    names = [item.machine for item in plan.against if not any(size.capital_usd for size in item.sizes)]
    are = "is" if len(names) == 1 else "are"
    return f"; {', '.join(names)} {are} left out: price not published" if names else ""


def _limits(plan: Plan, money: numbers.Scale, unit: numbers.Scale) -> Iterator[ReferenceLine]:
    demand = plan.demand
    if demand.within_s is not None:
        yield ReferenceLine(demand.within_s / unit.factor, f"time limit {numbers.time(demand.within_s)}")
    if demand.budget_usd is not None:
        budget = plan.currency.of(demand.budget_usd) / money.factor
        yield ReferenceLine(budget, f"budget {numbers.money(demand.budget_usd, plan.currency)}", vertical=True)


def _names(rows: Sequence[Candidate]) -> tuple[str, ...]:
    """The name of each machine, once where it stands there with several numbers of hosts."""
    names = [row.topology for row in rows]
    return tuple(name if name not in names[:at] else "" for at, name in enumerate(names))
