"""What an engine is, and how its task times become a timeline."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, overload

from podsim.caches.tables import Table
from podsim.model.program import Block, KeptTasks, LinkUse, Part, Span, StepProgram, StepTimeline, TaskKind
from podsim.model.sums import RESIDUE, clean_residue, sum_in_order

MOST_FABRICS = 32  # whose blocks stay known: a search has a few dozen
MOST_RUNS = 4096  # of blocks that are kept for each fabric and for all, some kB each
MOST_LINKS = 512  # of a block that is found again on another fabric: more are soon no quicker to compare


class LinkRates(Protocol):
    """What an engine asks of a network."""

    @property
    def capacities(self) -> Sequence[float]:
        """Rate of each link by number [B/s]."""
        ...


class Engine(Protocol):
    """Decides when each task of a program runs; holds no physics."""

    def __call__(self, program: StepProgram, fabric: LinkRates) -> StepTimeline:
        """The timeline of one step."""
        ...


@dataclass(frozen=True)  # without slots, so that what a timeline asks of it is worked out once
class BlockRun:
    """One block as it ran once, from its own zero; `flow_s` is what the flows of each task took in all.

    It stands for every block of the same tasks, however often that repeats.
    """

    block: Block
    start_s: Sequence[float]
    end_s: Sequence[float]
    flow_s: Sequence[float]
    events: int
    links: Sequence[LinkUse] = ()
    _idle_s: dict[int, tuple[tuple[Part, float], ...]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def length_s(self) -> float:
        """Barrier to barrier, once [s]: of a grouped pipeline the time of a cycle (Eq. 15).

        Validity: all tasks of the block end before the next block begins; 0 for a block without tasks. Source: derived:
        the latest end of its tasks; graphcore-examples for the cycles of a grouped pipeline.
        """
        return max(self.end_s, default=0.0)

    @cached_property
    def own(self) -> int:
        """How many tasks, from the first, are the pipeline's."""
        return len(self.block.tasks) - (self.block.after or 0) if self.block.pipeline else 0

    @cached_property
    def own_s(self) -> float:
        """When the last of them ends [s]."""
        return max(self.end_s[: self.own], default=0.0)

    @cached_property
    def work_s(self) -> tuple[tuple[int, float], ...]:
        """The IPU of every computation of the pipeline, and how long it takes [s]."""
        own = self.block.tasks[: self.own]
        return tuple((task.where, task.fixed_s * task.repeat) for task in own if task.kind is TaskKind.COMPUTE)

    @cached_property
    def in_line(self) -> frozenset[int]:
        """The IPUs of the pipeline whose inputs a framework loads between micro-batches."""
        own = self.block.tasks[: self.own]
        loads = {at for at, task in enumerate(own) if task.part is Part.FRAMEWORK}
        if not loads:
            return frozenset()
        return frozenset(
            task.where for task in own if task.kind is TaskKind.COMPUTE and not loads.isdisjoint(task.needs)
        )

    @cached_property
    def after_s(self) -> tuple[tuple[Part, float], ...]:
        """What goes on once the pipeline is through, by part [s]."""
        if self.length_s <= self.own_s:
            return ()
        return tuple(_critical_parts(self, _first_of_last(self, len(self.block.tasks)), self.own_s))

    def idle_s(self, busiest: int) -> tuple[tuple[Part, float], ...]:
        """What the busiest IPU waits for in the pipeline, by part [s]."""
        if busiest not in self._idle_s:
            self._idle_s[busiest] = tuple(_idle(self, busiest))
        return self._idle_s[busiest]


class RunsOfBlocks:
    """Runs on one fabric of blocks whose tasks several programs share, by their number; others run each time.

    `elsewhere` holds runs on all fabrics: where the links that a block crosses have the same rates, so is its run.
    """

    def __init__(self, capacities: Sequence[float], elsewhere: Table[object, BlockRun]) -> None:
        self._capacities, self._elsewhere = capacities, elsewhere
        self._known: Table[object, BlockRun] = Table(MOST_RUNS)

    def remember(self, block: Block, run: Callable[[Block], BlockRun]) -> BlockRun:
        """The run of a block, or of one of the same tasks."""
        tasks = block.tasks
        if not isinstance(tasks, KeptTasks):
            return run(block)
        key = tasks.number, block.pipeline, block.after
        return self._known.remember(key, lambda: self._on_any_fabric(block, tasks.links, key, run))

    def _on_any_fabric(
        self, block: Block, links: Sequence[int], key: object, run: Callable[[Block], BlockRun]
    ) -> BlockRun:
        if len(links) > MOST_LINKS:
            return run(block)
        rates = tuple([self._capacities[link] for link in links])
        return self._elsewhere.remember((key, links, rates), lambda: run(block))


class TaskSpans(Sequence[Span]):
    """Every task of a step as it ran, from the first block to the last; put together once somebody looks."""

    def __init__(self, runs: Sequence[tuple[float, BlockRun]]) -> None:
        self._runs = runs

    @cached_property
    def _all(self) -> tuple[Span, ...]:
        return tuple(
            Span(task.name, task.where, task.kind, task.part, clock + start_s, clock + end_s)
            for clock, run in self._runs
            for task, start_s, end_s in zip(run.block.tasks, run.start_s, run.end_s, strict=True)
        )

    @overload
    def __getitem__(self, at: int) -> Span: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Span, ...]: ...

    def __getitem__(self, at: int | slice) -> Span | tuple[Span, ...]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Span]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)


def timeline(program: StepProgram, runs: Sequence[BlockRun]) -> StepTimeline:
    """Blocks after each other, each as often as it repeats [s]; the breakdown adds up to the step.

    Parameters: `program`, one step; `runs`, one for each of its blocks, in their order, with start and end of each task
    [s]. Result: length of the step, its parts and the time of one more micro-batch [s], and what links carried.

    Equation: bubble = pipeline - work of the busiest IPU - transfers, syncs and inputs that it waits for (Eq. 18).
    Validity: a barrier between blocks; equal blocks take equal times; beside the pipeline only what ends after it
    counts. Source: derived: the parts add up to the step by definition, waits by the chain of tasks that ends each.
    """
    busy_s = _busy_s(program, runs)
    busiest = _busiest(busy_s)
    parts = dict.fromkeys(Part, 0.0)
    for part, seconds in program.steady:
        parts[part] += seconds
    bubble_s, clock = -sum_in_order(parts.values()), 0.0
    starts: list[tuple[float, BlockRun]] = []
    for block, run in zip(program.blocks, runs, strict=True):
        bubble_s += run.own_s * block.repeat
        for part, seconds in run.idle_s(busiest):
            parts[part] += seconds * block.repeat
            bubble_s -= seconds * block.repeat
        for part, seconds in run.after_s:
            parts[part] += seconds * block.repeat
        starts.append((clock, run))
        clock += run.length_s * block.repeat
    held_s = min(max(0.0, bubble_s), _held_s(program, runs, busy_s, busiest))
    parts[Part.FRAMEWORK] += held_s
    parts[Part.BUBBLE] = max(0.0, bubble_s - held_s)  # what is left: of a run without a pipeline rounding alone
    return StepTimeline(
        step_s=clock,
        period_s=_period_s(program, runs),
        breakdown_s=clean_residue(parts, clock),
        spans=TaskSpans(starts),
        events=sum(run.events for run in runs),
        links=_link_uses(program, runs),
        micro_batches=program.micro_batches,
    )


def _link_uses(program: StepProgram, runs: Sequence[BlockRun]) -> tuple[LinkUse, ...]:
    """Uses of all blocks by link; bytes and seconds as often as a block repeats."""
    uses: dict[int, list[LinkUse]] = {}
    clock = 0.0
    for block, run in zip(program.blocks, runs, strict=True):
        for use in run.links:
            load = tuple((clock + start_s, clock + end_s, rate) for start_s, end_s, rate in use.load)
            whole = LinkUse(use.link, use.moved_bytes * block.repeat, use.busy_s * block.repeat, load)
            uses.setdefault(use.link, []).append(whole)
        clock += run.length_s * block.repeat
    return tuple(
        LinkUse(
            link,
            sum_in_order(use.moved_bytes for use in uses),
            sum_in_order(use.busy_s for use in uses),
            tuple(piece for use in uses for piece in use.load),
        )
        for link, uses in sorted(uses.items())
    )


def _busy_s(program: StepProgram, runs: Sequence[BlockRun]) -> dict[int, float]:
    """The work of each IPU in the pipeline [s]."""
    busy_s: dict[int, float] = {}
    for block, run in zip(program.blocks, runs, strict=True):
        for where, seconds in run.work_s:
            busy_s[where] = busy_s.get(where, 0.0) + seconds * block.repeat
    return busy_s


def _held_s(program: StepProgram, runs: Sequence[BlockRun], busy_s: Mapping[int, float], busiest: int) -> float:
    """How long the busiest IPU waits for a stage that its inputs hold up, beyond waits for inputs of its own [s].

    The first stage takes its work and its waits for inputs in line. By so much as that is more than the work of the
    busiest, every stage behind it waits, each for the one before and none for inputs.
    """
    input_ipus = frozenset().union(*(run.in_line for run in runs))
    if not input_ipus:
        return 0.0
    both = list(zip(program.blocks, runs, strict=True))

    def taken_s(where: int) -> float:
        idle = (s * block.repeat for block, run in both for part, s in run.idle_s(where) if part is Part.FRAMEWORK)
        return busy_s[where] + sum_in_order(idle)

    return max(map(taken_s, input_ipus | {busiest})) - taken_s(busiest)


def _busiest(busy_s: Mapping[int, float]) -> int:
    """The IPU with most work in the pipeline, the first of equal ones."""
    most_s = max(busy_s.values(), default=0.0)
    return min((where for where, seconds in busy_s.items() if seconds >= most_s * (1 - RESIDUE)), default=-1)


def _period_s(program: StepProgram, runs: Sequence[BlockRun]) -> float:
    """The longest turn, in which every stage works; in phases all.

    Without barriers the work of the busiest IPU, or an input where that takes longer: one is loaded after the other.
    """
    both = list(zip(program.blocks, runs, strict=True))
    if phases := [run.length_s * block.repeat for block, run in both if block.micro_batch]:
        return sum_in_order(phases) / program.micro_batches
    turns = [run.length_s for block, run in both if block.pipeline and block.after is None]
    if turns:
        return max(turns)
    inputs = (
        run.end_s[at] - run.start_s[at]
        for run in runs
        for at, task in enumerate(run.block.tasks)
        if task.part is Part.HOST
    )
    return max(sum_in_order(seconds for _, seconds in program.steady) / program.micro_batches, *inputs, 0.0)


def _idle(run: BlockRun, busiest: int) -> Iterator[tuple[Part, float]]:
    """What the busiest IPU waits for: of the chain that ends each wait all but work, which is bubble and remains."""
    free_s = 0.0
    for at, task in enumerate(run.block.tasks[: run.own]):
        if task.where == busiest and task.kind is TaskKind.COMPUTE:
            if run.start_s[at] > free_s:
                yield from _critical_parts(run, _last(run, task.needs), free_s)
            free_s = run.end_s[at]
    if run.own_s > free_s:
        yield from _critical_parts(run, _first_of_last(run, run.own), free_s)


def _critical_parts(run: BlockRun, here: int | None, begin_s: float) -> Iterator[tuple[Part, float]]:
    """Parts of the chain of tasks that leads to `here`, from `begin_s` on; not the work of a pipeline."""
    own = run.own
    while here is not None and run.end_s[here] > begin_s:
        task, whole_s = run.block.tasks[here], run.end_s[here] - run.start_s[here]
        if whole_s and not (here < own and task.kind is TaskKind.COMPUTE):
            share = (run.end_s[here] - max(run.start_s[here], begin_s)) / whole_s
            yield from ((part, seconds * task.repeat * share) for part, seconds in task.cut)
            yield task.part, run.flow_s[here] * share
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
