"""1F1B: each stage alternates one forward and one backward once its pipeline is full; nothing waits for a barrier.

Order on an IPU is found by placing unit-length tasks as soon as they may run, backward before forward; with equal
stages this is the textbook schedule. Source: narayanan-2019 (PipeDream) for the order.
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
    """Keys in the order they start when every task takes one slot."""
    stages, count = len(pipeline.work), pipeline.micro_batches
    ipus = sorted({item.stage.ipu for item in pipeline.work})
    on_ipu = {ipu: [s for s in range(stages) if pipeline.work[s].stage.ipu == ipu] for ipu in ipus}
    forward, backward = [0] * stages, [0] * stages
    order: list[Key] = []
    while backward[0] < count:
        f, b = tuple(forward), tuple(backward)
        for ipu in ipus:
            key = _next(on_ipu[ipu], f, b, stages, count)
            if key is not None:
                order.append(key)
                (backward if key[2] else forward)[key[0]] += 1
    return order


def _next(held: list[int], forward: tuple[int, ...], backward: tuple[int, ...], stages: int, count: int) -> Key | None:
    """What an IPU starts next: a backward that is ready, else a forward within the depth its stage may hold."""
    for stage in reversed(held):
        done = forward[stage] if stage == stages - 1 else backward[stage + 1]
        if backward[stage] < min(done, forward[stage]):
            return stage, backward[stage], True
    for stage in reversed(held):
        ready = count if stage == 0 else forward[stage - 1]
        in_flight = forward[stage] - backward[stage]
        if forward[stage] < min(ready, count) and in_flight < stages - stage:
            return stage, forward[stage], False
    return None


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
            self.tasks.append(compute_task(item, where, backward, tuple(sorted(set(needs)))))
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
