"""What an engine is, and how its task times become a timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from podsim.model.program import Block, Part, Span, StepProgram, StepTimeline, TaskKind
from podsim.topology.fabric import Fabric


class Engine(Protocol):
    """Decides when each task of a program runs; holds no physics."""

    def __call__(self, program: StepProgram, fabric: Fabric) -> StepTimeline:
        """The timeline of one step."""
        ...


@dataclass(frozen=True, slots=True)
class BlockRun:
    """One block as it ran once, from its own zero; `flow_s` is what the flows of each task took in all."""

    block: Block
    start_s: Sequence[float]
    end_s: Sequence[float]
    flow_s: Sequence[float]
    events: int

    @property
    def length_s(self) -> float:
        """Barrier to barrier, once [s]."""
        return max(self.end_s, default=0.0)


def timeline(program: StepProgram, runs: Sequence[BlockRun]) -> StepTimeline:
    """Blocks after each other, each as often as it repeats; the breakdown adds up to the step."""
    between, after = dict.fromkeys(Part, 0.0), dict.fromkeys(Part, 0.0)
    pipeline_s, spans, clock = 0.0, [], 0.0
    for run in runs:
        block, own = run.block, _own(run.block)
        own_s = max(run.end_s[:own], default=0.0)
        pipeline_s += own_s * block.repeat
        for path, (part, seconds) in _parts(run, own, own_s, between, after):
            path[part] += seconds * block.repeat
        spans += [
            Span(task.name, task.where, task.kind, task.part, clock + start_s, clock + end_s)
            for task, start_s, end_s in zip(block.tasks, run.start_s, run.end_s, strict=True)
        ]
        clock += run.length_s * block.repeat
    inside = _with_bubble(program, between, pipeline_s)
    return StepTimeline(
        step_s=clock,
        period_s=_period_s(program, runs),
        breakdown_s={part: inside[part] + after[part] for part in Part},
        spans=tuple(spans),
        events=sum(run.events for run in runs),
    )


def _own(block: Block) -> int:
    """How many tasks of a block, from its first, are the pipeline's."""
    return len(block.tasks) - (block.after or 0) if block.pipeline else 0


def _period_s(program: StepProgram, runs: Sequence[BlockRun]) -> float:
    """The longest turn, in which every stage works; without barriers the work of the busiest IPU."""
    turns = [run.length_s for run in runs if run.block.pipeline and run.block.after is None]
    return max(turns) if turns else sum(seconds for _, seconds in program.steady) / program.micro_batches


Booked = Iterator[tuple[dict[Part, float], tuple[Part, float]]]


def _parts(run: BlockRun, own: int, own_s: float, between: dict[Part, float], after: dict[Part, float]) -> Booked:
    """What a block books where: the chain that ends its pipeline, and of the chain that ends it what shows beyond.

    A pipeline's work on its IPUs is left to `_with_bubble`.
    """
    for here in _chain(run, own):
        task = run.block.tasks[here]
        if task.kind is not TaskKind.COMPUTE:
            yield from ((between, item) for item in _times(run, here))
    if run.length_s <= own_s:
        return
    for here in _chain(run, len(run.block.tasks)):
        if run.end_s[here] <= own_s:
            return
        whole_s = run.end_s[here] - run.start_s[here]
        shown = min(1.0, (run.end_s[here] - own_s) / whole_s) if whole_s else 0.0
        yield from ((after, (part, seconds * shown)) for part, seconds in _times(run, here))


def _chain(run: BlockRun, count: int) -> Iterator[int]:
    """Of the first so many tasks the one that ends last, and each that the one before had to follow."""
    here = max(range(count), key=lambda i: (run.end_s[i], -i), default=None)
    while here is not None:
        yield here
        here = max(run.block.tasks[here].needs, key=lambda i: (run.end_s[i], -i), default=None)


def _times(run: BlockRun, here: int) -> Iterator[tuple[Part, float]]:
    task = run.block.tasks[here]
    yield from ((part, seconds * task.repeat) for part, seconds in task.cut)
    yield task.part, run.flow_s[here]


def _with_bubble(program: StepProgram, between: dict[Part, float], pipeline_s: float) -> dict[Part, float]:
    """The busiest IPU's work counts in full; what the pipeline takes beyond it and its transfers is bubble (Eq. 18)."""
    work = dict.fromkeys(Part, 0.0)
    for part, seconds in program.steady:
        work[part] += seconds
    spare_s = max(0.0, pipeline_s - sum(work.values()))
    between_s = sum(between.values())
    # Where stages overlap their transfers (1F1B) the path may hold more of them than the busiest IPU waits for.
    exposed = min(1.0, spare_s / between_s) if between_s > 0 else 0.0
    result = {part: work[part] + between[part] * exposed for part in Part}
    result[Part.BUBBLE] = max(0.0, pipeline_s - sum(result.values()))
    return result
