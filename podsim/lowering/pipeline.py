"""Micro-batches on pipeline stages as blocks of tasks.

`grouped`: one cycle runs every active stage forward and backward, then all IPUs sync and exchange boundaries; a
micro-batch moves one stage a cycle. `sequential`: one micro-batch at a time through all stages.
Source: the cycle structure is PopART's and TensorFlow's for IPU (mlperf-training-v1-1, graphcore/examples).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from podsim.lowering.work import StageWork, host_cut, host_input_s
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.program import Block, Cut, Flow, Part, Task, TaskKind
from podsim.model.workload import Workload
from podsim.physics.sync import machine_sync_s
from podsim.topology.fabric import Fabric


@dataclass(frozen=True, slots=True)
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
    _computes: dict[tuple[int, bool], tuple[str, Cut]] = field(default_factory=dict)

    @property
    def replicas(self) -> range:
        """Replicas whose IPUs appear as tasks."""
        return range(1 if self.folded else self.mapping.replicas)

    @property
    def rack_replicas(self) -> range:
        """Replicas whose flows share the links of one rack; racks are alike."""
        in_rack = max(1, self.machine.topology.ipus_per_rack // self.mapping.ipus_per_replica)
        return range(1 if self.folded else min(self.mapping.replicas, in_rack))

    def compute(self, item: StageWork, backward: bool) -> tuple[str, Cut]:
        """What one micro-batch of a stage is called in one direction, and what its IPU spends on it."""
        key = item.stage.index, backward
        if key not in self._computes:
            what, done = ("backward", item.backward) if backward else ("forward", item.forward)
            self._computes[key] = f"{what} {item.stage.index}", done.cut
        return self._computes[key]

    def boundary(self, sender: StageWork, to: StageWork) -> tuple[Flow, ...]:
        """Flows from one stage to the next (or back) in every replica shown; none on the same IPU."""
        key = sender.stage.index, to.stage.index
        if key not in self._boundaries:
            self._boundaries[key] = () if sender.stage.ipu == to.stage.ipu else self._flows(sender, to)
        return self._boundaries[key]

    def _flows(self, sender: StageWork, to: StageWork) -> tuple[Flow, ...]:
        first = min(sender, to, key=lambda item: item.stage.index)
        size = self.mapping.ipus_per_replica
        return tuple(
            Flow(self.fabric.route(r * size + sender.stage.ipu, r * size + to.stage.ipu).links, first.boundary_bytes)
            for r in self.rack_replicas
        )

    def boundary_latency_s(self, flows: Iterable[Flow]) -> float:
        """Latency of the farthest flow of a group [s]."""
        link = self.machine.topology.links["ipu-link"]
        return max((link.latency_s + link.hop_s * len(flow.route) for flow in flows), default=0.0)


Active = tuple[tuple[int, bool], ...]  # (stage, backward) of one cycle


def blocks(pipeline: Pipeline) -> tuple[Block, ...]:
    """The pipeline's blocks, equal neighbours folded into a repeat unless every micro-batch is wanted."""
    stages = len(pipeline.work)
    if stages == 1 or pipeline.mapping.schedule == "sequential":
        return _fold([("micro-batch", _sequential(pipeline), pipeline.micro_batches)], pipeline.folded)
    runs = _cycles(stages, pipeline.micro_batches, pipeline.forward_only)
    return _fold([("cycle", _cycle(pipeline, active), count) for active, count in runs], pipeline.folded)


def _fold(named: list[tuple[str, tuple[Task, ...], int]], folded: bool) -> tuple[Block, ...]:
    if folded:
        return tuple(Block(name, tasks, repeat, pipeline=True) for name, tasks, repeat in named)
    return tuple(Block(name, tasks, 1, pipeline=True) for name, tasks, repeat in named for _ in range(repeat))


def _cycles(stages: int, micro_batches: int, forward_only: bool) -> list[tuple[Active, int]]:
    """What is active, and for how many cycles; more micro-batches only repeat the cycle in which every stage is."""
    most = stages if forward_only else 2 * stages
    short = min(micro_batches, most)
    runs = groupby(_active(stages, short, forward_only))
    return [
        (active, sum(1 for _ in same) + (micro_batches - short if len(active) == most else 0)) for active, same in runs
    ]


def _active(stages: int, micro_batches: int, forward_only: bool) -> Iterator[Active]:
    """Stage s runs micro-batch c - s forward and c - (2 stages - 1 - s) backward in cycle c."""
    for cycle in range(micro_batches + (stages - 1 if forward_only else 2 * stages - 1)):
        forward = [(s, False) for s in range(stages) if 0 <= cycle - s < micro_batches]
        backward = [(s, True) for s in range(stages) if 0 <= cycle - (2 * stages - 1 - s) < micro_batches]
        yield tuple(forward if forward_only else forward + backward)


def _cycle(pipeline: Pipeline, active: Active) -> tuple[Task, ...]:
    """Every IPU runs what is active on it in stage order; then one sync, one exchange of boundaries (Eq. 15)."""
    tasks: list[Task] = []
    ends: list[int] = []
    for replica in pipeline.replicas:
        last: dict[int, int] = {}
        for stage, backward in active:
            item = pipeline.work[stage]
            where = replica * pipeline.mapping.ipus_per_replica + item.stage.ipu
            needs = (last[where],) if where in last else ()
            last[where] = len(tasks)
            tasks.append(compute_task(pipeline, item, where, backward, needs))
        ends += last.values()
    if any(stage == 0 and not backward for stage, backward in active):
        ends.append(len(tasks))
        tasks.append(host_task(pipeline))
    flows: list[Flow] = []
    for stage, backward in active:
        neighbour = stage - 1 if backward else stage + 1
        if 0 <= neighbour < len(pipeline.work):
            flows += pipeline.boundary(pipeline.work[stage], pipeline.work[neighbour])
    tasks.append(_sync(pipeline, tuple(ends)))
    if flows:
        tasks.append(boundary_task(pipeline, tuple(flows), (len(tasks) - 1,)))
    return tuple(tasks)


def _sequential(pipeline: Pipeline) -> tuple[Task, ...]:
    """One micro-batch through all stages and back (Eq. 17); the next input arrives meanwhile."""
    tasks: list[Task] = [host_task(pipeline)]
    order = [(item, False) for item in pipeline.work]
    if not pipeline.forward_only:
        order += [(item, True) for item in reversed(pipeline.work)]
    before: tuple[int, ...] = ()
    for position, (item, backward) in enumerate(order):
        here = len(tasks)
        for replica in pipeline.replicas:
            where = replica * pipeline.mapping.ipus_per_replica + item.stage.ipu
            tasks.append(compute_task(pipeline, item, where, backward, before))
        before = tuple(range(here, len(tasks)))
        flows = pipeline.boundary(item, order[position + 1][0]) if position + 1 < len(order) else ()
        if flows:
            tasks.append(boundary_task(pipeline, flows, before))
            before = (len(tasks) - 1,)
    return tuple(tasks)


def compute_task(pipeline: Pipeline, item: StageWork, where: int, backward: bool, needs: tuple[int, ...]) -> Task:
    """One stage, one micro-batch, one direction on one IPU."""
    name, cut = pipeline.compute(item, backward)
    return Task(TaskKind.COMPUTE, name, where, cut, needs)


def host_task(pipeline: Pipeline, needs: tuple[int, ...] = ()) -> Task:
    """Input of one micro-batch of every replica."""
    seconds = host_input_s(pipeline.workload, pipeline.mapping, pipeline.machine)
    return Task(TaskKind.HOST, "host input", -1, host_cut(seconds), needs, part=Part.HOST)


def _sync(pipeline: Pipeline, needs: tuple[int, ...]) -> Task:
    seconds = machine_sync_s(pipeline.machine.chip, pipeline.mapping.ipus_per_replica)
    return Task(TaskKind.SYNC, "sync", -1, ((Part.SYNC, seconds),), needs, part=Part.SYNC)


def boundary_task(pipeline: Pipeline, flows: tuple[Flow, ...], needs: tuple[int, ...]) -> Task:
    """One exchange of stage boundaries."""
    latency = ((Part.TRANSFER, pipeline.boundary_latency_s(flows)),)
    return Task(TaskKind.TRANSFER, "boundary", -1, latency, needs, flows=flows, part=Part.TRANSFER)
