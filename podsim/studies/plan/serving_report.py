"""Machines that serve as a document: which to buy, what they hold, the others, what would have to change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Block,
    Column,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.handout import Handout, arrange, assumptions, with_title
from podsim.report.origins import MachineNames, of_page
from podsim.report.views import caveats_view, run_cost_view
from podsim.studies.plan import inventory_report, serving_chart
from podsim.studies.plan.candidates_report import watts
from podsim.studies.plan.misses_report import exceeding, limit_text
from podsim.studies.plan.report import exclusion_notes
from podsim.studies.plan.result import Objective
from podsim.studies.plan.serving_choice import front

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from podsim.planning.serving_rate import LatencyLimits
    from podsim.studies.plan.result import Miss
    from podsim.studies.plan.serving_result import (
        ServingCandidate,
        ServingChange,
        ServingDemand,
        ServingPlan,
        Trial,
    )

LEAST: Final = {
    Objective.CAPITAL: "the cheapest",
    Objective.COST: "the lowest cost per request",
    Objective.ENERGY: "the lowest power",
}
LIMITS: Final = {
    "p99": "P99 limit",
    "ttft": "first-token limit",
    "tpot": "limit per token",
    "budget": "budget",
    "power": "power limit",
}
LARGE: Final = ("Sustains", "P99 latency", "Purchase price", "Power")
"""Facts in large type."""
REQUESTS: Final = "150k"  # enough for a P99 that is the same for other arrivals
PARTLY_FILLED: Final = 0.05  # by which IPUs are busier than the rate alone would have them
MOST_ROWS: Final = 5  # fewer where the screen says what would have to change, or names many demands


def answer(plan: ServingPlan) -> str:
    """The answer in one line: "1 × IPU-M2000, batch 48: up to 47,400 requests/s, $51.7k"."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return "no candidate"
    holds = f"up to {numbers.significant(candidate.holds_per_s)} requests/s"
    rate = f"{holds}, " if candidate.each_per_s else ""
    line = f"{_machines(candidate)}, batch {candidate.batch.service.batch:,}: {rate}{_usd(plan, candidate)}"
    return line if plan.chosen else f"none; nearest candidate {line}; {misses_text(candidate.misses)}"


def _usd(plan: ServingPlan, candidate: ServingCandidate) -> str:
    return numbers.money(candidate.capital_usd, plan.currency)


def _machines(candidate: ServingCandidate) -> str:
    """Machines with their number; where none sustains any rate within the limits, how many it takes is not known."""
    return f"{candidate.machines:,} × {candidate.title}" if candidate.each_per_s else candidate.title


def misses_text(misses: Iterable[Miss]) -> str:
    """By how much demands are missed: "2.2× the P99 limit"."""
    return ", ".join(
        f"{miss.demand} not published" if miss.found is None else exceeding(miss.over, LIMITS[miss.demand])
        for miss in misses
    )


def page(plan: ServingPlan, question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of all candidates and of the workload come from, if that is known."""
    machines = [MachineNames(called=name, topology=name) for name in plan.named]
    ownerships = [candidate.owned for candidate in plan.candidates]
    origins = of_page(machines, [question["workload"]], ownerships) if question else ()
    changes = tuple(_changes(plan)) if plan.chosen is not None else ()
    details = (tuple(_candidates(plan, verbose=True)), changes, with_title("Bases", *_bases(plan)))
    appendix = (*details, assumptions(plan.assumptions), *origins)
    return arrange(document(plan, charts=True), answer(plan), appendix, large=LARGE).with_risks(
        *caveats_view.texts(plan.assumptions), run_cost_view.LEFT_OUT
    )


def document(plan: ServingPlan, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The recommendation in a sentence, its figures and the other machines.

    `verbose` lists every machine, what would have to change on those that miss a demand, sources and assumptions.
    """
    groups: list[tuple[Block, ...]] = [
        (
            Heading(f"{plan.workload_title}, {_question(plan.demand)}{_request(plan)}"),
            *_verdict(plan),
            *_ownership_notes(plan),
        ),
        tuple(_best(plan, verbose=verbose)),
        tuple(serving_chart.charts(plan)) if charts else (),
        tuple(_candidates(plan, verbose=verbose)),
        tuple(_changes(plan)) if verbose or plan.chosen is None else (),
    ]
    remarks = (*exclusion_notes(plan.excluded), *caveats_view.notes(plan.assumptions, verbose=verbose))
    if verbose:
        groups.append(remarks)
        groups.append(tuple(_bases(plan)))
        groups.append((Heading("Assumptions"), *(Note(str(note), "·") for note in plan.assumptions)))
    groups.append((*(() if verbose else remarks), *_closing(plan, verbose=verbose)))
    return Doc(tuple(group for group in groups if group))


def _request(plan: ServingPlan) -> str:
    """What a request is; with generated tokens the question says so."""
    return "" if plan.demand.generate else f"; a request is one {plan.row}"


def _question(demand: ServingDemand) -> str:
    """What is served, and how soon."""
    rate = f"{numbers.significant(demand.rate_per_s)} requests/s"
    if demand.tokens_per_s is not None:
        rate = f"{numbers.significant(demand.tokens_per_s)} tokens/s ({rate} of {demand.generate:,} tokens)"
    elif demand.generate:
        rate = f"{rate} of {demand.generate:,} tokens"
    return f"{rate}, {_limits(demand)}"


def _limits(demand: ServingDemand) -> str:
    limits = demand.limits
    pairs = (("P99", limits.p99_s), ("first token P99", limits.ttft_s), ("further tokens", limits.tpot_s))
    return ", ".join(f"{name} ≤ {numbers.time(limit)}" for name, limit in pairs if limit is not None)


def _verdict(plan: ServingPlan) -> Iterator[Note]:
    """What to buy and what it holds."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    if plan.chosen is None:
        text = f"No machine meets every demand ({_others(plan)}): the nearest is {_machines(candidate)}"
        yield Note(f"{text}, {misses_text(candidate.misses)}.", "", Tone.STRONG)
        return
    size = candidate.batch.service.batch
    replicas = candidate.machines * candidate.replicas
    batches = f"batches of up to {size:,}" if candidate.batch.wait_s else f"batch {size:,}"
    spares = candidate.spares
    spare = f" ({spares:,} of them {'a spare' if spares == 1 else 'spares'})" if spares else ""
    them = "with the spare out of use they sustain" if spares == 1 else "with the spares out of use they sustain"
    them = them if spares else "they sustain" if candidate.machines > 1 else "it sustains"
    holds = f"{them} {numbers.significant(candidate.holds_per_s)}"
    yield Note(
        f"Recommended: {_machines(candidate)}{spare}, {replicas:,} replica{'s' * (replicas > 1)} with {batches}, "
        f"{LEAST[plan.demand.objective]} of those that meet every demand ({_others(plan)}); {holds} requests/s at "
        f"{_limits(plan.demand)}.",
        "",
        Tone.STRONG,
    )


def _ownership_notes(plan: ServingPlan) -> Iterator[Note]:
    """Which of the machines are owned, and what to buy."""
    candidate = plan.chosen or plan.closest
    yield from inventory_report.notes(plan.inventory, candidate.reuse if candidate else None, plan.currency)


def _others(plan: ServingPlan) -> str:
    """What else is demanded."""
    demand = plan.demand
    notes = [f"{numbers.percent(demand.confidence)} confidence"]
    if demand.headroom:
        notes.append(f"{numbers.percent(demand.headroom)} room to grow")
    if demand.spares:
        notes.append(f"{demand.spares:,} spare machine{'s' * (demand.spares > 1)}")
    if demand.budget_usd is not None:
        notes.append(f"budget {numbers.money(demand.budget_usd, plan.currency)}")
    if demand.most_power_w is not None:
        notes.append(f"at most {watts(demand.most_power_w)} at peak")
    return ", ".join(notes)


def _best(plan: ServingPlan, *, verbose: bool) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    yield Facts(tuple(_facts(plan, candidate)))
    if not verbose:  # else the bases have the trials in full
        yield from _check(plan)
    yield from _at_same_price(plan)
    yield from run_cost_view.old_prices([candidate.owned])


def _check(plan: ServingPlan) -> Iterator[Note]:
    """What requests see just below and just above the rate that is sustained."""
    if not plan.checks or plan.chosen is None:
        return
    shares = [numbers.percent(trial.rate_per_s / plan.chosen.each_per_s) for trial in plan.checks]
    below, above = (_latencies(trial, plan.demand.limits) for trial in plan.checks)
    yield Note(f"at {shares[0]} of the sustained rate {below}, at {shares[1]} {above}; simulated", "Check")


def _latencies(trial: Trial, limits: LatencyLimits) -> str:
    """Those latencies of a trial that have a limit."""
    if trial.p99_s is None:
        return "the queue grows without bound"
    first = () if trial.ttft_s is None or limits.ttft_s is None else (f"first token P99 {numbers.time(trial.ttft_s)}",)
    whole = () if limits.p99_s is None else (f"P99 {numbers.time(trial.p99_s)}",)
    return ", ".join((*whole, *first))


def _at_same_price(plan: ServingPlan) -> Iterator[Note]:
    """Machines of the same price that sustain more and draw more, of which the lower power is recommended."""
    chosen_candidate = plan.chosen
    if chosen_candidate is None or plan.demand.objective is not Objective.CAPITAL:
        return
    alike = [
        other for other in plan.candidates if not other.misses and other.capital_usd == chosen_candidate.capital_usd
    ]
    more = max(alike, key=lambda other: other.holds_per_s, default=chosen_candidate)
    if more.holds_per_s <= chosen_candidate.holds_per_s:
        return
    powers = watts(more.power_w), watts(chosen_candidate.power_w)
    power = f"{powers[0]} instead of {powers[1]}" if powers[0] != powers[1] else f"slightly more than {powers[1]}"
    rate = f"{numbers.significant(more.holds_per_s)} requests/s"
    yield Note(
        f"{_machines(more)} would sustain {rate} for the same price, at {power}; at equal prices the lower "
        "power is recommended.",
        "Alternative",
    )


def _facts(plan: ServingPlan, candidate: ServingCandidate) -> Iterator[Fact]:
    demand, service = plan.demand, candidate.batch.service
    if candidate.each_per_s:
        usual = candidate.expected_per_s
        expected = "" if usual is None else f"; {numbers.significant(usual)} at expected service times"
        confidence = f"at {numbers.percent(demand.confidence)} confidence{expected}"
        room = f"; room to grow {numbers.percent(candidate.holds_per_s / demand.rate_per_s - 1)}"
        sure = f"{confidence if candidate.slower > 1 else 'at expected service times'}{room if demand.headroom else ''}"
        yield Fact("Sustained rate", numbers.significant(candidate.holds_per_s), "requests/s", sure, strong=True)
    rate_per_s = demand.rate_per_s if candidate.each_per_s else candidate.load_per_s
    at = f"at {numbers.significant(rate_per_s)} requests/s"
    yield Fact("P99 latency", *numbers.split_unit(numbers.time(candidate.p99_s)), f"{at}{_load(plan, candidate)}")
    if candidate.ttft_s is not None:
        yield Fact("First token P99", *numbers.split_unit(numbers.time(candidate.ttft_s)), at)
    if candidate.batch.token_s is not None:
        yield Fact("Time per token", *numbers.split_unit(numbers.time(candidate.batch.token_s)), "each after the first")
    wait = (
        f", wait of at most {numbers.time(candidate.batch.wait_s)}"
        if candidate.batch.wait_s
        else ", no wait to fill a batch"
    )
    yield Fact("Batch", f"{service.batch:,}", "", f"unloaded latency {numbers.time(service.latency_s)}{wait}")
    ipus = candidate.ipus_per_replica
    each = f"{candidate.replicas:,} on each machine" if candidate.machines > 1 else "on one machine"
    replicas = f"of {ipus} IPU{'s' * (ipus > 1)}, {each}"
    if candidate.machines > 1:  # of one machine the sentence above has them
        yield Fact("Replicas", f"{candidate.machines * candidate.replicas:,}", "", replicas)
    yield from _money(plan, candidate)


def _load(plan: ServingPlan, candidate: ServingCandidate) -> str:
    """How full batches are, and the share of what is sustained; where partial batches keep IPUs busier, their use."""
    most = candidate.batch.service.batch
    text = f"; mean batch {numbers.short(candidate.filled)}, at most {most:,}" if most > 1 else ""
    if not candidate.holds_per_s:
        return text
    share = plan.demand.rate_per_s / candidate.holds_per_s
    if plan.chosen and candidate.busy > share + PARTLY_FILLED:
        return f"{text}, IPUs {numbers.percent(candidate.busy)} busy"
    return f", {numbers.percent(share)} of sustained{text}"


def _money(plan: ServingPlan, candidate: ServingCandidate) -> Iterator[Fact]:
    currency, cost = plan.currency, candidate.cost
    most = candidate.most_capital_usd
    up_to = f"up to {numbers.money(most, currency)}, " if most != candidate.capital_usd else ""
    hosts = f"{up_to}{candidate.hosts} host{'s' * (candidate.hosts != 1)} per machine"
    yield Fact("Purchase price", _usd(plan, candidate), "", hosts)
    draw = candidate.owned.draw
    if draw and draw.predicted:
        text = f"up to {watts(candidate.most_power_w)} (P95) with all IPUs at work"
    else:
        text = "typical, peak power not published" if draw and draw.peak_w is None else "typical"
    yield Fact("Power", *numbers.split_unit(watts(candidate.power_w)), text if draw else "not published")
    if cost is None:
        return
    requests = "per million requests"
    if cost.token is not None:
        requests += f", {numbers.money(cost.token.value, currency)} per million tokens"
    terms = plan.terms
    ownership_text = f"{numbers.short(terms.years)} years at {numbers.percent(terms.use)} use"
    yield Fact("Cost", numbers.money(cost.request.value, currency), "", requests, ownership_text)
    if cost.rented is not None:
        yield Fact("Rented", numbers.money(cost.rented, currency), "", "per million requests")


def _candidates(plan: ServingPlan, *, verbose: bool) -> Iterator[Block]:
    """The Pareto-optimal machines and the nearest misses; with `verbose` all of them."""
    best = plan.chosen or plan.closest
    visible_ids = {id(candidate) for candidate in (*front(plan.candidates), *plan.near, best)}
    rows = [candidate for candidate in plan.candidates if verbose or id(candidate) in visible_ids]
    has_both_limits = plan.demand.budget_usd is not None and plan.demand.most_power_w is not None
    most = MOST_ROWS - has_both_limits if plan.chosen else MOST_ROWS - 1 - len(plan.near)
    whole = len(rows)
    if not verbose and len(rows) > most:
        at = next((at for at, row in enumerate(rows) if row is best), 0)
        first = max(0, min(at - most // 2, len(rows) - most))
        rows = rows[first : first + most]
    count_text = f"{len(rows)} of the {whole}" if len(rows) < whole else "The"
    misses = " and near misses" if any(row.misses for row in rows) else ""
    machines = "machine" if whole == 1 else "machines"
    some = f"{count_text} Pareto-optimal {machines}{misses}, of {numbers.count_of(len(plan.candidates), 'candidate')}"
    yield Heading("Candidates" if verbose else some)
    best_index = next((at for at, row in enumerate(rows) if row is best), None)
    yield DocTable(_columns(plan), tuple(_row(plan, row) for row in rows), marked=best_index)


def _columns(plan: ServingPlan) -> tuple[Column, ...]:
    """Columns of what was demanded stay longest, and what a machine misses at every width."""
    demand = plan.demand
    first = (Column("First token", number=True),) if demand.limits.ttft_s is not None else ()
    token = (Column("Token", number=True),) if demand.limits.tpot_s is not None else ()
    return (
        Column("Machines"),
        Column("Hosts", number=True, priority=3),
        Column("Replicas", number=True, priority=4),
        Column("Batch", number=True, priority=2),
        Column("Wait", number=True, priority=5),
        Column("Sustained req/s", number=True),
        Column("P99", number=True, priority=1 if demand.limits.p99_s is not None else 3),
        *first,
        *token,
        Column("Price", number=True, priority=0 if demand.budget_usd is not None else 1),
        Column("Power", number=True, priority=0 if demand.most_power_w is not None else 3),
        Column(f"{plan.currency.sign.strip()}/M req", number=True, priority=2),
        Column("Remark" if plan.inventory else "Not met", wraps=True),
    )


def _row(plan: ServingPlan, candidate: ServingCandidate) -> tuple[str, ...]:
    batch, cost, limits = candidate.batch, candidate.cost, plan.demand.limits
    first = (_time(candidate.ttft_s),) if limits.ttft_s is not None else ()
    token = (_time(batch.token_s),) if limits.tpot_s is not None else ()
    usd = None if cost is None else plan.currency.of(cost.request.value)
    return (
        f"{candidate.machines:,} × {candidate.topology}",
        f"{candidate.machines * candidate.hosts:,}",
        f"{candidate.machines * candidate.replicas:,}",
        f"{batch.service.batch:,}",
        numbers.time(batch.wait_s) if batch.wait_s else "none",
        numbers.significant(candidate.holds_per_s) if candidate.each_per_s else "none",
        numbers.time(candidate.p99_s),
        *first,
        *token,
        _usd(plan, candidate),
        watts(candidate.power_w),
        numbers.NO_VALUE if usd is None else numbers.significant(usd),
        "; ".join(filter(None, (misses_text(candidate.misses), inventory_report.remark(candidate.reuse)))),
    )


def _time(seconds: float | None) -> str:
    return numbers.NO_VALUE if seconds is None else numbers.time(seconds)


def _changes(plan: ServingPlan) -> Iterator[Block]:
    """What would give machines what they lack."""
    if not plan.near:
        return
    several = any(len(candidate.misses) > 1 for candidate in plan.near)
    yield Heading(f"What would have to change{'' if several else ', one at a time'}")
    for candidate in plan.near:
        demands = dict.fromkeys(miss.demand for miss in candidate.misses)
        lines = [_ways(plan, candidate, demand, several=several) for demand in demands]
        yield Note(", and ".join(filter(None, lines)) or misses_text(candidate.misses), _machines(candidate))


def _ways(plan: ServingPlan, candidate: ServingCandidate, demand: str, *, several: bool) -> str:
    """Each change with which a machine meets a demand; where demands are `several`, that one of them is enough."""
    ways = [
        _change(plan, change)
        for change in plan.changes
        if change.topology == candidate.topology and change.demand == demand
    ]
    return f"{'one of: ' if several and len(ways) > 1 else ''}{'; '.join(ways)}"


def _change(plan: ServingPlan, change: ServingChange) -> str:
    requirement, present = change.needed, change.present
    if change.what == "service time":
        return f"service times of {numbers.percent(requirement)} of those predicted"
    if change.what in ("budget", "power"):
        return f"a {LIMITS[change.what]} of {limit_text(change.what, requirement, plan.currency)}"
    if change.what in LIMITS:
        least = limit_text(change.what, requirement, plan.currency)
        return f"a {LIMITS[change.what]} of {least} instead of {numbers.time(present)}"
    if change.what == "rate":
        able = numbers.significant(numbers.round_down(requirement))
        return f"a rate of {able} requests/s instead of {numbers.significant(present)}"
    if change.what == "headroom":
        return f"room to grow of {math.floor(100 * requirement):.0f} % instead of {numbers.percent(present)}"
    return f"{numbers.count_of(round(requirement), 'spare machine')} instead of {present:.0f}"


def _bases(plan: ServingPlan) -> Iterator[Block]:
    """Trials just below and above the rate that is held, sources of price and power, and the terms."""
    for trial in plan.checks:
        yield Note(_trial(trial), "Check")
    candidate = plan.chosen or plan.closest
    if candidate is not None:
        yield from run_cost_view.bases(candidate.owned)
    yield Note(run_cost_view.terms(plan.terms, plan.currency), "Terms", Tone.QUIET)


def _trial(trial: Trial) -> str:
    """What requests of one machine saw at a rate."""
    rate = f"{numbers.significant(trial.rate_per_s)} requests/s on one machine"
    if trial.p99_s is None:
        return f"{rate} exceed its capacity: the queue would grow without end"
    first = "" if trial.ttft_s is None else f", first token {numbers.time(trial.ttft_s)}"
    verdict = "meets" if trial.meets else "misses"
    return f"{rate}: P99 {numbers.time(trial.p99_s)}{first}, {verdict} the limit ({trial.requests:,} requests)"


def _closing(plan: ServingPlan, *, verbose: bool) -> Iterator[Block]:
    """What to ask next, and on what it is based."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    if not verbose:
        each_per_s = plan.demand.rate_per_s / candidate.machines if candidate.each_per_s else candidate.load_per_s
        rate = numbers.significant(each_per_s).replace(",", "")
        wait = f" --wait {1e3 * candidate.batch.wait_s:.3g}ms" if candidate.batch.wait_s else ""
        wait += f" --confidence {plan.demand.confidence:g}" if candidate.slower > 1 else ""
        wait += f" --variation {plan.demand.variation:g}" if plan.demand.variation else ""
        wait += f" --hosts {candidate.hosts}" if candidate.other_hosts else ""
        tokens = f" --generate {plan.demand.generate}" if plan.demand.generate else ""
        tokens += f" --prompt {plan.demand.prompt}" if plan.demand.prompt else ""
        infer = f"podsim infer {plan.workload} --topology {candidate.topology} --batch {candidate.batch.service.batch}"
        trial = f"--rate {rate}/s --requests {REQUESTS}"
        yield Note(f"{infer}{wait}{tokens} {trial} · -v lists all candidates", "Next", Tone.QUIET)
    grade = f"{candidate.grade}: calibration uses no inference result"
    yield Note(" · ".join((grade, *([plan.calibration] if verbose else []), NOT_MLPERF)), "", Tone.QUIET)
