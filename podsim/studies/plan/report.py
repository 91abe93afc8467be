"""A plan as a document: the machine to take, the others, what would have to change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from podsim.model.currency import DOLLARS, Currency
from podsim.model.note_code import NoteCode
from podsim.model.prices import Terms
from podsim.model.quantity import Grade
from podsim.model.run_cost import MachineOwnership
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Doc, Fact, Facts, Heading, Note, Tone
from podsim.report.views import caveats_view, next_question_view, run_cost_view, tokens_view
from podsim.studies.plan import (
    competitor_sizes_report,
    inventory_report,
    misses_report,
    neighbours_report,
    search_report,
    time_report,
)
from podsim.studies.plan.candidates_report import candidate_blocks, is_open, shown_rows, watts
from podsim.studies.plan.misses_report import misses_text
from podsim.studies.plan.result import Candidate, Deadline, Demand, ExcludedMachine, Objective, Plan

MOST_LINES = 30
NEXT_TEXT = 92  # characters behind the label "Next" on a line of 100
FEWEST_ROWS = 3  # machines of a short screen, the recommended one among them
NEAREST_ALONE = 1  # where none meets every demand and two still take too many lines
EXCLUSIONS, GLOBAL_BATCH, COST = 4, 2, 1  # priorities: the highest leaves first of too many lines
NO_RACKS = "Rack space is not modelled: no source states it."
LEAST = {
    Objective.CAPITAL: "cheapest to buy",
    Objective.TIME: "fastest",
    Objective.COST: "lowest training cost",
    Objective.ENERGY: "lowest training energy",
    Objective.PRICE_PERFORMANCE: "best price-performance",
}
LACKING = {
    Objective.CAPITAL: "purchase price: none is known",
    Objective.TIME: "time",
    Objective.COST: "cost: no price is known",
    Objective.ENERGY: "energy: no power is known",
    Objective.PRICE_PERFORMANCE: "price-performance: no price is known",
}


def answer(plan: Plan) -> str:
    """The answer in one line: "IPU-POD256: 4.44 min (4.04 – 5.01), 2.15 M USD"."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return "no candidate"
    time = numbers.format_estimate(candidate.time_to_train_s, numbers.TIME)
    price = "" if candidate.capital_usd is None else f", {numbers.money(candidate.capital_usd, plan.currency)}"
    line = f"{candidate.title}: {time.text} ({time.interval}){price}"
    return line if plan.chosen else f"none; nearest candidate {line}, {misses_text(candidate.misses, plan.demand)}"


def title(plan: Plan) -> str:
    """What was asked: the workload and what ends its run."""
    counts_tokens = plan.ends_with_samples and plan.run_tokens is not None
    tokens = f" ({tokens_view.amount(plan.run_tokens or 0.0)} tokens)" if counts_tokens else ""
    has_stated_length = plan.stated_length or plan.ends_with_samples
    return (
        f"{plan.workload_title}, {f'a run of {plan.target}{tokens}' if has_stated_length else f'target {plan.target}'}"
    )


def document(plan: Plan, *, verbose: bool = False, rows: int = 0) -> Doc:
    """The recommendation, its figures and the Pareto-optimal machines.

    `verbose` lists every candidate with its grade, where prices and power are from, how mappings were searched, what
    would have to change and what was assumed. `rows` are the machines of the short screen, 0 for as many as it has.
    """
    rows = rows or shown_rows(plan)
    groups: list[tuple[Block, ...]] = [
        (Heading(title(plan)), *verdict(plan)),
        tuple(_best(plan)),
        *_others(plan, verbose=verbose, rows=rows),
        tuple(misses_report.changes(plan, verbose=verbose)) if verbose or plan.chosen is None else (),
    ]
    remarks = (*exclusion_notes(plan.excluded), *caveats_view.notes(plan.assumptions, verbose=verbose))
    if verbose:
        groups.append(remarks)
        groups.append((*price_sources(plan), *search_report.search_blocks(plan)))
        best = plan.chosen or plan.closest
        groups.append(tuple(run_cost_view.ownership(best.total, plan.currency)) if best else ())
        groups.append(tuple(competitor_sizes_report.table(plan)))
        groups.append((Heading("Assumptions"), *(Note(str(note), "·") for note in plan.assumptions)))
    groups.append(
        (
            *(() if verbose else remarks),
            *_next(plan, verbose=verbose),
            Note(_evidence(plan, verbose=verbose), "", Tone.QUIET),
        )
    )
    filled_groups = tuple(group for group in groups if group)
    fewer = None if rows <= (FEWEST_ROWS if plan.chosen else NEAREST_ALONE) else partial(document, plan, rows=rows - 1)
    return Doc(filled_groups) if verbose else Doc(filled_groups, MOST_LINES, fewer)


def verdict(plan: Plan) -> Iterator[Note]:
    """The recommendation in a sentence, then what was demanded."""
    demands = question_text(plan.demand, plan.currency, plan.candidates)
    candidate = plan.chosen or plan.closest
    if candidate is None:
        yield Note(f"No candidate meets every demand: {demands}.", "", Tone.STRONG)
        return
    name = machine_text(candidate)
    if plan.chosen is None:
        limits = (plan.demand.within_s, plan.demand.budget_usd, plan.demand.most_power_w)
        measure = " by its largest miss" if sum(limit is not None for limit in limits) > 1 else ""
        nearest = f"the nearest candidate{measure} is {name}, {misses_text(candidate.misses, plan.demand)}"
        yield Note(f"No candidate meets every demand: {demands}; {nearest}.", "", Tone.STRONG)
    elif is_open(plan):
        better = f"{len(plan.frontier):,} of {len(plan.candidates):,} candidates are Pareto-optimal"
        text = f"{better}; {name} has the least purchase price × time."
        hint = "--within, --budget or --max-power selects one."
        if len(plan.candidates) == 1:
            text, hint = f"{name} is the only candidate.", ""
        yield Note(f"No time, budget or power demanded: {text}", "", Tone.STRONG, hint)
    else:
        hint = "--prices FILE states one." if plan.unranked else ""
        yield Note(f"Recommended: {name}, {why(plan)}.", "", Tone.STRONG, hint)
    if plan.chosen and (idle := search_report.idle_advice(plan, plan.chosen)):
        yield Note(idle, "Idle")
    yield from search_report.size_between(plan)
    yield from inventory_report.notes(plan.inventory, candidate.reuse, plan.currency)
    if plan.contradiction:
        yield Note(plan.contradiction, "Limits", Tone.WARNING)
    if plan.with_cache is not None and (plan.chosen or plan.with_cache.topology != candidate.topology):
        yield Note(f"{cache_text(plan.with_cache, plan)}.", "Cache", hint="--compile cached")


def cache_text(candidate: Candidate, plan: Plan) -> str:
    """The machine recommended if the executable is in the cache, with its price where that is known."""
    price = "" if candidate.capital_usd is None else numbers.money(candidate.capital_usd, plan.currency)
    texts = ", ".join(filter(None, (hosts_text(candidate.hosts), price, search_report.idle_text(candidate))))
    return f"With the executable in the cache, {candidate.title} ({texts}) would be recommended"


def machine_text(candidate: Candidate) -> str:
    """A machine with its chips and hosts: "IPU-POD64 (64 × gc200, 1 host)"."""
    hosts = f", {hosts_text(candidate.hosts)}" if candidate.hosts else ""
    return f"{candidate.title} ({candidate.chips:,} × {candidate.chip}{hosts})"


def hosts_text(hosts: int) -> str:
    """A number of hosts: "1 host", "4 hosts"."""
    return f"{hosts:,} host{'' if hosts == 1 else 's'}"


def why(plan: Plan) -> str:
    """What makes the chosen machine the best."""
    demands = "" if plan.unranked else question_text(plan.demand, plan.currency, plan.candidates)
    return f"{rank_text(plan)}{f' with {demands}' if demands else ''}"


def rank_text(plan: Plan, article: str = "") -> str:
    """The chosen machine by its rank, after an `article` where a sentence needs one: "the cheapest to buy"."""
    if plan.unranked:
        return f"{article}quickest; it cannot be ranked by {LACKING[plan.demand.objective]}"
    has_untried_size = any(search_report.size_between(plan))
    return f"{'of the machines tried the ' if has_untried_size else article}{LEAST[plan.demand.objective]}"


def question_text(demand: Demand, currency: Currency = DOLLARS, candidates: Sequence[Candidate] = ()) -> str:
    """The demands in words; "" where there are none. Runs of `candidates` may be long enough to see failures."""
    notes = []
    if demand.within_s is not None:
        of = "wall clock" if demand.deadline is Deadline.WALL_CLOCK else "time to train"
        failures = " with failures" if any(candidate.failures for candidate in candidates) else ""
        notes.append(f"{of} ≤ {numbers.time(demand.within_s)} ({demand.quantile}{failures})")
    if demand.budget_usd is not None:
        notes.append(f"purchase price ≤ {numbers.money(demand.budget_usd, currency)} (at the highest published price)")
    if demand.most_power_w is not None:
        notes.append(f"power in use ≤ {watts(demand.most_power_w)} (P95)")
    return ", ".join(notes)


def _best(plan: Plan) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    yield Facts(tuple(facts(plan, candidate)))
    yield from unpublished_peak(candidate.owned, plan.demand)
    yield from unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates})
    others = [item.nearest.owned for item in plan.against]
    yield from run_cost_view.old_prices((*(other.owned for other in plan.candidates), *others))
    yield from competitor_sizes_report.notes(plan)


def facts(plan: Plan, candidate: Candidate) -> Iterator[Fact]:
    """Figures of a candidate: time, mapping, price, power and costs."""
    yield from time_report.facts(plan.demand, candidate)
    if candidate.mapping and plan.chosen is not None:
        each = candidate.mapping.ipus_per_replica
        split = f"{numbers.count_of(candidate.mapping.replicas, 'replica')} × {each} IPU{'' if each == 1 else 's'}"
        inner = f"micro-batch {candidate.mapping.micro_batch} × accumulation {candidate.mapping.accumulation:,}"
        if candidate.mapping.samples_per_row != 1:
            inner += f" × packing {numbers.short(candidate.mapping.samples_per_row, 3)}"
        yield Fact("Global batch", f"{candidate.global_batch:,}", "", split, inner, priority=GLOBAL_BATCH)
    hosts = hosts_text(candidate.hosts) if candidate.hosts else ""
    currency = plan.currency
    usd, most_usd = candidate.capital_usd, candidate.most_capital_usd
    most = f"up to {numbers.money(most_usd, currency)}" if most_usd != usd else ""
    yield Fact("Purchase price", numbers.money(usd, currency), "", most or (f"with {hosts}" if hosts else ""))
    power_fact = power(candidate.owned)
    joules = candidate.energy_j
    per_run = "" if joules is None else f"; {' '.join(run_cost_view.energy(joules))} to train, with cooling"
    yield replace(power_fact, remark=f"{power_fact.remark}{per_run}")
    if candidate.cost_usd is not None:
        cost, terms = numbers.money(candidate.cost_usd, currency), _per_run(plan, candidate)
        stays = plan.chosen is not None or "(given)" in terms
        yield Fact("Training cost", cost, "", terms, priority=0 if stays else COST)
    if plan.chosen is not None:
        yield from run_cost_view.total_fact(candidate.total, plan.terms, currency)
    if candidate.rent is not None:
        yield from run_cost_view.rents(candidate.rent, plan.terms, currency)


def _per_run(plan: Plan, candidate: Candidate) -> str:
    """Terms behind the cost of a run, and its tokens."""
    tokens = candidate.million_tokens_usd
    each = "" if tokens is None else f"{numbers.money(tokens, plan.currency)} per M tokens; "
    return f"{each}{run_cost_view.terms(plan.terms, plan.currency)}"


def power(ownership: MachineOwnership | None) -> Fact:
    """What a machine draws, and whether that is predicted, typical or its peak."""
    return (
        Fact("Power", *run_cost_view.watts(ownership.draw))
        if ownership and ownership.draw
        else Fact("Power", numbers.NO_VALUE, "", "not published")
    )


def unlike_draws(demand: Demand, each: Mapping[str, MachineOwnership | None]) -> Iterator[Note]:
    """A warning where energies are evaluated, of some machines at their peak and of others as they typically draw."""
    draws = {name: ownership.draw for name, ownership in each.items() if ownership and ownership.draw}
    at_peak = [name for name, draw in draws.items() if draw.typical_w is None]
    if demand.objective is not Objective.ENERGY or not 0 < len(at_peak) < len(draws):
        return
    yield Note(
        f"Energy is at peak power for {', '.join(at_peak)}, whose typical power is not published, and at power in "
        "use for the others: the ranking is biased against these machines.",
        "",
        Tone.WARNING,
    )


def unpublished_peak(ownership: MachineOwnership | None, demand: Demand) -> Iterator[Note]:
    """A warning where a power limit meets a machine whose power is not predicted, nor its peak known."""
    draw = ownership.draw if ownership else None
    if demand.most_power_w is not None and draw is not None and draw.predicted is None and draw.peak_w is None:
        yield Note("Peak power not published: typical power is compared with the limit.", "", Tone.WARNING)


def sources(ownership: MachineOwnership | None, terms: Terms, currency: Currency = DOLLARS) -> Iterator[Block]:
    """Where the price and the power of a recommendation are from, and the terms of use."""
    if ownership is not None:
        yield from run_cost_view.bases(ownership)
    yield Note(run_cost_view.terms(terms, currency), "Terms", Tone.QUIET)
    yield Note(NO_RACKS, "", Tone.QUIET)


def price_sources(plan: Plan) -> Iterator[Block]:
    """Where the price and the power of the recommendation are from, and whose prices the others are."""
    candidate = plan.chosen or plan.closest
    yield from sources(candidate.owned if candidate else None, plan.terms, plan.currency)
    yield from run_cost_view.priced_by(other.owned for other in plan.candidates if other.owned)


def _others(plan: Plan, *, verbose: bool, rows: int) -> Iterator[tuple[Block, ...]]:
    """Why not the neighbours, where that was asked, and other candidates; the short screen has one of the two."""
    best = plan.chosen or plan.closest
    has_neighbours = best is not None and plan.explain
    if best is not None and has_neighbours:
        yield tuple(neighbours_report.table(plan, best))
    if verbose or not has_neighbours:
        yield tuple(candidate_blocks(plan, verbose=verbose, most=rows))


def exclusion_notes(exclusions: Iterable[ExcludedMachine]) -> Iterator[Note]:
    """Machines that were not evaluated, those with the same reason together."""
    names: dict[str, list[str]] = {}
    for exclusion in exclusions:
        names.setdefault(exclusion.reason, []).append(exclusion.topology)
    for reason, machines in names.items():
        yield Note(reason, f"Not {', '.join(machines)}", Tone.WARNING, priority=EXCLUSIONS)


def _next(plan: Plan, *, verbose: bool) -> Iterator[Block]:
    """What to ask next."""
    candidate = plan.chosen or plan.closest
    if candidate is not None and not verbose:
        verb = "explain" if candidate.mapping else "predict"  # other chips than IPUs have a law and no mapping
        unusual = any(note.code is NoteCode.HOSTS_OTHER for note in plan.assumptions)
        hosts = candidate.hosts if unusual else 0
        question = next_question_view.of_machine(verb, plan.workload, candidate.topology, hosts)
        where = f"{question}{' (where time goes)' if candidate.mapping else ''}"
        every = f"{where}; -v: {_every(plan)}sources"
        long = plan.chosen is None and len(every) > NEXT_TEXT  # a refusal has no line to spare
        yield Note(f"{where}; -v: details" if long else every, "Next", Tone.QUIET)


def _every(plan: Plan) -> str:
    return f"{len(plan.candidates):,} candidates, " if len(plan.candidates) > 1 else ""


def _evidence(plan: Plan, *, verbose: bool) -> str:
    """On what the times are based; `verbose` adds how many candidates there are, machines and numbers of hosts.

    The calibration is not named under a time that does not follow from it.
    """
    count = len(plan.candidates)
    count_text = f"{count:,} candidate{'' if count == 1 else 's'}" if verbose else ""
    best = plan.chosen or plan.closest
    is_assumed = not verbose and best is not None and best.time_to_train_s.grade is Grade.ASSUMED
    return " · ".join(text for text in (count_text, "" if is_assumed else plan.calibration, NOT_MLPERF) if text)
