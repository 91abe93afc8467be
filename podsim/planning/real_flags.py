"""What a user sets on the real machine to get a mapping: calls of PopTorch's `Options`, and PopART's words.

`state` is a `TensorLocationSettings` for `TensorLocations.setOptimizerLocation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.model.advice import Setting
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.tiles.plan import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.chip import Chip
    from podsim.model.mapping import Mapping
    from podsim.model.workload import Workload

STATE: Final = "optimizer state location"


def settings(workload: Workload, mapping: Mapping, chip: Chip) -> tuple[Setting, ...]:
    """Everything to set, the split first."""
    return (*_split(mapping), *_stages(mapping), *_storage(workload, mapping), *_tiles(workload, mapping, chip))


def _split(mapping: Mapping) -> Iterator[Setting]:
    replicas, micro, accumulation = mapping.replicas, mapping.micro_batch, mapping.accumulation
    yield Setting(what="replicas", value=f"{replicas:,}", poptorch=f"replicationFactor({replicas})",
                  popart=f"enableReplicatedGraphs, replicatedGraphCount = {replicas}")  # fmt: skip
    yield Setting(what="micro-batch", value=f"{micro:,}", poptorch=f"DataLoader(opts, data, batch_size={micro})",
                  popart="rows of the graph's inputs")  # fmt: skip
    yield Setting(what="gradient accumulation", value=f"{accumulation:,}",
                  poptorch=f"Training.gradientAccumulation({accumulation})",
                  popart=f"enableGradientAccumulation, accumulationFactor = {accumulation}")  # fmt: skip


def _stages(mapping: Mapping) -> Iterator[Setting]:
    if len(mapping.stages) == 1:
        return
    in_turn = mapping.schedule is Schedule.SEQUENTIAL
    yield Setting(
        what="schedule", value=str(mapping.schedule),
        poptorch=f"setExecutionStrategy({'Sharded' if in_turn else 'Pipelined'}Execution())",
        popart="virtualGraphMode = Manual" + ("" if in_turn else ", enablePipelining"),
    )  # fmt: skip
    begins = ", ".join(stage.units[0].name for stage in mapping.stages[1:])
    yield Setting(what="pipeline splits", value=begins, poptorch="BeginBlock(layer, ipu_id=…) before each",
                  popart="pipelineStage(…) of each op")  # fmt: skip
    placed = ", ".join(f"{stage.ipu}" for stage in mapping.stages)
    yield Setting(what="IPUs of the stages", value=placed, poptorch="their ipu_id", popart="virtualGraph(…) of each op")


def _storage(workload: Workload, mapping: Mapping) -> Iterator[Setting]:
    recomputes = mapping.recompute is not Recompute.NONE
    kind = "Pipeline" if len(mapping.stages) > 1 else "RecomputeAll"
    kept = sum(unit.checkpoint for unit in workload.units)
    yield Setting(
        what="recomputation", value=str(mapping.recompute),
        poptorch=f"recomputationCheckpoint(x) after {kept} units" if recomputes else "",
        popart=f"autoRecomputation = {kind if recomputes else 'NoRecompute'}",
    )  # fmt: skip
    away = mapping.state is StatePlace.STREAMING
    sharded = mapping.practice.state_sharded and mapping.replicas > 1
    yield Setting(
        what="optimizer state", value="off chip" if away else "on chip",
        poptorch=f"state.useOnChipStorage({not away})",
        popart=f"{STATE}.storage = {'OffChip' if away else 'OnChip'}",
    )  # fmt: skip
    yield Setting(
        what="replicated tensor sharding", value="on" if sharded else "off",
        poptorch=f"state.useReplicatedTensorSharding({sharded})",
        popart=f"{STATE}.replicatedTensorSharding = {'On' if sharded else 'Off'}",
    )  # fmt: skip


def _tiles(workload: Workload, mapping: Mapping, chip: Chip) -> Iterator[Setting]:
    share = Target(chip, workload.precision).available_memory
    first = min(stage.ipu for stage in mapping.stages)
    yield Setting(
        what="available-memory proportion", value=f"{share:g}",
        poptorch=f'setAvailableMemoryProportion({{"IPU{first}": {share:g}}})',
        popart="availableMemoryProportion of each op",
    )  # fmt: skip
    if mapping.practice.io_tiles:
        tiles = mapping.practice.io_tiles
        yield Setting(what="IO tiles", value=f"{tiles:,}", poptorch=f"TensorLocations.numIOTiles({tiles})",
                      popart=f"numIOTiles = {tiles}")  # fmt: skip
