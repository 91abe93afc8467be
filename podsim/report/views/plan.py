"""A plan as a document: the machine to take, the others, what would have to change."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from podsim.model.money import Owned
from podsim.model.plan import Candidate, Demand, Miss, Objective, Plan, Remedy
from podsim.model.prediction import AGREE
from podsim.model.prices import Terms
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Axis,
    Block,
    Chart,
    Column,
    Doc,
    Fact,
    Facts,
    Heading,
    Note,
    Series,
    Table,
    Tone,
)
from podsim.report.views import caveats, money
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
    one = plan.chosen or plan.closest
    if one is None:
        return "nothing weighed"
    time = numbers.shown(one.time_to_train_s, numbers.TIME)
    price = "" if one.capital_usd is None else f", {dollars(one.capital_usd)}"
    line = f"{one.title}: {time.text} ({time.interval}){price}"
    return line if plan.chosen else f"none; closest {line}, {missed(one.misses)}"


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
        (Heading(f"{plan.workload_title}, {aim}: {_verdict(plan)}"), Note(asked(plan.demand), "asked")),
        tuple(_best(plan)),
        tuple(_charts(plan)) if charts else (),
        tuple(_weighed(plan, verbose=verbose)),
        tuple(_near(plan)),
        (*_left_out(plan), *caveats.notes(plan.assumptions, verbose=verbose)),
    ]
    if verbose:
        groups.append((Heading("assumed"), *(Note(line, "·") for line in plan.assumptions)))
    groups += extra
    groups.append((Note(f"{_engine(plan)} · {plan.calibration} · {NOT_MLPERF}".replace(" ·  · ", " · "), "",
                        Tone.QUIET),))  # fmt: skip
    return Doc(tuple(group for group in groups if group))


def _verdict(plan: Plan) -> str:
    if plan.chosen is None:
        return "no machine weighed meets every demand"
    limits = plan.demand.within_s, plan.demand.budget_usd, plan.demand.most_power_w
    meets = " that meets every demand" if any(limit is not None for limit in limits) else ""
    return f"{LEAST[plan.demand.objective]}{meets}"


def asked(demand: Demand) -> str:
    """The demands in words."""
    said = []
    if demand.within_s is not None:
        said.append(f"within {numbers.time(demand.within_s)}, {numbers.percent(demand.confidence)} sure")
    if demand.budget_usd is not None:
        said.append(f"at most {dollars(demand.budget_usd)}, at the highest price quoted")
    if demand.most_power_w is not None:
        said.append(f"at most {watts(demand.most_power_w)} at peak")
    return "; ".join([*said, f"of those {LEAST[demand.objective]}"] if said else [LEAST[demand.objective]])


def _best(plan: Plan) -> Iterator[Block]:
    one = plan.chosen or plan.closest
    if one is None:
        return
    yield Facts(tuple(_facts(plan, one)))
    if one.owned is not None:
        yield from rests_on(one.owned, plan.demand, plan.terms)
    yield from unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates})
    if plan.contradiction:
        yield Note(plan.contradiction, "why", Tone.WARNING)


def _facts(plan: Plan, one: Candidate) -> Iterator[Fact]:
    time = numbers.shown(one.time_to_train_s, numbers.TIME)
    label = "take" if plan.chosen else "closest"
    hosts = f"{one.hosts} host{'' if one.hosts == 1 else 's'}" if one.hosts else ""
    misses = missed(one.misses)
    yield Fact(
        label, one.title, "", f"{one.chips:,} × {one.chip}", f"misses {misses}" if misses else hosts, strong=True
    )
    yield Fact("time to train", time.number, time.unit, f"90 %: {time.interval}", grade(one.time_to_train_s))
    unit = numbers.scale(one.time_to_train_s.value, numbers.TIME)
    chance = "" if one.chance is None else f"{_chance(one.chance)} that it is {numbers.time(_within(plan))} or less"
    yield Fact("stays below", unit.number(one.sure_s), unit.unit, f"{numbers.percent(plan.demand.confidence)} sure",
               chance)  # fmt: skip
    if one.mapping:
        split = f"{one.mapping.replicas:,} × {one.mapping.ipus_per_replica} IPUs"
        inner = f"micro-batch {one.mapping.micro_batch} × accumulation {one.mapping.accumulation}"
        yield Fact("global batch", f"{one.global_batch:,}", "", split, inner)
    most = f"up to {dollars(one.most_capital_usd)}" if one.most_capital_usd != one.capital_usd else ""
    yield Fact("capital", *numbers.parted(dollars(one.capital_usd)), most or "with its hosts")
    yield power(one.owned)
    if one.cost_usd is not None:
        yield Fact("a run costs", *numbers.parted(dollars(one.cost_usd)), "its share of the capital, and energy")
    if one.rent is not None:
        hours = one.rent.break_even_hours
        pays = "never" if hours is None else f"{numbers.count(hours)} h"
        yield Fact(
            "owning pays from", *numbers.parted(pays), f"of use, against {one.rent.usd_per_hour:,.4g} USD an hour"
        )
    if one.energy_j is not None:
        yield Fact("a run takes", numbers.significant(one.energy_j / J_PER_KWH), "kWh")


def power(found: Owned | None) -> Fact:
    """What a machine draws, and whether that is its peak."""
    return Fact("power", *money.watts(found.draw)) if found and found.draw else Fact("power", numbers.UNKNOWN)


def unlike_draws(demand: Demand, each: Mapping[str, Owned | None]) -> Iterator[Note]:
    """A warning where energies are weighed, of some machines at their peak and of others as they typically draw."""
    drawn = {name: found.draw for name, found in each.items() if found and found.draw}
    at_peak = [name for name, draw in drawn.items() if draw.typical_w is None]
    if demand.objective is not Objective.ENERGY or not 0 < len(at_peak) < len(drawn):
        return
    yield Note(
        f"energy is at peak draw for {', '.join(at_peak)}, whose typical draw nobody says, and at typical draw for the "
        "others: a run there takes less than is counted, so the choice leans against it", "unlike", Tone.WARNING,
    )  # fmt: skip


def rests_on(found: Owned, demand: Demand, terms: Terms) -> Iterator[Block]:
    """Whose prices and draws a recommendation rests on, and the terms that it takes for granted."""
    if demand.most_power_w is not None and found.draw is not None and found.draw.peak_w is None:
        yield Note("nobody says what it draws at peak: the power demanded was held against the typical draw", "",
                   Tone.WARNING)  # fmt: skip
    yield from money.bases(found)
    yield Note(money.terms(terms), "terms", Tone.QUIET)
    yield Note("rack space is not weighed: no document at hand says what each machine takes", "", Tone.QUIET)


def _within(plan: Plan) -> float:
    return plan.demand.within_s or 0.0


def _chance(chance: float) -> str:
    if chance > 0.99:
        return "> 99 %"
    return "< 1 %" if chance < 0.01 else numbers.percent(chance)


def _weighed(plan: Plan, *, verbose: bool) -> Iterator[Block]:
    """The machines that no other betters, the best and the near misses; with `verbose` all of them."""
    front = {id(one) for one in plan.frontier}
    kept = {*front, *(id(one) for one in (plan.chosen, plan.closest, *plan.near))}
    rows = [one for one in plan.candidates if verbose or id(one) in kept]
    rows.sort(key=lambda one: -one.time_to_train_s.value)
    best = plan.chosen or plan.closest
    marked = next((at for at, row in enumerate(rows) if row is best), None)
    unit = numbers.scale([min(row.time_to_train_s.value for row in rows)], numbers.TIME)
    yield Heading("machines weighed" if verbose else "machines that no other betters, and those that come near")
    yield Table(
        _columns(plan, unit, graded=verbose),
        tuple(_row(plan, one, unit, id(one) in front, graded=verbose) for one in rows),
        marked=marked,
    )
    yield Note(
        "front: no other machine is as good in time, capital, energy and cost of a run, and better in one", "",
        Tone.QUIET,
    )  # fmt: skip
    yield from money.priced_by(one.owned for one in rows if one.owned)


def _columns(plan: Plan, unit: numbers.Scale, *, graded: bool) -> tuple[Column, ...]:
    within = plan.demand.within_s
    return (
        Column("machine"), Column("hosts", number=True, priority=1), Column("replicas", number=True, priority=7),
        Column(unit.unit, number=True), Column("90 %", number=True, priority=5),
        *((Column("grade", priority=6),) if graded else ()),
        Column(f"{numbers.percent(plan.demand.confidence)} sure", number=True, priority=1),
        *((Column(f"in {numbers.time(within)}", number=True, priority=3),) if within is not None else ()),
        Column("capital", number=True, priority=1), Column("power", number=True, priority=4),
        Column("USD a run", number=True, priority=2), Column("kWh a run", number=True, priority=5),
        Column("front", priority=8), Column("misses", priority=3 if plan.chosen else 0, wraps=True),
    )  # fmt: skip


def _row(plan: Plan, one: Candidate, unit: numbers.Scale, front: bool, *, graded: bool) -> tuple[str, ...]:
    low, high = unit.number(one.time_to_train_s.low), unit.number(one.time_to_train_s.high)
    replicas = f"{one.mapping.replicas:,} × {one.mapping.ipus_per_replica}" if one.mapping else numbers.UNKNOWN
    chance = () if plan.demand.within_s is None or one.chance is None else (_chance(one.chance),)
    kwh = numbers.UNKNOWN if one.energy_j is None else numbers.significant(one.energy_j / J_PER_KWH)
    cost = numbers.UNKNOWN if one.cost_usd is None else numbers.significant(one.cost_usd)
    return (
        one.topology, f"{one.hosts:,}" if one.hosts else numbers.UNKNOWN, replicas,
        unit.number(one.time_to_train_s.value), f"{low} – {high}",
        *((short_grade(one.time_to_train_s),) if graded else ()), unit.number(one.sure_s), *chance,
        dollars(one.capital_usd), watts(one.power_w), cost, kwh, "yes" if front else "", missed(one.misses),
    )  # fmt: skip


def _near(plan: Plan) -> Iterator[Block]:
    """What the near misses lack, and what would give it to them."""
    rows = [*plan.near]
    if plan.closest is not None and all(plan.closest.topology != one.topology for one in rows):
        rows.insert(0, plan.closest)
    if not rows:
        return
    yield Heading("what would have to change, one at a time, the mapping as it is")
    for one in rows:
        lines = [*_limits(one)]
        lines += [_remedy(remedy) for remedy in plan.remedies if remedy.topology == one.topology]
        yield Note("; ".join(lines), one.title)


def _limits(one: Candidate) -> Iterator[str]:
    """The limits at which the machine would meet each demand."""
    for miss in one.misses:
        if miss.found is None:
            yield f"nobody says what its {miss.demand} is"
            continue
        found, limit = _spelled(miss.demand, miss.found), _spelled(miss.demand, miss.limit)
        yield f"{'a budget' if miss.demand == 'budget' else 'a limit'} of {found} instead of {limit} ({missed([miss])})"


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
        found = "formula and events agree" if most <= AGREE else f"their steps differ {change}"
        yield Note(f"the best {number:,} timed once more as events: {found}", "settled")
    for one in plan.excluded:
        yield Note(one.reason, f"not {one.topology}", Tone.WARNING)


def _engine(plan: Plan) -> str:
    return f"{len(plan.candidates):,} machines and numbers of hosts"


def _charts(plan: Plan) -> Iterator[Chart]:
    """Time against capital, where both are known."""
    known = [one for one in plan.candidates if one.capital_usd is not None]
    if len(known) < 2:
        return
    money = numbers.scale([one.capital_usd or 0.0 for one in known], MONEY)
    unit = numbers.scale([min(one.time_to_train_s.value for one in known)], numbers.TIME)

    def points(rows: Sequence[Candidate]) -> tuple[tuple[float, float], ...]:
        return tuple(sorted(((one.capital_usd or 0.0) / money.factor, one.time_to_train_s.value / unit.factor)
                            for one in rows))  # fmt: skip

    front = {id(one) for one in plan.frontier}
    rest = [one for one in known if id(one) not in front]
    best = [one for one in known if one is plan.chosen]
    rows = (("no other betters", [one for one in known if id(one) in front]), ("bettered", rest), ("taken", best))
    yield Chart(
        f"time to train against capital, {unit.unit} and {money.unit}",
        Axis(f"capital, {money.unit}", log=True), Axis(unit.unit, log=True),
        tuple(Series(label, points(some), joined=False) for label, some in rows if some),
    )  # fmt: skip
