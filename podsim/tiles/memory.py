"""What one IPU of a replica holds in its SRAM, by category, and what it leaves in streaming memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.caches.tables import TABLES, Table
from podsim.model.chip import Chip, Precision
from podsim.model.fabric import Topology
from podsim.model.mapping import Mapping, Stage
from podsim.model.prediction import MemoryFit, StageMemory
from podsim.model.sums import sum_in_order
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.model.workload import LayerUnit, Workload
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.tiles.liveness import LiveBuffers, buffers_at, fullest
from podsim.tiles.planner import Planner, PlanTarget

if TYPE_CHECKING:  # training, which every command looks at, has nothing of it
    from podsim.model.inference import ServedState

CODE_SHARE = 0.10
"""Share of SRAM for code, vertex state and stacks: assumed, no published breakdown (docs/explanation/model.md)."""
ROUNDING = 1 + 1e-9  # sums of the same bytes in another order
VERTEX_BYTES = 48  # of state of a vertex: assumed, a pointer or size of 4 B for six threads and two operands


# Buffers of operators by target and micro-batch; mappings of a search share nearly all of them.
_BUFFERS: Final = TABLES.add("buffers of operators", Table[tuple[str, int, bool], LiveBuffers](256))


def fit(
    workload: Workload, mapping: Mapping, topology: Topology, served_state: "ServedState | None" = None
) -> MemoryFit:
    """Whether every IPU of a replica holds its share on the tiles that compute [B].

    Parameters: `workload` and its `mapping` on a `topology`; `served_state`, what IPUs hold that only answer, None in
    training. Result: bytes of each IPU by category and at its peak, of streaming memory for each IPU, and what there is
    of both; a layer at a time, of the phase that holds most.

    Equation: what is always live + the largest of activations and exchange buffers together (Eq. 19; only to answer,
    Eq. 86; a layer at a time, Eq. 75). Validity: all but exchange buffers lie evenly over the tiles; no fragmentation,
    no padding: of the one program profiled the most occupied tile held 13 to 17 % more. Source:
    calibration/configurations.toml for bytes of gradients and moments; memory-performance-optimisation. Code and vertex
    state are assumed.
    """
    planner, live_buffers = _planner_of(workload, mapping, topology, served_state)
    topology = replace(topology, chip=planner.target.chip)
    ipus = sorted({stage.ipu for stage in mapping.stages})
    if mapping.schedule is Schedule.PHASED and served_state is None:
        return _in_phases(planner, mapping, topology, live_buffers)
    memories = tuple(_ipu(planner, mapping, topology, ipu, live_buffers, served_state) for ipu in ipus)
    streaming = max(_stored_bytes(workload, mapping, ipu, served_state) for ipu in ipus) if served_state else 0.0
    if mapping.state is StatePlace.STREAMING:
        streaming = max(_state_bytes(mapping, topology, _parameters(mapping, ipu)) for ipu in ipus)
    gateway = topology.gateway
    return MemoryFit(
        capacity_bytes=topology.chip.sram_bytes,
        ipus=memories,
        streaming_bytes_per_ipu=streaming,
        streaming_capacity_bytes_per_ipu=gateway.streaming_bytes / topology.ipus_per_machine,
    )


def stays_full(
    workload: Workload,
    mapping: Mapping,
    topology: Topology,
    before: MemoryFit,
    served_state: "ServedState | None" = None,
) -> bool:
    """Whether the operator that overfills an IPU at another available memory still does at this one.

    `before` is the memory of the same mapping there. One plan tells, where all of them would be made to see the same.
    Where operators of the IPU share that name nothing is known, which is False.
    """
    planner, live_buffers = _planner_of(workload, mapping, topology, served_state)
    chip, full = planner.target.chip, before.fullest
    stages = [stage for stage in mapping.stages if stage.index in full.stages]
    buffers = buffers_at(planner, mapping, stages, live_buffers, full.largest)
    if buffers is None:
        return False
    least = {
        **full.by_category,
        "exchange_buffers": buffers.bytes_per_tile * chip.tiles,
        "vertex_state": 0.0,
        "code": CODE_SHARE * chip.sram_bytes,
    }
    return sum_in_order(least.values()) > ROUNDING * before.capacity_bytes


def _planner_of(
    workload: Workload, mapping: Mapping, topology: Topology, served_state: "ServedState | None"
) -> tuple[Planner, LiveBuffers]:
    """Who plans for the tiles that compute, and what is known of those plans."""
    chip = topology.chip.without(mapping.configuration.io_tiles)
    planner = Planner(PlanTarget(chip, workload.precision, mapping.configuration.memory_proportion))
    key = planner.target.plan_key, mapping.micro_batch, served_state is not None
    return planner, _BUFFERS.remember(key, LiveBuffers)


def _in_phases(planner: Planner, mapping: Mapping, topology: Topology, live_buffers: LiveBuffers) -> MemoryFit:
    """One phase at a time in SRAM, all weights, gradients, state and kept activations in streaming memory (Eq. 75)."""
    element, configuration = ELEMENT_BYTES[planner.target.precision], mapping.configuration
    alone = (replace(mapping, stages=(stage,)) for stage in mapping.stages)
    fullest = max(
        (_ipu(planner, phase, topology, 0, live_buffers, None) for phase in alone), key=lambda memory: memory.used_bytes
    )
    each = element + configuration.gradient_bytes + sum(configuration.moment_bytes)
    parameter_bytes = _parameters(mapping, 0) * each / (mapping.replicas if configuration.state_sharded else 1)
    # What passes from phase to phase lies shared out over the columns of a replica too.
    rows = mapping.micro_batch * mapping.accumulation
    between = sum(stage.units[-1].out_elements for stage in mapping.stages[:-1]) / configuration.tensor_shards
    return MemoryFit(
        capacity_bytes=topology.chip.sram_bytes,
        ipus=(fullest,),
        streaming_bytes_per_ipu=parameter_bytes + rows * between * configuration.checkpoint_bytes,
        streaming_capacity_bytes_per_ipu=topology.gateway.streaming_bytes / topology.ipus_per_machine,
    )


RELIEF = {
    "weights": "more IPUs per replica would spread the weights",
    "gradients": "more IPUs per replica would spread weights and gradients",
    "optimizer_state": "streaming memory could hold the optimizer state",
    "stash": "a smaller micro-batch or fewer stages would stash fewer activations",
    "activations": "a smaller micro-batch would recompute fewer activations at once",
    "kv_cache": "a smaller batch or fewer tokens would shrink it, and streaming memory could hold keys and values",
    "exchange_buffers": "a smaller micro-batch would shrink them",
}


def relief(memory: MemoryFit, chip: Chip) -> str:
    """Which tiles are most loaded, what takes most of them, and what would relieve them."""
    full = memory.fullest
    name, most = max(((key, size) for key, size in full.by_category.items() if key in RELIEF), key=lambda pair: pair[1])
    stages = " and ".join(str(stage) for stage in full.stages)
    footprint, limit = full.used_bytes / chip.tiles / 1e3, memory.capacity_bytes / chip.tiles / 1e3
    others = chip.tiles - full.tiles
    idle = (full.used_bytes - full.by_category["exchange_buffers"]) / chip.tiles / 1e3
    return (
        f"{footprint:.0f} of {limit:.0f} kB on {full.tiles:,} tiles of stage {stages} (IPU {full.ipu}) "
        f"during {full.largest}"
        f"{f', {idle:.0f} kB on the other {others:,}' if others else ''}; "
        f"{most / chip.tiles / 1e3:.0f} kB are {name.replace('_', ' ')}: {RELIEF[name]}"
    )


def _ipu(
    planner: Planner,
    mapping: Mapping,
    topology: Topology,
    ipu: int,
    live_buffers: LiveBuffers,
    served_state: "ServedState | None",
) -> StageMemory:
    stages = [stage for stage in mapping.stages if stage.ipu == ipu]
    parameters = _parameters(mapping, ipu)
    element = ELEMENT_BYTES[planner.target.precision]
    on_chip = mapping.state is StatePlace.ON_CHIP
    point, vertices = fullest(planner, mapping, stages, live_buffers, served=served_state is not None)
    tiles = topology.chip.tiles
    vertex_state = float(VERTEX_BYTES * vertices * tiles)
    return StageMemory(
        ipu=ipu,
        stages=tuple(stage.index for stage in stages),
        by_category={
            **(
                _answering(served_state, mapping, stages, planner.target.precision)
                if served_state
                else {
                    "weights": float(parameters * element),
                    "gradients": float(parameters * mapping.configuration.gradient_bytes),
                    "optimizer_state": _state_bytes(mapping, topology, parameters) if on_chip else 0.0,
                    "stash": sum_in_order(_stash_bytes(mapping, stage, element) for stage in stages),
                }
            ),
            "activations": point.alive_bytes,
            "exchange_buffers": point.buffers.bytes_per_tile * tiles,
            "vertex_state": vertex_state,
            "code": max(0.0, CODE_SHARE * topology.chip.sram_bytes - vertex_state),
        },
        tiles=point.buffers.tiles,
        largest=f"{point.operator} {point.run.value}",
    )


def streamed_bytes(workload: Workload, mapping: Mapping, ipu: int, served_state: "ServedState") -> float:
    """What an IPU that only answers reads from streaming memory for one batch [B].

    Parameters: `workload`, for its precision; `mapping`, with its micro-batch [rows]; `ipu`, its number in the replica;
    `served_state`, what of weights, keys and values is streamed, and tokens per row. Result: bytes; of keys and values
    those of this batch alone.

    Equation: (weights of the IPU + micro-batch × keys and values of a row) × element bytes, each where it is streamed
    (Eq. 87). Validity: every batch reads all of it, keys and values at the longest context. Source: derived: what is
    kept in streaming memory is read once for each batch that uses it.
    """
    return _streamed_bytes(workload, mapping, ipu, served_state, mapping.micro_batch)


def _stored_bytes(workload: Workload, mapping: Mapping, ipu: int, served_state: "ServedState") -> float:
    """What streaming memory holds of it: keys and values of every batch under way."""
    return _streamed_bytes(workload, mapping, ipu, served_state, mapping.micro_batch * served_state.under_way(mapping))


def _streamed_bytes(workload: Workload, mapping: Mapping, ipu: int, served_state: "ServedState", rows: int) -> float:
    units = [unit for stage in mapping.stages if stage.ipu == ipu for unit in stage.units]
    elements = sum(unit.parameters for unit in units) if served_state.streams_weights else 0
    cache_elements = (
        sum(unit.cache_at(served_state.cached_tokens) for unit in units) * rows if served_state.streams_cache else 0
    )
    return float((elements + cache_elements) * ELEMENT_BYTES[workload.precision])


def _answering(
    served_state: "ServedState", mapping: Mapping, stages: Sequence[Stage], precision: Precision
) -> dict[str, float]:
    """Weights, keys and values, and inputs where nothing is kept for a backward pass (Eq. 86)."""
    units = [unit for stage in stages for unit in stage.units]
    weights, cache_by_unit = (
        [unit.parameters for unit in units],
        [unit.cache_at(served_state.cached_tokens) for unit in units],
    )
    rows, element = mapping.micro_batch, ELEMENT_BYTES[precision]
    cache_elements = rows * (
        max(cache_by_unit) if served_state.streams_cache else sum(cache_by_unit) * served_state.under_way(mapping)
    )
    return {
        "weights": float(element * (max(weights) if served_state.streams_weights else sum_in_order(weights))),
        "kv_cache": float(element * cache_elements),
        "input_buffers": float(2 * rows * served_state.row_bytes) if stages[0].index == 0 else 0.0,
    }


def _parameters(mapping: Mapping, ipu: int) -> int:
    return sum(unit.parameters for stage in mapping.stages if stage.ipu == ipu for unit in stage.units)


def _state_bytes(mapping: Mapping, topology: Topology, parameters: int) -> float:
    """Moments of the weights of one IPU, over the replicas of a rack where the configuration shards it (Eq. 20)."""
    in_rack = min(mapping.replicas, max(1, topology.ipus_per_rack // mapping.ipus_per_replica))
    shards = in_rack if mapping.configuration.state_sharded else 1
    return parameters * sum(mapping.configuration.moment_bytes) / shards


def in_flight(mapping: Mapping, stage: Stage) -> int:
    """Micro-batches whose activations a stage keeps at once, by schedule [micro-batches].

    Parameters: `mapping`, with its schedule, stages and accumulation; `stage`, one of them. Result: a count, at least
    1.

    Equation: grouped 2 (stages - s) - 1, 1F1B stages - s, sequential and a layer at a time 1, at most the accumulation,
    s the number of the stage from 0 (Eq. 21). Validity: training. Source: narayanan-2019 for 1F1B; derived: for
    grouped, from the cycles between forward and backward of one micro-batch (Eq. 15).
    """
    after = len(mapping.stages) - stage.index
    depth = {Schedule.GROUPED: 2 * after - 1, Schedule.ONE_F_ONE_B: after, Schedule.SEQUENTIAL: 1, Schedule.PHASED: 1}
    return min(depth[mapping.schedule], mapping.accumulation)


def _stash_bytes(mapping: Mapping, stage: Stage, element: int) -> float:
    """What a stage keeps from forward to backward: checkpoints where it recomputes, else every stashed output."""
    depth = in_flight(mapping, stage) * mapping.micro_batch
    if mapping.recompute is Recompute.NONE:
        return float(depth * element * sum_in_order(_stash_elements(mapping, unit) for unit in stage.units))
    checkpoint_elements = [unit.out_elements for unit in stage.units[:-1] if unit.checkpoint]
    entering = _entering(stage) if stage.index else 0
    return float(depth * mapping.configuration.checkpoint_bytes * (sum_in_order(checkpoint_elements) + entering))


def _entering(stage: Stage) -> int:
    """Elements a row that the first operator of a stage reads."""
    first = stage.units[0].operators[0]
    return first.repeats * first.shape.inputs


def _stash_elements(mapping: Mapping, unit: LayerUnit) -> int:
    """Elements a row that backward needs of a unit."""
    return sum(o.stash_elements for o in unit.active(mapping.configuration) if o.stashed)
