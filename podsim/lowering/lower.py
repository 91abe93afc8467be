"""One weight update of a workload on a machine as a step program: the engine times flows, this package the rest."""

import math
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.lowering import layerwise, merged_blocks, weight_update
from podsim.lowering.pipeline import Pipeline
from podsim.lowering.work import computing, stage_work
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.program import StepProgram, TimeByPart
from podsim.model.sums import sum_in_order
from podsim.model.training import Schedule
from podsim.model.workload import Workload
from podsim.topology.machine_network import Fabric

if TYPE_CHECKING:
    from podsim.model.inference import ServedState
    from podsim.tiles.supersteps import TileEngine

MOST_UNFOLDED = 200_000  # tasks without flows; some ten seconds and a GB


def lower(
    workload: Workload,
    mapping: Mapping,
    machine: Machine,
    fabric: Fabric,
    *,
    optimizer: str,
    folded: bool = True,
    tiles: "TileEngine | None" = None,
) -> StepProgram:
    """The step program: micro-batches through the pipeline, then the weight update.

    Parameters: `workload` and its `mapping`; `machine` and the `fabric` that joins its IPUs; `optimizer` by name;
    `folded` lets one replica stand for all that are equal; `tiles` runs the supersteps of each stage as events, without
    it their closed form is taken. Result: tasks with times [s] and flows [B]. Errors: `InputError` where nothing is
    to be folded and that is too much, and for a step in phases with faults or in full.

    Equation: stages by `stage_work` (Eq. 1) in the order of Eq. 15 to 17, then collectives and optimizer by
    `weight_update.blocks` (Eq. 9; `weight_update.all_reduce_over_gw_links`); in phases Eq. 73 to 76. Validity:
    synchronous data parallelism, all replicas with the same work. Source: graphcore-examples for the pipelines,
    narayanan-2019 for 1F1B, brown-2020 for the update of phases; the configuration for which of them applies.
    """
    if not folded:
        _refuse_many(mapping)
    machine = computing(machine, workload, mapping)
    work = stage_work(workload, mapping, machine, tiles=tiles)
    line = Pipeline(workload, mapping, machine, fabric, work, mapping.accumulation, folded)
    if mapping.schedule is Schedule.PHASED:
        return layerwise.program(line, optimizer)
    reductions = weight_update.reductions(line, optimizer) if mapping.configuration.overlaps_reduction else ()
    rest = weight_update.blocks(line, optimizer, reduced=bool(reductions))
    return StepProgram(
        blocks=merged_blocks.step(line, reductions, rest),
        ipus=mapping.ipus_per_replica * len(line.replicas),
        micro_batches=mapping.accumulation,
        steady=_times(line.busiest, mapping.accumulation),
    )


def lower_evaluation(
    workload: Workload,
    mapping: Mapping,
    machine: Machine,
    fabric: Fabric,
    *,
    rows: int,
    folded: bool = True,
    served_state: "ServedState | None" = None,
    tiles: "TileEngine | None" = None,
) -> StepProgram:
    """A forward-only pass over `rows` rows, shared by the replicas; `served_state` where nothing is ever trained."""
    machine = computing(machine, workload, mapping)
    work = stage_work(workload, mapping, machine, forward_only=served_state is not None, tiles=tiles)
    count = max(1, math.ceil(rows / (mapping.micro_batch * mapping.replicas)))
    line = Pipeline(workload, mapping, machine, fabric, work, count, folded, forward_only=True)
    blocks = merged_blocks.forward(line)
    if served_state:
        from podsim.lowering import streaming

        blocks = streaming.before(line, blocks, served_state)
    return StepProgram(
        blocks=blocks,
        ipus=mapping.ipus_per_replica * len(line.replicas),
        micro_batches=count,
        steady=_times(line.busiest, count),
    )


def lower_update(
    workload: Workload, mapping: Mapping, machine: Machine, fabric: Fabric, *, optimizer: str, folded: bool = True
) -> StepProgram:
    """The weight update alone, without what leads to it; in phases the whole step, which it is spread over."""
    if mapping.schedule is Schedule.PHASED:
        return lower(workload, mapping, machine, fabric, optimizer=optimizer, folded=folded)
    line = Pipeline(workload, mapping, computing(machine, workload, mapping), fabric, (), mapping.accumulation, folded)
    return StepProgram(
        blocks=weight_update.blocks(line, optimizer),
        ipus=mapping.ipus_per_replica * len(line.replicas),
        micro_batches=mapping.accumulation,
        steady=(),
    )


def reach(workload: Workload, mapping: Mapping, machine: Machine, fabric: Fabric) -> int:
    """How many micro-batches back lies what a task waits for; 0 where barriers separate them (Eq. 16).

    Parameters: `workload` and its `mapping`; `machine` and the `fabric` that joins its IPUs. Result: micro-batches.

    Equation: 2 × stages + prefetch. Validity: an upper bound for 1F1B on two stages or more and for inputs that run
    ahead, with equal replicas folded; 0 in phases. Source: derived: a stage holds at most 2 × stages − 1 micro-batches
    (Eq. 21) and `prefetch` inputs wait before the first.
    """
    if mapping.schedule is Schedule.PHASED:  # a barrier behind every layer
        return 0
    if mapping.schedule is not Schedule.ONE_F_ONE_B and mapping.configuration.prefetch < 2:
        return 0
    work = stage_work(workload, mapping, computing(machine, workload, mapping))
    line = Pipeline(workload, mapping, machine, fabric, work, mapping.accumulation, folded=True)
    return 2 * len(work) + mapping.configuration.prefetch if merged_blocks.is_chained(line) else 0


def least_times_s(
    workload: Workload, mapping: Mapping, machine: Machine, fabric: Fabric, *, optimizer: str
) -> tuple[float, float]:
    """What the busiest IPU spends on a micro-batch, and that with most weights on their update [s]; 0 in phases.

    No engine takes less for a step than the first for each micro-batch and the second, whatever is sent.
    """
    if mapping.schedule is Schedule.PHASED:
        return 0.0, 0.0
    machine = computing(machine, workload, mapping)
    work = stage_work(workload, mapping, machine)
    line = Pipeline(workload, mapping, machine, fabric, work, mapping.accumulation, folded=True)
    return sum_in_order(seconds for _, seconds in line.busiest), weight_update.least_s(line, optimizer)


def _refuse_many(mapping: Mapping) -> None:
    count = 2 * mapping.replicas * len(mapping.stages) * mapping.accumulation
    if count > MOST_UNFOLDED:
        raise InputError(
            f"in full, {mapping.replicas:,} replicas have {count:,} tasks a step; at most {MOST_UNFOLDED:,} are run",
            code="too-large-in-full",
            hint="--fidelity folded runs one of equal replicas and is exact; a smaller machine runs in full",
        )


def _times(cut: TimeByPart, count: int) -> TimeByPart:
    return tuple((part, seconds * count) for part, seconds in cut)
