"""One weight update of a workload on a machine as a step program: every duration is asked for here, once."""

import math

from podsim.lowering import one_f_one_b, pipeline, update
from podsim.lowering.work import busiest, computing, stage_work
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.program import Cut, StepProgram
from podsim.model.training import Schedule
from podsim.model.workload import Workload
from podsim.topology.fabric import Fabric


def lower(
    workload: Workload, mapping: Mapping, machine: Machine, fabric: Fabric, *, optimizer: str, folded: bool = True
) -> StepProgram:
    """The step program: micro-batches through the pipeline, then the weight update."""
    machine = computing(machine, mapping.practice)
    work = stage_work(workload, mapping, machine)
    line = pipeline.Pipeline(workload, mapping, machine, fabric, work, mapping.accumulation, folded)
    if mapping.schedule is Schedule.ONE_F_ONE_B and len(work) > 1:
        first = one_f_one_b.blocks(line)
    else:
        first = pipeline.blocks(line)
    return StepProgram(
        blocks=(*first, *update.blocks(line, optimizer)),
        ipus=mapping.ipus_per_replica if folded else mapping.ipus,
        micro_batches=mapping.accumulation,
        steady=_times(busiest(work), mapping.accumulation),
    )


def lower_evaluation(
    workload: Workload, mapping: Mapping, machine: Machine, fabric: Fabric, *, rows: int
) -> StepProgram:
    """A forward-only pass over `rows` rows, shared by the replicas."""
    machine = computing(machine, mapping.practice)
    work = stage_work(workload, mapping, machine)
    count = max(1, math.ceil(rows / (mapping.micro_batch * mapping.replicas)))
    line = pipeline.Pipeline(workload, mapping, machine, fabric, work, count, folded=True, forward_only=True)
    steady = _times(busiest(work, forward_only=True), count)
    return StepProgram(blocks=pipeline.blocks(line), ipus=mapping.ipus_per_replica, micro_batches=count, steady=steady)


def _times(cut: Cut, count: int) -> Cut:
    return tuple((part, seconds * count) for part, seconds in cut)
