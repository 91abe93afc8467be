"""A step in phases: a layer at a time on every IPU of a replica, weights and state in streaming memory (Eq. 73 to 76).

Forward and then backward, each phase loads its weights, runs all its micro-batches and stores what they leave; the
update follows when all gradients are known, as clipping by their norm needs them (brown-2020, appendix B).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError
from podsim.lowering import collective_choice, pacing, weight_update
from podsim.lowering.collective_parts import CollectiveContext, CollectivePlan
from podsim.lowering.groups import Group
from podsim.lowering.merged_blocks import MergedTasks
from podsim.lowering.pipeline import Pipeline, in_line_task
from podsim.lowering.work import StageWork
from podsim.model.collective import Collective, Pace
from podsim.model.mapping import Stage
from podsim.model.program import Block, Flow, Part, StepProgram, Task, TaskKind
from podsim.model.sums import sum_in_order
from podsim.model.workload import LayerUnit
from podsim.physics.hostio import HOST_CALL_S
from podsim.physics.sync import machine_sync_s
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.workloads.shards import ExchangedElements, ShardGrid, exchanges_of

# Collectives that were planned, over replicas as tasks and inside one as plans: mappings of a search that differ in
# storage alone have them in common, and so have equal phases of one mapping.
_OVER: Final = TABLES.add(
    "layerwise, over replicas", Table[tuple[CollectiveContext, Group, Collective], tuple[Task, ...]](1024)
)
_INSIDE: Final = TABLES.add(
    "layerwise, inside one", Table[tuple[CollectiveContext, Group, Collective], "_OfShards"](1024)
)


@dataclass(frozen=True)
class LayerwiseStep:
    """Everything that lowering a step in phases needs to know."""

    pipeline: Pipeline
    optimizer: str

    @cached_property
    def cut(self) -> ShardGrid:
        """How products are cut over the replica."""
        columns = self.pipeline.mapping.configuration.tensor_shards
        return ShardGrid(columns, self.pipeline.mapping.ipus_per_replica // columns)

    @cached_property
    def parts(self) -> int:
        """Replicas that share the storage of weights and state."""
        return self.pipeline.mapping.replicas if self.pipeline.mapping.configuration.state_sharded else 1

    @cached_property
    def columns_near(self) -> bool:
        """Whether the IPUs that share outputs are neighbours, rather than those that share inputs: what is sooner."""
        if min(self.cut.columns, self.cut.rows) == 1:
            return True
        units = (self.whole[unit.name] for unit in self.pipeline.work[1].stage.units)
        exchanges = [
            exchange
            for unit in units
            for back in (False, True)
            for exchange in exchanges_of(unit, self.cut, backward=back)
        ]
        near_s, far_s = (
            sum_in_order(_of_shards(self, exchange, near).plan.least_s for exchange in exchanges)
            for near in (True, False)
        )
        return near_s <= far_s

    @cached_property
    def whole(self) -> dict[str, LayerUnit]:
        """Units of the model before they were cut."""
        return {unit.name: unit for unit in self.pipeline.workload.units}

    @cached_property
    def element_bytes(self) -> int:
        """Of a weight or an activation [B]."""
        return ELEMENT_BYTES[self.pipeline.workload.precision]


def program(pipeline: Pipeline, optimizer: str) -> StepProgram:
    """One weight update in phases. InputError for faults, or in full: every IPU does the same here."""
    if pipeline.fabric.damage or not pipeline.folded:
        what = "with faults" if pipeline.fabric.damage else "in full"
        raise InputError(
            f"a step in phases is not run {what}: all of its IPUs do the same",
            code="bad-mapping",
            hint="leave out --fault and --fidelity",
        )
    step = LayerwiseStep(pipeline, optimizer)
    last = pipeline.work[-1]
    alike = [
        (next(same), 1 + sum(1 for _ in same))
        for _, same in groupby(pipeline.work, lambda work: (work is last, *_content(work)))
    ]
    blocks: list[Block] = []
    for work, count in alike:
        blocks += _pass(step, work, count, backward=False)
    for work, count in reversed(alike):
        blocks += _pass(step, work, count, backward=True)
    for work, count in alike:
        blocks += _update(step, work.stage, count)
    return StepProgram(
        blocks=(*blocks, _end(step)), ipus=pipeline.mapping.ipus, micro_batches=pipeline.micro_batches, steady=()
    )


def _content(work: StageWork) -> tuple[object, ...]:
    """What phases have to have in common to take the same time; the first has its input from the host."""
    return work.stage.index == 0, work.forward, work.backward, [u.parameters for u in work.stage.units]


def _pass(step: LayerwiseStep, work: StageWork, count: int, *, backward: bool) -> Iterator[Block]:
    """Weights loaded, then micro-batch after micro-batch; backward the gradients stored."""
    line, name = step.pipeline, f"{'backward' if backward else 'forward'} {work.stage.index}"
    weights = float(_resident_bytes(work.stage) * step.element_bytes)
    yield Block(f"load weights {name}", _loads(step, work.stage, weights), count)
    batch = MergedTasks()
    traffic = tuple(_traffic(step, work, backward=backward))
    configuration = line.mapping.configuration
    # Tiles set aside carry what comes and goes while the others compute, but where the program waits for it.
    beside = configuration.io_tiles > 0 and not configuration.streams_in_line
    batch.add(traffic, ())
    arrivals = batch.ends
    cost = work.backward if backward else work.forward
    compute = Task(TaskKind.COMPUTE, name, 0, cost.cut)
    batch.add((compute,), () if beside else arrivals)
    for exchange in _exchanges(step, work.stage, backward=backward):
        batch.add_after(exchange)
    if beside:
        batch.add_after((_sync(step),))
        batch.ends = (*batch.ends, *arrivals)
    if work.stage.index == 0 and not backward and line.in_line_s:
        batch.add_after((in_line_task(line),))
    yield Block(name, tuple(batch.tasks), count * line.micro_batches, micro_batch=True)
    if backward:
        yield from _gradients(step, work.stage, count)


def _resident_bytes(stage: Stage) -> int:
    """Weights that an IPU needs for a phase, those it shares with another phase too."""
    return sum(operator.shape.parameters for unit in stage.units for operator in unit.operators)


def _loads(step: LayerwiseStep, stage: Stage, volume_bytes: float) -> tuple[Task, ...]:
    """A shard from streaming memory, then the others' from their IPUs (Eq. 73)."""
    tasks = MergedTasks()
    tasks.add((_stream(step, "load weights", volume_bytes / step.parts),), ())
    if step.parts > 1:
        tasks.add_after(_replicas(step, stage, Collective.ALL_GATHER, volume_bytes))
    return tuple(tasks.tasks)


def _replicas(step: LayerwiseStep, stage: Stage, what: Collective, volume_bytes: float) -> tuple[Task, ...]:
    """A collective over all replicas, each position of a replica by itself."""
    mapping = step.pipeline.mapping
    tensors = max(1, sum(unit.weight_tensors for unit in stage.units))
    buffers = 1 if mapping.configuration.merged_collectives else tensors
    group = Group(mapping.replicas, mapping.ipus_per_replica)
    context = _setting(step, volume_bytes, buffers)
    return _OVER.remember(
        (context, group, what), lambda: pacing.tasks(collective_choice.in_training(context, group, what), Pace.LOCKSTEP)
    )


def _setting(step: LayerwiseStep, volume_bytes: float, buffers: int = 1) -> CollectiveContext:
    """A collective over replicas, or inside one (Eq. 72)."""
    line = step.pipeline
    overhead = weight_update.in_training(line.machine.parameters, buffers)
    return CollectiveContext(
        line.fabric, (volume_bytes,) * line.mapping.ipus_per_replica, line.mapping.ipus, True, overhead
    )


def _traffic(step: LayerwiseStep, work: StageWork, *, backward: bool) -> Iterator[Task]:
    """What a micro-batch brings and leaves in streaming memory; the host brings that of the first phase (Eq. 74).

    Forward it loads what enters and stores what leaves; backward it loads what entered and the gradient, and stores
    the gradient of what entered. Every IPU of a replica has its part. A decoder's layer reads what the encoder left as
    well, and backward adds to its gradient.
    """
    line = step.pipeline
    first, last = work.stage.index == 0, work is line.work[-1]
    row = step.whole[line.work[0].stage.units[-1].name].out_elements
    tensors = (not first) * (2 if backward else 1) + (not last)
    elements = tensors * row + (3 if backward else 1) * _encoder_elements(step, work.stage)
    volume = elements * line.mapping.micro_batch * line.mapping.configuration.checkpoint_bytes
    if elements:
        yield _stream(step, "activations", volume / step.cut.shards)
    if first and not backward:
        yield Task(TaskKind.HOST, "host input", -1, (), flows=line.inputs, part=Part.HOST)


def _encoder_elements(step: LayerwiseStep, stage: Stage) -> int:
    """Elements a row of what an encoder left that a decoder's phase makes keys of; none elsewhere."""
    if all(unit.once for unit in stage.units):
        return 0
    return sum(step.whole[unit.name].operators[0].shape.inputs for unit in stage.units if unit.once)


def _exchanges(step: LayerwiseStep, stage: Stage, *, backward: bool) -> Iterator[tuple[Task, ...]]:
    for exchange in _replica_collectives(step, stage, backward=backward):
        yield _of_shards(step, exchange, step.columns_near).tasks


@dataclass(frozen=True)
class _OfShards:
    """A collective inside a replica."""

    plan: CollectivePlan

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Its tasks, whose time on links is no exchange between replicas."""
        return _apart(pacing.tasks(self.plan, Pace.LOCKSTEP))


def _apart(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """The tasks, their time on links counted as that of tensor shards."""
    apart = {Part.ALL_REDUCE: Part.TENSOR_PARALLEL}
    return tuple(
        replace(
            task,
            cut=tuple((apart.get(part, part), seconds) for part, seconds in task.cut),
            part=apart.get(task.part, task.part),
        )
        for task in tasks
    )


def _replica_collectives(step: LayerwiseStep, stage: Stage, *, backward: bool) -> Iterator[ExchangedElements]:
    """Collectives inside a replica, forward and again where it is recomputed, then backward (Eq. 72)."""
    for unit in stage.units:
        whole = step.whole[unit.name]
        yield from exchanges_of(whole, step.cut, backward=False)
        if backward:
            yield from exchanges_of(whole, step.cut, backward=True)


def _of_shards(step: LayerwiseStep, exchange: ExchangedElements, columns_near: bool) -> _OfShards:
    """A collective of the columns or of the rows, of which one are neighbours."""
    cut = step.cut
    volume = float(exchange.elements * step.pipeline.mapping.micro_batch * step.element_bytes)
    size, other = (cut.columns, cut.rows) if exchange.columns else (cut.rows, cut.columns)
    group = Group(size, 1 if exchange.columns is columns_near else other)
    context = _setting(step, volume)
    return _INSIDE.remember(
        (context, group, exchange.what),
        lambda: _OfShards(collective_choice.soonest(context, group, exchange.what, collective_choice.IN_RACK)),
    )


def _gradients(step: LayerwiseStep, stage: Stage, count: int) -> Iterator[Block]:
    """Summed over the replicas and stored, each its shard; those of shared weights go to streaming memory and back."""
    own = sum(unit.parameters for unit in stage.units)
    each = step.pipeline.mapping.configuration.gradient_bytes
    volume, shared_bytes = float(own * each), float((_resident_bytes(stage) - own) * each)
    tasks = MergedTasks()
    if own and step.pipeline.mapping.replicas > 1:
        whole = Collective.REDUCE_SCATTER if step.parts > 1 else Collective.ALL_REDUCE
        tasks.add(_replicas(step, stage, whole, volume), ())
    tasks.add_after((_stream(step, "store gradients", volume / step.parts + 2 * shared_bytes),))
    yield Block(f"gradients {stage.index}", tuple(tasks.tasks), count)


def _update(step: LayerwiseStep, stage: Stage, count: int) -> Iterator[Block]:
    """Gradient and state loaded, the weights updated, weights and state stored; each IPU its shard (Eq. 76)."""
    line = step.pipeline
    elements = -(-sum(unit.parameters for unit in stage.units) // step.parts)
    configuration = line.mapping.configuration
    if not elements:
        return
    state = sum(configuration.moment_bytes)
    load_bytes = elements * (configuration.gradient_bytes + step.element_bytes + state)
    seconds = weight_update.seconds(line, step.optimizer, stage.units, step.parts)
    tasks = MergedTasks()
    tasks.add((_stream(step, "load state", load_bytes),), ())
    tasks.add_after((Task(TaskKind.COMPUTE, "weight update", 0, ((Part.WEIGHT_UPDATE, seconds),)),))
    tasks.add_after((_stream(step, "store state", elements * (step.element_bytes + state)),))
    yield Block(f"update {stage.index}", tuple(tasks.tasks), count)


def _stream(step: LayerwiseStep, name: str, volume_bytes: float) -> Task:
    """So many bytes of each IPU to or from streaming memory, which all IPUs of a machine share (Eq. 12)."""
    line = step.pipeline
    ddr, *rest = line.fabric.streaming_route(0).links
    beside = min(line.machine.topology.ipus_per_machine, line.mapping.ipus)
    flow = Flow((*(ddr for _ in range(beside)), *rest), volume_bytes)
    return Task(TaskKind.HOST, name, -1, (), flows=(flow,), part=Part.STREAMING)


def _sync(step: LayerwiseStep) -> Task:
    seconds = machine_sync_s(step.pipeline.machine.chip, step.pipeline.mapping.ipus_per_replica)
    return Task(TaskKind.SYNC, "sync", -1, ((Part.SYNC, seconds),), part=Part.SYNC)


def _end(step: LayerwiseStep) -> Block:
    """All IPUs meet, and the framework returns to its host program where it does."""
    line = step.pipeline
    tasks = MergedTasks()
    tasks.add((_sync(step),), ())
    if line.mapping.configuration.returns_to_host:
        host = ((Part.HOST_STEP, HOST_CALL_S / line.mapping.updates_per_call),)
        tasks.add_after((Task(TaskKind.HOST, "host step", -1, host, part=Part.HOST_STEP),))
    return Block("end", tuple(tasks.tasks))
