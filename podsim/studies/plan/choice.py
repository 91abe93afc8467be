"""Which machine to take for a workload: the best that meets every demand, what else there is, what would help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.files.changes import parse
from podsim.model.wall_clock import ProgramStart
from podsim.planning import shorter_rows
from podsim.planning.workload_sequence import once
from podsim.report import numbers
from podsim.report.views.grades_view import short_grade
from podsim.studies.plan import pareto
from podsim.studies.plan.candidates import (
    CandidateEvaluation,
    CandidateEvaluator,
    PlanRequest,
    Progress,
    from_cache,
    settle,
    with_wall_clock,
)
from podsim.studies.plan.choice_order import best, farthest, shortfall, worth
from podsim.studies.plan.competitor_sizes import compare_sizes
from podsim.studies.plan.neighbours import neighbours
from podsim.studies.plan.remedies import remedies
from podsim.studies.plan.result import LIMITS, Candidate, Deadline, Demand, Plan

if TYPE_CHECKING:
    from podsim.files.changes import Changes
    from podsim.model.currency import Currency
    from podsim.planning.workload_sequence import NamedRun
    from podsim.scenario import Scenario

SIZES = (4, 16, 64, 128, 256, 512, 1024)
LARGER = (2048, 4096, 8192, 16384)
CHIPS = ("gc200", "bow")
NEAR = 0.25  # share by which a demand is missed at most by what counts as near
MOST_NEAR = 3
MOST_SETTLED = 8
HELPED_BY = 2  # near misses whose remedies are computed


def usual_machines() -> tuple[str, ...]:
    """Pods of 4 to 1,024 IPUs with each chip."""
    return tuple(catalog.pod_name(ipus, chip) for chip in CHIPS for ipus in SIZES)


def machine_names(machines: str | Sequence[str] | None) -> tuple[str, ...]:
    """The machines to weigh, "pod64,dgx-a100" or one by one; InputError where none is left or one stands twice."""
    if machines is None:
        return usual_machines()
    texts = machines.split(",") if isinstance(machines, str) else machines
    names = tuple(name for text in texts if (name := text.strip()))
    hint = "--machines pod64,bow-pod64,dgx-a100:64"
    if not names:
        raise InputError("--machines names no machine", code="bad-value", hint=hint)
    once("machines", names, hint)
    return names


def of_models(changes: Changes) -> Changes:
    """The changes, all of them of workloads; InputError where one is of a machine: each is evaluated as it is."""
    for change in parse(changes):
        if not change.path.startswith(("workload.", "import.")):
            raise InputError(
                f"{change.path} is not a number of the workload; candidate machines stay as they are",
                code="bad-change",
                hint="--machines FILE with a machine of your own (docs/reference/formats.md)",
            )
    return changes


def by_formula(scenario: Scenario) -> Scenario:
    """The scenario without changes, which are those of workloads that are read already, by the analytic engine."""
    what_if = replace(scenario.what_if, changes=())
    return replace(scenario, what_if=what_if, engine=replace(scenario.engine, engine="analytic"))


def plan(
    run: NamedRun,
    request: PlanRequest,
    machines: Sequence[str],
    on_progress: Progress | None = None,
    against: Sequence[str] = (),
) -> Plan:
    """The plan; without a machine that meets every demand `chosen` is None. Infeasible where none trains it at all.

    `against` are machines without IPUs that are shown and not recommended.
    """
    scale = CandidateEvaluator(request=request, run=run.run)
    usual = tuple(machines) == usual_machines()
    machines = (*machines, *(request.own.names(machines) if request.own else ()))
    evaluation = scale.all(machines, on_progress)
    beyond, count = None, len(evaluation)
    if usual:
        evaluation, machines, beyond = _with_larger(evaluation, scale, machines)
    if not evaluation:
        why = [f"{exclusion.topology}: {exclusion.reason}" for exclusion in scale.excluded]
        hint = shorter_rows.usual(run.models[0], request.scenario.workload)
        raise Infeasible(f"no machine named trains {run.name}", context=why, hint=hint)
    settled_evaluations, most = _settle(evaluation, scale)
    settled_evaluations = _with_wall_clock(settled_evaluations, request.demand)
    candidates, objective = [item.candidate for item in settled_evaluations], request.demand.objective
    frontier = [candidates[at] for at in pareto.front([candidate.merits for candidate in candidates])]
    chosen_candidate = best(candidates, objective)
    near = _near(candidates, chosen_candidate)
    closest = None if chosen_candidate else min(candidates, key=lambda item: (shortfall(item), item.sure_s))
    near_ids = {id(candidate) for candidate in (closest, *near)}
    late = [item for item in settled_evaluations if id(item.candidate) in near_ids and _misses(item.candidate, "time")]
    evaluations = sorted(late, key=lambda item: shortfall(item.candidate))[:HELPED_BY]
    first = next(
        (item for item in settled_evaluations if item.candidate is (chosen_candidate or closest)),
        settled_evaluations[0],
    )
    with_cache = _with_cache(settled_evaluations, count, scale, chosen_candidate)
    others, exclusions = compare_sizes(against, request, first.candidate, worth)
    return Plan(
        workload=run.name,
        workload_title=run.title,
        target=first.target or run.target,
        stated_length=first.stated_length,
        ends_with_samples=first.ends_with_samples,
        run_tokens=first.run_tokens,
        demand=request.demand,
        chosen=chosen_candidate,
        closest=closest,
        candidates=tuple(candidates),
        frontier=tuple(frontier),
        near=near,
        remedies=tuple(remedy for item in evaluations for remedy in remedies(item, scale.run, request)),
        contradiction=""
        if chosen_candidate
        else _contradiction(candidates, request.demand, request.terms.currency, beyond),
        excluded=(*(exclusion for exclusion in scale.excluded if exclusion.topology in machines), *exclusions),
        legal=scale.legal,
        counts=dict(sorted(scale.counts.items())),
        settled=most,
        assumptions=(*first.notes, *(request.own.notes(first.candidate.reuse) if request.own else ())),
        calibration=first.worth,
        terms=request.terms.terms,
        currency=request.terms.currency,
        against=others,
        unranked=chosen_candidate is not None and not math.isfinite(worth(chosen_candidate, objective)),
        inventory=request.own.owned_machines if request.own else (),
        explain=request.explain,
        neighbours=neighbours(candidates, frontier, first.candidate, objective) if request.explain else (),
        with_cache=with_cache,
        named=tuple(name for name in machines if name not in {exclusion.topology for exclusion in scale.excluded}),
    )


def _with_cache(
    evaluations: Sequence[CandidateEvaluation],
    usual: int,
    scale: CandidateEvaluator,
    chosen_candidate: Candidate | None,
) -> Candidate | None:
    """The machine recommended if the executable is in the cache, where the wall clock is judged and it is another one.

    After the first `usual` evaluations come larger machines, which count only where no smaller one is in time, as in a
    plan of cached executables.
    """
    demand = scale.request.demand
    has_wall_clock_limit = demand.within_s is not None and demand.deadline is Deadline.WALL_CLOCK
    if not has_wall_clock_limit or demand.program is ProgramStart.CACHED:
        return None
    candidates, larger = (
        [from_cache(item, scale.run, scale.request).candidate for item in some if item.parts]
        for some in (evaluations[:usual], evaluations[usual:])
    )
    for ipus in LARGER:
        if any(not _misses(item, "time") for item in candidates):
            break
        candidates += [item for item in larger if item.chips == ipus]
    result = best(candidates, demand.objective)
    if (
        result
        and chosen_candidate
        and (result.topology, result.hosts) == (chosen_candidate.topology, chosen_candidate.hosts)
    ):
        return None
    return result


def _with_larger(
    evaluations: list[CandidateEvaluation], scale: CandidateEvaluator, names: Sequence[str]
) -> tuple[list[CandidateEvaluation], Sequence[str], Candidate | None]:
    """Machines up to POD16384, size by size, while none meets the time demanded or none trains the workload.

    No source names machines of these sizes: where smaller ones train the workload and no larger one comes near the time
    either, the larger ones are dropped, and the fastest of them is returned apart.
    """
    every, each = evaluations, names
    for ipus in LARGER:
        if any(not _misses(evaluation.candidate, "time") for evaluation in every):
            return every, each, None
        larger = tuple(catalog.pod_name(ipus, chip) for chip in CHIPS)
        every, each = [*every, *scale.all(larger)], (*each, *larger)
    if not evaluations or any(_late(evaluation.candidate) <= NEAR for evaluation in every):
        return every, each, None
    beyond = [item.candidate for item in every[len(evaluations) :]]
    return evaluations, names, min(beyond, key=lambda candidate: candidate.sure_s, default=None)


def _late(candidate: Candidate) -> float:
    """By which share the time is missed; 0 where it is not."""
    return max((miss.over for miss in candidate.misses if miss.demand == "time"), default=0.0)


def _settle(
    evaluation: list[CandidateEvaluation], scale: CandidateEvaluator
) -> tuple[list[CandidateEvaluation], tuple[int, float]]:
    """The best few, and whoever is near, timed by event simulation; how many, and the largest change of a step."""
    candidates = [item.candidate for item in evaluation]
    chosen_candidate = best(candidates, scale.request.demand.objective)
    order = (
        chosen_candidate,
        *(candidates[at] for at in pareto.front([candidate.merits for candidate in candidates])),
        *_near(candidates, chosen_candidate),
        min(candidates, key=shortfall),
    )
    target = list(
        {
            id(candidate): candidate for candidate in order if candidate is not None and candidate.timeline is not None
        }.values()
    )
    target_ids = {id(candidate) for candidate in target[:MOST_SETTLED]}
    evaluations = [
        settle(item, scale.run, scale.request) if id(item.candidate) in target_ids else item for item in evaluation
    ]
    changes = [
        abs(after.candidate.timeline.step_s / before.candidate.timeline.step_s - 1)
        for before, after in zip(evaluation, evaluations, strict=True)
        if after is not before and after.candidate.timeline and before.candidate.timeline
    ]
    return evaluations, (len(changes), max(changes, default=0.0))


def _with_wall_clock(evaluations: list[CandidateEvaluation], demand: Demand) -> list[CandidateEvaluation]:
    """The same, of which the recommended machine, or the nearest where none meets the demands, has its wall clock."""
    candidates = [item.candidate for item in evaluations]
    best_candidate = best(candidates, demand.objective) or min(candidates, key=shortfall)
    return [with_wall_clock(item, demand) if item.candidate is best_candidate else item for item in evaluations]


def _misses(candidate: Candidate, demand: str) -> bool:
    return any(miss.demand == demand for miss in candidate.misses)


def _near(candidates: Sequence[Candidate], chosen_candidate: Candidate | None) -> tuple[Candidate, ...]:
    """The machines that miss a demand by little, nearest first; one number of hosts of each.

    One that the chosen machine dominates in everything is none, such as a larger machine with too few hosts.
    """
    result: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=shortfall):
        if chosen_candidate is not None and pareto.dominates(chosen_candidate.merits, candidate.merits):
            continue
        if candidate.misses and farthest(candidate) <= NEAR:
            result.setdefault(candidate.topology, candidate)
    return tuple(result.values())[:MOST_NEAR]


def _contradiction(
    candidates: Sequence[Candidate], demand: Demand, currency: Currency, beyond: Candidate | None = None
) -> str:
    """Which demands cannot be met together: what each takes that meets one, by the machines evaluated.

    `beyond` is the fastest of larger machines that no source names, where it misses the time too.
    """
    demands = [
        name for name in ("time", "budget", "power") if any(_misses(candidate, name) for candidate in candidates)
    ]
    alone = {name: [candidate for candidate in candidates if not _misses(candidate, name)] for name in demands}
    never = [name for name in demands if not alone[name]]
    if never:
        faster = beyond if beyond and beyond.sure_s < min(candidate.sure_s for candidate in candidates) else None
        even = _even(faster, demand) if faster else ""
        least = [_least(name, candidates, currency) for name in never if name != "time"]
        limits = (demand.within_s, demand.budget_usd, demand.most_power_w)
        if not even and not least and limits.count(None) == len(limits) - 1:  # the verdict has said so
            return ""
        parts = [f"No candidate meets the {' or the '.join(LIMITS[name] for name in never)}", even, *least]
        return f"{'; '.join(filter(None, parts))}."
    if len(demands) < 2:
        return ""
    return " ".join(_alone(name, alone[name], demand, currency) for name in demands)


def _even(fastest: Candidate, demand: Demand) -> str:
    """The fastest of the larger pods, which misses the time too: "the fastest larger pod, …"."""
    time_label = f"{demand.judged_time}{' with failures' if fastest.failures else ''}"
    grade = short_grade(fastest.time_to_train_s)
    return f"the fastest larger pod, {fastest.title}, takes {numbers.time(fastest.sure_s)} ({time_label}; {grade})"


def _least(name: str, candidates: Sequence[Candidate], currency: Currency) -> str:
    """The machine nearest to a budget or power limit that none meets: "the cheapest is Bow Pod4 ($51.6k)"."""
    of_price = name == "budget"
    pairs = [(item.most_capital_usd if of_price else item.most_power_w, item.title) for item in candidates]
    published_values = [(value, title) for value, title in pairs if value is not None]
    if not published_values:
        return f"no {'price' if of_price else 'power'} of a candidate is published"
    value, title = min(published_values)
    if of_price:
        return f"the cheapest is {title} ({numbers.money(value, currency)})"
    return f"the lowest power is that of {title} (up to {numbers.rate(value, 'W')})"


def _alone(name: str, meeting: Sequence[Candidate], demand: Demand, currency: Currency) -> str:
    """The machine that comes nearest to the other demands of those that meet one, in a sentence."""
    if name == "time":
        candidate = min(meeting, key=lambda item: (item.most_capital_usd or math.inf, item.chips, item.sure_s))
        words = f"{'Smallest' if candidate.most_capital_usd is None else 'Cheapest'} machine within the time"
    else:
        candidate = min(meeting, key=lambda item: item.sure_s)
        words = f"Fastest within the {'budget' if name == 'budget' else 'power limit'}"
    return f"{words}: {candidate.title} ({_figures(candidate, demand, currency)})."


def _figures(candidate: Candidate, demand: Demand, currency: Currency) -> str:
    """Time, price and power as they are compared with the demands: "P90 4.32 min, $1.12M, 44.0 kW"."""
    parts = [f"{demand.quantile}{' with failures' if candidate.failures else ''} {numbers.time(candidate.sure_s)}"]
    if candidate.most_capital_usd is not None:
        parts.append(numbers.money(candidate.most_capital_usd, currency))
    if candidate.most_power_w is not None and demand.most_power_w is not None:
        parts.append(numbers.rate(candidate.most_power_w, "W"))
    return ", ".join(parts)
