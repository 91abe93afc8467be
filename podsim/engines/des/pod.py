"""The discrete-event engine: every task a SimPy process, flows sharing links as they meet."""

from dataclasses import dataclass, field

import simpy

from podsim.engines.base import BlockRun, timeline
from podsim.engines.des.fabric import SharedLinks
from podsim.model.program import Block, StepProgram, StepTimeline, Task
from podsim.topology.fabric import Fabric


def run(program: StepProgram, fabric: Fabric) -> StepTimeline:
    """The timeline of one step. Blocks meet at barriers, so each starts with idle links."""
    return timeline(program, [_Simulation(block, fabric).run() for block in program.blocks])


@dataclass
class _Simulation:
    """One block from its barrier to the next."""

    block: Block
    fabric: Fabric
    start_s: list[float] = field(default_factory=list)
    end_s: list[float] = field(default_factory=list)
    flow_s: list[float] = field(default_factory=list)

    def run(self) -> BlockRun:
        """Run all tasks to their end."""
        env = simpy.Environment()
        links = SharedLinks(env, self.fabric.capacities)
        size = len(self.block.tasks)
        self.start_s, self.end_s, self.flow_s = [0.0] * size, [0.0] * size, [0.0] * size
        processes: list[simpy.Process] = []
        for number, task in enumerate(self.block.tasks):
            needs = [processes[need] for need in task.needs]
            processes.append(env.process(self._task(env, links, number, task, needs)))
        env.run()
        return BlockRun(self.block, self.start_s, self.end_s, self.flow_s, size + links.solves)

    def _task(
        self, env: simpy.Environment, links: SharedLinks, number: int, task: Task, needs: list[simpy.Process]
    ) -> simpy.events.ProcessGenerator:
        if needs:
            yield env.all_of(needs) if len(needs) > 1 else needs[0]
        self.start_s[number] = env.now
        if not task.flows:
            yield env.timeout(task.fixed_s * task.repeat)
        for _ in range(task.repeat if task.flows else 0):
            yield env.timeout(task.fixed_s)
            began_s = env.now
            yield links.send(task.flows)
            self.flow_s[number] += env.now - began_s
        self.end_s[number] = env.now
