"""The weight update as blocks: reduce-scatter in the rack, all-reduce between racks, optimizer, all-gather (Eq. 9).

With replicated tensor sharding each replica of a rack updates its shard of the state; without it the gathered buffer
is the reduced gradient and every replica updates everything: the traffic is the same.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from podsim.lowering.pipeline import Pipeline
from podsim.lowering.work import rates
from podsim.model.fabric import Shape
from podsim.model.program import Block, Cut, Flow, Part, Task, TaskKind
from podsim.model.training import StatePlace
from podsim.physics import collectives
from podsim.physics.sync import machine_sync_s
from podsim.tiles.cost import Rates

NORM_OPTIMIZERS = ("lars", "lamb")  # need the norm of every weight tensor, summed over its shards


@dataclass(frozen=True, slots=True)
class Share:
    """What one IPU of a replica contributes to the update."""

    ipu: int
    parameters: int
    tensors: int


@dataclass(frozen=True, slots=True)
class Update:
    """Everything that lowering the update needs to know."""

    pipeline: Pipeline
    optimizer: str
    shares: tuple[Share, ...]
    local: int  # replicas of one rack
    rates: Rates

    @property
    def racks(self) -> int:
        """Racks that hold replicas."""
        return max(1, self.pipeline.mapping.replicas // self.local)

    def parameter(self, name: str) -> float:
        """A fitted number."""
        return self.pipeline.machine.parameters.value(name)

    @property
    def buckets(self) -> int:
        """Collectives one after the other: one a tensor, one a full buffer, or one in all if merged (Eq. 10)."""
        practice = self.pipeline.mapping.practice
        if practice.merged_collectives:
            return 1
        if practice.collective_buffer_bytes:
            largest = max(share.parameters for share in self.shares) * practice.gradient_bytes
            return max(1, math.ceil(largest / practice.collective_buffer_bytes))
        return max(share.tensors for share in self.shares)

    @property
    def start_s(self) -> float:
        """Software cost of one phase of a collective [s]."""
        return self.parameter("collective.start")


def shares(pipeline: Pipeline) -> tuple[Share, ...]:
    """Weights and tensors by IPU of a replica."""
    parameters: dict[int, int] = {}
    tensors: dict[int, int] = {}
    for stage in pipeline.mapping.stages:
        parameters[stage.ipu] = parameters.get(stage.ipu, 0) + sum(unit.parameters for unit in stage.units)
        tensors[stage.ipu] = tensors.get(stage.ipu, 0) + sum(unit.weight_tensors for unit in stage.units)
    return tuple(Share(ipu, parameters[ipu], tensors[ipu]) for ipu in sorted(parameters))


def blocks(pipeline: Pipeline, optimizer: str) -> tuple[Block, ...]:
    """The weight update of a step, in order."""
    topology, mapping = pipeline.machine.topology, pipeline.mapping
    local = min(mapping.replicas, max(1, topology.ipus_per_rack // mapping.ipus_per_replica))
    update = Update(pipeline, optimizer, shares(pipeline), local, rates(pipeline.machine, pipeline.workload))
    parts: list[tuple[str, list[Task]]] = []
    if update.local > 1:
        parts.append(("reduce-scatter", _ring(update, "reduce-scatter", starts=update.buckets)))
    if update.racks > 1:
        parts.append(("rack all-reduce", _between_racks(update)))
    parts.append(("weight update", _optimizer(update)))
    if update.local > 1:
        norms = mapping.practice.state_sharded and optimizer in NORM_OPTIMIZERS
        parts.append(("all-gather", _ring(update, "all-gather", starts=update.buckets * (2 if norms else 1))))
    return tuple(Block(name, _unrolled(tasks, pipeline.folded)) for name, tasks in parts)


def _unrolled(tasks: list[Task], folded: bool) -> tuple[Task, ...]:
    """Equal tasks in a row as one with a repeat, or each for itself; tasks of these blocks form a chain or a fan."""
    if folded or all(task.repeat == 1 for task in tasks):
        return tuple(tasks)
    result: list[Task] = []
    end: dict[int, int] = {}
    for number, task in enumerate(tasks):
        needs = tuple(end[need] for need in task.needs)
        for _ in range(task.repeat):
            result.append(Task(task.kind, task.name, task.where, task.cut, needs, task.flows, task.part))
            needs = (len(result) - 1,)
        end[number] = len(result) - 1
    return tuple(result)


def _ring(update: Update, name: str, *, starts: int) -> list[Task]:
    """One phase over the replicas of a rack: every IPU position its own pair of rings, all at once."""
    pipeline = update.pipeline
    size, practice = pipeline.mapping.ipus_per_replica, pipeline.mapping.practice
    order = collectives.ring_order(update.local, around_ladder=size == 1)
    step = collectives.ring_reduce_scatter(order)
    flows, farthest, efficiency = [], 0.0, update.parameter("collective.efficiency")
    for share in update.shares:
        volume = share.parameters * practice.gradient_bytes * step.share / efficiency
        for sender, to in step.pairs:
            route = pipeline.fabric.route(sender * size + share.ipu, to * size + share.ipu)
            farthest = max(farthest, route.latency_s)
            flows.append(Flow(route.links, volume))
    start = _fixed(f"{name} start", Part.ALL_REDUCE, starts * update.start_s)
    latency: Cut = ((Part.ALL_REDUCE, update.buckets * farthest),)
    ring = Task(
        TaskKind.TRANSFER, name, -1, latency, (0,), flows=tuple(flows), part=Part.ALL_REDUCE, repeat=step.repeat
    )
    return [start, ring]


def _between_racks(update: Update) -> list[Task]:
    """All-reduce of the shards over GW-Links: halving and doubling or a ring, whichever is sooner."""
    options = (collectives.halving_doubling(update.racks), collectives.ring_all_reduce(update.racks))
    behind = _machine_bytes(update)
    plans = [_rack_steps(update, steps, behind) for steps in options]
    fabric = update.pipeline.fabric

    def seconds(tasks: list[Task]) -> float:
        return sum(task.repeat * (task.fixed_s + fabric.alone_s(task.flows)) for task in tasks)

    return min(plans, key=seconds)


def _rack_steps(update: Update, steps: tuple[collectives.Step, ...], behind: Mapping[int, float]) -> list[Task]:
    tasks: list[Task] = []
    for step in steps:
        flows, farthest = _rack_flows(update, step, behind)
        fixed: Cut = ((Part.ALL_REDUCE, update.buckets * (farthest + update.start_s)),)
        needs = (len(tasks) - 1,) if tasks else ()
        tasks.append(
            Task(
                TaskKind.TRANSFER, "rack all-reduce", -1, fixed, needs, flows=flows, part=Part.ALL_REDUCE,
                repeat=step.repeat,
            )
        )  # fmt: skip
    return tasks


def _rack_flows(update: Update, step: collectives.Step, behind: Mapping[int, float]) -> tuple[tuple[Flow, ...], float]:
    """Flows of one step between gateways of the same machine index; behind a switch one sender stands for all."""
    pipeline, topology = update.pipeline, update.pipeline.machine.topology
    level = topology.level("pod")
    alike = pipeline.folded and level is not None and level.shape is Shape.SWITCH
    pairs = [pair for pair in step.pairs if not alike or pair[0] == step.pairs[0][0]]
    flows, farthest = [], 0.0
    for machine, volume in behind.items():
        for sender, to in pairs:
            route = pipeline.fabric.gateway_route(machine, sender, to)
            farthest = max(farthest, route.latency_s)
            flows.append(Flow(route.links, volume * step.share))
    return tuple(flows), farthest


def _machine_bytes(update: Update) -> dict[int, float]:
    """Bytes of the reduced shards behind each gateway of a rack."""
    mapping, ipus = update.pipeline.mapping, update.pipeline.machine.topology.ipus_per_machine
    result: dict[int, float] = {}
    for replica in range(update.local):
        for share in update.shares:
            machine = (replica * mapping.ipus_per_replica + share.ipu) // ipus
            shard = share.parameters * mapping.practice.gradient_bytes / update.local
            result[machine] = result.get(machine, 0.0) + shard
    return result


def _optimizer(update: Update) -> list[Task]:
    """Every IPU updates its weights (or its shard), with state in streaming memory loaded and stored (Eq. 11, 12)."""
    pipeline, practice = update.pipeline, update.pipeline.mapping.practice
    gateway = pipeline.machine.topology.gateway
    shards = update.local if practice.state_sharded else 1
    tasks: list[Task] = []
    for share in update.shares:
        elements = math.ceil(share.parameters / shards)
        cut: Cut = ((Part.WEIGHT_UPDATE, _update_s(update, elements)),) if elements else ()
        if practice.state is StatePlace.STREAMING:
            state = 2 * elements * sum(practice.moment_bytes)
            cut = (*cut, (Part.STREAMING, state / gateway.streaming_bytes_per_s_per_ipu))
        for replica in pipeline.replicas:
            where = replica * pipeline.mapping.ipus_per_replica + share.ipu
            tasks.append(Task(TaskKind.COMPUTE, "weight update", where, cut, part=Part.WEIGHT_UPDATE))
    hops = pipeline.machine.topology.ipus_per_rack
    sync = ((Part.SYNC, machine_sync_s(pipeline.machine.chip, hops)),)
    tasks.append(Task(TaskKind.SYNC, "sync all", -1, sync, tuple(range(len(tasks))), part=Part.SYNC))
    if practice.returns_to_host:
        host: Cut = ((Part.HOST_STEP, update.parameter("step.host")),)
        tasks.append(Task(TaskKind.HOST, "host step", -1, host, (len(tasks) - 1,), part=Part.HOST_STEP))
    return tasks


WEIGHTS_AT_ONCE = 8192  # on a tile: state that streams through passes in parts that leave room for everything else


def _update_s(update: Update, elements: int) -> float:
    """The optimizer's plan for so many weights, in as many parts as keep each tile to a few [s]."""
    planned = update.rates
    chip = planned.planner.target.chip
    parts = math.ceil(elements / (WEIGHTS_AT_ONCE * chip.tiles))
    cycles = planned.planner.updated(update.optimizer, math.ceil(elements / parts)).cycles
    return parts * cycles.total * planned.stretch / chip.clock_hz


def _fixed(name: str, part: Part, seconds: float) -> Task:
    return Task(TaskKind.SYNC, name, -1, ((part, seconds),), part=part)
