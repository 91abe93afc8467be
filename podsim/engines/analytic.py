"""The fast bound: longest path through each block, every flow group alone on the fabric."""

from collections.abc import Sequence

from podsim.caches.tables import TABLES, ObjectTable, Table
from podsim.engines.base import MOST_FABRICS, MOST_RUNS, BlockRun, LinkRates, RunsOfBlocks, timeline
from podsim.model.program import Block, Flow, StepProgram, StepTimeline
from podsim.physics.links import alone_s


def run(program: StepProgram, fabric: LinkRates) -> StepTimeline:
    """The timeline of one step; contention inside a flow group is counted, between groups it is not."""
    alone = _BLOCK_TIMES.remember(fabric, lambda: _Alone(fabric.capacities))
    return timeline(program, [alone.runs.remember(block, alone.run) for block in program.blocks])


class _Alone:
    """What each flow group takes alone [s], asked once for equal ones; `capacities` may grow."""

    def __init__(self, capacities: Sequence[float]) -> None:
        self._capacities = capacities
        self._by_flows: Table[tuple[Flow, ...], float] = Table(MOST_GROUPS)
        self.runs = RunsOfBlocks(capacities, _RUNS)

    def seconds(self, flows: tuple[Flow, ...]) -> float:
        """Seconds that the group takes alone on the fabric [s]."""
        return self._by_flows.remember(flows, lambda: alone_s(flows, self._capacities))

    def run(self, block: Block) -> BlockRun:
        """The longest path through a block."""
        start: list[float] = []
        end: list[float] = []
        flow: list[float] = []
        for task in block.tasks:
            flow_s = self.seconds(task.flows) * task.repeat if task.flows else 0.0
            needs = task.needs
            begin = end[needs[0]] if len(needs) == 1 else max([end[need] for need in needs], default=0.0)
            start.append(begin)
            flow.append(flow_s)
            end.append(begin + task.fixed_s * task.repeat + flow_s)
        return BlockRun(block, start, end, flow, len(block.tasks))


# Searches run hundreds of programs on one fabric, most with groups of flows in common.
_BLOCK_TIMES = TABLES.add("times of blocks by formula, by fabric", ObjectTable[LinkRates, _Alone](MOST_FABRICS))
_RUNS: Table[object, BlockRun] = TABLES.add("runs of blocks by formula", Table(MOST_RUNS))
MOST_GROUPS = 4096
