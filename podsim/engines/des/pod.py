"""The discrete-event engine: every task an event of SimPy, flows sharing links as they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from podsim.engines.base import BlockRun, Linked, timeline
from podsim.engines.des.fabric import SharedLinks, Turn
from podsim.engines.des.record import link_uses
from podsim.engines.des.sharing import Sharings
from podsim.model.program import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.program import Block, StepProgram, StepTimeline, Task


def run(program: StepProgram, fabric: Linked, *, record: Record = Record.NOTHING) -> StepTimeline:
    """The timeline of one step. Blocks meet at barriers, so each starts with idle links."""
    sharings = Sharings(fabric.capacities)
    plans: dict[int, _Plan] = {}
    for block in program.blocks:
        if id(block.tasks) not in plans:
            plans[id(block.tasks)] = _Plan(block.tasks, sharings)
    return timeline(program, [_Simulation(block, plans[id(block.tasks)], record).run() for block in program.blocks])


class _Plan:
    """Tasks of a block as the simulation looks at them."""

    def __init__(self, tasks: tuple[Task, ...], sharings: Sharings) -> None:
        self.links = SharedLinks(sharings, [task.flows for task in tasks if task.flows])
        # Equal tasks have one cut, which is summed once.
        fixed_s = {id(task.cut): task.fixed_s for task in {id(task.cut): task for task in tasks}.values()}
        self.turns = [task.repeat if task.flows else 0 for task in tasks]
        self.fixed_s = [fixed_s[id(task.cut)] * (1 if task.flows else task.repeat) for task in tasks]
        self.missing = [len(task.needs) for task in tasks]
        self.followers: list[list[int]] = [[] for _ in tasks]
        for number, task in enumerate(tasks):
            for need in task.needs:
                self.followers[need].append(number)


class _Simulation:
    """One block from its barrier to the next.

    A task counts what it still needs, then is an event with a callback: a process would do nothing but wait for it.
    """

    def __init__(self, block: Block, plan: _Plan, record: Record) -> None:
        self._block, self._plan, self._record = block, plan, record
        size = len(block.tasks)
        self._start_s, self._end_s, self._flow_s = [0.0] * size, [0.0] * size, [0.0] * size
        self._turns = plan.turns.copy()

    def run(self) -> BlockRun:
        """Run all tasks to their end."""
        env = simpy.Environment()
        begin = self._begin(env)
        for number, missing in enumerate(self._plan.missing):
            if not missing:
                begin(number)
        env.run()
        turns = sum(self._plan.turns) + self._plan.turns.count(0)
        links = self._plan.links
        uses = link_uses(links.used or (), self._record)
        return BlockRun(self._block, self._start_s, self._end_s, self._flow_s, turns + links.events, uses)

    def _begin(self, env: simpy.Environment) -> Callable[[int], None]:
        """Starts a task; what a task needs at each event is at hand in local names, as there are many events."""
        tasks, fixed_s, followers = self._block.tasks, self._plan.fixed_s, self._plan.followers
        start_s, end_s, flow_s, turns = self._start_s, self._end_s, self._flow_s, self._turns
        missing, sent_s, timeout = self._plan.missing.copy(), [0.0] * len(tasks), env.timeout

        def begin(number: int) -> None:
            start_s[number] = env.now
            timeout(fixed_s[number], number).callbacks.append(then[number])

        def done(turn: Turn) -> None:
            number = turn.value
            end_s[number] = now_s = env.now
            for follower in followers[number]:
                if missing[follower] > 1:
                    missing[follower] -= 1
                else:
                    start_s[follower] = now_s
                    timeout(fixed_s[follower], follower).callbacks.append(then[follower])

        def send(turn: Turn) -> None:
            number = turn.value
            sent_s[number] = env.now
            links.send(tasks[number].flows, turn)

        def through(turn: Turn) -> None:
            number = turn.value
            flow_s[number] += env.now - sent_s[number]
            turns[number] -= 1
            if turns[number]:
                timeout(fixed_s[number], number).callbacks.append(send)
            else:
                done(turn)

        then = [send if task.flows else done for task in tasks]
        links = self._plan.links
        links.open(env, through, recorded=self._record is not Record.NOTHING)
        return begin
