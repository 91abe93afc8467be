"""A training run on a machine with faults: the mapping of the healthy one, or what fits on the machines left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, PodsimError
from podsim.model.fault import FaultyPart
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import Part
from podsim.planning.choose import ChosenMapping, choose
from podsim.predicting import assemble, fault_cost, release_estimate, training_case
from podsim.predicting.run import expected_s
from podsim.scenario import Constraints
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_unchecked, check, ranges
from podsim.topology.healthy_part import largest, part, whole_machines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Choice, ConsideredMapping, Prediction
    from podsim.predicting.training_case import TrainingCase
    from podsim.resolve import Case
    from podsim.topology.machine_network import Fabric

    Progress = Callable[[int, int], None]


def answer(case: Case, on_progress: Progress | None = None, *, takes_sdk: bool = True) -> tuple[Prediction, Case]:
    """The prediction with the faults of a scenario beside that without, and the case that it answers.

    `takes_sdk` says whether the command has flags for SDK and division. Raises InputError: a fault that is none, names
    nothing or contradicts another. Infeasible: what is left is cut in two, or too small for the mapping.
    """
    question, texts = case.question, case.scenario.faults
    fabric = apply(question.fabric, texts)
    chosen = choose(case, on_progress)
    healthy = predict(case, chosen)
    if fabric.damage.lost:
        return _on_what_is_left(case, fabric, chosen, healthy, takes_sdk=takes_sdk)
    hurt = replace(case, question=replace(question, fabric=fabric, faults=texts))
    there = predict(hurt, replace(chosen, choice=_retime(chosen.choice, hurt.question)))
    without_slow_s = _without_slow_s(question, chosen.mapping, texts)
    detours = fault_cost.detours(hurt.question, chosen.mapping)
    return fault_cost.with_fault_cost(healthy, there, texts, detours, without_slow_s=without_slow_s), hurt


def predict(case: Case, chosen: ChosenMapping) -> Prediction:
    """The prediction of the mapping chosen for a case."""
    return assemble.predict(case.question, chosen.mapping, chosen.choice, (*chosen.assumptions, *case.notes))


def _retime(choice: Choice, question: TrainingCase) -> Choice:
    """A choice made for the healthy machine, its mappings timed with the faults of a question, by formula."""
    quick = question.by_formula

    def with_faults(candidate: ConsideredMapping) -> ConsideredMapping:
        timeline = training_case.step(quick, candidate.mapping)
        need = training_case.samples(quick, candidate.mapping.global_batch)
        pace = training_case.question_pace(quick, candidate.mapping, timeline.step_s)
        return replace(
            candidate,
            time_to_train_s=expected_s(pace, need),
            step_s=timeline.step_s,
            bubble=timeline.breakdown_s[Part.BUBBLE] / timeline.step_s,
        )

    if not choice.considered:
        return choice
    reason = AnswerNote.of(NoteCode.KEPT_WITH_FAULTS, reason=choice.reason)
    return replace(choice, considered=tuple(map(with_faults, choice.considered)), reason=reason)


def _without_slow_s(question: TrainingCase, mapping: Mapping, texts: Sequence[str]) -> float | None:
    """The step with every slow link taken out of use [s]; None where none is slow or the rest is cut in two."""
    slow = {fault.text for fault in parse(texts) if fault.part is FaultyPart.LINK and 0 < fault.rate < 1}
    if not slow:
        return None
    try:
        fabric = apply(question.fabric, [f"{t.partition('=')[0]}=down" if t in slow else t for t in texts])
    except PodsimError:
        return None
    return training_case.step(replace(question, fabric=fabric), mapping).step_s


def map_with_faults(case: Case, on_progress: Progress | None = None) -> tuple[TrainingCase, Mapping]:
    """The question and mapping that are left with the faults of a scenario; raises what `answer` does."""
    question, texts = case.question, case.scenario.faults
    if not texts:
        return question, choose(case, on_progress).mapping
    fabric = apply(question.fabric, texts)
    if not fabric.damage.lost:
        return replace(question, fabric=fabric, faults=texts), choose(case, on_progress).mapping
    left, where, _ = _remaining_case(case, fabric)
    left = replace(left, question=replace(left.question, faults=texts, left=where))
    chosen = _fitting(left, where, choose(case, on_progress), takes_sdk=False)
    return left.question, chosen.mapping


def apply(fabric: Fabric, texts: Sequence[str]) -> Fabric:
    """The machine with these faults; what is left beside lost machines may be in parts, of which one goes on.

    Raises what `answer` does for a fault.
    """
    if not texts:
        return fabric
    result = apply_unchecked(fabric, parse(texts))
    if not result.damage.lost:
        check(result)
    return result


def _on_what_is_left(
    case: Case, fabric: Fabric, usual: ChosenMapping, healthy: Prediction, *, takes_sdk: bool
) -> tuple[Prediction, Case]:
    left, where, first = _remaining_case(case, fabric)
    chosen = _fitting(left, where, usual, takes_sdk=takes_sdk)
    there = predict(left, chosen)
    if there.activity is not None:  # price and power are of the whole machine
        working = left.question.machine.topology.ipus / case.question.machine.topology.ipus
        there = replace(there, activity=there.activity.where_share_works(working))
    detours = fault_cost.detours(left.question, chosen.mapping, first)
    return fault_cost.with_fault_cost(healthy, there, case.scenario.faults, detours, where), left


def _remaining_case(case: Case, fabric: Fabric) -> tuple[Case, str, int]:
    """The case on the largest partition, which machines that has in words, and the first."""
    question, machines = case.question, largest(fabric)
    if machines is None:
        raise Infeasible(
            f"no IPU-Machine of {fabric.name} is whole",
            code="parts-lost",
            context=[_lost_ipus_text(fabric)],
            hint="an IPU that is slow rather than lost keeps its machine: ipu:0=0.5",
        )
    result, topology = part(fabric, machines), whole_machines(question.machine.topology, len(machines))
    hosts = min(question.machine.hosts, topology.hosts.most_servers)  # those of the healthy machine, none added
    machine = replace(question.machine, topology=topology, hosts=hosts)
    where = f"{_lost_ipus_text(fabric)}; a run uses 1, 2, 4, 8, … whole IPU-Machines: here "
    texts = case.scenario.faults if result.damage else ()  # what is left may be a healthy machine of its own
    left = replace(case, question=replace(question, machine=machine, fabric=result, faults=texts))
    count = fabric.endpoints // fabric.topology.ipus_per_machine
    where += f"{_numbers_text('IPU-Machine', machines)} of 0 to {count - 1}, {result.endpoints:,} IPUs in all"
    return left, where, machines.start


def _lost_ipus_text(fabric: Fabric) -> str:
    """The lost IPUs and the IPU-Machines that they are in: "1 of 64 IPUs lost (IPU 17, in IPU-Machine 4)"."""
    lost = sorted(fabric.damage.lost)
    machines = sorted({ipu // fabric.topology.ipus_per_machine for ipu in lost})
    where = f"{_numbers_text('IPU', lost)}, in {_numbers_text('IPU-Machine', machines)}"
    return f"{len(lost):,} of {fabric.endpoints:,} IPUs lost ({where})"


def _numbers_text(word: str, numbers: Sequence[int]) -> str:
    """Numbers behind the name of what they count: "IPU 17", "IPU-Machines 0 and 1", "IPU-Machines 5 to 12"."""
    listed = " and ".join(map(str, numbers)) if len(numbers) == 2 else ranges(numbers, "")
    return f"{word}{'' if len(numbers) == 1 else 's'} {listed}"


def _fitting(left: Case, where: str, usual: ChosenMapping, *, takes_sdk: bool) -> ChosenMapping:
    """The mapping of the healthy machine if it was asked for and there is room, else the best there is room for."""
    mapping, room, constraints = usual.mapping, left.question.fabric.endpoints, left.scenario.mapping
    needed = mapping.ipus
    if usual.choice.given == "search":
        needed = min(needed, (constraints.replicas or 1) * (constraints.ipus_per_replica or 1))
    if needed <= room:
        return choose(left)
    raise Infeasible(
        f"the mapping needs {mapping.ipus:,} IPUs, more than are left together",
        code="parts-lost",
        context=[where],
        hint=_nearest(left, mapping, takes_sdk=takes_sdk),
    )


def _own(question: TrainingCase, *, takes_sdk: bool) -> TrainingCase:
    """The question without what a preset says beside its mapping: optimizer, and the SDK where no flag names one."""
    machine = question.machine
    if not takes_sdk:
        machine = replace(machine, sdk=release_estimate.newest(machine.parameters))
    return replace(question, machine=machine, optimizer=question.workload.optimizer)


def _nearest(left: Case, mapping: Mapping, *, takes_sdk: bool) -> str:
    """Flags of the same global batch with as many replicas as there is room for, and the time to train so."""
    size, room, question = mapping.ipus_per_replica, left.question.fabric.endpoints, left.question
    replicas = room // size
    leave = f"leave the mapping out, and podsim chooses one for {room:,} IPUs"
    if not replicas:
        return leave
    accumulation = mapping.accumulation * mapping.replicas // replicas
    constraints = Constraints(
        replicas=replicas, ipus_per_replica=size, micro_batch=mapping.micro_batch, accumulation=accumulation
    )
    flags = replace(mapping, replicas=replicas, accumulation=accumulation).flags
    if left.preset is not None:
        leave = f"leave --preset out, and podsim chooses one for {room:,} IPUs"
        question = _own(question, takes_sdk=takes_sdk)
        flags = f"instead of --preset, {flags}"
        if takes_sdk:
            flags += f" --sdk {question.machine.sdk} --division {question.division}"
    scenario = replace(left.scenario, mapping=constraints)
    fewer = replace(left, scenario=scenario, question=question, preset=None)
    try:
        there = predict(fewer, choose(fewer))
    except PodsimError:
        return leave
    return f"{flags} trains in {there.time_to_train_s.value / 60:.1f} min; or {leave}"
