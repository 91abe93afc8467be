"""Inputs on their way from the servers: in line with compute, or ahead of it as far as there is room."""

from dataclasses import dataclass, field

from podsim.lowering.pipeline import Pipeline, input_task
from podsim.model.program import Task


@dataclass
class Inputs:
    """Inputs of a step by micro-batch: `prefetch` of them wait when it begins, as many for the next one when it ends.

    A micro-batch that is taken leaves room for the one `prefetch` later; the host sends one after the other (Eq. 13).

    Equation: the load of micro-batch m + `prefetch` starts when m has arrived, the first stage is free to take it and
    the load before is done; without prefetch m loads once the stage is free. Validity: schedules without a barrier
    between micro-batches (`merged_blocks.is_chained`); no time to prepare data on the servers, no memory of buffers.
    Source: datasheet-m2000 for the links, mlperf-training-v2-0 for a depth of 3.
    """

    pipeline: Pipeline
    _taken: int = 0
    _loads: list[int] = field(default_factory=list)
    _next: list[tuple[int, ...]] = field(default_factory=list)

    def take(self, tasks: list[Task], begin: tuple[int, ...]) -> tuple[int, ...]:
        """The first stage, free after `begin`, takes the next input: what it has to wait for."""
        depth, index = self.pipeline.mapping.configuration.prefetch, self._taken
        self._taken += 1
        if depth == 0:
            self._load(tasks, begin)
            return (self._loads[-1],)
        arrivals = (self._loads[index - depth],) if index >= depth else ()
        if index + depth < self.pipeline.micro_batches:
            self._load(tasks, begin + arrivals)
        elif not self.pipeline.forward_only:
            self._next.append(begin + arrivals)
        return arrivals

    def close(self, tasks: list[Task]) -> None:
        """The inputs that the next step begins with."""
        for begin in self._next:
            self._load(tasks, begin)
        self._next.clear()

    def _load(self, tasks: list[Task], needs: tuple[int, ...]) -> None:
        tasks.append(input_task(self.pipeline, tuple(sorted({*needs, *self._loads[-1:]}))))
        self._loads.append(len(tasks) - 1)
