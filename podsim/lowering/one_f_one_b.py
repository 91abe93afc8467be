"""1F1B: each stage alternates one forward and one backward once its pipeline is full; nothing waits for a barrier.

Each stage has the order of the textbook (Eq. 16). An IPU that holds two stages takes what could start first if stages
took what their arithmetic says, a backward before a forward. An order that hung on the times of a machine would have
Graham's anomalies (graham-1969): a faster part could make a longer step. Source: narayanan-2019 (PipeDream).
"""

from dataclasses import dataclass, field

from podsim.lowering.input_transfer import Inputs
from podsim.lowering.pipeline import Pipeline, boundary_task, compute_task, in_line_task
from podsim.lowering.work import StageWork
from podsim.model.program import Task
from podsim.model.sums import sum_in_order
from podsim.model.training import Recompute
from podsim.model.workload import Pass

Key = tuple[int, int, bool]  # stage, micro-batch, backward
GRAINS = 1000  # whole parts of the longest stage that an order tells apart, so that it repeats exactly


def tasks(pipeline: Pipeline, inputs: Inputs) -> list[Task]:
    """Every micro-batch through all stages, in the order of each; micro-batches are not folded."""
    emitter = _Emitter(pipeline, inputs)
    line = _Line(pipeline)
    while (key := line.next()) is not None:
        emitter.add(key)
    return emitter.tasks


def room(stages: int, stage: int, micro_batch: int) -> tuple[Key, ...]:
    """What a forward-only pass waits for beside its input: no more wait behind a stage than grouped training holds."""
    oldest = micro_batch - 2 * (stages - 1 - stage) - 1
    return ((stages - 1, oldest, False),) if stage < stages - 1 and oldest >= 0 else ()


def _grains(pipeline: Pipeline) -> list[tuple[int, int]]:
    """Forward and backward of each stage as whole shares of the longest, by arithmetic alone."""
    back = [Pass.BACKWARD, Pass.WEIGHT_GRADIENT]
    if pipeline.mapping.recompute is not Recompute.NONE:
        back.append(Pass.RECOMPUTE)
    flop = [(_flop(item, [Pass.FORWARD]), _flop(item, back)) for item in pipeline.work]
    most = max(map(max, flop)) or 1.0
    return [(max(1, round(GRAINS * value / most)), max(1, round(GRAINS * other / most))) for value, other in flop]


def _flop(item: StageWork, runs: list[Pass]) -> float:
    return sum_in_order(unit.flop(run) for unit in item.stage.units for run in runs)


class _Line:
    """The pipeline as list scheduling sees it: transfers take no time, an IPU runs one task at a time."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._count, self._forward_only = pipeline.micro_batches, pipeline.forward_only
        self._grains = _grains(pipeline)
        self._ipus = [item.stage.ipu for item in pipeline.work]
        self._free = dict.fromkeys(self._ipus, 0)
        self._end: dict[Key, int] = {}
        self._forward, self._backward = [0] * len(self._ipus), [0] * len(self._ipus)

    def next(self) -> Key | None:
        """The task that may start soonest, marked as run; None when all have."""
        result = [
            (start, not key[2], -key[0], key)
            for key, needs in filter(None, map(self._upcoming, range(len(self._ipus))))
            if (start := self._start(key[0], needs)) is not None
        ]
        if not result:
            return None
        start, _, _, key = min(result)
        stage, _, backward = key
        self._end[key] = self._free[self._ipus[stage]] = start + self._grains[stage][backward]
        (self._backward if backward else self._forward)[stage] += 1
        return key

    def _upcoming(self, stage: int) -> tuple[Key, tuple[Key, ...]] | None:
        """The next task of a stage and what it needs: forwards until it is full, then a backward and a forward."""
        stages, back, ahead = len(self._ipus), self._backward[stage], self._forward[stage]
        before: tuple[Key, ...] = ((stage - 1, ahead, False),) if stage else ()
        if self._forward_only:
            return None if ahead == self._count else ((stage, ahead, False), before + room(stages, stage, ahead))
        if back == self._count:
            return None
        if ahead == self._count or ahead - back >= stages - stage:
            return (stage, back, True), ((stage, back, False) if stage == stages - 1 else (stage + 1, back, True),)
        return (stage, ahead, False), before

    def _start(self, stage: int, needs: tuple[Key, ...]) -> int | None:
        if any(need not in self._end for need in needs):
            return None
        return max(self._free[self._ipus[stage]], *(self._end[need] for need in needs), 0)


@dataclass
class _Emitter:
    """Turns ordered keys into tasks with their needs."""

    pipeline: Pipeline
    inputs: Inputs
    tasks: list[Task] = field(default_factory=list)
    done: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, key: Key) -> None:
        """The compute of one stage and micro-batch in every replica shown, and the transfer it needs before."""
        stage, micro_batch, backward = key
        work, item = self.pipeline.work, self.pipeline.work[stage]
        size = self.pipeline.mapping.ipus_per_replica
        places = [replica * size + item.stage.ipu for replica in self.pipeline.replicas]
        needs = self._arrival(key, tuple(self.last[where] for where in places if where in self.last))
        if backward and stage == len(work) - 1:
            needs += self.done[(stage, micro_batch, False)]
        if self.pipeline.forward_only:
            needs += tuple(task for need in room(len(work), stage, micro_batch) for task in self.done[need])
        ids = []
        for where in places:
            own = (self.last[where],) if where in self.last else ()
            self.last[where] = len(self.tasks)
            ids.append(len(self.tasks))
            self.tasks.append(compute_task(self.pipeline, item, where, backward, tuple(sorted({*needs, *own}))))
        self.done[key] = tuple(ids)

    def _arrival(self, key: Key, begin: tuple[int, ...]) -> tuple[int, ...]:
        """What brings a stage its data: the boundary of its neighbour, or the input of the step."""
        stage, micro_batch, backward = key
        before = stage + 1 if backward else stage - 1
        if not 0 <= before < len(self.pipeline.work):
            return () if backward else self._input(begin)
        source_tasks = self.done[(before, micro_batch, backward)]
        flows = self.pipeline.boundary(self.pipeline.work[before], self.pipeline.work[stage])
        if not flows:
            return source_tasks
        self.tasks.append(boundary_task(self.pipeline, flows, source_tasks))
        return (len(self.tasks) - 1,)

    def _input(self, begin: tuple[int, ...]) -> tuple[int, ...]:
        """The input of the next micro-batch, and the wait for it where the framework fetches it in line."""
        arrivals = self.inputs.take(self.tasks, begin)
        if not self.pipeline.in_line_s:
            return arrivals
        self.tasks.append(in_line_task(self.pipeline, tuple(sorted({*begin, *arrivals}))))
        return (len(self.tasks) - 1,)
