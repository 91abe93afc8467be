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
    chosen_mapping = choose(case, on_progress)
    healthy = predict(case, chosen_mapping)
    if fabric.damage.lost:
        return _on_what_is_left(case, fabric, chosen_mapping, healthy, takes_sdk=takes_sdk)
    hurt = replace(case, question=replace(question, fabric=fabric, faults=texts))
    there = predict(hurt, replace(chosen_mapping, choice=_retime(chosen_mapping.choice, hurt.question)))
    without_slow_s = _without_slow_s(question, chosen_mapping.mapping, texts)
    detours = fault_cost.detours(hurt.question, chosen_mapping.mapping)
    return fault_cost.with_fault_cost(healthy, there, texts, detours, without_slow_s=without_slow_s), hurt


def predict(case: Case, chosen_mapping: ChosenMapping) -> Prediction:
    """The prediction of the mapping chosen for a case."""
    return assemble.predict(
        case.question, chosen_mapping.mapping, chosen_mapping.choice, (*chosen_mapping.assumptions, *case.notes)
    )


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
    remaining_case, where, _ = _remaining_case(case, fabric)
    remaining_case = replace(remaining_case, question=replace(remaining_case.question, faults=texts, left=where))
    chosen_mapping = _fitting(remaining_case, where, choose(case, on_progress), takes_sdk=False)
    return remaining_case.question, chosen_mapping.mapping


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
    remaining_case, where, first = _remaining_case(case, fabric)
    chosen_mapping = _fitting(remaining_case, where, usual, takes_sdk=takes_sdk)
    there = predict(remaining_case, chosen_mapping)
    if there.activity is not None:  # price and power are of the whole machine
        working = remaining_case.question.machine.topology.ipus / case.question.machine.topology.ipus
        there = replace(there, activity=there.activity.where_share_works(working))
    detours = fault_cost.detours(remaining_case.question, chosen_mapping.mapping, first)
    return fault_cost.with_fault_cost(healthy, there, case.scenario.faults, detours, where), remaining_case


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
    remaining_case = replace(case, question=replace(question, machine=machine, fabric=result, faults=texts))
    count = fabric.endpoints // fabric.topology.ipus_per_machine
    where += f"{_numbers_text('IPU-Machine', machines)} of 0 to {count - 1}, {result.endpoints:,} IPUs in all"
    return remaining_case, where, machines.start


def _lost_ipus_text(fabric: Fabric) -> str:
    """The lost IPUs and the IPU-Machines that they are in: "1 of 64 IPUs lost (IPU 17, in IPU-Machine 4)"."""
    lost_ipus = sorted(fabric.damage.lost)
    machines = sorted({ipu // fabric.topology.ipus_per_machine for ipu in lost_ipus})
    where = f"{_numbers_text('IPU', lost_ipus)}, in {_numbers_text('IPU-Machine', machines)}"
    return f"{len(lost_ipus):,} of {fabric.endpoints:,} IPUs lost ({where})"


def _numbers_text(word: str, numbers: Sequence[int]) -> str:
    """Numbers behind the name of what they count: "IPU 17", "IPU-Machines 0 and 1", "IPU-Machines 5 to 12"."""
    text = " and ".join(map(str, numbers)) if len(numbers) == 2 else ranges(numbers, "")
    return f"{word}{'' if len(numbers) == 1 else 's'} {text}"


def _fitting(remaining_case: Case, where: str, usual: ChosenMapping, *, takes_sdk: bool) -> ChosenMapping:
    """The mapping of the healthy machine if it was asked for and there is room, else the best there is room for."""
    mapping, room, constraints = (
        usual.mapping,
        remaining_case.question.fabric.endpoints,
        remaining_case.scenario.mapping,
    )
    needed_ipus = mapping.ipus
    if usual.choice.given == "search":
        needed_ipus = min(needed_ipus, (constraints.replicas or 1) * (constraints.ipus_per_replica or 1))
    if needed_ipus <= room:
        return choose(remaining_case)
    raise Infeasible(
        f"the mapping needs {mapping.ipus:,} IPUs, more than are left together",
        code="parts-lost",
        context=[where],
        hint=_nearest(remaining_case, mapping, takes_sdk=takes_sdk),
    )


def _own(question: TrainingCase, *, takes_sdk: bool) -> TrainingCase:
    """The question without what a preset says beside its mapping: optimizer, and the SDK where no flag names one."""
    machine = question.machine
    if not takes_sdk:
        machine = replace(machine, sdk=release_estimate.newest(machine.parameters))
    return replace(question, machine=machine, optimizer=question.workload.optimizer)


def _nearest(remaining_case: Case, mapping: Mapping, *, takes_sdk: bool) -> str:
    """Flags of the same global batch with as many replicas as there is room for, and the time to train so."""
    size, room, question = mapping.ipus_per_replica, remaining_case.question.fabric.endpoints, remaining_case.question
    replicas = room // size
    leave = f"leave the mapping out, and podsim chooses one for {room:,} IPUs"
    if not replicas:
        return leave
    accumulation = mapping.accumulation * mapping.replicas // replicas
    constraints = Constraints(
        replicas=replicas, ipus_per_replica=size, micro_batch=mapping.micro_batch, accumulation=accumulation
    )
    flags = replace(mapping, replicas=replicas, accumulation=accumulation).flags
    if remaining_case.preset is not None:
        leave = f"leave --preset out, and podsim chooses one for {room:,} IPUs"
        question = _own(question, takes_sdk=takes_sdk)
        flags = f"instead of --preset, {flags}"
        if takes_sdk:
            flags += f" --sdk {question.machine.sdk} --division {question.division}"
    scenario = replace(remaining_case.scenario, mapping=constraints)
    fewer = replace(remaining_case, scenario=scenario, question=question, preset=None)
    try:
        there = predict(fewer, choose(fewer))
    except PodsimError:
        return leave
    return f"{flags} trains in {there.time_to_train_s.value / 60:.1f} min; or {leave}"
