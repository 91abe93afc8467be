"""What one IPU of a replica holds in its SRAM, by category, and what it leaves in streaming memory."""

from dataclasses import replace

from podsim.errors import Infeasible
from podsim.model.chip import Chip
from podsim.model.fabric import Topology
from podsim.model.mapping import Mapping, Stage
from podsim.model.prediction import MemoryFit, StageMemory
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.model.workload import Operator, Pass, Unit, Workload
from podsim.tiles.cost import ELEMENT_BYTES
from podsim.tiles.plan import Planner, Target, same_plans

CODE_SHARE = 0.10  # of SRAM for code, vertex state and stacks; assumed, no published breakdown (docs/model.md)


def fit(workload: Workload, mapping: Mapping, topology: Topology) -> MemoryFit:
    """Whether every IPU of a replica holds its share on the tiles that compute (Eq. 19)."""
    topology = replace(topology, chip=topology.chip.without(mapping.practice.io_tiles))
    ipus = sorted({stage.ipu for stage in mapping.stages})
    planner = Planner(Target(topology.chip, workload.precision))
    held = tuple(_ipu(planner, mapping, topology, ipu) for ipu in ipus)
    streaming = 0.0
    if mapping.state is StatePlace.STREAMING:
        streaming = max(_state_bytes(mapping, topology, _parameters(mapping, ipu)) for ipu in ipus)
    gateway = topology.gateway
    return MemoryFit(
        capacity_bytes=topology.chip.sram_bytes,
        ipus=held,
        streaming_bytes_per_ipu=streaming,
        streaming_capacity_bytes_per_ipu=gateway.streaming_bytes / topology.ipus_per_machine,
    )


RELIEF = {
    "weights": "more IPUs a replica spread the weights",
    "gradients": "more IPUs a replica spread the weights and their gradients",
    "optimizer_state": "state in streaming memory frees it",
    "stash": "a smaller micro-batch or fewer stages keep fewer activations",
    "working": "a smaller micro-batch recomputes less at once",
    "exchange_buffers": "a smaller micro-batch multiplies less at once",
}


def relief(held: MemoryFit, chip: Chip) -> str:
    """Which tiles are fullest, what takes most of them, and what would relieve them."""
    full = held.fullest
    name, most = max(((key, size) for key, size in full.by_category.items() if key in RELIEF), key=lambda pair: pair[1])
    stages = " and ".join(str(stage) for stage in full.stages)
    used, limit = full.used_bytes / chip.tiles / 1e3, held.capacity_bytes / chip.tiles / 1e3
    return (
        f"the tiles of stage {stages} (IPU {full.ipu}) hold {used:.0f} of {limit:.0f} kB each, "
        f"{most / chip.tiles / 1e3:.0f} kB of it {name.replace('_', ' ')}: {RELIEF[name]}"
    )


def _ipu(planner: Planner, mapping: Mapping, topology: Topology, ipu: int) -> StageMemory:
    stages = [stage for stage in mapping.stages if stage.ipu == ipu]
    parameters = _parameters(mapping, ipu)
    element = ELEMENT_BYTES[planner.target.precision]
    on_chip = mapping.state is StatePlace.ON_CHIP
    return StageMemory(
        ipu=ipu,
        stages=tuple(stage.index for stage in stages),
        by_category={
            "weights": float(parameters * element),
            "gradients": float(parameters * mapping.practice.gradient_bytes),
            "optimizer_state": _state_bytes(mapping, topology, parameters) if on_chip else 0.0,
            "stash": sum(_stash_bytes(mapping, stage, element) for stage in stages),
            "working": max(_working_bytes(mapping, stage, element) for stage in stages),
            "exchange_buffers": max(_exchange_bytes(planner, mapping, stage) for stage in stages),
            "code": CODE_SHARE * topology.chip.sram_bytes,
        },
    )


def _parameters(mapping: Mapping, ipu: int) -> int:
    return sum(unit.parameters for stage in mapping.stages if stage.ipu == ipu for unit in stage.units)


def _state_bytes(mapping: Mapping, topology: Topology, parameters: int) -> float:
    """Moments of the weights of one IPU, sharded over the replicas of a rack where the practice shards (Eq. 20)."""
    in_rack = min(mapping.replicas, max(1, topology.ipus_per_rack // mapping.ipus_per_replica))
    shards = in_rack if mapping.practice.state_sharded else 1
    return parameters * sum(mapping.practice.moment_bytes) / shards


def in_flight(mapping: Mapping, stage: Stage) -> int:
    """Micro-batches whose activations a stage keeps at once, by schedule (Eq. 21)."""
    after = len(mapping.stages) - stage.index
    depth = {Schedule.GROUPED: 2 * after - 1, Schedule.ONE_F_ONE_B: after, Schedule.SEQUENTIAL: 1}
    return min(depth[mapping.schedule], mapping.accumulation)


def _stash_bytes(mapping: Mapping, stage: Stage, element: int) -> float:
    """What a stage keeps from forward to backward: checkpoints where it recomputes, else every stashed output."""
    depth = in_flight(mapping, stage) * mapping.micro_batch
    if mapping.recompute is Recompute.NONE:
        return float(depth * element * sum(_kept(mapping, unit) for unit in stage.units))
    kept = [unit.out_elements for unit in stage.units[:-1] if unit.checkpoint]
    entering = stage.units[0].operators[0].shape.inputs if stage.index else 0
    return float(depth * mapping.practice.checkpoint_bytes * (sum(kept) + entering))


def _kept(mapping: Mapping, unit: Unit) -> int:
    """Elements a row that backward needs of a unit."""
    return sum(o.shape.outputs for o in unit.active(mapping.practice) if o.stashed)


def _working_bytes(mapping: Mapping, stage: Stage, element: int) -> float:
    """The activations of the largest recomputation segment, alive together during its backward (Eq. 22)."""
    if mapping.recompute is Recompute.NONE:
        return 0.0
    largest = segment = 0
    for unit in stage.units:
        segment += _kept(mapping, unit)
        largest = max(largest, segment)
        if unit.checkpoint:
            segment = 0
    return float(largest * mapping.micro_batch * element)


def _exchange_bytes(planner: Planner, mapping: Mapping, stage: Stage) -> float:
    """Operands, weights and partial sums that the largest operator of a stage holds beside them, on every tile."""
    alike = {same_plans(operator): operator for unit in stage.units for operator in unit.active(mapping.practice)}
    return max((_held_bytes(planner, operator, mapping.micro_batch) for operator in alike.values()), default=0.0)


def _held_bytes(planner: Planner, operator: Operator, rows: int) -> float:
    """What one operator holds on all tiles; where no tile can hold its part, its operands and result alone."""
    chip, precision = planner.target.chip, planner.target.precision
    try:
        return planner.planned(operator, Pass.FORWARD, rows).sram_bytes_per_tile * chip.tiles
    except Infeasible:
        shape = operator.shape.at(rows)
        return float(ELEMENT_BYTES[precision] * (shape.inputs + shape.outputs))
