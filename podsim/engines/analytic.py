"""The fast bound: longest path through each block, every flow group alone on the fabric."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from podsim.engines.base import BlockRun, Linked, timeline
from podsim.model.program import Block, Flow, StepProgram, StepTimeline
from podsim.physics.links import alone_s


def run(program: StepProgram, fabric: Linked) -> StepTimeline:
    """The timeline of one step; contention inside a flow group is counted, between groups it is not."""
    alone = _KNOWN.get(fabric) or _KNOWN.setdefault(fabric, _Alone(fabric.capacities))
    return timeline(program, [_block(block, alone) for block in program.blocks])


class _Alone:
    """What each flow group takes alone [s], asked once for equal ones; `capacities` may grow."""

    def __init__(self, capacities: Sequence[float]) -> None:
        self._capacities = capacities
        self._by_flows: dict[tuple[Flow, ...], float] = {}

    def seconds(self, flows: tuple[Flow, ...]) -> float:
        """Seconds that the group takes alone on the fabric [s]."""
        seconds = self._by_flows.get(flows)
        if seconds is None:
            seconds = self._by_flows[flows] = alone_s(flows, self._capacities)
        return seconds


# Searches run hundreds of programs on one fabric, most with groups of flows in common.
_KNOWN: WeakKeyDictionary[Linked, _Alone] = WeakKeyDictionary()


def _block(block: Block, alone: _Alone) -> BlockRun:
    start: list[float] = []
    end: list[float] = []
    flow: list[float] = []
    for task in block.tasks:
        flow_s = alone.seconds(task.flows) * task.repeat if task.flows else 0.0
        needs = task.needs
        begin = end[needs[0]] if len(needs) == 1 else max([end[need] for need in needs], default=0.0)
        start.append(begin)
        flow.append(flow_s)
        end.append(begin + task.fixed_s * task.repeat + flow_s)
    return BlockRun(block, start, end, flow, len(block.tasks))
