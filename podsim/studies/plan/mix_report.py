"""One machine for a mix of jobs, as a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from podsim.model.run_cost import J_PER_KWH, MachineOwnership
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.handout import Handout, arrange
from podsim.report.origins import MachineNames, of_page
from podsim.report.views import caveats_view, run_cost_view
from podsim.report.views.grades_view import short_grade
from podsim.studies.plan import inventory_report, owned_machines
from podsim.studies.plan.candidates_report import watts
from podsim.studies.plan.misses_report import misses_text
from podsim.studies.plan.mix_result import JobRuns, JobTime, KeptMachines, MixCandidate, MixPlan, Month, Pool
from podsim.studies.plan.report import exclusion_notes, power, question_text, sources, unlike_draws, unpublished_peak
from podsim.studies.plan.result import Objective

LEAST = {
    Objective.CAPITAL: "the cheapest",
    Objective.TIME: "the shortest runs",
    Objective.COST: "the cheapest",
    Objective.ENERGY: "the lowest energy",
    Objective.PRICE_PERFORMANCE: "the best price-performance",
}


def answer(plan: MixPlan) -> str:
    """The answer in one line: "IPU-POD64: 48 of 64 IPUs in 3 partitions, $538k"."""
    if plan.split is not None:
        machines_text = _and(_kept_text(plan, part) for part in plan.kept if part.month.pools)
        purchase_text = f", buy {plan.split.added.title}" if plan.split.added else ""
        return f"keep {machines_text}{purchase_text}: {numbers.money(plan.split.capital_usd, plan.currency)}"
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return "no candidate"
    line = f"{candidate.title}: {_share_in_use(candidate)}, {numbers.money(candidate.capital_usd, plan.currency)}"
    return (
        line
        if plan.chosen
        else f"none; nearest candidate {line}, {candidate.reason or misses_text(candidate.misses, plan.demand)}"
    )


def _share_in_use(candidate: MixCandidate) -> str:
    count = sum(pool.partitions for pool in candidate.pools)
    if candidate.used_ipus > candidate.ipus:
        return f"{candidate.ipus:,} IPUs"
    return f"{candidate.used_ipus:,} of {candidate.ipus:,} IPUs in {count:,} partition{'' if count == 1 else 's'}"


def page(plan: MixPlan, _question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of all candidates and of the workloads come from."""
    machines = [MachineNames(called=name, topology=name) for name in plan.named]
    workloads = dict.fromkeys(job.workload for job in plan.jobs)
    origins = of_page(machines, workloads, [candidate.owned for candidate in plan.candidates])
    return arrange(document(plan, verbose=True), answer(plan), origins)


def document(plan: MixPlan, *, verbose: bool = False) -> Doc:
    """The whole answer; `verbose` adds grades and what was assumed."""
    runs = sum_in_order(job.runs_per_month for job in plan.jobs)
    jobs = f"{len(plan.jobs)} kind{'' if len(plan.jobs) == 1 else 's'} of job, {numbers.count(runs)} runs per month"
    groups: list[tuple[Block, ...]] = [
        (
            Heading(jobs if plan.split else f"{jobs} on one machine"),
            _verdict(plan),
            *_ownership_notes(plan),
            Note(_question_text(plan), "Demands"),
        ),
        *_split(plan),
        *_one_machine(plan, verbose=verbose),
        (Heading("One machine for all jobs" if plan.split else "Candidates"), _candidate_table(plan)),
        (
            Note(
                "A partition runs as a machine of its size; partitions of one size share their jobs. Waiting for a "
                "free partition is not part of the time limit.",
                "Assumed",
            ),
            *exclusion_notes(plan.excluded),
            *caveats_view.notes(plan.assumptions, verbose=verbose),
        ),
    ]
    if verbose:
        groups.append((Heading("Assumptions of the runs"), *(Note(str(note), "·") for note in plan.assumptions)))
    groups.append((Note(NOT_MLPERF, "", Tone.QUIET),))
    return Doc(tuple(group for group in groups if group))


def _verdict(plan: MixPlan) -> Note:
    """The recommendation in a sentence."""
    if plan.split is not None:
        machines_text = _and(_kept_text(plan, part) for part in plan.kept if part.month.pools)
        new_machine = plan.split.added
        total = numbers.money(plan.split.capital_usd, plan.currency)
        rest = (
            f" and buy {new_machine.title} for the rest: {total} in all"
            if new_machine
            else f"; together they hold all jobs: {total}"
        )
        return Note(f"Recommended: keep {machines_text}{rest}, {LEAST[Objective.CAPITAL]}.", "", Tone.STRONG)
    if plan.chosen is None:
        nearest = f": the nearest candidate is {plan.closest.title}" if plan.closest else ""
        return Note(f"No candidate holds all jobs{nearest}.", "", Tone.STRONG)
    return Note(f"Recommended: {plan.chosen.title}, {LEAST[plan.demand.objective]}.", "", Tone.STRONG)


def _ownership_notes(plan: MixPlan) -> Iterator[Note]:
    """What of the machine is owned and what to buy, or which runs owned machines hold as they stand."""
    best = plan.chosen or plan.closest
    if plan.split is None:
        yield from inventory_report.notes(plan.inventory, best.reuse if best else None, plan.currency)
    elif plan.chosen is not None:
        price = numbers.money(plan.chosen.capital_usd, plan.currency)
        yield Note(f"{plan.chosen.title} would hold all jobs for {price}.", "One machine")
    if plan.split is not None or not any(part.month.pools for part in plan.kept):
        return
    if best is None or best.reuse is None or best.reuse.bought_count:
        rest = owned_machines.remaining_jobs(plan.jobs, plan.kept)
        texts = [f"{numbers.count(job.runs_per_month)} runs of {job.title}" for job in rest]
        without = f"all runs but {', '.join(texts)}" if texts else "all runs"
        yield Note(f"{_and(_kept_text(plan, part) for part in plan.kept)}: {without}.", "Owned alone")


def _and(texts: Iterable[str]) -> str:
    """Texts in a row: "a, b and c"."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _kept_text(plan: MixPlan, part: KeptMachines) -> str:
    """Owned machines with the servers that they lack: "1 × IPU-POD64 (hall) with 3 more hosts ($57.6k)"."""
    count = part.bought_hosts
    price = numbers.money(part.capital_usd, plan.currency)
    more = f" with {count:,} more host{'s' * (count != 1)} ({price})" if count else ""
    return f"{part.machines.count:,} × {inventory_report.label(part.machines)}{more}"


def _split(plan: MixPlan) -> Iterator[tuple[Block, ...]]:
    """Jobs on owned machines, and on the one that is bought for the rest."""
    if plan.split is None:
        return
    price, most = (numbers.money(usd, plan.currency) for usd in (plan.split.capital_usd, plan.split.most_capital_usd))
    power_text = f"up to {watts(plan.split.most_power_w)}, with all IPUs running" if plan.split.power_w else ""
    facts = (
        Fact("Purchase price", price, "", f"up to {most}" if most != price else "of all that is bought", strong=True),
        Fact("Power", *numbers.split_unit(watts(plan.split.power_w)), power_text),
    )
    new = [MachineOwnership(capital=part.capital, draw=None) for part in plan.kept if part.bought_hosts]
    new += [plan.split.added.owned] if plan.split.added else []
    yield Facts(facts), *run_cost_view.old_prices(new)
    for part in plan.kept:
        if part.month.pools:
            runs = {job.job: job.runs for job in part.month.jobs}
            yield Heading(f"On the owned {_kept_text(plan, part)}"), _jobs(plan, part.month.pools, runs)
    new_machine = plan.split.added
    if new_machine is not None:
        runs = {job.title: job.runs_per_month for job in plan.split.jobs}
        price = numbers.money(new_machine.capital_usd, plan.currency)
        yield Heading(f"On a new {new_machine.title} ({price})"), _jobs(plan, new_machine.pools, runs)


def _month(plan: MixPlan) -> Iterator[Block]:
    """Which runs of the jobs fit on a machine that does not hold them all."""
    best = plan.chosen or plan.closest
    if best is not None and best.month is not None:
        yield from _runs_that_fit(best.month, f"What fits on {best.title} in a month, by priority")
    elif plan.cheaper is not None and plan.cheaper.month is not None:
        price = numbers.money(plan.cheaper.capital_usd, plan.currency)
        title = f"What would fit on the cheaper {plan.cheaper.title} ({price}), by priority"
        yield from _runs_that_fit(plan.cheaper.month, title)


def _runs_that_fit(month: Month, title: str) -> Iterator[Block]:
    """Runs of each job that fit, those of the first priority first."""
    partitions = {
        job_time.job: f"{pool.partitions:,} × {pool.ipus:,}" for pool in month.pools for job_time in pool.jobs
    }
    yield Heading(title)
    yield DocTable(
        (
            Column("Job", wraps=True),
            Column("Priority", number=True),
            Column("Runs", number=True),
            Column("Of", number=True),
            Column("Partitions", number=True, priority=1),
            Column("", wraps=True),
        ),
        tuple(
            (
                job.job,
                "–" if job.priority is None else f"{job.priority:,}",
                numbers.count(job.runs),
                numbers.count(job.runs_per_month),
                partitions.get(job.job, "–"),
                _why_short(job),
            )
            for job in month.jobs
        ),
    )


def _why_short(job: JobRuns) -> str:
    """Why runs of a job do not fit; "" where all do."""
    if not job.quick:
        return "no partition is fast enough"
    return f"{numbers.count(job.runs_per_month - job.runs)} do not fit" if job.short else ""


def _one_machine(plan: MixPlan, *, verbose: bool) -> Iterator[tuple[Block, ...]]:
    """One machine for all jobs with its partitions; with `verbose` also where keeping owned ones is recommended."""
    if plan.split is None or (verbose and plan.chosen):
        yield tuple(_best(plan))
        yield tuple(_layout(plan, graded=verbose))
        yield tuple(_month(plan))


def _question_text(plan: MixPlan) -> str:
    limits = question_text(plan.demand, plan.currency)
    busy = f"partitions in use at most {numbers.percent(plan.use)} of the hours"
    sure = f"time limits at {numbers.percent(plan.confidence)} confidence"
    return "; ".join(part for part in (sure, busy, limits) if part)


def _best(plan: MixPlan) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None:
        return
    short = candidate.reason or misses_text(candidate.misses, plan.demand)
    spare = candidate.ipus - candidate.used_ipus
    facts = [
        Fact(
            "Machine",
            candidate.title,
            "",
            f"{candidate.ipus:,} × {candidate.chip}",
            short or f"{candidate.hosts} host{'' if candidate.hosts == 1 else 's'}",
            strong=True,
        ),
        Fact(
            "Partitions",
            f"{candidate.used_ipus:,}",
            "IPUs",
            f"of {candidate.ipus:,}",
            f"{abs(spare):,} {'spare' if spare >= 0 else 'short'}",
        ),
        Fact("Purchase price", numbers.money(candidate.capital_usd, plan.currency), "", _most(plan, candidate)),
        power(candidate.owned),
    ]
    if candidate.energy_j is not None:
        kwh = numbers.significant(candidate.energy_j / J_PER_KWH)
        facts.append(Fact("Energy per month", kwh, "kWh", "while jobs run, with cooling"))
    if candidate.rent_month_usd is not None:
        rent = numbers.money(candidate.rent_month_usd, plan.currency)
        facts.append(Fact("Rent per month", rent, "", "of the IPUs that jobs use, while they run"))
    yield Facts(tuple(facts))
    yield from unpublished_peak(candidate.owned, plan.demand)
    yield from sources(candidate.owned, plan.terms, plan.currency)
    yield from run_cost_view.old_prices(other.owned for other in plan.candidates)
    yield from unlike_draws(plan.demand, {other.topology: other.owned for other in plan.candidates})


def _most(plan: MixPlan, candidate: MixCandidate) -> str:
    return (
        "with its hosts"
        if candidate.most_capital_usd == candidate.capital_usd
        else f"up to {numbers.money(candidate.most_capital_usd, plan.currency)}"
    )


def _jobs(plan: MixPlan, pools: Sequence[Pool], runs: Mapping[str, float], *, graded: bool = False) -> DocTable:
    """Jobs with so many runs on partitions."""
    jobs = {job.title: job for job in plan.jobs}

    def row(pool: Pool, job_time: JobTime) -> tuple[str, ...]:
        within = jobs[job_time.job].within_s
        deadline = "–" if within is None else numbers.time(within)
        return (
            job_time.job,
            f"{pool.partitions:,} × {pool.ipus:,}",
            numbers.count(runs[job_time.job]),
            numbers.time(job_time.time_to_train_s.value),
            numbers.time(job_time.sure_s),
            deadline,
            numbers.significant(job_time.hours),
            *((short_grade(job_time.time_to_train_s),) if graded else ()),
        )

    columns = (
        Column("Job", wraps=True),
        Column("Partitions", number=True),
        Column("Runs", number=True, priority=2),
        Column("Time", number=True, priority=1),
        Column(f"P{100 * plan.confidence:.3g}", number=True),
        Column("Limit", number=True),
        Column("Hours", number=True, priority=3),
        *((Column("Evidence", priority=4),) if graded else ()),
    )
    return DocTable(columns, tuple(row(pool, job_time) for pool in pools for job_time in pool.jobs))


def _layout(plan: MixPlan, *, graded: bool) -> Iterator[Block]:
    candidate = plan.chosen or plan.closest
    if candidate is None or not candidate.pools:
        return
    yield Heading("Partitions and a month of jobs on them")
    yield _jobs(plan, candidate.pools, {job.title: job.runs_per_month for job in plan.jobs}, graded=graded)
    yield Bars(
        tuple(
            Bar(f"{pool.partitions:,} × {pool.ipus:,} IPUs", pool.busy, numbers.percent(pool.busy), "in use")
            for pool in candidate.pools
        )
    )


def _remark(plan: MixPlan, candidate: MixCandidate) -> str:
    """Why a machine cannot hold the jobs or misses a demand, and what of it is owned."""
    short = candidate.reason or misses_text(candidate.misses, plan.demand) or "holds all jobs"
    return "; ".join(filter(None, (short, inventory_report.remark(candidate.reuse))))


def _candidate_table(plan: MixPlan) -> DocTable:
    columns = (
        Column("Machine"),
        Column("IPUs needed", number=True),
        Column("IPUs", number=True, priority=1),
        Column("Hosts", number=True, priority=3),
        Column("Price", number=True),
        Column("Power", number=True, priority=2),
        Column("Remark", wraps=True),
    )
    best = None if plan.split is not None else plan.chosen or plan.closest
    best_index = next((at for at, candidate in enumerate(plan.candidates) if candidate is best), None)
    return DocTable(
        columns,
        tuple(
            (
                candidate.topology,
                f"{candidate.used_ipus:,}" if candidate.pools else "–",
                f"{candidate.ipus:,}",
                f"{candidate.hosts:,}",
                numbers.money(candidate.capital_usd, plan.currency),
                watts(candidate.power_w),
                _remark(plan, candidate),
            )
            for candidate in plan.candidates
        ),
        marked=best_index,
    )
