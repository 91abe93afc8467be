"""1F1B: each stage alternates one forward and one backward once its pipeline is full; nothing waits for a barrier.

Each stage has the order of the textbook (Eq. 16), so that nothing that gets faster can make a step longer; an IPU that
holds two stages takes what may start first, a backward before a forward. Source: narayanan-2019 (PipeDream).
"""

from dataclasses import dataclass, field

from podsim.lowering.pipeline import Pipeline, boundary_task, compute_task, host_task
from podsim.model.program import Block, Task

Key = tuple[int, int, bool]  # stage, micro-batch, backward


def blocks(pipeline: Pipeline) -> tuple[Block, ...]:
    """The whole pipeline as one block; micro-batches are not folded, as no barrier separates them."""
    emitter = _Emitter(pipeline)
    for key in _order(pipeline):
        emitter.add(key)
    return (Block("1f1b", tuple(emitter.tasks), pipeline=True),)


def _order(pipeline: Pipeline) -> list[Key]:
    """Keys in the order they start when each IPU takes what it can start first, a backward before a forward."""
    line = _Line(pipeline)
    order = []
    while (key := line.next()) is not None:
        order.append(key)
    return order


class _Line:
    """The pipeline as list scheduling sees it: transfers take no time, an IPU runs one task at a time."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._work, self._count = pipeline.work, pipeline.micro_batches
        self._free = {item.stage.ipu: 0.0 for item in pipeline.work}
        self._end: dict[Key, float] = {}
        self._forward, self._backward = [0] * len(pipeline.work), [0] * len(pipeline.work)

    def next(self) -> Key | None:
        """The task that may start soonest, marked as run; None when all have."""
        ready = (self._ready(stage) for stage in range(len(self._work)))
        found = [(start, not key[2], -key[0], key) for start, key in filter(None, ready)]
        if not found:
            return None
        start, _, _, key = min(found)
        item = self._work[key[0]]
        self._end[key] = start + (item.backward if key[2] else item.forward).total_s
        self._free[item.stage.ipu] = self._end[key]
        (self._backward if key[2] else self._forward)[key[0]] += 1
        return key

    def _ready(self, stage: int) -> tuple[float, Key] | None:
        """The next task of a stage and when it may start: forwards until it is full, then a backward and a forward."""
        last, back, ahead = len(self._work) - 1, self._backward[stage], self._forward[stage]
        if back == self._count:
            return None
        backward = ahead == self._count or ahead - back > last - stage
        if backward:
            key, need = (stage, back, True), (stage, back, False) if stage == last else (stage + 1, back, True)
        else:
            key, need = (stage, ahead, False), (stage - 1, ahead, False)
        if need not in self._end and (backward or stage):
            return None
        return max(self._free[self._work[stage].stage.ipu], self._end.get(need, 0.0)), key


@dataclass
class _Emitter:
    """Turns ordered keys into tasks with their needs."""

    pipeline: Pipeline
    tasks: list[Task] = field(default_factory=list)
    done: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, key: Key) -> None:
        """The compute of one stage and micro-batch in every replica shown, and the transfer it needs before."""
        stage, micro_batch, backward = key
        work, item = self.pipeline.work, self.pipeline.work[stage]
        arrived = self._arrival(key)
        ids = []
        for replica in self.pipeline.replicas:
            where = replica * self.pipeline.mapping.ipus_per_replica + item.stage.ipu
            needs = arrived + ((self.last[where],) if where in self.last else ())
            if backward and stage == len(work) - 1:
                needs += self.done[(stage, micro_batch, False)]
            self.last[where] = len(self.tasks)
            ids.append(len(self.tasks))
            self.tasks.append(compute_task(self.pipeline, item, where, backward, tuple(sorted(set(needs)))))
        self.done[key] = tuple(ids)

    def _arrival(self, key: Key) -> tuple[int, ...]:
        stage, micro_batch, backward = key
        before = stage + 1 if backward else stage - 1
        if not 0 <= before < len(self.pipeline.work):
            return () if backward else self._host()
        sent = self.done[(before, micro_batch, backward)]
        flows = self.pipeline.boundary(self.pipeline.work[before], self.pipeline.work[stage])
        if not flows:
            return sent
        self.tasks.append(boundary_task(self.pipeline, flows, sent))
        return (len(self.tasks) - 1,)

    def _host(self) -> tuple[int, ...]:
        """Inputs arrive one after the other, ahead of use."""
        needs = (self.last[-1],) if -1 in self.last else ()
        self.last[-1] = len(self.tasks)
        self.tasks.append(host_task(self.pipeline, needs))
        return (len(self.tasks) - 1,)
