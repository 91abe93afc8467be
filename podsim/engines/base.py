"""What an engine is, and how its task times become a timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from podsim.model.program import Block, Part, Span, StepProgram, StepTimeline, TaskKind


class Linked(Protocol):
    """What an engine asks of a network."""

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]."""
        ...


class Engine(Protocol):
    """Decides when each task of a program runs; holds no physics."""

    def __call__(self, program: StepProgram, fabric: Linked) -> StepTimeline:
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
        block, length_s = run.block, run.length_s
        pipeline_s += length_s * block.repeat if block.pipeline else 0.0
        path = between if block.pipeline else after
        for part, seconds in _critical_path(run):
            path[part] += seconds * block.repeat
        spans += [
            Span(task.name, task.where, task.kind, task.part, clock + start_s, clock + end_s)
            for task, start_s, end_s in zip(block.tasks, run.start_s, run.end_s, strict=True)
        ]
        clock += length_s * block.repeat
    inside = _with_bubble(program, between, pipeline_s)
    return StepTimeline(
        step_s=clock,
        period_s=_period_s(program, runs),
        breakdown_s={part: inside[part] + after[part] for part in Part},
        spans=tuple(spans),
        events=sum(run.events for run in runs),
    )


def _period_s(program: StepProgram, runs: Sequence[BlockRun]) -> float:
    """The longest pipeline block, in which every stage works; without barriers the work of the busiest IPU."""
    cycles = [run.length_s for run in runs if run.block.pipeline]
    return max(cycles, default=0.0) if len(cycles) > 1 or program.micro_batches == 1 else _alone(program, runs, cycles)


def _alone(program: StepProgram, runs: Sequence[BlockRun], cycles: Sequence[float]) -> float:
    if any(run.block.pipeline and run.block.repeat == program.micro_batches for run in runs):
        return cycles[0]
    return sum(seconds for _, seconds in program.steady) / program.micro_batches


def _critical_path(run: BlockRun) -> list[tuple[Part, float]]:
    """Parts of the chain of tasks that ends last; a pipeline's work on its IPUs is left to `_with_bubble`."""
    tasks = run.block.tasks
    here = max(range(len(tasks)), key=lambda i: (run.end_s[i], -i), default=None)
    parts: list[tuple[Part, float]] = []
    while here is not None:
        task = tasks[here]
        if not (run.block.pipeline and task.kind is TaskKind.COMPUTE):
            parts += [(part, seconds * task.repeat) for part, seconds in task.cut]
            parts.append((task.part, run.flow_s[here]))
        here = max(task.needs, key=lambda i: (run.end_s[i], -i), default=None)
    return parts


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
