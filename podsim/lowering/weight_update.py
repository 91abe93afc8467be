"""The weight update as blocks: reduce-scatter in the rack, all-reduce between racks, optimizer, all-gather (Eq. 9).

With replicated tensor sharding each replica of a rack updates its shard of the state; without it the gathered buffer
is the reduced gradient and every replica updates everything: the traffic is the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from podsim.caches.tables import TABLES, ObjectTable, Table
from podsim.lowering import collective_choice, pacing, sharding
from podsim.lowering.collective_parts import CollectiveContext, CollectivePlan, SoftwareOverhead
from podsim.lowering.groups import Group
from podsim.lowering.pipeline import Pipeline
from podsim.lowering.work import rates, slow_down
from podsim.model.calibration import ParameterSet
from podsim.model.collective import Algorithm, Collective, Pace
from podsim.model.mapping import Stage
from podsim.model.program import Block, Flow, KeptTasks, Part, Task, TaskKind, TimeByPart
from podsim.model.sums import sum_in_order
from podsim.model.training import StatePlace
from podsim.model.workload import LayerUnit
from podsim.physics.hostio import HOST_CALL_S
from podsim.physics.sync import COLLECTIVE_STEP_S, machine_sync_s
from podsim.tiles.cost import Rates
from podsim.topology.machine_network import Fabric
from podsim.topology.wiring import MOST_IPUS_PER_RACK

BETWEEN_RACKS = "rack all-reduce"  # the block of it
NORM_OPTIMIZERS = ("lars", "lamb")  # need the norm of every weight tensor, summed over its shards
NORM_BYTES = 2 * 4  # of a tensor: those of its weights and of its step, float


@dataclass(frozen=True)  # without slots, so that its units are added up once
class Share:
    """What one IPU of a replica contributes to the update; `units` are weights and tensors of each unit it holds."""

    ipu: int
    units: tuple[sharding.WeightCount, ...]

    @cached_property
    def parameters(self) -> int:
        """Its weights."""
        return sum(unit.parameters for unit in self.units)

    @cached_property
    def tensors(self) -> int:
        """The tensors they lie in."""
        return sum(unit.tensors for unit in self.units)


OneCollective = tuple[Algorithm, tuple[Task, ...]]


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
        """Collectives one after the other: one a tensor, one a full buffer, or one in all if merged (Eq. 10).

        Result: number of collectives. Equation: 1 if merged; with a buffer ceil(gradient bytes of the IPU with most
        weights / bytes of the buffer); else weight tensors of the IPU with most. Validity: that IPU sets the number
        for all; buffers are full, whatever the sizes of tensors. Source: mlperf-training-v1-0, mlperf-training-v1-1
        and mlperf-training-v2-0 for which of the three applies.
        """
        configuration = self.pipeline.mapping.configuration
        if configuration.merged_collectives:
            return 1
        if configuration.collective_buffer_bytes:
            largest = max(share.parameters for share in self.shares) * configuration.gradient_bytes
            return max(1, math.ceil(largest / configuration.collective_buffer_bytes))
        return max(share.tensors for share in self.shares)

    @property
    def shards(self) -> int:
        """Replicas of a rack that share the state of the optimizer; 1 where each has all of it."""
        return self.local if self.pipeline.mapping.configuration.state_sharded else 1

    def setting(self, share: float = 1.0) -> CollectiveContext:
        """Where its collectives run, and what each IPU of a replica brings: `share` of its gradients."""
        each = self.pipeline.mapping.configuration.gradient_bytes * share
        return self._setting({share.ipu: share.parameters * each for share in self.shares}, self.pipeline.mapping.ipus)

    def _setting(self, volumes_bytes: Mapping[int, float], endpoints: int) -> CollectiveContext:
        ipu_volumes_bytes = tuple(volumes_bytes.get(ipu, 0.0) for ipu in range(self.pipeline.mapping.ipus_per_replica))
        overhead = in_training(self.pipeline.machine.parameters, self.buckets)
        return CollectiveContext(self.pipeline.fabric, ipu_volumes_bytes, endpoints, self.pipeline.folded, overhead)

    def in_rack(self, what: Collective, *, only: Algorithm | None = None) -> OneCollective:
        """One phase over the replicas of a rack by the soonest method: each IPU position a collective, all at once."""
        each = self.pipeline.mapping.configuration.gradient_bytes
        return self._in_rack({share.ipu: share.parameters * float(each) for share in self.shares}, what, only)

    def norms(self) -> OneCollective:
        """Sums over the shards of the norms of every tensor, in as many collectives as there are buffers."""
        return self._in_rack(self.norm_bytes, Collective.ALL_REDUCE, None)

    @property
    def norm_bytes(self) -> dict[int, float]:
        """Norms of the tensors of each IPU of a replica, those of weights and of steps [B]."""
        return {share.ipu: float(share.tensors * NORM_BYTES) for share in self.shares}

    def _in_rack(self, volumes_bytes: Mapping[int, float], what: Collective, only: Algorithm | None) -> OneCollective:
        """Where every rack does the same, the first one is asked, so that machines of more racks know it too."""
        line = self.pipeline
        group = Group(self.local, line.mapping.ipus_per_replica)
        alike = line.folded and not line.fabric.damage and not line.machine.topology.fabric
        context = self._setting(volumes_bytes, group.reach if alike else line.mapping.ipus)

        def plan() -> OneCollective:
            plan = collective_choice.in_domain(context, group, what, only)
            return plan.algorithm, KeptTasks.of(_tasks(plan)) if line.folded else _tasks(plan)

        key = context.volumes_bytes, context.endpoints, context.folded, context.overhead, group, what, only
        if alike:
            return _IN_RACK.remember((line.fabric.rack_number, key), plan)
        return _known_updates(line).in_rack.remember(key, plan)


def in_training(parameters: ParameterSet, buffers: int = 1) -> SoftwareOverhead:
    """What software adds to the collectives of a training step (Eq. 10).

    Parameters: `parameters`, the fitted numbers; `buffers`, collectives that follow one another (1 or more). Result:
    share of the links in a rack (of 1), times of a step in a rack and between racks [s].

    Equation: `collective.efficiency`, 4 µs and `rack.step`. Validity: collectives inside a program; `rack.step` is
    fitted to two and four racks. Source: hydronet-gnn and jia-2019 for 4 µs; calibration/parameters.toml for the rest.
    """
    return SoftwareOverhead(
        efficiency=parameters.value("collective.efficiency"),
        step_s=COLLECTIVE_STEP_S,
        rack_step_s=parameters.value("rack.step"),
        buffers=buffers,
    )


_SHARES: Final = TABLES.add("shares of weights", Table[object, tuple[Share, ...]](256))


def shares(pipeline: Pipeline) -> tuple[Share, ...]:
    """Weights and tensors by IPU of a replica."""
    stages = pipeline.mapping.stages
    return _SHARES.remember(_layout(stages), lambda: _shares(stages))


def _layout(stages: Sequence[Stage]) -> object:
    """What lies on which IPU of a replica."""
    return tuple([(stage.ipu, stage.numbers) for stage in stages])


def _shares(stages: Sequence[Stage]) -> tuple[Share, ...]:
    weights: dict[int, list[sharding.WeightCount]] = {}
    for stage in stages:
        weights.setdefault(stage.ipu, []).extend(
            sharding.WeightCount(unit.parameters, unit.weight_tensors) for unit in stage.units
        )
    return tuple(Share(ipu, tuple(weights[ipu])) for ipu in sorted(weights))


def _update(pipeline: Pipeline, optimizer: str) -> Update:
    topology, mapping = pipeline.machine.topology, pipeline.mapping
    local = min(mapping.replicas, max(1, topology.ipus_per_rack // mapping.ipus_per_replica))
    return Update(pipeline, optimizer, shares(pipeline), local, rates(pipeline.machine, pipeline.workload))


Around = tuple[tuple[Block, ...], tuple[Block, ...]]  # collectives before the optimizer, and after it
MOST_KNOWN = 64  # a search needs one for each size of replica, a fit more than can be held


@dataclass(frozen=True, slots=True)
class KnownUpdates:
    """What was lowered for one fabric."""

    in_rack: Table[object, OneCollective] = field(default_factory=lambda: Table(MOST_KNOWN))
    collectives: Table[object, Around] = field(default_factory=lambda: Table(MOST_KNOWN))
    between: Table[object, Block] = field(default_factory=lambda: Table(MOST_KNOWN))


_UPDATES: Final = TABLES.add("weight updates, by fabric", ObjectTable[Fabric, KnownUpdates](32))
_IN_RACK: Final = TABLES.add("collectives in a rack", Table[object, OneCollective](8 * MOST_KNOWN))


def _known_updates(pipeline: Pipeline) -> KnownUpdates:
    """What stays known of its fabric; of all replicas, which take much room, nothing does."""
    if not pipeline.folded:
        return KnownUpdates()
    return _UPDATES.remember(pipeline.fabric, KnownUpdates)


def blocks(pipeline: Pipeline, optimizer: str, *, reduced: bool = False) -> tuple[Block, ...]:
    """The weight update of a step, in order; without the reduction in the rack where that is done already.

    Neither the micro-batch nor the chip enters its collectives, so that all of a split share them.
    """
    update, cache = _update(pipeline, optimizer), _known_updates(pipeline)
    before, after = cache.collectives.remember(_rests_on(update, reduced), lambda: _collectives(update, reduced))
    between = cache.between.remember(_own_key(update), lambda: _block("weight update", _optimizer(update), update))
    return (*before, between, *after)


def _rests_on(update: Update, reduced: bool) -> object:
    """Everything that decides the collectives on one fabric."""
    pipeline, mapping = update.pipeline, update.pipeline.mapping
    collective_parameters = tuple(update.parameter(name) for name in ("collective.efficiency", "rack.step"))
    split = mapping.replicas, mapping.ipus_per_replica, _layout(mapping.stages)
    configuration = update.buckets, update.shards, mapping.configuration.gradient_bytes
    return update.optimizer in NORM_OPTIMIZERS, collective_parameters, split, configuration, pipeline.folded, reduced


def _own_key(update: Update) -> object:
    """Everything that decides what IPUs do between collectives on one fabric."""
    pipeline, configuration = update.pipeline, update.pipeline.mapping.configuration
    mapping = pipeline.mapping
    split = mapping.replicas, mapping.ipus_per_replica, _layout(mapping.stages)
    state_layout = configuration.state, configuration.moment_bytes, configuration.norm_span
    calls = configuration.returns_to_host, mapping.updates_per_call
    return _computed_from(update), split, state_layout, calls, pipeline.replicas, pipeline.folded


def _collectives(update: Update, reduced: bool) -> Around:
    before, after = list[Block](), list[Block]()
    if update.local > 1:
        algorithm, scatter = update.in_rack(Collective.REDUCE_SCATTER)
        if not reduced:
            before.append(_block("reduce-scatter", scatter, update))
        # The same steps backwards: what is soonest there is soonest here.
        _, gather = update.in_rack(Collective.ALL_GATHER, only=algorithm)
        after.append(_block("all-gather", gather, update))
    if update.racks > 1:
        before.append(_block(BETWEEN_RACKS, _tasks(all_reduce_over_gw_links(update)), update))
    if update.shards > 1 and update.optimizer in NORM_OPTIMIZERS:
        before.append(_block("norms", update.norms()[1], update))
    return tuple(before), tuple(after)


def _block(name: str, tasks: Sequence[Task], update: Update) -> Block:
    if isinstance(tasks, KeptTasks):
        return Block(name, tasks)
    unrolled_tasks = _unroll(tasks, update.pipeline.folded)
    return Block(name, KeptTasks.of(unrolled_tasks) if update.pipeline.folded else unrolled_tasks)


def reductions(pipeline: Pipeline, optimizer: str) -> tuple[tuple[int, tuple[Task, ...]], ...]:
    """The reduction in the rack of each IPU of a replica by itself, by the method of all; none for one replica.

    A pair is the IPU of the replica and its tasks, whose needs count from the first of them.
    """
    update = _update(pipeline, optimizer)
    if update.local == 1:
        return ()
    algorithm, _ = update.in_rack(Collective.REDUCE_SCATTER)
    alone = (replace(update, shares=(share,)) for share in update.shares if share.parameters)
    return tuple(
        (
            each.shares[0].ipu,
            _unroll(each.in_rack(Collective.REDUCE_SCATTER, only=algorithm)[1], pipeline.folded),
        )
        for each in alone
    )


def _tasks(plan: CollectivePlan) -> tuple[Task, ...]:
    """Step after step: IPUs exchange in supersteps."""
    return pacing.tasks(plan, Pace.LOCKSTEP)


def all_reduce_over_gw_links(update: Update) -> CollectivePlan:
    """All-reduce between racks of the shards that each rack has reduced, over GW-Links: the soonest documented method.

    Parameters: `update`, whose fabric has the rates [B/s] and latencies [s] of GW-Links; each IPU brings its gradients
    [B] over the replicas of its rack. Result: the plan, whose `lockstep_s` is what it costs alone [s]; `pacing.tasks`
    makes the same parts tasks of the step.

    Equation: buckets × steps × (`rack.step` + latency) + bytes over the most loaded link (Eq. 7 to 10).
    Validity: two racks or more; static routes; machines of a rack share no GW-Link. `rack.step` is fitted to results on
    128 and 256 IPUs. Source: docs/explanation/model.md, "Gradients over racks", names those of the methods.
    """
    size = update.pipeline.mapping.ipus_per_replica
    group = Group(update.racks, size * update.local)
    return collective_choice.soonest(
        update.setting(1 / update.local), group, Collective.ALL_REDUCE, collective_choice.BETWEEN_RACKS
    )


def _unroll(tasks: Sequence[Task], folded: bool) -> tuple[Task, ...]:
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


def _optimizer(update: Update) -> list[Task]:
    """Every IPU updates its weights (or its shard), with state in streaming memory loaded and stored (Eq. 11, 12)."""
    pipeline, configuration = update.pipeline, update.pipeline.mapping.configuration
    tasks: list[Task] = []
    for share, (own_s, order) in zip(update.shares, _between_collectives(update), strict=True):
        elements = math.ceil(share.parameters / update.shards)
        cut: TimeByPart = ((Part.WEIGHT_UPDATE, own_s),) if elements else ()
        streams = configuration.state is StatePlace.STREAMING and elements > 0
        for replica in pipeline.replicas:
            where = replica * pipeline.mapping.ipus_per_replica + share.ipu
            own = (*slow_down(cut, pipeline.clock(where)), *order)
            flows = pipeline.state(where, elements * sum(configuration.moment_bytes)) if streams else ()
            task = Task(TaskKind.COMPUTE, "weight update", where, own, part=Part.WEIGHT_UPDATE)
            tasks += _stateful(task, flows, len(tasks))
    hops = min(pipeline.machine.topology.ipus_per_rack, MOST_IPUS_PER_RACK)
    sync = ((Part.SYNC, machine_sync_s(pipeline.machine.chip, hops)),)
    tasks.append(Task(TaskKind.SYNC, "sync all", -1, sync, tuple(range(len(tasks))), part=Part.SYNC))
    if configuration.returns_to_host:
        host: TimeByPart = ((Part.HOST_STEP, HOST_CALL_S / pipeline.mapping.updates_per_call),)
        tasks.append(Task(TaskKind.HOST, "host step", -1, host, (len(tasks) - 1,), part=Part.HOST_STEP))
    return tasks


def _stateful(task: Task, state: tuple[Flow, ...], first: int) -> list[Task]:
    """A weight update between loading its state and storing it, where that is in streaming memory."""
    if not state:
        return [task]
    load = Task(TaskKind.HOST, "load state", task.where, (), flows=state, part=Part.STREAMING)
    store = replace(load, name="store state", needs=(first + 1,))
    return [load, replace(task, needs=(first,)), store]


WEIGHTS_AT_ONCE = 8192  # on a tile: state that streams through passes in parts that leave room for everything else


def _order(update: Update, share: Share) -> TimeByPart:
    """What the order of shards costs an IPU, where there are any."""
    if update.shards == 1:
        return ()
    replica = [sharding.WeightCount(share.parameters, share.tensors) for share in update.shares]
    order_s = sharding.seconds(update.pipeline.machine.parameters, update.shares.index(share), replica)
    return ((Part.SHARDING, order_s),) if order_s else ()


def least_s(pipeline: Pipeline, optimizer: str) -> float:
    """What the weight update takes between its collectives on the IPU with most of it, at the usual clock [s]."""
    each = _between_collectives(_update(pipeline, optimizer))
    return max(own_s + sum_in_order(seconds for _, seconds in order) for own_s, order in each)


BetweenCollectives = tuple[tuple[float, TimeByPart], ...]  # of each share: its optimizer [s], and the order of shards
_BETWEEN: Final = TABLES.add("weight updates between collectives", Table[object, BetweenCollectives](8 * MOST_KNOWN))


def _between_collectives(update: Update) -> BetweenCollectives:
    """What each share takes between the collectives, whatever the links."""
    key = _computed_from(update), _layout(update.pipeline.mapping.stages)
    return _BETWEEN.remember(
        key, lambda: tuple((_update_s(update, share), _order(update, share)) for share in update.shares)
    )


def _computed_from(update: Update) -> object:
    """What decides how long the optimizer and the order of shards take for weights of one layout."""
    planner_key = update.optimizer, update.rates.planner.target.key, update.rates.stretch
    return planner_key, update.shards, sharding.fitted_forms(update.pipeline.machine.parameters)


def _update_s(update: Update, share: Share) -> float:
    """The optimizer's plans for the shards of an IPU's weights, tensor by tensor, unit by unit [s] (Eq. 11)."""
    return sum_in_order(
        _planned_s(update.rates, update.optimizer, unit, update.shards) for unit in share.units if unit.parameters
    )


def seconds(pipeline: Pipeline, optimizer: str, units: Sequence[LayerUnit], shards: int) -> float:
    """The update on an IPU of its shard of some units [s]."""
    update_rates = rates(pipeline.machine, pipeline.workload)
    weights = (sharding.WeightCount(unit.parameters, unit.weight_tensors) for unit in units)
    return sum_in_order(_planned_s(update_rates, optimizer, unit, shards) for unit in weights if unit.parameters)


def _planned_s(update_rates: Rates, optimizer: str, unit: sharding.WeightCount, shards: int) -> float:
    """The weights of a unit in tensors of one size, in as many parts as keep each tile to a few [s]."""
    chip, tensors = update_rates.planner.target.chip, max(1, unit.tensors)
    elements = math.ceil(unit.parameters / tensors / shards)
    parts = math.ceil(elements / (WEIGHTS_AT_ONCE * chip.tiles))
    cycles = update_rates.planner.update_cost(optimizer, math.ceil(elements / parts)).cycles
    return tensors * parts * cycles.total * update_rates.stretch / chip.clock_hz
