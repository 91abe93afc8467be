"""The fast bound: longest path through each block, every flow group alone on the fabric."""

from podsim.engines.base import BlockRun, Linked, timeline
from podsim.model.program import Block, Flow, StepProgram, StepTimeline
from podsim.physics.links import alone_s


def run(program: StepProgram, fabric: Linked) -> StepTimeline:
    """The timeline of one step; contention inside a flow group is counted, between groups it is not."""
    known: dict[tuple[Flow, ...], float] = {}
    return timeline(program, [_block(block, fabric, known) for block in program.blocks])


def _block(block: Block, fabric: Linked, known: dict[tuple[Flow, ...], float]) -> BlockRun:
    start: list[float] = []
    end: list[float] = []
    flow: list[float] = []
    for task in block.tasks:
        if task.flows and task.flows not in known:
            known[task.flows] = alone_s(task.flows, fabric.capacities)
        flow_s = known[task.flows] * task.repeat if task.flows else 0.0
        begin = max((end[need] for need in task.needs), default=0.0)
        start.append(begin)
        flow.append(flow_s)
        end.append(begin + task.fixed_s * task.repeat + flow_s)
    return BlockRun(block, start, end, flow, len(block.tasks))
