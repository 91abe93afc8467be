"""Which machine to take for a workload: the best that meets every demand, what else there is, what would help."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.files.changes import parse
from podsim.model.plan import Candidate, Objective, Plan
from podsim.model.sums import sum_in_order
from podsim.planning import pareto, shorter_rows
from podsim.planning.candidates import CandidateEvaluation, CandidateEvaluator, PlanRequest, Progress, settle
from podsim.planning.remedies import remedies
from podsim.planning.workload_sequence import once

if TYPE_CHECKING:
    from podsim.files.changes import Changes
    from podsim.planning.workload_sequence import Named
    from podsim.scenario import Scenario

SIZES = (4, 16, 64, 128, 256, 512, 1024)
LARGER = (2048, 4096, 8192, 16384)
CHIPS = ("gc200", "bow")
NEAR = 0.25  # share by which a demand is missed at most by what counts as near
MOST_NEAR = 3
MOST_SETTLED = 8
HELPED = 2  # near misses whose remedies are computed


def usual_machines() -> tuple[str, ...]:
    """POD4 to POD1024 and the Bow Pods of those sizes."""
    return tuple(catalog.pod_name(ipus, chip) for chip in CHIPS for ipus in SIZES)


def named(machines: str | Sequence[str] | None) -> tuple[str, ...]:
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
    """The changes, all of them of workloads; InputError where one is of a machine: each is weighed as it is."""
    for change in parse(changes):
        if not change.path.startswith(("workload.", "import.")):
            raise InputError(
                f"{change.path} is no number of a workload, and machines are weighed as they are",
                code="bad-change",
                hint="name a machine file of your own (docs/formats.md)",
            )
    return changes


def by_formula(scenario: Scenario) -> Scenario:
    """The scenario without changes, which are those of workloads that are read already, by the analytic engine."""
    what_if = replace(scenario.what_if, changes=())
    return replace(scenario, what_if=what_if, engine=replace(scenario.engine, engine="analytic"))


def plan(run: Named, request: PlanRequest, machines: Sequence[str], on_progress: Progress | None = None) -> Plan:
    """The plan; without a machine that meets every demand `chosen` is None. Infeasible where none trains it at all."""
    scale = CandidateEvaluator(request=request, run=run.run)
    evaluation = scale.all(tuple(machines), on_progress)
    if tuple(machines) == usual_machines():
        evaluation, machines = _with_larger(evaluation, scale, machines)
    if not evaluation:
        why = [f"{exclusion.topology}: {exclusion.reason}" for exclusion in scale.excluded]
        hint = shorter_rows.usual(run.models[0], request.scenario.workload)
        raise Infeasible(f"no machine named trains {run.name}", context=why, hint=hint)
    settled, most = _settled(evaluation, scale)
    candidates = [item.candidate for item in settled]
    frontier = [candidates[at] for at in pareto.front([candidate.merits for candidate in candidates])]
    chosen = best(candidates, request.demand.objective)
    near = _near(candidates)
    closest = None if chosen else min(candidates, key=shortfall)
    missed = {id(candidate) for candidate in (closest, *near)}
    late = [item for item in settled if id(item.candidate) in missed and _misses(item.candidate, "time")]
    evaluations = sorted(late, key=lambda item: shortfall(item.candidate))[:HELPED]
    first = next((item for item in settled if item.candidate is (chosen or closest)), settled[0])
    return Plan(
        workload=run.name,
        workload_title=run.title,
        target=first.target or run.target,
        stated_length=first.stated_length,
        demand=request.demand,
        chosen=chosen,
        closest=closest,
        candidates=tuple(candidates),
        frontier=tuple(frontier),
        near=near,
        remedies=tuple(remedy for item in evaluations for remedy in remedies(item, request)),
        contradiction=_contradiction(candidates) if chosen is None else "",
        excluded=tuple(scale.excluded),
        legal=scale.legal,
        counts=dict(sorted(scale.counts.items())),
        settled=most,
        assumptions=first.notes,
        calibration=first.worth,
        terms=request.terms.terms,
        named=tuple(name for name in machines if name not in {exclusion.topology for exclusion in scale.excluded}),
    )


def _with_larger(
    evaluations: list[CandidateEvaluation], scale: CandidateEvaluator, names: Sequence[str]
) -> tuple[list[CandidateEvaluation], Sequence[str]]:
    """Machines up to POD16384, size by size, while none meets the time demanded or none trains the workload."""
    for ipus in LARGER:
        if any(not _misses(evaluation.candidate, "time") for evaluation in evaluations):
            break
        larger = tuple(catalog.pod_name(ipus, chip) for chip in CHIPS)
        evaluations, names = [*evaluations, *scale.all(larger)], (*names, *larger)
    return evaluations, names


def best(candidates: Sequence[Candidate], objective: Objective) -> Candidate | None:
    """The least by the objective of those that miss nothing; the quicker of two alike, None where there is none."""
    meeting = [
        candidate for candidate in candidates if not candidate.misses and math.isfinite(worth(candidate, objective))
    ]
    return min(
        meeting, key=lambda candidate: (worth(candidate, objective), candidate.time_to_train_s.value), default=None
    )


def worth(candidate: Candidate, objective: Objective) -> float:
    """What the objective has least of; infinite where nobody knows (Eq. 66)."""
    time_s = candidate.time_to_train_s.value
    value = {
        Objective.TIME: time_s,
        Objective.COST: candidate.cost_usd,
        Objective.ENERGY: candidate.energy_j,
        Objective.PRICE_PERFORMANCE: None if candidate.capital_usd is None else time_s * candidate.capital_usd,
    }[objective]
    return math.inf if value is None else value


def _settled(
    evaluation: list[CandidateEvaluation], scale: CandidateEvaluator
) -> tuple[list[CandidateEvaluation], tuple[int, float]]:
    """The best few, and whoever is near, timed by the event engine; how many, and the largest change of a step."""
    candidates = [item.candidate for item in evaluation]
    order = (
        best(candidates, scale.request.demand.objective),
        *(candidates[at] for at in pareto.front([candidate.merits for candidate in candidates])),
        *_near(candidates),
        min(candidates, key=shortfall),
    )
    target = list(
        {
            id(candidate): candidate for candidate in order if candidate is not None and candidate.timeline is not None
        }.values()
    )
    taken = {id(candidate) for candidate in target[:MOST_SETTLED]}
    evaluations = [
        settle(item, scale.run, scale.request) if id(item.candidate) in taken else item for item in evaluation
    ]
    changes = [
        abs(after.candidate.timeline.step_s / before.candidate.timeline.step_s - 1)
        for before, after in zip(evaluation, evaluations, strict=True)
        if after is not before and after.candidate.timeline and before.candidate.timeline
    ]
    return evaluations, (len(changes), max(changes, default=0.0))


def _misses(candidate: Candidate, demand: str) -> bool:
    return any(miss.demand == demand for miss in candidate.misses)


def _farthest(candidate: Candidate) -> float:
    """By which share the demand that a machine misses most is missed; 0 where it misses none."""
    return max((miss.over for miss in candidate.misses), default=0.0)


def shortfall(candidate: Candidate) -> tuple[float, float]:
    """How far a machine is from what is demanded: by the demand missed most, then by all of them."""
    return _farthest(candidate), sum_in_order(miss.over for miss in candidate.misses)


def _near(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The machines that miss a demand by little, nearest first; one number of hosts of each."""
    result: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=shortfall):
        if candidate.misses and _farthest(candidate) <= NEAR:
            result.setdefault(candidate.topology, candidate)
    return tuple(result.values())[:MOST_NEAR]


def _contradiction(candidates: Sequence[Candidate]) -> str:
    """Which demands cannot be met together: what each takes that meets one, by the machines weighed."""
    demands = [
        name for name in ("time", "budget", "power") if any(_misses(candidate, name) for candidate in candidates)
    ]
    alone = {name: [candidate for candidate in candidates if not _misses(candidate, name)] for name in demands}
    never = [name for name in demands if not alone[name]]
    if never or len(demands) < 2:
        words = {"time": "quick enough", "budget": "within the budget", "power": "within the power"}
        return f"no machine weighed is {' or '.join(words[name] for name in never)}" if never else ""
    return "; ".join(_alone(name, alone[name]) for name in demands)


def _alone(name: str, meeting: Sequence[Candidate]) -> str:
    """What meeting one demand takes of the others, as the nearest machine that does."""
    least: dict[str, tuple[str, Callable[[Candidate], float]]] = {
        "time": ("the time takes at least", lambda item: item.most_capital_usd or math.inf),
        "budget": ("the budget pays at most for", lambda item: item.sure_s),
        "power": ("the power is enough at most for", lambda item: item.sure_s),
    }
    words, order = least[name]
    candidate = min(meeting, key=order)
    return f"{words} {candidate.title} ({_figures(candidate)})"


def _figures(candidate: Candidate) -> str:
    minutes = f"{candidate.sure_s / 60:,.3g} min"
    usd = "" if candidate.most_capital_usd is None else f", {candidate.most_capital_usd / 1e6:,.3g} M USD"
    watts = "" if candidate.most_power_w is None else f", {candidate.most_power_w / 1e3:,.3g} kW"
    return minutes + usd + watts
