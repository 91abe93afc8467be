"""Competitors of a plan, as rows, notes and a table."""

from collections.abc import Iterator, Sequence

from podsim.model.quantity import Grade
from podsim.planning.competitors import PublishedRun
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone
from podsim.report.views import run_cost_view
from podsim.report.views.grades_view import short_grade
from podsim.report.views.published_runs_view import best_published
from podsim.studies.plan.choice_order import worth
from podsim.studies.plan.competitor_sizes import cheaper
from podsim.studies.plan.result import Candidate, Deadline, Objective, Plan

BETTER = {
    Objective.CAPITAL: "a lower purchase price",
    Objective.TIME: "a shorter time to train",
    Objective.COST: "a lower training cost",
    Objective.ENERGY: "less training energy",
    Objective.PRICE_PERFORMANCE: "a better price-performance",
}


def notes(plan: Plan) -> Iterator[Note]:
    """What was published of the competitors in the table, which are compared on time alone, which are better."""
    if not plan.against:
        return
    names = [item.nearest.topology for item in plan.against]
    texts = [best_published(item.published[name]) for name, item in zip(names, plan.against, strict=True)]
    published_texts = [f"{name} {text}" for name, text in zip(names, texts, strict=True) if text]
    parts = [
        f"published: {', '.join(published_texts)}"
        if published_texts
        else "no published result at this size; times by scaling laws"
    ]
    if plan.demand.deadline is Deadline.WALL_CLOCK:
        parts.append("start-up and compile times of these machines not known: compared on time to train alone")
    yield Note("; ".join(parts), "Against", Tone.QUIET)
    objective = plan.demand.objective
    better = cheaper(plan.against, plan.chosen, objective, worth) if plan.chosen else []
    if plan.chosen and better:
        cheap = ", ".join(candidate.topology for candidate in better)
        limits = "meets every demand with" if plan.demand.is_limited else "has"
        if plan.demand.deadline is Deadline.WALL_CLOCK:
            limits = "meets every demand, start-up and compile not counted, with"
        yield Note(f"{cheap} {limits} {BETTER[objective]} than {plan.chosen.title}.", "", Tone.WARNING)


def table(plan: Plan) -> Iterator[Block]:
    """Every size of every competitor, with all published runs."""
    rows = [(size, item.published[size.topology]) for item in plan.against for size in item.sizes]
    if not rows:
        return
    unit = numbers.scale([min(candidate.time_to_train_s.value for candidate in plan.candidates)], numbers.TIME)
    yield Heading("Competitors at every published size, by scaling laws of their own results")
    yield DocTable(
        (
            Column("Machine"),
            Column(f"Time, {unit.unit}", number=True),
            Column("90 %", number=True, priority=1),
            Column("Published", wraps=True),
            Column("Price", number=True, priority=2),
            Column("Power", number=True, priority=4),
            Column("Cost/run", number=True, priority=3),
            Column("Evidence", priority=2),
        ),
        tuple(_row(plan, size, runs, unit) for size, runs in rows),
    )


def _row(plan: Plan, size: Candidate, runs: Sequence[PublishedRun], unit: numbers.Scale) -> tuple[str, ...]:
    time = size.time_to_train_s
    return (
        size.topology,
        unit.number(time.value),
        f"{unit.number(time.low)} – {unit.number(time.high)}",
        ", ".join(f"{unit.number(run.time_to_train_s)} ({run.round})" for run in runs),
        numbers.money(size.capital_usd, plan.currency),
        f"{numbers.rate(size.power_w, 'W')}{run_cost_view.peak_mark(size.owned)}",
        numbers.money(size.cost_usd, plan.currency),
        "within published sizes" if time.grade is Grade.INTERPOLATED else short_grade(time),
    )
