"""What a user sets on the real machine to get a mapping: calls of PopTorch's `Options`, words of PopART and popxl.

`state` is a `TensorLocationSettings` for `TensorLocations.setOptimizerLocation`. Names of all three are those of their
documentation; that phased execution is popxl's is said by graphcore-examples (GPT-3).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from podsim.model.sums import sum_in_order
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.studies.mappings.result import FrameworkSetting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.workload import LayerUnit, Workload

STATE: Final = "optimizerStateTensorLocationSettings.location"


def settings(workload: Workload, mapping: Mapping) -> tuple[FrameworkSetting, ...]:
    """Everything to set, the split first."""
    if mapping.schedule is Schedule.PHASED:
        return tuple(_layerwise_settings(mapping))
    return (*_split(mapping), *_stages(workload, mapping), *_storage(workload, mapping), *_tiles(mapping))


def _layerwise_settings(mapping: Mapping) -> Iterator[FrameworkSetting]:
    """A layer at a time on all IPUs of a replica, everything else in streaming memory: only popxl has it."""
    configuration, replicas, each = mapping.configuration, mapping.replicas, mapping.ipus_per_replica
    columns, rows = configuration.tensor_shards, each // configuration.tensor_shards
    yield FrameworkSetting(
        what="replicas", value=f"{replicas:,} × {each} IPUs", popxl=f"ir.replication_factor = {mapping.ipus}"
    )
    group = f"ir.replica_grouping(stride=1, group_size={each})"
    shards = f"{columns}" if rows == 1 else f"{columns} × {rows}"
    yield FrameworkSetting(what="tensor shards", value=shards, popxl=group if each > 1 else "")
    yield FrameworkSetting(what="micro-batch", value=f"{mapping.micro_batch:,}", popxl="rows of the graph's inputs")
    yield FrameworkSetting(
        what="gradient accumulation",
        value=f"{mapping.accumulation:,}",
        popxl=f"popxl.ops.repeat(…, {mapping.accumulation}) of each phase",
    )
    yield FrameworkSetting(
        what="schedule",
        value=f"{len(mapping.stages)} phases, forward and back",
        popxl="each phase a graph, loaded and called in turn",
    )
    yield FrameworkSetting(
        what="recomputation", value=str(mapping.recompute), popxl="what enters each phase, in a RemoteBuffer"
    )
    is_sharded = configuration.state_sharded and replicas > 1
    variable = "remote_replica_sharded_variable" if is_sharded else "remote_variable"
    yield FrameworkSetting(what="weights and state", value="off chip", popxl=f"popxl.{variable}(…, remote_buffer)")
    grouping = f", replica_grouping(stride={each}, group_size={replicas})" if each > 1 else ""
    gathering = f"ops.collectives.replicated_all_gather after each load{grouping}"
    yield FrameworkSetting(
        what="replicated tensor sharding",
        value=f"over {replicas:,} replicas" if is_sharded else "off",
        popxl=gathering if is_sharded else "",
    )
    yield FrameworkSetting(
        what="available-memory proportion",
        value=f"{configuration.memory_proportion:g}",
        popxl=f"available_memory_proportion={configuration.memory_proportion:g} of each matmul",
    )
    if configuration.io_tiles:
        yield FrameworkSetting(
            what="IO tiles", value=f"{configuration.io_tiles:,}", popxl=f"numIOTiles = {configuration.io_tiles}"
        )


def _split(mapping: Mapping) -> Iterator[FrameworkSetting]:
    replicas, micro, accumulation = mapping.replicas, mapping.micro_batch, mapping.accumulation
    yield FrameworkSetting(
        what="replicas",
        value=f"{replicas:,}",
        poptorch=f"replicationFactor({replicas})",
        popart=f"enableReplicatedGraphs, replicatedGraphCount = {replicas}",
    )
    yield FrameworkSetting(
        what="micro-batch",
        value=f"{micro:,}",
        poptorch=f"DataLoader(opts, data, batch_size={micro})",
        popart="rows of the graph's inputs",
    )
    yield FrameworkSetting(
        what="gradient accumulation",
        value=f"{accumulation:,}",
        poptorch=f"Training.gradientAccumulation({accumulation})",
        popart=f"enableGradientAccumulation, accumulationFactor = {accumulation}",
    )


def _stages(workload: Workload, mapping: Mapping) -> Iterator[FrameworkSetting]:
    if len(mapping.stages) == 1:
        return
    units = [
        [u for stage in mapping.stages if stage.ipu == ipu for u in stage.units]
        for ipu in sorted({stage.ipu for stage in mapping.stages})
    ]
    word, sizes = _layers(workload)
    yield FrameworkSetting(
        what=f"{word} per IPU",
        value=", ".join(_share(units, sizes) for units in units),
        poptorch="layers between BeginBlock calls",
    )
    in_turn = mapping.schedule is Schedule.SEQUENTIAL
    yield FrameworkSetting(
        what="schedule",
        value=str(mapping.schedule),
        poptorch=f"setExecutionStrategy({'Sharded' if in_turn else 'Pipelined'}Execution())",
        popart="virtualGraphMode = Manual" + ("" if in_turn else ", enablePipelining"),
    )
    begins = ", ".join(stage.units[0].name for stage in mapping.stages[1:])
    yield FrameworkSetting(
        what="pipeline splits",
        value=begins,
        poptorch="BeginBlock(layer, ipu_id=…) before each",
        popart="pipelineStage(…) of each op",
    )
    stage_ipus = ", ".join(f"{stage.ipu}" for stage in mapping.stages)
    yield FrameworkSetting(
        what="IPUs of the stages",
        value=stage_ipus,
        poptorch="ipu_id of each block",
        popart="virtualGraph(…) of each op",
    )


def _layers(workload: Workload) -> tuple[str, Counter[str]]:
    """What a model is counted in, and of how many units each consists: "layer3" of attention and ffn."""
    sizes = Counter(unit.name.partition(".")[0] for unit in workload.units)
    names = [name for name in sizes if name[-1:].isdigit()]
    return f"{names[0].rstrip('0123456789')}s" if names else "units", Counter({name: sizes[name] for name in names})


def _share(units: Sequence[LayerUnit], sizes: Counter[str]) -> str:
    """Layers of an IPU, halves where a layer is split: "3.5"."""
    mine = Counter(unit.name.partition(".")[0] for unit in units)
    return f"{sum_in_order(count / sizes[name] for name, count in mine.items() if name in sizes):g}"


def _storage(workload: Workload, mapping: Mapping) -> Iterator[FrameworkSetting]:
    recomputes = mapping.recompute is not Recompute.NONE
    kind = "Pipeline" if len(mapping.stages) > 1 else "RecomputeAll"
    checkpoints = sum(unit.checkpoint for unit in workload.units)
    yield FrameworkSetting(
        what="recomputation",
        value=str(mapping.recompute),
        poptorch=f"recomputationCheckpoint(x) after {checkpoints} units" if recomputes else "",
        popart=f"autoRecomputation = {kind if recomputes else 'NoRecompute'}",
    )
    away = mapping.state is StatePlace.STREAMING
    is_sharded = mapping.configuration.state_sharded and mapping.replicas > 1
    yield FrameworkSetting(
        what="optimizer state",
        value="off chip" if away else "on chip",
        poptorch=f"state.useOnChipStorage({not away})",
        popart=f"{STATE}.storage = {'OffChip' if away else 'OnChip'}",
    )
    yield FrameworkSetting(
        what="replicated tensor sharding",
        value="on" if is_sharded else "off",
        poptorch=f"state.useReplicatedTensorSharding({is_sharded})",
        popart=f"{STATE}.replicatedTensorSharding = {'On' if is_sharded else 'Off'}",
    )


def _tiles(mapping: Mapping) -> Iterator[FrameworkSetting]:
    share, first = mapping.configuration.memory_proportion, min(stage.ipu for stage in mapping.stages)
    yield FrameworkSetting(
        what="available-memory proportion",
        value=f"{share:g}",
        poptorch=f'setAvailableMemoryProportion({{"IPU{first}": {share:g}}})',
        popart="availableMemoryProportion of each op",
    )
    if mapping.configuration.io_tiles:
        tiles = mapping.configuration.io_tiles
        yield FrameworkSetting(
            what="IO tiles",
            value=f"{tiles:,}",
            poptorch=f"TensorLocations.numIOTiles({tiles})",
            popart=f"numIOTiles = {tiles}",
        )
