"""One machine for a mix of jobs, as a document."""

from collections.abc import Iterable, Iterator

from podsim.model.mix import MixCandidate, MixPlan, Pool, Timed
from podsim.model.plan import Objective
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views import caveats
from podsim.report.views.grades import short_grade
from podsim.report.views.plan import J_PER_KWH, dollars, missed, power, question_text, rests_on, unlike_draws, watts

LEAST = {
    Objective.TIME: "the quickest",
    Objective.COST: "the cheapest",
    Objective.ENERGY: "the one of least energy",
    Objective.PRICE_PERFORMANCE: "the best price-performance",
}


def answer(plan: MixPlan) -> str:
    """The answer in one line: "IPU-POD64: 48 of 64 IPUs in 3 partitions, 538 k USD"."""
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return "nothing weighed"
    line = f"{candidate.title}: {_used(candidate)}, {dollars(candidate.capital_usd)}"
    return line if plan.chosen else f"none; closest {line}, {candidate.reason or missed(candidate.misses)}"


def _used(candidate: MixCandidate) -> str:
    count = sum(pool.partitions for pool in candidate.pools)
    return f"{candidate.used_ipus:,} of {candidate.ipus:,} IPUs in {count:,} partition{'' if count == 1 else 's'}"


def document(plan: MixPlan, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The whole answer; `verbose` adds grades and what was assumed, then comes `extra`."""
    jobs = f"{len(plan.jobs)} job{'' if len(plan.jobs) == 1 else 's'} a month"
    verdict = LEAST[plan.demand.objective] if plan.chosen else "no machine weighed holds them"
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{jobs} on one machine: {verdict}"), Note(_question_text(plan), "asked")),
        tuple(_best(plan)),
        tuple(_layout(plan, graded=verbose)),
        (Heading("machines weighed"), _candidate_table(plan)),
        (
            Note(
                "a partition runs as a machine of its size; those of one size share their jobs; runs wait for a free "
                "one, which no deadline counts",
                "assumed",
            ),
            *(Note(exclusion.reason, f"not {exclusion.topology}", Tone.WARNING) for exclusion in plan.excluded),
            *caveats.notes(plan.assumptions, verbose=verbose),
        ),
    ]
    if verbose:
        groups.append((Heading("assumed of the runs"), *(Note(line, "·") for line in plan.assumptions)))
    groups += extra
    groups.append((Note(NOT_MLPERF, "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _question_text(plan: MixPlan) -> str:
    limits = question_text(plan.demand).rpartition("of those ")[0].rstrip("; ")
    busy = f"partitions busy at most {numbers.percent(plan.use)} of the hours"
    sure = f"deadlines {numbers.percent(plan.confidence)} sure"
    return "; ".join(part for part in (sure, busy, limits) if part)


def _best(plan: MixPlan) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    short = candidate.reason or (f"misses {missed(candidate.misses)}" if candidate.misses else "")
    facts = [
        Fact(
            "take" if plan.chosen else "closest",
            candidate.title,
            "",
            f"{candidate.ipus:,} × {candidate.chip}",
            short or f"{candidate.hosts} host{'' if candidate.hosts == 1 else 's'}",
            strong=True,
        ),
        Fact(
            "partitions",
            f"{candidate.used_ipus:,}",
            "IPUs",
            f"of {candidate.ipus:,}",
            f"{candidate.ipus - candidate.used_ipus:,} spare",
        ),
        Fact("capital", *numbers.parted(dollars(candidate.capital_usd)), _most(candidate)),
        power(candidate.owned),
    ]
    if candidate.energy_j is not None:
        facts.append(
            Fact("a month takes", numbers.significant(candidate.energy_j / J_PER_KWH), "kWh", "while jobs run")
        )
    yield Facts(tuple(facts))
    yield from rests_on(candidate.owned, plan.demand, plan.terms)
    yield from unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates})


def _most(candidate: MixCandidate) -> str:
    return (
        "with its hosts"
        if candidate.most_capital_usd == candidate.capital_usd
        else f"up to {dollars(candidate.most_capital_usd)}"
    )


def _layout(plan: MixPlan, *, graded: bool) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None or not candidate.pools:
        return
    jobs = {job.called: job for job in plan.jobs}

    def row(pool: Pool, timed: Timed) -> tuple[str, ...]:
        within = jobs[timed.job].within_s
        deadline = "–" if within is None else numbers.time(within)
        return (
            timed.job,
            f"{pool.partitions:,} × {pool.ipus:,}",
            numbers.count(jobs[timed.job].runs_per_month),
            numbers.time(timed.time_to_train_s.value),
            numbers.time(timed.sure_s),
            deadline,
            numbers.significant(timed.hours),
            *((short_grade(timed.time_to_train_s),) if graded else ()),
        )

    columns = (
        Column("job", wraps=True),
        Column("partitions", number=True),
        Column("runs", number=True, priority=2),
        Column("a run", number=True, priority=1),
        Column(f"{numbers.percent(plan.confidence)} sure", number=True),
        Column("within", number=True),
        Column("hours", number=True, priority=3),
        *((Column("grade", priority=4),) if graded else ()),
    )
    yield Heading("partitions side by side, and a month on them")
    yield DocTable(columns, tuple(row(pool, timed) for pool in candidate.pools for timed in pool.jobs))
    yield Bars(
        tuple(
            Bar(f"{pool.partitions:,} × {pool.ipus:,} IPUs", pool.busy, numbers.percent(pool.busy), "busy")
            for pool in candidate.pools
        )
    )


def _candidate_table(plan: MixPlan) -> DocTable:
    columns = (
        Column("machine"),
        Column("IPUs used", number=True),
        Column("of", number=True, priority=2),
        Column("capital", number=True),
        Column("power", number=True, priority=1),
        Column("", wraps=True, priority=3),
    )
    best = plan.chosen or plan.closest
    marked = next((at for at, candidate in enumerate(plan.candidates) if candidate is best), None)
    return DocTable(
        columns,
        tuple(
            (
                candidate.topology,
                f"{candidate.used_ipus:,}" if candidate.pools else "–",
                f"{candidate.ipus:,}",
                dollars(candidate.capital_usd),
                watts(candidate.power_w),
                candidate.reason or (f"misses {missed(candidate.misses)}" if candidate.misses else "holds all"),
            )
            for candidate in plan.candidates
        ),
        marked=marked,
    )
