"""A plan as a document: the machine to take, the others, what would have to change."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from podsim.model.plan import Candidate, Demand, Miss, Objective, Plan, Remedy
from podsim.model.prediction import AGREE
from podsim.model.prices import Terms
from podsim.model.run_cost import Owned
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.views import caveats, run_cost
from podsim.report.views.grades import grade, short_grade

J_PER_KWH = 3.6e6
MONEY: numbers.Ladder = ((1e6, 1e6, "M USD"), (1e3, 1e3, "k USD"), (0.0, 1.0, "USD"))
POWER: numbers.Ladder = ((1e6, 1e6, "MW"), (1e3, 1e3, "kW"), (0.0, 1.0, "W"))
LEAST = {
    Objective.TIME: "the quickest run",
    Objective.COST: "the cheapest run",
    Objective.ENERGY: "the run of least energy",
    Objective.PRICE_PERFORMANCE: "the best price-performance",
}
NEEDS = {"program.stretch": "programs", "rack.step": "steps between racks"}


def answer(plan: Plan) -> str:
    """The answer in one line: "IPU-POD256: 4.44 min (4.04 – 5.01), 2.15 M USD"."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return "nothing weighed"
    time = numbers.shown(candidate.time_to_train_s, numbers.TIME)
    price = "" if candidate.capital_usd is None else f", {dollars(candidate.capital_usd)}"
    line = f"{candidate.title}: {time.text} ({time.interval}){price}"
    return line if plan.chosen else f"none; closest {line}, {missed(candidate.misses)}"


def dollars(usd: float | None) -> str:
    """US dollars with k or M."""
    return numbers.UNKNOWN if usd is None else numbers.scale(usd, MONEY).text(usd)


def watts(power_w: float | None) -> str:
    """A power."""
    return numbers.UNKNOWN if power_w is None else numbers.scale(power_w, POWER).text(power_w)


def missed(misses: Sequence[Miss]) -> str:
    """By how much demands are missed: "time by 28 %"."""
    return ", ".join(
        f"{miss.demand} not known" if math.isinf(miss.over) else f"{miss.demand} by {_over(miss.over)}"
        for miss in misses
    )


def _over(share: float) -> str:
    return numbers.percent(share) if share < 1 else f"{numbers.short(1 + share)} ×"


def document(
    plan: Plan, *, verbose: bool = False, charts: bool = False, extra: Iterable[tuple[Block, ...]] = ()
) -> Doc:
    """The whole answer; `verbose` lists every machine weighed with its grade and what was assumed, then `extra`."""
    aim = f"a run of {plan.target}" if plan.stated_length else f"target {plan.target}"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{plan.workload_title}, {aim}: {_verdict(plan)}"), Note(question_text(plan.demand), "asked")),
        tuple(_best(plan)),
        tuple(_charts(plan)) if charts else (),
        tuple(_candidate_blocks(plan, verbose=verbose)),
        tuple(_near(plan)),
        (*_left_out(plan), *caveats.notes(plan.assumptions, verbose=verbose)),
    ]
    if verbose:
        groups.append((Heading("assumed"), *(Note(line, "·") for line in plan.assumptions)))
    groups += extra
    groups.append(
        (Note(f"{_engine(plan)} · {plan.calibration} · {NOT_MLPERF}".replace(" ·  · ", " · "), "", Tone.QUIET),)
    )
    return Doc(tuple(group for group in groups if group))


def _verdict(plan: Plan) -> str:
    if plan.chosen is None:
        return "no machine weighed meets every demand"
    limits = plan.demand.within_s, plan.demand.budget_usd, plan.demand.most_power_w
    meets = " that meets every demand" if any(limit is not None for limit in limits) else ""
    return f"{LEAST[plan.demand.objective]}{meets}"


def question_text(demand: Demand) -> str:
    """The demands in words."""
    notes = []
    if demand.within_s is not None:
        notes.append(f"within {numbers.time(demand.within_s)}, {numbers.percent(demand.confidence)} sure")
    if demand.budget_usd is not None:
        notes.append(f"at most {dollars(demand.budget_usd)}, at the highest price quoted")
    if demand.most_power_w is not None:
        notes.append(f"at most {watts(demand.most_power_w)} at peak")
    return "; ".join([*notes, f"of those {LEAST[demand.objective]}"] if notes else [LEAST[demand.objective]])


def _best(plan: Plan) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    yield Facts(tuple(_facts(plan, candidate)))
    if candidate.owned is not None:
        yield from rests_on(candidate.owned, plan.demand, plan.terms)
    yield from unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates})
    if plan.contradiction:
        yield Note(plan.contradiction, "why", Tone.WARNING)


def _facts(plan: Plan, candidate: Candidate) -> Iterator[Fact]:
    time = numbers.shown(candidate.time_to_train_s, numbers.TIME)
    label = "take" if plan.chosen else "closest"
    hosts = f"{candidate.hosts} host{'' if candidate.hosts == 1 else 's'}" if candidate.hosts else ""
    misses = missed(candidate.misses)
    yield Fact(
        label,
        candidate.title,
        "",
        f"{candidate.chips:,} × {candidate.chip}",
        f"misses {misses}" if misses else hosts,
        strong=True,
    )
    yield Fact("time to train", time.number, time.unit, f"90 %: {time.interval}", grade(candidate.time_to_train_s))
    unit = numbers.scale(candidate.time_to_train_s.value, numbers.TIME)
    chance = (
        ""
        if candidate.chance is None
        else f"{_chance(candidate.chance)} that it is {numbers.time(_within(plan))} or less"
    )
    yield Fact(
        "stays below",
        unit.number(candidate.sure_s),
        unit.unit,
        f"{numbers.percent(plan.demand.confidence)} sure",
        chance,
    )
    if candidate.mapping:
        split = f"{candidate.mapping.replicas:,} × {candidate.mapping.ipus_per_replica} IPUs"
        inner = f"micro-batch {candidate.mapping.micro_batch} × accumulation {candidate.mapping.accumulation}"
        yield Fact("global batch", f"{candidate.global_batch:,}", "", split, inner)
    most = f"up to {dollars(candidate.most_capital_usd)}" if candidate.most_capital_usd != candidate.capital_usd else ""
    yield Fact("capital", *numbers.parted(dollars(candidate.capital_usd)), most or "with its hosts")
    yield power(candidate.owned)
    if candidate.cost_usd is not None:
        yield Fact("a run costs", *numbers.parted(dollars(candidate.cost_usd)), "its share of the capital, and energy")
    if candidate.rent is not None:
        hours = candidate.rent.break_even_hours
        pays = "never" if hours is None else f"{numbers.count(hours)} h"
        yield Fact(
            "owning pays from", *numbers.parted(pays), f"of use, against {candidate.rent.usd_per_hour:,.4g} USD an hour"
        )
    if candidate.energy_j is not None:
        yield Fact("a run takes", numbers.significant(candidate.energy_j / J_PER_KWH), "kWh")


def power(ownership: Owned | None) -> Fact:
    """What a machine draws, and whether that is its peak."""
    return (
        Fact("power", *run_cost.watts(ownership.draw))
        if ownership and ownership.draw
        else Fact("power", numbers.UNKNOWN)
    )


def unlike_draws(demand: Demand, each: Mapping[str, Owned | None]) -> Iterator[Note]:
    """A warning where energies are weighed, of some machines at their peak and of others as they typically draw."""
    drawn = {name: ownership.draw for name, ownership in each.items() if ownership and ownership.draw}
    at_peak = [name for name, draw in drawn.items() if draw.typical_w is None]
    if demand.objective is not Objective.ENERGY or not 0 < len(at_peak) < len(drawn):
        return
    yield Note(
        f"energy is at peak draw for {', '.join(at_peak)}, whose typical draw nobody says, and at typical draw for the "
        "others: a run there takes less than is counted, so the choice leans against it",
        "unlike",
        Tone.WARNING,
    )


def rests_on(ownership: Owned, demand: Demand, terms: Terms) -> Iterator[Block]:
    """Whose prices and draws a recommendation rests on, and the terms that it takes for granted."""
    if demand.most_power_w is not None and ownership.draw is not None and ownership.draw.peak_w is None:
        yield Note(
            "nobody says what it draws at peak: the power demanded was held against the typical draw", "", Tone.WARNING
        )
    yield from run_cost.bases(ownership)
    yield Note(run_cost.terms(terms), "terms", Tone.QUIET)
    yield Note("rack space is not weighed: no document at hand says what each machine takes", "", Tone.QUIET)


def _within(plan: Plan) -> float:
    return plan.demand.within_s or 0.0


def _chance(chance: float) -> str:
    if chance > 0.99:
        return "> 99 %"
    return "< 1 %" if chance < 0.01 else numbers.percent(chance)


def _candidate_blocks(plan: Plan, *, verbose: bool) -> Iterator[Block]:
    """The machines that no other betters, the best and the near misses; with `verbose` all of them."""
    front = {id(candidate) for candidate in plan.frontier}
    kept = {*front, *(id(candidate) for candidate in (plan.chosen, plan.closest, *plan.near))}
    rows = [candidate for candidate in plan.candidates if verbose or id(candidate) in kept]
    rows.sort(key=lambda candidate: -candidate.time_to_train_s.value)
    best = plan.chosen or plan.closest
    marked = next((at for at, row in enumerate(rows) if row is best), None)
    unit = numbers.scale([min(row.time_to_train_s.value for row in rows)], numbers.TIME)
    yield Heading("machines weighed" if verbose else "machines that no other betters, and those that come near")
    yield DocTable(
        _columns(plan, unit, graded=verbose),
        tuple(_row(plan, row, unit, id(row) in front, graded=verbose) for row in rows),
        marked=marked,
    )
    yield Note(
        "front: no other machine is as good in time, capital, energy and cost of a run, and better in one",
        "",
        Tone.QUIET,
    )
    yield from run_cost.priced_by(row.owned for row in rows if row.owned)


def _columns(plan: Plan, unit: numbers.Scale, *, graded: bool) -> tuple[Column, ...]:
    within = plan.demand.within_s
    return (
        Column("machine"),
        Column("hosts", number=True, priority=1),
        Column("replicas", number=True, priority=7),
        Column(unit.unit, number=True),
        Column("90 %", number=True, priority=5),
        *((Column("grade", priority=6),) if graded else ()),
        Column(f"{numbers.percent(plan.demand.confidence)} sure", number=True, priority=1),
        *((Column(f"in {numbers.time(within)}", number=True, priority=3),) if within is not None else ()),
        Column("capital", number=True, priority=1),
        Column("power", number=True, priority=4),
        Column("USD a run", number=True, priority=2),
        Column("kWh a run", number=True, priority=5),
        Column("front", priority=8),
        Column("misses", priority=3 if plan.chosen else 0, wraps=True),
    )


def _row(plan: Plan, candidate: Candidate, unit: numbers.Scale, front: bool, *, graded: bool) -> tuple[str, ...]:
    low, high = unit.number(candidate.time_to_train_s.low), unit.number(candidate.time_to_train_s.high)
    replicas = (
        f"{candidate.mapping.replicas:,} × {candidate.mapping.ipus_per_replica}"
        if candidate.mapping
        else numbers.UNKNOWN
    )
    chance = () if plan.demand.within_s is None or candidate.chance is None else (_chance(candidate.chance),)
    kwh = numbers.UNKNOWN if candidate.energy_j is None else numbers.significant(candidate.energy_j / J_PER_KWH)
    cost = numbers.UNKNOWN if candidate.cost_usd is None else numbers.significant(candidate.cost_usd)
    return (
        candidate.topology,
        f"{candidate.hosts:,}" if candidate.hosts else numbers.UNKNOWN,
        replicas,
        unit.number(candidate.time_to_train_s.value),
        f"{low} – {high}",
        *((short_grade(candidate.time_to_train_s),) if graded else ()),
        unit.number(candidate.sure_s),
        *chance,
        dollars(candidate.capital_usd),
        watts(candidate.power_w),
        cost,
        kwh,
        "yes" if front else "",
        missed(candidate.misses),
    )


def _near(plan: Plan) -> Iterator[Block]:
    """What the near misses lack, and what would give it to them."""
    rows = [*plan.near]
    if plan.closest is not None and all(plan.closest.topology != candidate.topology for candidate in rows):
        rows.insert(0, plan.closest)
    if not rows:
        return
    yield Heading("what would have to change, one at a time, the mapping as it is")
    for row in rows:
        lines = [*_limits(row)]
        lines += [_remedy(remedy) for remedy in plan.remedies if remedy.topology == row.topology]
        yield Note("; ".join(lines), row.title)


def _limits(candidate: Candidate) -> Iterator[str]:
    """The limits at which the machine would meet each demand."""
    for miss in candidate.misses:
        if miss.found is None:
            yield f"nobody says what its {miss.demand} is"
            continue
        text, limit = _spelled(miss.demand, miss.found), _spelled(miss.demand, miss.limit)
        yield f"{'a budget' if miss.demand == 'budget' else 'a limit'} of {text} instead of {limit} ({missed([miss])})"


def _spelled(demand: str, value: float) -> str:
    return dollars(value) if demand == "budget" else watts(value) if demand == "power" else numbers.time(value)


def _remedy(remedy: Remedy) -> str:
    what = NEEDS.get(remedy.path, remedy.path)
    if remedy.path == "hosts":
        return _hosts(remedy)
    if remedy.needed is None:
        left = "" if remedy.best is None else f": {numbers.time(remedy.best)} remain"
        return f"no {what} is enough{left}" if what == remedy.path else f"no quicker {what} are enough{left}"
    factor = remedy.needed / remedy.present
    if what != remedy.path:
        return (
            f"{what} that take {numbers.percent(1 - factor)} less ({remedy.path}={numbers.significant(remedy.needed)})"
        )
    value = numbers.rate(remedy.needed, remedy.unit)
    named = "clock" if remedy.unit == "Hz" else "bandwidth"
    return f"{numbers.significant(factor)} × the {named} ({what}={value})"


def _hosts(remedy: Remedy) -> str:
    if remedy.needed is not None:
        return f"{remedy.needed:,.0f} hosts instead of {remedy.present:,.0f}"
    left = "" if remedy.best is None else f": {numbers.time(remedy.best)} remain"
    return f"no number of hosts that it takes is enough{left}"


def _left_out(plan: Plan) -> Iterator[Block]:
    counts = "; ".join(f"{count:,} {why}" for why, count in plan.counts.items())
    if plan.legal:
        yield Note(f"{plan.legal:,} legal mappings timed; left out: {counts or 'none'}", "searched")
    number, most = plan.settled
    if number:
        change = "by less than 0.1 %" if most < 0.001 else f"by at most {numbers.percent(most, 1)}"
        text = "formula and events agree" if most <= AGREE else f"their steps differ {change}"
        yield Note(f"the best {number:,} timed once more as events: {text}", "settled")
    for exclusion in plan.excluded:
        yield Note(exclusion.reason, f"not {exclusion.topology}", Tone.WARNING)


def _engine(plan: Plan) -> str:
    return f"{len(plan.candidates):,} machines and numbers of hosts"


def _charts(plan: Plan) -> Iterator[Chart]:
    """Time against capital, where both are known."""
    known = [candidate for candidate in plan.candidates if candidate.capital_usd is not None]
    if len(known) < 2:
        return
    money = numbers.scale([candidate.capital_usd or 0.0 for candidate in known], MONEY)
    unit = numbers.scale([min(candidate.time_to_train_s.value for candidate in known)], numbers.TIME)

    def points(rows: Sequence[Candidate]) -> tuple[tuple[float, float], ...]:
        return tuple(
            sorted(((row.capital_usd or 0.0) / money.factor, row.time_to_train_s.value / unit.factor) for row in rows)
        )

    front = {id(candidate) for candidate in plan.frontier}
    rest = [candidate for candidate in known if id(candidate) not in front]
    best = [candidate for candidate in known if candidate is plan.chosen]
    rows = (
        ("no other betters", [candidate for candidate in known if id(candidate) in front]),
        ("bettered", rest),
        ("taken", best),
    )
    yield Chart(
        f"time to train against capital, {unit.unit} and {money.unit}",
        ChartAxis(f"capital, {money.unit}", log=True),
        ChartAxis(unit.unit, log=True),
        tuple(DocSeries(label, points(some), joined=False) for label, some in rows if some),
    )
