"""What an engine is, and how its task times become a timeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from podsim.model.program import Block, LinkUse, Part, Span, StepProgram, StepTimeline, TaskKind
from podsim.model.residue import RESIDUE, cleaned
from podsim.model.sums import sum_in_order


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
    links: Sequence[LinkUse] = ()

    @property
    def length_s(self) -> float:
        """Barrier to barrier, once [s]."""
        return max(self.end_s, default=0.0)


def timeline(program: StepProgram, runs: Sequence[BlockRun]) -> StepTimeline:
    """Blocks after each other, each as often as it repeats; the breakdown adds up to the step (Eq. 18)."""
    busiest = _busiest(runs)
    parts = dict.fromkeys(Part, 0.0)
    for part, seconds in program.steady:
        parts[part] += seconds
    bubble_s, clock = -sum_in_order(parts.values()), 0.0
    spans: list[Span] = []
    for run in runs:
        block, length_s = run.block, run.length_s
        own_s = max(run.end_s[: _own(block)], default=0.0)
        bubble_s += own_s * block.repeat
        for part, seconds in _idle(run, own_s, busiest):
            parts[part] += seconds * block.repeat
            bubble_s -= seconds * block.repeat
        if length_s > own_s:
            for part, seconds in _shown(run, _first_of_last(run, len(block.tasks)), own_s):
                parts[part] += seconds * block.repeat
        spans += map(
            Span,
            [task.name for task in block.tasks],
            [task.where for task in block.tasks],
            [task.kind for task in block.tasks],
            [task.part for task in block.tasks],
            [clock + start_s for start_s in run.start_s],
            [clock + end_s for end_s in run.end_s],
        )
        clock += length_s * block.repeat
    parts[Part.BUBBLE] = max(0.0, bubble_s)  # what is left: of a run without a pipeline rounding alone
    return StepTimeline(
        step_s=clock,
        period_s=_period_s(program, runs),
        breakdown_s=cleaned(parts, clock),
        spans=tuple(spans),
        events=sum(run.events for run in runs),
        links=_link_uses(runs),
    )


def _link_uses(runs: Sequence[BlockRun]) -> tuple[LinkUse, ...]:
    """Uses of all blocks by link; bytes and seconds as often as a block repeats."""
    uses: dict[int, list[LinkUse]] = {}
    clock = 0.0
    for run in runs:
        for use in run.links:
            load = tuple((clock + start_s, clock + end_s, rate) for start_s, end_s, rate in use.load)
            times = run.block.repeat
            whole = LinkUse(use.link, use.moved_bytes * times, use.busy_s * times, load)
            uses.setdefault(use.link, []).append(whole)
        clock += run.length_s * run.block.repeat
    return tuple(
        LinkUse(
            link,
            sum_in_order(use.moved_bytes for use in uses),
            sum_in_order(use.busy_s for use in uses),
            tuple(piece for use in uses for piece in use.load),
        )
        for link, uses in sorted(uses.items())
    )


def _own(block: Block) -> int:
    """How many tasks of a block, from its first, are the pipeline's."""
    return len(block.tasks) - (block.after or 0) if block.pipeline else 0


def _busiest(runs: Sequence[BlockRun]) -> int:
    """The IPU with most work in the pipeline, the first of equal ones."""
    busy_s: dict[int, float] = {}
    for block in (run.block for run in runs):
        for task in block.tasks[: _own(block)]:
            if task.kind is TaskKind.COMPUTE:
                busy_s[task.where] = busy_s.get(task.where, 0.0) + task.fixed_s * task.repeat * block.repeat
    most_s = max(busy_s.values(), default=0.0)
    return min((where for where, seconds in busy_s.items() if seconds >= most_s * (1 - RESIDUE)), default=-1)


def _period_s(program: StepProgram, runs: Sequence[BlockRun]) -> float:
    """The longest turn, in which every stage works; without barriers the work of the busiest IPU; in phases all."""
    if phases := [run for run in runs if run.block.micro_batch]:
        return sum_in_order(run.length_s * run.block.repeat for run in phases) / program.micro_batches
    turns = [run.length_s for run in runs if run.block.pipeline and run.block.after is None]
    return max(turns) if turns else sum_in_order(seconds for _, seconds in program.steady) / program.micro_batches


def _idle(run: BlockRun, own_s: float, busiest: int) -> Iterator[tuple[Part, float]]:
    """What the busiest IPU waits for: of the chain that ends each wait all but work, which is bubble and remains."""
    own, free_s = _own(run.block), 0.0
    for at, task in enumerate(run.block.tasks[:own]):
        if task.where == busiest and task.kind is TaskKind.COMPUTE:
            if run.start_s[at] > free_s:
                yield from _shown(run, _last(run, task.needs), free_s)
            free_s = run.end_s[at]
    if own_s > free_s:
        yield from _shown(run, _first_of_last(run, own), free_s)


def _shown(run: BlockRun, here: int | None, begin_s: float) -> Iterator[tuple[Part, float]]:
    """Parts of the chain of tasks that leads to `here`, from `begin_s` on; not the work of a pipeline."""
    own = _own(run.block)
    while here is not None and run.end_s[here] > begin_s:
        task, whole_s = run.block.tasks[here], run.end_s[here] - run.start_s[here]
        if whole_s and not (here < own and task.kind is TaskKind.COMPUTE):
            shown = (run.end_s[here] - max(run.start_s[here], begin_s)) / whole_s
            yield from ((part, seconds * task.repeat * shown) for part, seconds in task.cut)
            yield task.part, run.flow_s[here] * shown
        here = _last(run, task.needs)


def _first_of_last(run: BlockRun, count: int) -> int | None:
    """Of the first so many tasks the one that ends last."""
    ends_s = run.end_s[:count]
    return ends_s.index(max(ends_s)) if count else None


def _last(run: BlockRun, among: tuple[int, ...]) -> int | None:
    """The task that ends last, the first of equal ones."""
    if len(among) < 2:
        return among[0] if among else None
    return max(among, key=lambda at: (run.end_s[at], -at))
