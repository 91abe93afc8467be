"""Which micro-batches the tasks of a step belong to: counted, as a stage runs them one after the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.model.program import TaskKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.program import Block, StepProgram

MicroBatches = tuple[int, int]
"""The first and the last of those that a task belongs to, from 0 on."""


@dataclass(frozen=True, slots=True)
class NumberedBlock:
    """A block with the micro-batches of its tasks when it runs first; each time it repeats they are one further.

    `turn` says how many blocks of its name ran before it, `count` how many micro-batches a step has.
    """

    tasks: tuple[MicroBatches | None, ...]
    turn: int
    count: int

    def of_task(self, task: int, repeat: int) -> MicroBatches | None:
        """Those of a task the so manieth time that the block runs, from 1 on; None where it belongs to none."""
        micro_batches = self.tasks[task]
        if micro_batches is None:
            return None
        first, last = ((each + repeat) % self.count + 1 for each in micro_batches)
        return first, last

    def of_block(self, repeat: int) -> MicroBatches | None:
        """All that the block works on the so manieth time; None where it belongs to none."""
        micro_batches = [each for task in range(len(self.tasks)) if (each := self.of_task(task, repeat)) is not None]
        return (
            (min(first for first, _ in micro_batches), max(last for _, last in micro_batches))
            if micro_batches
            else None
        )


def number_blocks(program: StepProgram) -> tuple[NumberedBlock, ...]:
    """Every block of a program: compute by its place among those of its stage, what waits for it as that."""
    task_counts: Counter[tuple[int, str]] = Counter()
    turns: Counter[str] = Counter()
    result = []
    for block in program.blocks:
        tasks = tuple(_numbers(block, task_counts))
        result.append(NumberedBlock(tasks, turns[block.name], program.micro_batches))
        turns[block.name] += block.repeat
        for key in {(task.where, task.name) for task, own in zip(block.tasks, tasks, strict=True) if own}:
            task_counts[key] += block.repeat - 1  # once is counted with its tasks
    return tuple(result)


def _numbers(block: Block, task_counts: Counter[tuple[int, str]]) -> Iterator[MicroBatches | None]:
    of_pipeline = len(block.tasks) - (block.after or 0) if block.pipeline or block.micro_batch else 0
    micro_batches: list[MicroBatches | None] = []
    for at, task in enumerate(block.tasks):
        own: MicroBatches | None = None
        if at < of_pipeline and task.kind is TaskKind.COMPUTE:
            key = task.where, task.name
            own = task_counts[key], task_counts[key]
            task_counts[key] += 1
        elif at < of_pipeline and task.kind in (TaskKind.SYNC, TaskKind.TRANSFER):
            before = [each for need in task.needs if (each := micro_batches[need]) is not None]
            own = (min(first for first, _ in before), max(last for _, last in before)) if before else None
        micro_batches.append(own)
        yield own
