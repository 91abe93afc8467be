"""Event simulation: every task an event of SimPy, flows sharing links as they meet."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import simpy

from podsim.caches.tables import TABLES, ObjectTable, Table
from podsim.engines.base import MOST_FABRICS, MOST_RUNS, BlockRun, LinkRates, RunsOfBlocks, timeline
from podsim.engines.des.flows import SharedLinks
from podsim.engines.des.record import link_uses
from podsim.engines.des.sharing import Sharings
from podsim.model.program import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.program import Block, StepProgram, StepTimeline, Task


# Of programs that differ in their micro-batches alone most blocks are the same.
_BLOCK_RUNS = TABLES.add("runs of blocks as events, by fabric", ObjectTable[LinkRates, RunsOfBlocks](MOST_FABRICS))
_RUNS: Table[object, BlockRun] = TABLES.add("runs of blocks as events", Table(MOST_RUNS))


def run(program: StepProgram, fabric: LinkRates, *, record: Record = Record.NOTHING) -> StepTimeline:
    """The timeline of one step. Blocks meet at barriers, so each starts with idle links."""
    sharings = Sharings(fabric.capacities)
    plans: dict[int, _Plan] = {}

    def simulate(block: Block) -> BlockRun:
        if id(block.tasks) not in plans:
            plans[id(block.tasks)] = _Plan(block.tasks, sharings)
        return _BlockSimulation(block, plans[id(block.tasks)], record).run()

    if record is not Record.NOTHING:
        return timeline(program, [simulate(block) for block in program.blocks])
    block_runs = _BLOCK_RUNS.remember(fabric, lambda: RunsOfBlocks(fabric.capacities, _RUNS))
    return timeline(program, [block_runs.remember(block, simulate) for block in program.blocks])


class _Plan:
    """Tasks of a block as the simulation looks at them."""

    def __init__(self, tasks: tuple[Task, ...], sharings: Sharings) -> None:
        self.links = SharedLinks(sharings, [task.flows for task in tasks])
        self.sends = [bool(task.flows) for task in tasks]
        self.turns = [task.repeat if task.flows else 1 for task in tasks]
        self.events = sum(self.turns)
        self.fixed_s = [task.fixed_s if task.flows else task.fixed_s * task.repeat for task in tasks]
        self.missing = [len(task.needs) for task in tasks]
        self.followers: list[list[int]] = [[] for _ in tasks]
        for number, task in enumerate(tasks):
            for need in task.needs:
                self.followers[need].append(number)


class _BlockSimulation:
    """One block from its barrier to the next.

    A task counts what it still needs, then is an event with a callback: a process would do nothing but wait for it.
    """

    def __init__(self, block: Block, plan: _Plan, record: Record) -> None:
        self._block, self._plan, self._record = block, plan, record
        self._start_s, self._end_s = [0.0] * len(block.tasks), [0.0] * len(block.tasks)

    def run(self) -> BlockRun:
        """Run all tasks to their end."""
        env, plan = simpy.Environment(), self._plan
        begin = self._begin(env)
        for number, missing in enumerate(plan.missing):
            if not missing:
                begin(number)
        env.run()
        uses = link_uses(plan.links.used or (), self._record)
        times = zip(plan.sends, plan.fixed_s, plan.turns, self._start_s, self._end_s, strict=True)
        flow_s = [
            max(0.0, end_s - start_s - fixed_s * turns) if sends else 0.0
            for sends, fixed_s, turns, start_s, end_s in times
        ]
        return BlockRun(self._block, self._start_s, self._end_s, flow_s, plan.events + plan.links.events, uses)

    def _begin(self, env: simpy.Environment) -> Callable[[int], None]:
        """Starts a task; what an event needs is at hand in local names, as there are many events."""
        fixed_s, followers, links = self._plan.fixed_s, self._plan.followers, self._plan.links
        start_s, end_s, timeout = self._start_s, self._end_s, env.timeout
        missing, turns = self._plan.missing.copy(), self._plan.turns.copy()

        def begin(number: int) -> None:
            timeout(fixed_s[number]).callbacks.append(then[number])

        def finish(number: int, _event: simpy.Event | None = None) -> None:
            end_s[number] = now_s = env.now
            for follower in followers[number]:
                if (needs := missing[follower]) > 1:
                    missing[follower] = needs - 1
                else:
                    start_s[follower] = now_s
                    timeout(fixed_s[follower]).callbacks.append(then[follower])

        def through(number: int) -> None:
            if turns[number] > 1:
                turns[number] -= 1
                begin(number)
            else:
                finish(number)

        send = links.send
        then = [partial(send if sends else finish, number) for number, sends in enumerate(self._plan.sends)]
        links.open(env, through, recorded=self._record is not Record.NOTHING)
        return begin
