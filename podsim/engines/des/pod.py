"""The discrete-event engine: every task a SimPy event, flows sharing links as they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from podsim.engines.base import BlockRun, Linked, timeline
from podsim.engines.des.fabric import SharedLinks
from podsim.engines.des.sharing import Sharings

if TYPE_CHECKING:
    from podsim.model.program import Block, StepProgram, StepTimeline


def run(program: StepProgram, fabric: Linked) -> StepTimeline:
    """The timeline of one step. Blocks meet at barriers, so each starts with idle links."""
    sharings = Sharings(fabric.capacities)
    return timeline(program, [_Simulation(block, sharings).run() for block in program.blocks])


class _Simulation:
    """One block from its barrier to the next.

    A task is a counter of what it still needs, and events with a callback: a generator would only wait for them.
    """

    def __init__(self, block: Block, sharings: Sharings) -> None:
        tasks = block.tasks
        self._block, self._env = block, simpy.Environment()
        flows = [task.flows for task in tasks if task.flows]
        self._links = SharedLinks(self._env, sharings, flows, self._through)
        self._fixed_s = [task.fixed_s if task.flows else task.fixed_s * task.repeat for task in tasks]
        self._turns = [task.repeat for task in tasks]
        self._missing = [len(task.needs) for task in tasks]
        self._followers: list[list[int]] = [[] for _ in tasks]
        for number, task in enumerate(tasks):
            for need in task.needs:
                self._followers[need].append(number)
        self._events = 0
        self._start_s, self._end_s, self._flow_s = ([0.0] * len(tasks) for _ in range(3))
        self._sent_s = [0.0] * len(tasks)

    def run(self) -> BlockRun:
        """Run all tasks to their end."""
        for number, missing in enumerate(self._missing):
            if not missing:
                self._begin(number)
        self._env.run()
        events = self._events + self._links.events
        return BlockRun(self._block, self._start_s, self._end_s, self._flow_s, events)

    def _begin(self, number: int) -> None:
        self._start_s[number] = self._env.now
        self._turn(number)

    def _turn(self, number: int) -> None:
        """The fixed part of a task, once where flows follow it."""
        self._events += 1
        event = self._env.timeout(self._fixed_s[number], number)
        event.callbacks.append(self._send if self._block.tasks[number].flows else self._done)

    def _send(self, event: simpy.Event) -> None:
        number = event.value
        self._sent_s[number] = self._env.now
        self._links.send(self._block.tasks[number].flows, number)

    def _through(self, number: int) -> None:
        self._flow_s[number] += self._env.now - self._sent_s[number]
        self._turns[number] -= 1
        if self._turns[number]:
            self._turn(number)
        else:
            self._end(number)

    def _done(self, event: simpy.Event) -> None:
        self._end(event.value)

    def _end(self, number: int) -> None:
        self._end_s[number] = self._env.now
        for follower in self._followers[number]:
            self._missing[follower] -= 1
            if not self._missing[follower]:
                self._begin(follower)
