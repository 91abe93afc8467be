"""What faults cost a step and a run: the healthy machine beside what is left of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.lowering.lower import lower
from podsim.model.fault import Detour, FaultReport
from podsim.model.sums import RESIDUE, clean_residue
from podsim.topology import wiring
from podsim.topology.healthy_part import rename_node
from podsim.topology.machine_network import Fabric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Prediction
    from podsim.predicting.training_case import TrainingCase


def with_fault_cost(
    healthy: Prediction,
    hurt: Prediction,
    texts: Sequence[str],
    detours: Sequence[Detour],
    remaining_machine: str = "",
    without_slow_s: float | None = None,
) -> Prediction:
    """The prediction of the machine with faults, with a report of what they cost in time [s] and slowdown (Eq. 51).

    Parameters: `healthy` and `hurt`, predictions without and with the faults; `texts`, the faults as stated; `detours`,
    routes between IPUs that changed; `remaining_machine`, what the run goes on where machines are lost, else "";
    `without_slow_s`, the step with slow links taken out of use [s], None where there is none. Result: `hurt` with
    steps, times to train and longer parts of a step [s], and the slowdown (a share).

    Equation: slowdown = throughput of `healthy` / throughput of `hurt` − 1. Validity: steady state after the fault;
    without the restart (Eq. 49); parts below 1e-9 of the healthy step are 0, and `without_slow_s` is None unless it is
    shorter than the step by more than that. Source: derived: the definition of slowdown.
    """
    near_s = RESIDUE * healthy.step_s.value
    more = {part: seconds - healthy.breakdown_s.get(part, 0.0) for part, seconds in hurt.breakdown_s.items()}
    rates = healthy.throughput_samples_per_s.value, hurt.throughput_samples_per_s.value
    report = FaultReport(
        texts=tuple(texts),
        healthy_step_s=healthy.step_s.value,
        step_s=hurt.step_s.value,
        slowdown=rates[0] / rates[1] - 1,
        healthy_time_to_train_s=healthy.time_to_train_s.value,
        time_to_train_s=hurt.time_to_train_s.value,
        parts=clean_residue(more, healthy.step_s.value),
        detours=tuple(detours),
        left=remaining_machine,
        without_slow_s=without_slow_s if (without_slow_s or math.inf) < hurt.step_s.value - near_s else None,
    )
    return replace(hurt, faults=report)


def detours(question: TrainingCase, mapping: Mapping, machines: int = 0) -> tuple[Detour, ...]:
    """Ways of the flows of a step that lead elsewhere than without faults, in the order of their use.

    Nodes have the names of the whole machine, in which so many machines lie before those asked.
    """
    fabric, usual = question.fabric, Fabric(question.machine.topology)
    if not fabric.damage.down:
        return ()
    program = lower(
        question.workload,
        replace(mapping, accumulation=1),
        question.machine,
        fabric,
        optimizer=question.optimizer,
        folded=question.folded,
    )
    detours: dict[tuple[int, ...], Detour | None] = {}
    for block in program.blocks:
        for flow in (flow for task in block.tasks for flow in task.flows):
            if flow.route not in detours:
                detours[flow.route] = _detour(fabric, usual, flow.route)

    def whole(nodes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(rename_node(fabric.topology, node, machines) for node in nodes)

    return tuple(Detour(usual=whole(way.usual), taken=whole(way.taken)) for way in detours.values() if way)


def _detour(fabric: Fabric, usual: Fabric, route: tuple[int, ...]) -> Detour | None:
    nodes = tuple(_nodes(fabric, route))
    if not nodes or not (nodes[0].startswith(wiring.IPU) and nodes[-1].startswith(wiring.IPU)):
        return None
    number, other = (int(end.removeprefix(wiring.IPU)) for end in (nodes[0], nodes[-1]))
    before = tuple(_nodes(usual, usual.route(number, other).links))
    return Detour(usual=before, taken=nodes) if before != nodes else None


def _nodes(fabric: Fabric, route: tuple[int, ...]) -> Iterator[str]:
    for number in route[:1]:
        yield fabric.link(number).source
    for number in route:
        yield fabric.link(number).target
