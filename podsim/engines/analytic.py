"""The fast bound: longest path through each block, every flow group alone on the fabric."""

from podsim.engines.base import BlockRun, timeline
from podsim.model.program import Block, StepProgram, StepTimeline
from podsim.topology.fabric import Fabric


def run(program: StepProgram, fabric: Fabric) -> StepTimeline:
    """The timeline of one step; contention inside a flow group is counted, between groups it is not."""
    return timeline(program, [_block(block, fabric) for block in program.blocks])


def _block(block: Block, fabric: Fabric) -> BlockRun:
    start: list[float] = []
    end: list[float] = []
    flow: list[float] = []
    for task in block.tasks:
        flow_s = fabric.alone_s(task.flows) * task.repeat if task.flows else 0.0
        begin = max((end[need] for need in task.needs), default=0.0)
        start.append(begin)
        flow.append(flow_s)
        end.append(begin + task.fixed_s * task.repeat + flow_s)
    return BlockRun(block, start, end, flow, len(block.tasks))
