"""A training run on a machine with faults: the mapping of the healthy one, or what fits on the machines left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, PodsimError
from podsim.model.fault import FaultyPart
from podsim.planning.choose import Chosen, choose
from podsim.predicting import assemble, fault_cost, maturity
from podsim.scenario import Constraints
from podsim.topology.cut import ranges
from podsim.topology.fabric_faults import check, damaged
from podsim.topology.fault_text import parse
from podsim.topology.remaining import largest, part
from podsim.workloads.presets import usual_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Prediction
    from podsim.predicting.assemble import TrainingCase
    from podsim.resolve import Case
    from podsim.topology.fabric import Fabric

    Progress = Callable[[int, int], None]


def answer(case: Case, on_progress: Progress | None = None, *, takes_sdk: bool = True) -> tuple[Prediction, Case]:
    """The prediction with the faults of a scenario beside that without, and the case that it answers.

    `takes_sdk` says whether the command has flags for SDK and division. Raises InputError: a fault that is none, names
    nothing or contradicts another. Infeasible: what is left is cut in two, or too small for the mapping.
    """
    question, texts = case.question, case.scenario.faults
    fabric = _with(question.fabric, texts)
    chosen = choose(case, on_progress)
    healthy = predicted(case, chosen)
    if fabric.damage.lost:
        return _on_what_is_left(case, fabric, chosen, healthy, takes_sdk=takes_sdk)
    hurt = replace(case, question=replace(question, fabric=fabric, faults=texts))
    there = predicted(hurt, chosen)
    without_slow_s = _without_slow_s(question, chosen.mapping, texts)
    detours = fault_cost.detours(hurt.question, chosen.mapping)
    return fault_cost.compared(healthy, there, texts, detours, without_slow_s=without_slow_s), hurt


def predicted(case: Case, chosen: Chosen) -> Prediction:
    """The prediction of the mapping chosen for a case."""
    return assemble.predict(case.question, chosen.mapping, chosen.choice, (*chosen.assumptions, *case.notes))


def _without_slow_s(question: TrainingCase, mapping: Mapping, texts: Sequence[str]) -> float | None:
    """The step with every slow link taken out of use [s]; None where none is slow or the rest is cut in two."""
    slow = {fault.text for fault in parse(texts) if fault.part is FaultyPart.LINK and 0 < fault.rate < 1}
    if not slow:
        return None
    try:
        fabric = _with(question.fabric, [f"{t.partition('=')[0]}=down" if t in slow else t for t in texts])
    except PodsimError:
        return None
    return assemble.step(replace(question, fabric=fabric), mapping).step_s


def mapped(case: Case, on_progress: Progress | None = None) -> tuple[TrainingCase, Mapping]:
    """The question and mapping that are left with the faults of a scenario; raises what `answer` does."""
    question, texts = case.question, case.scenario.faults
    if not texts:
        return question, choose(case, on_progress).mapping
    fabric = _with(question.fabric, texts)
    if not fabric.damage.lost:
        return replace(question, fabric=fabric, faults=texts), choose(case, on_progress).mapping
    left, where, _ = _left(case, fabric)
    left = replace(left, question=replace(left.question, faults=texts, left=where))
    chosen = _fitting(left, where, choose(case, on_progress), takes_sdk=False)
    return left.question, chosen.mapping


def _with(fabric: Fabric, texts: Sequence[str]) -> Fabric:
    """The machine with these faults; what is left beside lost machines may be in parts, of which one goes on."""
    result = damaged(fabric, parse(texts))
    if not result.damage.lost:
        check(result)
    return result


def _on_what_is_left(
    case: Case, fabric: Fabric, usual: Chosen, healthy: Prediction, *, takes_sdk: bool
) -> tuple[Prediction, Case]:
    left, where, first = _left(case, fabric)
    chosen = _fitting(left, where, usual, takes_sdk=takes_sdk)
    there = predicted(left, chosen)
    detours = fault_cost.detours(left.question, chosen.mapping, first)
    return fault_cost.compared(healthy, there, case.scenario.faults, detours, where), left


def _left(case: Case, fabric: Fabric) -> tuple[Case, str, int]:
    """The case on the largest partition, which machines that has in words, and the first."""
    question, machines, stated = case.question, largest(fabric), case.scenario.machine.hosts
    if machines is None:
        raise Infeasible(
            f"no machine of {fabric.name} is whole",
            code="parts-lost",
            context=[_lost(fabric)],
            hint="an IPU that is slow rather than lost keeps its machine: ipu:0=0.5",
        )
    result = part(fabric, machines)
    most = result.topology.hosts.most_servers
    hosts = min(stated, most) if stated else usual_hosts(question.workload, result.topology, None)
    machine = replace(question.machine, topology=result.topology, hosts=hosts)
    where = f"{_lost(fabric)}; the largest partition of whole machines has {result.endpoints:,} IPUs: "
    left = replace(case, question=replace(question, machine=machine, fabric=result))
    return left, where + ranges(machines, "machine "), machines.start


def _lost(fabric: Fabric) -> str:
    lost = sorted(fabric.damage.lost)
    verb = "is" if len(lost) == 1 else "are"
    return f"{len(lost):,} of {fabric.endpoints:,} IPUs {verb} lost: {ranges(lost, 'ipu')}"


def _fitting(left: Case, where: str, usual: Chosen, *, takes_sdk: bool) -> Chosen:
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
        machine = replace(machine, sdk=maturity.newest(machine.parameters))
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
    flags = (
        f"--replicas {replicas} --ipus-per-replica {size} --micro-batch {mapping.micro_batch} "
        f"--accumulation {accumulation}"
    )
    if left.preset is not None:
        leave = f"leave --preset out, and podsim chooses one for {room:,} IPUs"
        question = _own(question, takes_sdk=takes_sdk)
        flags = f"instead of --preset, {flags}"
        if takes_sdk:
            flags += f" --sdk {question.machine.sdk} --division {question.division}"
    scenario = replace(left.scenario, mapping=constraints)
    fewer = replace(left, scenario=scenario, question=question, preset=None)
    try:
        there = predicted(fewer, choose(fewer))
    except PodsimError:
        return leave
    return f"{flags} trains in {there.time_to_train_s.value / 60:.1f} min; or {leave}"
