"""The table of candidates of a plan: the recommended machine with some others, or all."""

from collections.abc import Container, Iterator, Sequence

from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.model.run_cost import J_PER_KWH
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading, Note, Tone
from podsim.report.views import run_cost_view
from podsim.report.views.grades_view import short_grade
from podsim.studies.plan import inventory_report, search_report, time_report
from podsim.studies.plan.misses_report import misses_text
from podsim.studies.plan.result import Candidate, Deadline, Demand, Objective, Plan
from podsim.studies.plan.shortlist import shortlist

WORTH_HOSTS = 0.05  # share of the time by which more hosts have to be quicker to be named
MOST_ROWS = 6  # machines on the short screen, competitors included
FEWEST_MISSES = 2  # the same where that still takes too many lines
RECIPES = 3  # priority of their global batches, where the screen has too many lines
MOST_MISSES = 3  # of these where no machine meets every demand: what each misses takes lines
MONEY: numbers.Ladder = ((1e6, 1e6, "M"), (1e3, 1e3, "k"), (0.0, 1.0, ""))
POWER: numbers.Ladder = ((1e6, 1e6, "MW"), (1e3, 1e3, "kW"), (0.0, 1.0, "W"))


def is_open(plan: Plan) -> bool:
    """Whether nothing was demanded, so that no machine is recommended over the others."""
    return plan.demand.objective is Objective.PRICE_PERFORMANCE and not plan.demand.is_limited and not plan.unranked


def watts(power_w: float | None) -> str:
    """A power."""
    return numbers.NO_VALUE if power_w is None else numbers.scale(power_w, POWER).text(power_w)


def power_text(candidate: Candidate, demand: Demand) -> str:
    """What a machine draws, or at most where a limit is compared with that; marked where only its peak is known."""
    if demand.most_power_w is not None:
        return watts(candidate.most_power_w)
    return f"{watts(candidate.power_w)}{run_cost_view.peak_mark(candidate.owned)}"


def shown_rows(plan: Plan) -> int:
    """How many machines the short screen has, competitors included."""
    return MOST_ROWS - len({exclusion.reason for exclusion in plan.excluded}) if plan.chosen else MOST_MISSES


def candidate_blocks(plan: Plan, *, verbose: bool, most: int = 0) -> Iterator[Block]:
    """The machines nearest to the recommended one, at most so many or as usual; with `verbose` all candidates."""
    most = most or shown_rows(plan)
    front = {id(candidate) for candidate in plan.frontier}
    others = [] if verbose else [item.nearest for item in plan.against]
    rows = [*plan.candidates] if verbose else [*shortlist(plan, max(most - len(others), 1)), *others]
    best = plan.chosen or plan.closest
    rows.sort(key=lambda candidate: -candidate.time_to_train_s.value)
    shortest = plan.chosen is None and not verbose and most <= FEWEST_MISSES
    best_index = next((at for at, row in enumerate(rows) if row is best), None)
    unit = numbers.scale([min(row.time_to_train_s.value for row in rows)], numbers.TIME)
    names = [row.topology for row in rows]
    several = len({*names}) < len(names)
    near = "Machines to choose from" if is_open(plan) else _shown_text(plan, rows, len(others))
    some = is_open(plan) and len(rows) < len(plan.frontier) and not verbose
    count_text = f": {len(rows)} of the {len(plan.frontier)} Pareto-optimal" if some else ""
    grades = {short_grade(row.time_to_train_s) for row in rows}
    by_law = [row for row in rows if row.mapping is None]
    alike = len(rows) > 1 and len(grades) == 1 and not by_law
    same = f", {grades.pop()}" if alike and not verbose else ""
    same = f"{f', {plan.demand.quantile} with failures' if any(row.failures for row in rows) else ''}{same}"
    yield Heading(f"{'Candidates' if verbose else near}{count_text}; times in {unit.unit}{same}")
    yield DocTable(
        _columns(plan, graded=verbose, several=several),
        tuple(
            (
                *_row(plan, row, unit, graded=verbose),
                _remark(plan, row, front, graded=not verbose and not alike, brief=shortest and row is plan.closest),
            )
            for row in rows
        ),
        marked=best_index,
    )
    if verbose or plan.chosen is None:  # a recommendation leaves no line for it
        yield from _recipes(plan, rows)
    if not verbose and any(_is_fed_better(other, row) for other in plan.candidates for row in rows):
        more = "Some of these are quicker with more hosts, at a higher price."
        yield Note(more, "", Tone.QUIET, hint="-v lists them")


def _shown_text(plan: Plan, rows: Sequence[Candidate], competitors: int) -> str:
    """How many candidates a short table has and which: "3 of 14 candidates: recommended, 2 near misses"."""
    best = plan.chosen or plan.closest
    near, front = ({id(row) for row in some} for some in (plan.near, plan.frontier))
    others = {id(row) for row in rows if row is not best}
    texts = [
        "recommended" if plan.chosen else "nearest",
        _count_text(len(others & near), "near miss" if plan.chosen else "other near miss", "es"),
        _optimal_text(plan, best, len(others & front - near)),
    ]
    count, every = len(rows) - competitors, len(plan.candidates)
    many = f"{count} of {every:,} candidates" if count < every else _count_text(count, "candidate", "s")
    return f"{many}: {', '.join(filter(None, texts))}"


def _optimal_text(plan: Plan, best: Candidate | None, count: int) -> str:
    """How many other Pareto-optimal machines a table has, and of how many; "" of none."""
    excluded_names = {candidate.topology for candidate in (best, *plan.near) if candidate is not None}
    every = len({candidate.topology for candidate in plan.frontier} - excluded_names)
    some = f"{count} of the {every}" if count < every else f"{count}"
    return f"{some} other Pareto-optimal machine{'' if every == 1 else 's'}" if count else ""


def _count_text(count: int, name: str, plural: str) -> str:
    """So many of a name: "2 near misses"; "" of none."""
    return f"{count} {name}{'' if count == 1 else plural}" if count else ""


def _columns(plan: Plan, *, graded: bool, several: bool) -> tuple[Column, ...]:
    """Columns of what was demanded stay at every width, and hosts where `several` rows are of one machine."""
    demand = plan.demand
    within, objective = demand.within_s, demand.objective
    has_price_objective = objective in (Objective.CAPITAL, Objective.COST, Objective.PRICE_PERFORMANCE)
    return (
        Column("Machine"),
        Column("Hosts", number=True, priority=0 if several else 2),
        Column("Replicas", number=True, priority=8),
        Column("Time", number=True),
        Column("90 %", number=True, priority=1),
        *((Column("Evidence", priority=1),) if graded else ()),
        Column(demand.judged_time, number=True, priority=0 if within is not None else 2),
        *((Column(f"Chance ≤ {numbers.time(within)}", number=True, priority=3),) if within is not None else ()),
        Column("Price", number=True, priority=0 if demand.budget_usd is not None or has_price_objective else 2),
        Column("Power", number=True, priority=4)
        if demand.most_power_w is None
        else Column("Power ≤", number=True, priority=0),
        Column("Cost/run", number=True, priority=0 if objective is Objective.COST else 2),
        Column("kWh per run", number=True, priority=0 if objective is Objective.ENERGY else 6),
        Column("Remark", wraps=True),
    )


def _remark(plan: Plan, candidate: Candidate, front: Container[int], *, graded: bool, brief: bool = False) -> str:
    """Demands missed, IPUs that idle, evidence beyond calibration, what is owned, whether another is better in all.

    `front` are the ids of those that no other is better than in all; `graded` adds the evidence; `brief` leaves the
    missed demands to the first sentence of the screen.
    """
    notes = ["nearest" if brief else misses_text(candidate.misses, plan.demand)]
    if candidate.capital_usd is None and not candidate.misses and candidate is not plan.chosen:
        notes.append("price not published")
    notes.append(search_report.idle_text(candidate))
    if graded and candidate.time_to_train_s.grade in (Grade.EXTRAPOLATED, Grade.ASSUMED):
        notes.append(short_grade(candidate.time_to_train_s))
    if (
        not candidate.misses
        and candidate is not plan.chosen
        and id(candidate) not in front
        and any(candidate is other for other in plan.candidates)
    ):
        notes.append("dominated")
    notes.append(inventory_report.remark(candidate.reuse))
    return "; ".join(filter(None, notes))


def _recipes(plan: Plan, rows: Sequence[Candidate]) -> Iterator[Note]:
    """The global batches of a language model, whose recipe has several, where machines differ in it."""
    by_size: dict[int, list[str]] = {}
    for row in rows:
        if row.mapping is not None:
            by_size.setdefault(row.global_batch, []).append(row.topology)
    if plan.run_tokens is not None and len(by_size) > 1:
        texts = (f"{number:,} on {', '.join(dict.fromkeys(names))}" for number, names in by_size.items())
        of_paper = any(note.code is NoteCode.GLOBAL_BATCH_OF_PAPER for note in plan.assumptions)
        which = ", near that of the model's paper if it fits in memory, else the next smaller tried" if of_paper else ""
        yield Note(f"Global batch{which}: {'; '.join(texts)}.", "", Tone.QUIET, priority=RECIPES)


def _is_fed_better(other: Candidate, candidate: Candidate) -> bool:
    """Whether more hosts on the same machine save a share of the time that counts."""
    same = other.topology == candidate.topology and other.hosts > candidate.hosts
    return same and other.time_to_train_s.value < (1 - WORTH_HOSTS) * candidate.time_to_train_s.value


def _row(plan: Plan, candidate: Candidate, unit: numbers.Scale, *, graded: bool) -> tuple[str, ...]:
    replicas = (
        f"{candidate.mapping.replicas:,} × {candidate.mapping.ipus_per_replica}"
        if candidate.mapping
        else numbers.NO_VALUE
    )
    likely = () if plan.demand.within_s is None else (_chance(candidate),)
    of_training_alone = plan.demand.deadline is Deadline.WALL_CLOCK and candidate.wall_clock is None
    kwh = numbers.NO_VALUE if candidate.energy_j is None else numbers.significant(candidate.energy_j / J_PER_KWH)
    return (
        candidate.topology,
        f"{candidate.hosts:,}" if candidate.hosts else numbers.NO_VALUE,
        replicas,
        *time_report.with_interval(candidate, unit),
        *((short_grade(candidate.time_to_train_s),) if graded else ()),
        numbers.NO_VALUE if of_training_alone else unit.number(candidate.sure_s),
        *likely,
        numbers.money(candidate.capital_usd, plan.currency),
        power_text(candidate, plan.demand),
        numbers.money(candidate.cost_usd, plan.currency),
        kwh,
    )


def _chance(candidate: Candidate) -> str:
    return numbers.NO_VALUE if candidate.chance is None else time_report.chance(candidate.chance)
