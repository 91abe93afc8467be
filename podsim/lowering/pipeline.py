"""Micro-batches on pipeline stages as blocks of tasks.

`grouped`: one cycle runs every active stage forward and backward, then all IPUs sync and exchange boundaries; a
micro-batch moves one stage a cycle. `sequential`: one micro-batch at a time through all stages.
Source: the cycle structure is PopART's and TensorFlow's for IPU (mlperf-training-v1-1, graphcore/examples).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Final

from podsim.caches.tables import TABLES, Table
from podsim.lowering.replica_symmetry import unlike
from podsim.lowering.work import StageWork, busiest, slow_down
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.program import Block, Flow, KeptTasks, Part, Task, TaskKind, TimeByPart
from podsim.model.sums import sum_in_order
from podsim.model.training import Schedule
from podsim.model.workload import Workload
from podsim.physics.hostio import IN_LINE_BYTES_PER_S
from podsim.physics.sync import machine_sync_s
from podsim.topology.machine_network import Fabric
from podsim.topology.rack_symmetry import same_inputs


@dataclass(frozen=True)
class Pipeline:
    """Everything that lowering a pipeline needs to know."""

    workload: Workload
    mapping: Mapping
    machine: Machine
    fabric: Fabric
    work: tuple[StageWork, ...]
    micro_batches: int
    folded: bool
    forward_only: bool = False
    _boundaries: dict[tuple[int, int], tuple[Flow, ...]] = field(default_factory=dict)
    _latencies_s: dict[tuple[int, ...], float] = field(default_factory=dict)
    _computes: dict[tuple[int, bool, float], tuple[str, TimeByPart]] = field(default_factory=dict)
    computed: dict[tuple[int, bool, int, tuple[int, ...]], Task] = field(default_factory=dict)

    @cached_property
    def replicas(self) -> tuple[int, ...]:
        """Replicas whose IPUs appear as tasks."""
        return unlike(self.mapping, self.fabric) if self.folded else tuple(range(self.mapping.replicas))

    def compute(self, item: StageWork, backward: bool, where: int) -> tuple[str, TimeByPart]:
        """What one micro-batch of a stage is called in one direction, and what its IPU spends on it."""
        key = item.stage.index, backward, self.clock(where)
        if key not in self._computes:
            what, cost = ("backward", item.backward) if backward else ("forward", item.forward)
            self._computes[key] = f"{what} {item.stage.index}", slow_down(cost.cut, key[2])
        return self._computes[key]

    def clock(self, where: int) -> float:
        """Share of its clock at which an IPU works; those that share batch-norm statistics wait for the slowest."""
        slow = self.fabric.damage.slow
        if not slow:
            return 1.0
        size, span = self.mapping.ipus_per_replica, self.mapping.configuration.norm_span
        replica, ipu = divmod(where, size)
        first = replica - replica % span
        return min(slow.get(other * size + ipu, 1.0) for other in range(first, first + span))

    @property
    def busiest(self) -> TimeByPart:
        """What the IPU that has most work spends on one micro-batch, cut by part."""
        size = self.mapping.ipus_per_replica
        ipus = dict.fromkeys(item.stage.ipu for item in self.work)
        clocks = {ipu: min(self.clock(replica * size + ipu) for replica in self.replicas) for ipu in ipus}
        return busiest(self.work, clocks, forward_only=self.forward_only)

    def boundary(self, sender: StageWork, to: StageWork) -> tuple[Flow, ...]:
        """Flows from one stage to the next (or back) in every replica shown; none on the same IPU."""
        key = sender.stage.index, to.stage.index
        if key not in self._boundaries:
            self._boundaries[key] = () if sender.stage.ipu == to.stage.ipu else self._flows(sender, to)
        return self._boundaries[key]

    @cached_property
    def onward(self) -> dict[tuple[int, bool], tuple[Flow, ...]]:
        """What each stage sends to its neighbour, forward and backward; nothing from the ends."""
        pairs = list(enumerate(pairwise(self.work)))
        forward = {(at, False): self.boundary(here, there) for at, (here, there) in pairs}
        backward = {(at + 1, True): self.boundary(there, here) for at, (here, there) in pairs}
        return {(len(self.work) - 1, False): (), (0, True): (), **forward, **backward}

    def _flows(self, sender: StageWork, to: StageWork) -> tuple[Flow, ...]:
        first = min(sender, to, key=lambda item: item.stage.index)
        size = self.mapping.ipus_per_replica
        return tuple(
            Flow(self.fabric.route(r * size + sender.stage.ipu, r * size + to.stage.ipu).links, first.boundary_bytes)
            for r in self.replicas
        )

    @cached_property
    def inputs(self) -> tuple[Flow, ...]:
        """Flows that bring one micro-batch to the first stage of every replica [B] (Eq. 13).

        Result: a flow for each replica, over network card, port of the gateway and PCIe. Folded, one of them crosses
        each link as often as all together cross the most loaded of its kind.

        Equation: v = row size × micro-batch in each flow. Validity: folded where no link from a host is at fault; the
        server and the machine with most replicas pace all, even where they are not on one way. No latency, no time to
        prepare data on the servers. Source: datasheet-m2000.
        """
        volume = self.workload.row_bytes * self.mapping.micro_batch
        alike = self.folded and same_inputs(self.fabric)
        simulated_replicas = (0,) if alike else tuple(range(self.mapping.replicas))
        routes = [self._input_route(replica) for replica in simulated_replicas]
        if alike:
            replicas, each = self.mapping.replicas, self.machine.topology.ipus_per_machine
            a_server = -(-replicas // self.machine.hosts)
            a_machine = min(replicas, max(1, each // self.mapping.ipus_per_replica))
            crossings = zip(routes[0], (a_server, a_machine, 1), strict=True)
            routes = [tuple(link for link, times in crossings for _ in range(times))]
        return tuple(Flow(route, volume) for route in routes)

    def _input_route(self, replica: int) -> tuple[int, ...]:
        """Server to its network card, port of the gateway, PCIe; neighbours have the same server."""
        server = replica * self.machine.hosts // self.mapping.replicas
        ipu = replica * self.mapping.ipus_per_replica + self.work[0].stage.ipu
        return self.fabric.host_route(ipu, server).links

    @cached_property
    def in_line_s(self) -> float:
        """Time for which a micro-batch waits for its input under this framework [s] (Eq. 13).

        Equation: input.micro-batch + input.replica × replicas (PopTorch; TensorFlow 2: 0) + row size × micro-batch /
        5.5 GB/s. Validity: TensorFlow 2 and PopTorch, 0 under every other framework; fitted to published rates of
        complete programs, none of them a calibrated step. Source: calibration/frameworks.toml for the two constants,
        graphcore-examples for 5.5 GB/s.
        """
        framework = self.mapping.configuration.framework
        parts = self.machine.frameworks.parts(framework or "", self.mapping.replicas)
        if not parts:
            return 0.0
        return sum_in_order(parts.values()) + self.workload.row_bytes * self.mapping.micro_batch / IN_LINE_BYTES_PER_S

    def state(self, where: int, volume_bytes: float) -> tuple[Flow, ...]:
        """What an IPU of the program moves from or to its streaming memory [B] (Eq. 12), which its machine shares.

        Parameters: `where`, number of the IPU; `volume_bytes`, what it moves one way [B]. Result: one flow over DDR,
        PCIe and the rate at which one IPU streams; folded, it crosses DDR once for each replica of its machine.

        Equation: one of the two ways of Eq. 12. Validity: folded, all replicas of a machine stream the same at once;
        no latency, as none of DDR or PCIe is published. Source: datasheet-m2000.
        """
        ddr, *rest = self.fabric.streaming_route(where).links
        alone = not self.folded or bool(self.fabric.damage)  # beside a fault all of a machine are shown
        beside = 1 if alone else self.machine.topology.ipus_per_machine // self.mapping.ipus_per_replica
        return (Flow((*(ddr for _ in range(min(max(1, beside), self.mapping.replicas))), *rest), volume_bytes),)

    @cached_property
    def sync_s(self) -> float:
        """A sync of the IPUs of a replica [s]."""
        return machine_sync_s(self.machine.chip, self.mapping.ipus_per_replica)

    @cached_property
    def turns(self) -> Table[object, KeptTasks]:
        """Turns that were lowered for the same work on the same ways, whatever the micro-batches of a step.

        Known on every fabric whose links between stages have the same numbers and latencies.
        """
        work = tuple(
            (item.stage.index, item.stage.ipu, item.forward, item.backward, item.boundary_bytes) for item in self.work
        )
        replica_layout = self.mapping.ipus_per_replica, self.replicas, self.mapping.configuration.norm_span
        ways = tuple((flows, self.boundary_latency_s(flows)) for flows in self.onward.values())
        key = work, replica_layout, self.sync_s, ways, tuple(self.fabric.damage.slow.items())
        return _TURNS.remember(key, lambda: Table(MOST_TURNS))

    @cached_property
    def input_key(self) -> object:
        """What turns that take an input depend on besides."""
        return self.inputs, self.in_line_s, self.mapping.configuration.prefetch == 0

    def boundary_latency_s(self, flows: Sequence[Flow]) -> float:
        """Latency of the farthest flow of a group [s]."""
        for flow in flows:
            if flow.route not in self._latencies_s:
                self._latencies_s[flow.route] = self.fabric.boundary_latency_s(flow.route)
        return max([self._latencies_s[flow.route] for flow in flows], default=0.0)


Active = tuple[tuple[int, bool], ...]  # (stage, backward) of one turn
_CYCLES: Final = TABLES.add("cycles of pipelines", Table[object, tuple[tuple[Active, int], ...]](512))
MOST_PIPELINES, MOST_TURNS = 128, 256  # kept, and of each pipeline; some kB a turn
_TURNS: Final = TABLES.add("turns of pipelines", Table[object, Table[object, KeptTasks]](MOST_PIPELINES))


@dataclass(frozen=True, slots=True)
class BarrierInterval:
    """What runs from one barrier to the next, so many times in a row; `takes` an input or not."""

    name: str
    active: Active
    repeat: int

    @property
    def takes(self) -> bool:
        """Whether the first stage runs forward."""
        return (0, False) in self.active


def turns(pipeline: Pipeline) -> list[BarrierInterval]:
    """Every turn of a pipeline with barriers, equal neighbours as one."""
    stages, count = len(pipeline.work), pipeline.micro_batches
    if stages == 1 or pipeline.mapping.schedule is Schedule.SEQUENTIAL:
        forward, backward = [(s, False) for s in range(stages)], [(s, True) for s in reversed(range(stages))]
        return [BarrierInterval("micro-batch", tuple(forward if pipeline.forward_only else forward + backward), count)]
    most = stages if pipeline.forward_only else 2 * stages
    short = min(count, most)  # more micro-batches only repeat the cycle in which every stage is active
    key = stages, short, pipeline.forward_only
    return [
        BarrierInterval("cycle", active, same + (count - short if len(active) == most else 0))
        for active, same in _CYCLES.remember(key, lambda: _cycles(*key))
    ]


def blocks(pipeline: Pipeline, order: Iterable[BarrierInterval]) -> tuple[Block, ...]:
    """A block for each turn; turns that repeat are folded unless every micro-batch is wanted."""
    result = ((turn, turn_tasks(pipeline, turn, beside=True)) for turn in order)
    if pipeline.folded:
        return tuple(Block(turn.name, tasks, turn.repeat, pipeline=True) for turn, tasks in result)
    return tuple(Block(turn.name, tasks, 1, pipeline=True) for turn, tasks in result for _ in range(turn.repeat))


def turn_tasks(pipeline: Pipeline, turn: BarrierInterval, *, beside: bool) -> tuple[Task, ...]:
    """The tasks of a turn; with the input of the next one loaded `beside` it, or before it without prefetch."""
    if not pipeline.folded:
        return _turn_tasks(pipeline, turn, beside=beside)
    key = turn.name, turn.active, beside, pipeline.input_key if turn.takes else None
    return pipeline.turns.remember(key, lambda: KeptTasks.of(_turn_tasks(pipeline, turn, beside=beside)))


def _turn_tasks(pipeline: Pipeline, turn: BarrierInterval, *, beside: bool) -> tuple[Task, ...]:
    sequential = turn.name == "micro-batch"
    tasks: list[Task] = []
    loads = beside and turn.takes
    first: tuple[int, ...] = ()
    if loads:
        tasks.append(input_task(pipeline))
        first = (0,) if pipeline.mapping.configuration.prefetch == 0 else ()
    (_sequential if sequential else _cycle)(pipeline, turn.active, tasks, first)
    if turn.takes and pipeline.in_line_s:
        ahead = 1 if loads and not first else 0  # an input loaded ahead is waited for at the end of the turn
        tasks.append(in_line_task(pipeline, tuple(range(ahead, len(tasks)))))
    return tuple(tasks)


def _cycles(stages: int, micro_batches: int, forward_only: bool) -> tuple[tuple[Active, int], ...]:
    """What is active in each cycle, and in how many in a row."""
    runs = groupby(_active(stages, micro_batches, forward_only))
    return tuple((active, sum(1 for _ in same)) for active, same in runs)


def _active(stages: int, micro_batches: int, forward_only: bool) -> Iterator[Active]:
    """Stage s runs micro-batch c - s forward and c - (2 stages - 1 - s) backward in cycle c."""
    for cycle in range(micro_batches + (stages - 1 if forward_only else 2 * stages - 1)):
        forward = [(s, False) for s in range(stages) if 0 <= cycle - s < micro_batches]
        backward = [(s, True) for s in range(stages) if 0 <= cycle - (2 * stages - 1 - s) < micro_batches]
        yield tuple(forward if forward_only else forward + backward)


def _cycle(pipeline: Pipeline, active: Active, tasks: list[Task], first: tuple[int, ...]) -> None:
    """Every IPU runs what is active on it in stage order; then one sync, one exchange of boundaries (Eq. 15)."""
    ends = list(range(len(tasks)))
    work, size = pipeline.work, pipeline.mapping.ipus_per_replica
    for replica in pipeline.replicas:
        last: dict[int, int] = {}
        for stage, backward in active:
            item = work[stage]
            where = replica * size + item.stage.ipu
            needs = (last[where],) if where in last else ()
            last[where] = len(tasks)
            takes = stage == 0 and not backward
            tasks.append(compute_task(pipeline, item, where, backward, needs + first if takes else needs))
        ends += last.values()
    flows: list[Flow] = []
    for sender in active:
        flows += pipeline.onward[sender]
    tasks.append(_sync(pipeline, tuple(ends)))
    if flows:
        tasks.append(boundary_task(pipeline, tuple(flows), (len(tasks) - 1,)))


def _sequential(pipeline: Pipeline, active: Active, tasks: list[Task], first: tuple[int, ...]) -> None:
    """One micro-batch through all stages and back (Eq. 17); the next input arrives meanwhile."""
    before = first
    for position, (stage, backward) in enumerate(active):
        here, item = len(tasks), pipeline.work[stage]
        for replica in pipeline.replicas:
            where = replica * pipeline.mapping.ipus_per_replica + item.stage.ipu
            tasks.append(compute_task(pipeline, item, where, backward, before))
        before = tuple(range(here, len(tasks)))
        after = active[position + 1 : position + 2]
        flows = pipeline.boundary(item, pipeline.work[after[0][0]]) if after else ()
        if flows:
            tasks.append(boundary_task(pipeline, flows, before))
            before = (len(tasks) - 1,)


def compute_task(pipeline: Pipeline, item: StageWork, where: int, backward: bool, needs: tuple[int, ...]) -> Task:
    """One stage, one micro-batch, one direction on one IPU."""
    key = item.stage.index, backward, where, needs  # most cycles of a pipeline that fills or drains repeat it
    task = pipeline.computed.get(key)
    if task is None:
        name, cut = pipeline.compute(item, backward, where)
        task = pipeline.computed[key] = Task(TaskKind.COMPUTE, name, where, cut, needs)
    return task


def input_task(pipeline: Pipeline, needs: tuple[int, ...] = ()) -> Task:
    """Input of one micro-batch of every replica."""
    return Task(TaskKind.HOST, "host input", -1, (), needs, flows=pipeline.inputs, part=Part.HOST)


def in_line_task(pipeline: Pipeline, needs: tuple[int, ...] = ()) -> Task:
    """The wait of all replicas for the input of the next micro-batch, which nothing hides."""
    latency = ((Part.FRAMEWORK, pipeline.in_line_s),)
    return Task(TaskKind.HOST, "input in line", -1, latency, needs, part=Part.FRAMEWORK)


def _sync(pipeline: Pipeline, needs: tuple[int, ...]) -> Task:
    return Task(TaskKind.SYNC, "sync", -1, ((Part.SYNC, pipeline.sync_s),), needs, part=Part.SYNC)


def boundary_task(pipeline: Pipeline, flows: tuple[Flow, ...], needs: tuple[int, ...]) -> Task:
    """One exchange of stage boundaries."""
    latency = ((Part.TRANSFER, pipeline.boundary_latency_s(flows)),)
    return Task(TaskKind.TRANSFER, "boundary", -1, latency, needs, flows=flows, part=Part.TRANSFER)
