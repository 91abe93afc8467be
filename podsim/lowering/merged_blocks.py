"""Blocks of a step made one, for what runs across their barriers: inputs loaded ahead, reductions, 1F1B itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from podsim.lowering import one_f_one_b
from podsim.lowering.input_transfer import Inputs
from podsim.lowering.pipeline import BarrierInterval, Pipeline, blocks, turn_tasks, turns
from podsim.model.program import Block, Task, TaskKind
from podsim.model.training import Schedule
from podsim.physics.links import alone_s

Reduction = tuple[int, Sequence[Task]]  # IPU of a replica, and the reduction of its gradients


def is_chained(pipeline: Pipeline) -> bool:
    """Whether nothing separates the micro-batches, so that no turn stands for all: 1F1B, or inputs that run ahead."""
    return _is_1f1b(pipeline) or _runs_ahead(pipeline)


def _is_1f1b(pipeline: Pipeline) -> bool:
    return pipeline.mapping.schedule is Schedule.ONE_F_ONE_B and len(pipeline.work) > 1


def _runs_ahead(pipeline: Pipeline) -> bool:
    """Whether inputs wait for room rather than for a barrier: several at once, and one takes longer than some turn."""
    if pipeline.mapping.configuration.prefetch < 2:
        return False
    seconds = alone_s(pipeline.inputs, pipeline.fabric.capacities)
    if seconds <= min(_passes_s(pipeline), default=0.0):
        return False  # shorter than any stage, let alone the busiest of a turn
    return any(turn.takes and seconds > _least_s(pipeline, turn) for turn in turns(pipeline))


def _passes_s(pipeline: Pipeline) -> Iterator[float]:
    """What each pass of each stage takes, of which any turn has one or more [s]."""
    for item in pipeline.work:
        yield item.forward.total_s
        if not pipeline.forward_only:
            yield item.backward.total_s


def _least_s(pipeline: Pipeline, turn: BarrierInterval) -> float:
    """What a turn takes at least: the work of its busiest stage [s]."""
    both = ((pipeline.work[stage], backward) for stage, backward in turn.active)
    return max((item.backward if backward else item.forward).total_s for item, backward in both)


def step(pipeline: Pipeline, reductions: Sequence[Reduction], update: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks of a step; each reduction starts when the last backward on its IPU is done, the update follows all."""
    if not is_chained(pipeline) and not reductions:
        return (*blocks(pipeline, turns(pipeline)), *update)
    head, merged_tasks, inputs = _micro_batches(pipeline, _crossing_turns(pipeline, bool(reductions)))
    own = len(merged_tasks.tasks)
    last_computations = _last_computations(pipeline, merged_tasks.tasks)
    ends = list(merged_tasks.ends)
    for ipu, tasks in reductions:
        ends += merged_tasks.add(tasks, last_computations[ipu])
    merged_tasks.ends = tuple(ends)
    remaining_blocks = tuple(update)
    if pipeline.mapping.configuration.prefetch > 1 and is_chained(pipeline):
        for block in remaining_blocks:
            merged_tasks.add_after(block.tasks)
        remaining_blocks = ()
    inputs.close(merged_tasks.tasks)
    name = "1f1b" if _is_1f1b(pipeline) else "micro-batches"
    return (
        *head,
        Block(name, tuple(merged_tasks.tasks), pipeline=True, after=len(merged_tasks.tasks) - own),
        *remaining_blocks,
    )


def forward(pipeline: Pipeline) -> tuple[Block, ...]:
    """The blocks of an evaluation."""
    return step(pipeline, (), ())


def _crossing_turns(pipeline: Pipeline, reduces: bool) -> int | None:
    """Turns at the end of the pipeline that something runs across; None for all."""
    if is_chained(pipeline):
        return None
    if pipeline.mapping.schedule is Schedule.SEQUENTIAL or not reduces:
        return 1
    first = {item.stage.ipu: item.stage.index for item in reversed(pipeline.work)}
    return 1 + max(first.values())  # the stage before the last on its IPU finishes so many cycles before the end


def _micro_batches(pipeline: Pipeline, crossing_turns: int | None) -> tuple[tuple[Block, ...], "MergedTasks", Inputs]:
    """The turns that keep their barriers, and the others as one."""
    merged_tasks, inputs = MergedTasks(), Inputs(pipeline)
    if _is_1f1b(pipeline):
        merged_tasks.add(one_f_one_b.tasks(pipeline, inputs), ())
        return (), merged_tasks, inputs
    order = turns(pipeline)
    head, tail = _split(order, crossing_turns)
    beside = crossing_turns is not None
    for turn in tail:
        tasks = turn_tasks(pipeline, turn, beside=beside)
        for _ in range(turn.repeat):
            arrivals = inputs.take(merged_tasks.tasks, merged_tasks.ends) if turn.takes and not beside else ()
            merged_tasks.ends += arrivals
            merged_tasks.add_after(tasks)
    return blocks(pipeline, head), merged_tasks, inputs


def _split(order: Iterable[BarrierInterval], last: int | None) -> tuple[list[BarrierInterval], list[BarrierInterval]]:
    """Turns but for the last so many, and those; all of them where that is None."""
    head, tail = list(order), list[BarrierInterval]()
    while head and (last is None or last > 0):
        turn = head.pop()
        repeats = turn.repeat if last is None else min(last, turn.repeat)
        tail.insert(0, replace(turn, repeat=repeats))
        if repeats < turn.repeat:
            head.append(replace(turn, repeat=turn.repeat - repeats))
        last = None if last is None else last - repeats
    return head, tail


def _last_computations(pipeline: Pipeline, tasks: Sequence[Task]) -> dict[int, tuple[int, ...]]:
    """The last computation on each IPU of a replica, of all replicas shown."""
    size = pipeline.mapping.ipus_per_replica
    last = {task.where: number for number, task in enumerate(tasks) if task.kind is TaskKind.COMPUTE}
    computations: dict[int, tuple[int, ...]] = {}
    for where in sorted(last):
        computations[where % size] = (*computations.get(where % size, ()), last[where])
    return computations


@dataclass
class MergedTasks:
    """Tasks of one block after another; `ends` are those that the next one follows."""

    tasks: list[Task] = field(default_factory=list)
    ends: tuple[int, ...] = ()

    def add(self, tasks: Sequence[Task], after: tuple[int, ...]) -> tuple[int, ...]:
        """Tasks whose first ones wait for `after`; those that none of them needs, inputs for later apart."""
        offset = len(self.tasks)
        predecessors = {need for task in tasks for need in task.needs}
        for task in tasks:
            needs = tuple(need + offset for need in task.needs) or after
            self.tasks.append(task.after(needs))
        ends = [number for number in range(len(tasks)) if number not in predecessors]
        self.ends = tuple(number + offset for number in ends)
        return self.ends

    def add_after(self, tasks: Sequence[Task]) -> None:
        """Tasks that wait for all before them."""
        self.add(tasks, self.ends)
