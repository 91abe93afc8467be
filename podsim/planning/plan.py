"""Which machine to take for a workload: the best that meets every demand, what else there is, what would help."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError
from podsim.files.changes import parse
from podsim.model.plan import Candidate, Objective, Plan
from podsim.model.sums import sum_in_order
from podsim.planning import pareto, shorter_rows
from podsim.planning.remedies import remedies
from podsim.planning.runs import once
from podsim.planning.weighing import Asked, Progress, Scale, Weighed, settle

if TYPE_CHECKING:
    from podsim.files.changes import Changes
    from podsim.planning.runs import Named
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
    from podsim.files import catalog

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
            raise InputError(f"{change.path} is no number of a workload, and machines are weighed as they are",
                             code="bad-change", hint="name a machine file of your own (docs/formats.md)")  # fmt: skip
    return changes


def by_formula(scenario: Scenario) -> Scenario:
    """The scenario without changes, which are those of workloads that are read already, by the analytic engine."""
    what_if = replace(scenario.what_if, changes=())
    return replace(scenario, what_if=what_if, engine=replace(scenario.engine, engine="analytic"))


def plan(run: Named, asked: Asked, machines: Sequence[str], on_progress: Progress | None = None) -> Plan:
    """The plan; without a machine that meets every demand `chosen` is None. Infeasible where none trains it at all."""
    scale = Scale(asked=asked, run=run.run)
    weighed = scale.all(tuple(machines), on_progress)
    if tuple(machines) == usual_machines():
        weighed, machines = _with_larger(weighed, scale, machines)
    if not weighed:
        why = [f"{one.topology}: {one.reason}" for one in scale.excluded]
        hint = shorter_rows.usual(run.models[0], asked.scenario.workload)
        raise Infeasible(f"no machine named trains {run.name}", context=why, hint=hint)
    settled, most = _settled(weighed, scale)
    candidates = [one.candidate for one in settled]
    frontier = [candidates[at] for at in pareto.front([one.merits for one in candidates])]
    chosen = best(candidates, asked.demand.objective)
    near = _near(candidates)
    closest = None if chosen else min(candidates, key=shortfall)
    missed = {id(one) for one in (closest, *near)}
    late = [one for one in settled if id(one.candidate) in missed and _misses(one.candidate, "time")]
    found = sorted(late, key=lambda one: shortfall(one.candidate))[:HELPED]
    first = next((one for one in settled if one.candidate is (chosen or closest)), settled[0])
    return Plan(
        workload=run.name, workload_title=run.title, target=first.target or run.target,
        stated_length=first.stated_length, demand=asked.demand,
        chosen=chosen, closest=closest, candidates=tuple(candidates), frontier=tuple(frontier), near=near,
        remedies=tuple(remedy for one in found for remedy in remedies(one, asked)),
        contradiction=_contradiction(candidates) if chosen is None else "", excluded=tuple(scale.excluded),
        legal=scale.legal, counts=dict(sorted(scale.counts.items())), settled=most, assumptions=first.said,
        calibration=first.worth, terms=asked.purse.terms,
        named=tuple(name for name in machines if name not in {one.topology for one in scale.excluded}),
    )  # fmt: skip


def _with_larger(weighed: list[Weighed], scale: Scale, names: Sequence[str]) -> tuple[list[Weighed], Sequence[str]]:
    """Machines up to POD16384, size by size, while none meets the time demanded or none trains the workload."""
    from podsim.files import catalog

    for ipus in LARGER:
        if any(not _misses(one.candidate, "time") for one in weighed):
            break
        larger = tuple(catalog.pod_name(ipus, chip) for chip in CHIPS)
        weighed, names = [*weighed, *scale.all(larger)], (*names, *larger)
    return weighed, names


def best(candidates: Sequence[Candidate], objective: Objective) -> Candidate | None:
    """The least by the objective of those that miss nothing; the quicker of two alike, None where there is none."""
    meeting = [one for one in candidates if not one.misses and math.isfinite(worth(one, objective))]
    return min(meeting, key=lambda one: (worth(one, objective), one.time_to_train_s.value), default=None)


def worth(one: Candidate, objective: Objective) -> float:
    """What the objective has least of; infinite where nobody knows (Eq. 66)."""
    time_s = one.time_to_train_s.value
    found = {
        Objective.TIME: time_s,
        Objective.COST: one.cost_usd,
        Objective.ENERGY: one.energy_j,
        Objective.PRICE_PERFORMANCE: None if one.capital_usd is None else time_s * one.capital_usd,
    }[objective]
    return math.inf if found is None else found


def _settled(weighed: list[Weighed], scale: Scale) -> tuple[list[Weighed], tuple[int, float]]:
    """The best few, and whoever is near, timed by the event engine; how many, and the largest change of a step."""
    candidates = [one.candidate for one in weighed]
    order = (
        best(candidates, scale.asked.demand.objective),
        *(candidates[at] for at in pareto.front([one.merits for one in candidates])),
        *_near(candidates),
        min(candidates, key=shortfall),
    )
    wanted = list({id(one): one for one in order if one is not None and one.timeline is not None}.values())
    taken = {id(one) for one in wanted[:MOST_SETTLED]}
    found = [settle(one, scale.run, scale.asked) if id(one.candidate) in taken else one for one in weighed]
    changes = [
        abs(after.candidate.timeline.step_s / before.candidate.timeline.step_s - 1)
        for before, after in zip(weighed, found, strict=True)
        if after is not before and after.candidate.timeline and before.candidate.timeline
    ]
    return found, (len(changes), max(changes, default=0.0))


def _misses(one: Candidate, demand: str) -> bool:
    return any(miss.demand == demand for miss in one.misses)


def _farthest(one: Candidate) -> float:
    """By which share the demand that a machine misses most is missed; 0 where it misses none."""
    return max((miss.over for miss in one.misses), default=0.0)


def shortfall(one: Candidate) -> tuple[float, float]:
    """How far a machine is from what is demanded: by the demand missed most, then by all of them."""
    return _farthest(one), sum_in_order(miss.over for miss in one.misses)


def _near(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The machines that miss a demand by little, nearest first; one number of hosts of each."""
    found: dict[str, Candidate] = {}
    for one in sorted(candidates, key=shortfall):
        if one.misses and _farthest(one) <= NEAR:
            found.setdefault(one.topology, one)
    return tuple(found.values())[:MOST_NEAR]


def _contradiction(candidates: Sequence[Candidate]) -> str:
    """Which demands cannot be met together: what each takes that meets one, by the machines weighed."""
    demands = [name for name in ("time", "budget", "power") if any(_misses(one, name) for one in candidates)]
    alone = {name: [one for one in candidates if not _misses(one, name)] for name in demands}
    never = [name for name in demands if not alone[name]]
    if never or len(demands) < 2:
        words = {"time": "quick enough", "budget": "within the budget", "power": "within the power"}
        return f"no machine weighed is {' or '.join(words[name] for name in never)}" if never else ""
    return "; ".join(_alone(name, alone[name]) for name in demands)


def _alone(name: str, meeting: Sequence[Candidate]) -> str:
    """What meeting one demand takes of the others, as the nearest machine that does."""
    least: dict[str, tuple[str, Callable[[Candidate], float]]] = {
        "time": ("the time takes at least", lambda one: one.most_capital_usd or math.inf),
        "budget": ("the budget pays at most for", lambda one: one.sure_s),
        "power": ("the power is enough at most for", lambda one: one.sure_s),
    }
    words, order = least[name]
    one = min(meeting, key=order)
    return f"{words} {one.title} ({_figures(one)})"


def _figures(one: Candidate) -> str:
    minutes = f"{one.sure_s / 60:,.3g} min"
    usd = "" if one.most_capital_usd is None else f", {one.most_capital_usd / 1e6:,.3g} M USD"
    watts = "" if one.most_power_w is None else f", {one.most_power_w / 1e3:,.3g} kW"
    return minutes + usd + watts
