"""A training run on a machine with faults: the mapping of the healthy one, or what fits on the machines left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, PodsimError
from podsim.model.fault import Part
from podsim.planning.asking import settled
from podsim.planning.choose import usual_hosts
from podsim.planning.search import Wanted
from podsim.predicting import assemble, faults, maturity
from podsim.topology.cut import ranges
from podsim.topology.fabric_faults import check, damaged
from podsim.topology.fault_text import parse
from podsim.topology.remaining import largest, part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Choice, Prediction
    from podsim.model.training import Preset
    from podsim.planning.asking import Flag, Progress
    from podsim.predicting.assemble import Question
    from podsim.topology.fabric import Fabric

    Settled = tuple[Mapping, Choice, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What flags ask of a machine that has faults: sdk, hosts and chip are `given`."""

    question: Question
    wanted: Wanted
    named: Preset | None
    given: tuple[Flag, Flag, Flag]
    on_progress: Progress | None
    takes_sdk: bool = True  # the command has flags for SDK and division

    def settled(self, question: Question) -> Settled:
        """The mapping of this question."""
        return settled(question, self.wanted, self.named, self.given, self.on_progress)


def answer(asked: Asked, texts: Sequence[str]) -> tuple[Prediction, Question]:
    """The prediction with these faults beside that without, and the question that it answers.

    Raises InputError: a fault that is none, names nothing or contradicts another. Infeasible: what is left is cut in
    two, or too small for the mapping.
    """
    question = asked.question
    fabric = _with(question.fabric, texts)
    mapping, choice, said = asked.settled(question)
    healthy = assemble.predict(question, mapping, choice, said)
    if fabric.damage.lost:
        return _on_what_is_left(asked, fabric, healthy, texts)
    hurt = replace(question, fabric=fabric, faults=tuple(texts))
    there = assemble.predict(hurt, mapping, choice, said)
    without_slow_s = _without_slow_s(question, mapping, texts)
    found = faults.compared(healthy, there, texts, faults.detours(hurt, mapping), without_slow_s=without_slow_s)
    return found, hurt


def _without_slow_s(question: Question, mapping: Mapping, texts: Sequence[str]) -> float | None:
    """The step with every slow link taken out of use [s]; None where none is slow or the rest is cut in two."""
    slow = {fault.text for fault in parse(texts) if fault.part is Part.LINK and 0 < fault.rate < 1}
    if not slow:
        return None
    try:
        fabric = _with(question.fabric, [f"{t.partition('=')[0]}=down" if t in slow else t for t in texts])
    except PodsimError:
        return None
    return assemble.step(replace(question, fabric=fabric), mapping).step_s


def mapped(asked: Asked, texts: Sequence[str]) -> tuple[Question, Mapping]:
    """The question and mapping that are left with these faults, without an answer; raises what `answer` does."""
    question = asked.question
    if not texts:
        return question, asked.settled(question)[0]
    fabric = _with(question.fabric, texts)
    if not fabric.damage.lost:
        return replace(question, fabric=fabric, faults=tuple(texts)), asked.settled(question)[0]
    left, where, _ = _left(asked, fabric)
    left = replace(left, faults=tuple(texts), left=where)
    return left, _fitting(asked, left, where, asked.settled(question))[0]


def _with(fabric: Fabric, texts: Sequence[str]) -> Fabric:
    """The machine with these faults; what is left beside lost machines may be in parts, of which one goes on."""
    found = damaged(fabric, parse(texts))
    if not found.damage.lost:
        check(found)
    return found


def _on_what_is_left(
    asked: Asked, fabric: Fabric, healthy: Prediction, texts: Sequence[str]
) -> tuple[Prediction, Question]:
    left, where, first = _left(asked, fabric)
    usual = healthy.mapping, healthy.choice, healthy.assumptions[:-1]
    mapping, choice, said = _fitting(asked, left, where, usual)
    there = assemble.predict(left, mapping, choice, said)
    return faults.compared(healthy, there, texts, faults.detours(left, mapping, first), where), left


def _left(asked: Asked, fabric: Fabric) -> tuple[Question, str, int]:
    """The question as the largest partition is asked it, which machines that has in words, and the first."""
    question, machines = asked.question, largest(fabric)
    if machines is None:
        raise Infeasible(f"no machine of {fabric.name} is whole", code="parts-lost", context=[_lost(fabric)],
                         hint="an IPU that is slow rather than lost keeps its machine: ipu:0=0.5")  # fmt: skip
    found = part(fabric, machines)
    hosts = min(asked.given[1] or found.topology.hosts.most_servers, found.topology.hosts.most_servers)
    if asked.given[1] is None:
        hosts = usual_hosts(question.workload, found.topology, None)
    machine = replace(question.machine, topology=found.topology, hosts=int(hosts))
    where = f"{_lost(fabric)}; the largest partition of whole machines has {found.endpoints:,} IPUs: "
    return replace(question, machine=machine, fabric=found), where + ranges(machines, "machine "), machines.start


def _lost(fabric: Fabric) -> str:
    lost = sorted(fabric.damage.lost)
    verb = "is" if len(lost) == 1 else "are"
    return f"{len(lost):,} of {fabric.endpoints:,} IPUs {verb} lost: {ranges(lost, 'ipu')}"


def _fitting(asked: Asked, left: Question, where: str, usual: Settled) -> Settled:
    """The mapping of the healthy machine if it was asked for and there is room, else the best there is room for."""
    mapping, choice, _ = usual
    room, wanted = left.fabric.endpoints, asked.wanted
    needed = mapping.ipus
    if choice.given == "search":
        needed = min(needed, (wanted.replicas or 1) * (wanted.ipus_per_replica or 1))
    if needed <= room:
        return asked.settled(left)
    raise Infeasible(
        f"the mapping needs {mapping.ipus:,} IPUs, more than are left together", code="parts-lost", context=[where],
        hint=_nearest(asked, left, mapping),
    )  # fmt: skip


def _own(asked: Asked, left: Question) -> Question:
    """The question without what a preset says beside its mapping: optimizer, and the SDK where no flag names one."""
    machine = left.machine
    if not asked.takes_sdk:
        machine = replace(machine, sdk=maturity.newest(machine.parameters))
    return replace(left, machine=machine, optimizer=left.workload.optimizer)


def _nearest(asked: Asked, left: Question, mapping: Mapping) -> str:
    """Flags of the same global batch with as many replicas as there is room for, and the time to train so."""
    size, named = mapping.ipus_per_replica, asked.named
    replicas = left.fabric.endpoints // size
    leave = f"leave the mapping out, and podsim chooses one for {left.fabric.endpoints:,} IPUs"
    if not replicas:
        return leave
    accumulation = mapping.accumulation * mapping.replicas // replicas
    wanted = Wanted(replicas, size, mapping.micro_batch, accumulation, None, asked.wanted.what_if)
    flags = (
        f"--replicas {replicas} --ipus-per-replica {size} --micro-batch {mapping.micro_batch} "
        f"--accumulation {accumulation}"
    )
    question = left
    if named is not None:
        leave, question = (
            f"leave --preset out, and podsim chooses one for {left.fabric.endpoints:,} IPUs",
            _own(asked, left),
        )
        flags = f"instead of --preset, {flags}"
        if asked.takes_sdk:
            flags += f" --sdk {left.machine.sdk} --division {left.division}"
    try:
        there = assemble.predict(question, *settled(question, wanted, None, asked.given, None))
    except PodsimError:
        return leave
    return f"{flags} trains in {there.time_to_train_s.value / 60:.1f} min; or {leave}"
