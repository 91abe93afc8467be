"""A timeline as spans on tracks: blocks as often as they run, steps one after the other, at most so many spans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from podsim.engines.des import step_simulation
from podsim.lowering.pacing import overhead_lines
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import Part, Record, Task, TaskKind
from podsim.model.sums import sum_in_order
from podsim.model.trace import TraceSegment, TraceSpan, TrackUse
from podsim.predicting import micro_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from podsim.engines.base import Engine
    from podsim.model.program import Block, Span, StepProgram, StepTimeline
    from podsim.predicting.micro_batches import MicroBatches, NumberedBlock

    Place = Callable[[Task], tuple[str, str]]

MACHINE: Final = "machine"
COLLECTIVES: Final = "collectives"
OF_COLLECTIVES: Final = (Part.ALL_REDUCE, Part.TENSOR_PARALLEL, Part.COLLECTIVE_STEPS, Part.RACK_STEPS)
HOSTS: Final = "hosts"
STEPS: Final = "steps"
LEFT_OUT: Final = "left out"
PIPELINE: Final = "micro-batches through the pipeline"
APART: Final = 100
"""Equal steps of a collective up to which each is a span; more are one span that says how many."""
MOST_LANES: Final = 16
"""Spans of one track that are drawn at the same time."""
NEAR_S: Final = 1e-9
"""What two times may differ by and still be one: what viewers resolve."""


def recording(engine: Engine, name: str) -> Engine:
    """The engine, with the load of links in its timeline where it keeps one."""
    if name != "des":
        return engine
    return partial(step_simulation.run, record=Record.LOADS)


def apart(program: StepProgram) -> StepProgram:
    """The program with every step of a collective as a task, unless there are more than `APART` equal ones."""
    blocks_by_tasks: dict[int, Block] = {}
    result = (blocks_by_tasks.setdefault(id(block.tasks), _apart(block)) for block in program.blocks)
    blocks = (
        replace(block, tasks=item.tasks, after=item.after) for block, item in zip(program.blocks, result, strict=True)
    )
    return replace(program, blocks=tuple(blocks))


def _apart(block: Block) -> Block:
    tasks = block.tasks
    counts = [task.repeat if task.flows and task.repeat <= APART else 1 for task in tasks]
    if len(tasks) == sum(counts):
        return block
    ends = [end - 1 for end in accumulate(counts)]
    result: list[Task] = []
    for task, count in zip(tasks, counts, strict=True):
        needs = tuple(ends[need] for need in task.needs)
        for _ in range(count):
            result.append(replace(task, repeat=task.repeat // count, needs=needs))
            needs = (len(result) - 1,)
    after = sum(counts[len(tasks) - block.after :]) if block.after else block.after
    return replace(block, tasks=tuple(result), after=after)


@dataclass(frozen=True, slots=True)
class Ran:
    """A block as it ran the first time: its spans, each with its task, from `start_s` on, in order of their start.

    `numbers` are the micro-batches of its tasks, `places` where among these the task of each span is.
    """

    block: Block
    start_s: float
    length_s: float
    spans: tuple[tuple[Task, Span], ...]
    numbers: NumberedBlock
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DrawnBlock:
    """One run of a block in a drawing: where it starts there, and how much longer than usual everything takes.

    `repeat` says how often the block ran before it in the same step.
    """

    ran: int
    start_s: float
    pace: float
    repeat: int


def runs(program: StepProgram, timeline: StepTimeline) -> tuple[Ran, ...]:
    """Every block that has tasks, as it ran."""
    rans, first = [], 0
    for block, numbers in zip(program.blocks, micro_batches.number_blocks(program), strict=True):
        spans = timeline.spans[first : first + len(block.tasks)]
        first += len(spans)
        if spans:
            start_s = min(span.start_s for span in spans)
            order = sorted(range(len(spans)), key=lambda at: (spans[at].start_s, spans[at].where))
            pairs = tuple((block.tasks[at], spans[at]) for at in order)
            length_s = max(span.end_s for span in spans) - start_s
            rans.append(Ran(block, start_s, length_s, pairs, numbers, tuple(order)))
    return tuple(rans)


def segments(ran: Sequence[Ran]) -> tuple[TraceSegment, ...]:
    """How often each kind of block runs in a step and for how long, in the order in which they first run.

    All blocks of a pipeline are one, so that steps with other schedules can be compared.
    """
    whole: dict[str, list[Ran]] = {}
    for item in ran:
        whole.setdefault(PIPELINE if item.block.pipeline else item.block.name, []).append(item)
    return tuple(
        TraceSegment(
            name=name,
            times=sum(item.block.repeat for item in items),
            seconds=sum_in_order(item.length_s * item.block.repeat for item in items),
        )
        for name, items in whole.items()
    )


def busy(ran: Sequence[Ran], place: Place) -> tuple[TrackUse, ...]:
    """For how long of a step each track has anything on it, in order of their names."""
    whole_s: dict[tuple[str, str], float] = {}
    for item in ran:
        ends_s: dict[tuple[str, str], float] = {}
        for task, span in item.spans:
            at = place(task)
            fresh_s = span.end_s - max(span.start_s, ends_s.get(at, 0.0))
            ends_s[at] = max(span.end_s, ends_s.get(at, 0.0))
            whole_s[at] = whole_s.get(at, 0.0) + max(0.0, fresh_s) * item.block.repeat
    return tuple(TrackUse(group=at[0], track=at[1], busy_s=whole_s[at]) for at in sorted(whole_s, key=_order))


class Drawing:
    """Steps of a program, each with its own pace; of more than `most` spans those in the middle are left out."""

    def __init__(self, ran: Sequence[Ran], place: Place, paces: Sequence[float], most: int) -> None:
        self.ran, self._place = ran, place
        self.notes: list[AnswerNote] = []
        self._steps: list[tuple[float, float]] = []
        every = list(self._turns(paces))
        self.length_s = self._steps[-1][1]
        self.turns, kept_spans = self._first_and_last(every, most - len(paces))
        self.spans = tuple(self._place_on_lanes([*self._step_spans(paces), *kept_spans]))

    def _turns(self, paces: Sequence[float]) -> Iterator[DrawnBlock]:
        begin_s, length_s = (
            0.0,
            max((item.start_s + item.length_s * item.block.repeat for item in self.ran), default=0.0),
        )
        for pace in paces:
            for number, ran in enumerate(self.ran):
                for turn in range(ran.block.repeat):
                    yield DrawnBlock(number, begin_s + (ran.start_s + turn * ran.length_s) * pace, pace, turn)
            self._steps.append((begin_s, begin_s + length_s * pace))
            begin_s += length_s * pace

    def _first_and_last(self, turns: list[DrawnBlock], most: int) -> tuple[list[DrawnBlock], list[TraceSpan]]:
        """Turns of which anything is drawn, and what is: the first spans and the last, if that is not all."""
        counts = [1 + len(self.ran[turn.ran].spans) for turn in turns]
        whole = sum(counts)
        first_half, last_half = most // 2, most - 1 - most // 2  # one more says what is left out
        head, tail = (whole, whole) if whole <= most else (first_half, whole - last_half)
        end, drawn_turns, kept_spans, gap = 0, list[DrawnBlock](), list[TraceSpan](), list[TraceSpan | DrawnBlock]()
        for turn, count in zip(turns, counts, strict=True):
            first, end = end, end + count
            if first < head or end > tail:
                drawn_turns.append(turn)
                for at, span in enumerate(self._spans(turn), first):
                    (kept_spans if at < head or at >= tail else gap).append(span)
            else:
                gap.append(turn)
        if gap:
            ends_s = [span.end_s if isinstance(span, TraceSpan) else self._end_s(span) for span in gap]
            kept_spans.append(self._left_out(tail - head, min(span.start_s for span in gap), max(ends_s)))
        return drawn_turns, kept_spans

    def _end_s(self, turn: DrawnBlock) -> float:
        return turn.start_s + self.ran[turn.ran].length_s * turn.pace

    def _left_out(self, spans: int, start_s: float, end_s: float) -> TraceSpan:
        self.notes.append(AnswerNote.of(NoteCode.SPANS_LEFT_OUT, spans=spans))
        return TraceSpan(
            name=f"{spans:,} spans left out",
            part=None,
            group=MACHINE,
            track=LEFT_OUT,
            start_s=start_s,
            end_s=end_s,
            details={"spans": spans},
        )

    def _step_spans(self, paces: Sequence[float]) -> Iterator[TraceSpan]:
        for number, ((start_s, end_s), pace) in enumerate(zip(self._steps, paces, strict=True), 1):
            yield TraceSpan(
                name=f"step {number}",
                part=None,
                group=MACHINE,
                track=STEPS,
                start_s=start_s,
                end_s=end_s,
                details={"pace": pace},
            )

    def _spans(self, turn: DrawnBlock) -> list[TraceSpan]:
        """The block, and what runs in it."""
        ran = self.ran[turn.ran]
        name, numbers = _of_block(ran, turn.repeat)
        block = TraceSpan(
            name=name,
            part=None,
            group=MACHINE,
            track=STEPS,
            start_s=turn.start_s,
            end_s=self._end_s(turn),
            details=numbers,
        )
        return [block, *(self._span(turn, ran, at) for at in range(len(ran.spans)))]

    def _span(self, turn: DrawnBlock, ran: Ran, at: int) -> TraceSpan:
        task, span = ran.spans[at]
        group, track = self._place(task)
        of_task = ran.numbers.of_task(ran.places[at], turn.repeat)
        return TraceSpan(
            name=f"{span.name}, {_micro_batch_text(of_task)}" if of_task else span.name,
            part=span.part,
            group=group,
            track=track,
            start_s=turn.start_s + (span.start_s - ran.start_s) * turn.pace,
            end_s=turn.start_s + (span.end_s - ran.start_s) * turn.pace,
            details={**dict(details(task)), **_micro_batch_numbers(of_task)},
        )

    def _place_on_lanes(self, spans: list[TraceSpan]) -> Iterator[TraceSpan]:
        """Spans track by track; where two of one would overlap, the later one gets the next lane."""
        spans.sort(key=lambda span: (_order((span.group, span.track)), span.start_s, -span.end_s))
        free: dict[tuple[str, str], list[float]] = {}
        dropped_count = 0
        for span in spans:
            if span.track == STEPS:
                yield span
                continue
            ends_s = free.setdefault((span.group, span.track), [])
            lane = next((lane for lane, end_s in enumerate(ends_s) if end_s <= span.start_s + NEAR_S), len(ends_s))
            if lane == MOST_LANES:
                dropped_count += 1
                continue
            start_s = max(span.start_s, ends_s[lane]) if lane < len(ends_s) else span.start_s
            end_s = max(span.end_s, start_s)
            ends_s[lane : lane + 1] = [end_s]
            track = span.track + (f" {lane + 1}" if lane else "")
            yield replace(span, track=track, start_s=start_s, end_s=end_s)
        if dropped_count:
            self.notes.append(AnswerNote.of(NoteCode.LANES_LEFT_OUT, spans=dropped_count, most=MOST_LANES))


def _of_block(ran: Ran, repeat: int) -> tuple[str, dict[str, int]]:
    """The name of a block with its number where it is of the pipeline, and the micro-batches that it works on."""
    of_block, block = ran.numbers.of_block(repeat), ran.block
    if of_block is None:
        return block.name, {}
    if block.micro_batch:
        return f"{block.name}, {_micro_batch_text(of_block)}", _micro_batch_numbers(of_block)
    if block.after is not None:
        return block.name, _micro_batch_numbers(of_block)
    number = ran.numbers.turn + repeat + 1
    return f"{block.name} {number:,}", {"number": number, **_micro_batch_numbers(of_block)}


def _micro_batch_text(numbers: MicroBatches) -> str:
    first, last = numbers
    return f"micro-batch {first:,}" if first == last else f"micro-batches {first:,} to {last:,}"


def _micro_batch_numbers(numbers: MicroBatches | None) -> dict[str, int]:
    if numbers is None:
        return {}
    first, last = numbers
    return {"micro_batch": first} if first == last else {"first_micro_batch": first, "last_micro_batch": last}


def details(task: Task) -> Iterator[tuple[str, float | int | str]]:
    """What else is known of a task: seconds by part, and what it moves."""
    yield from ((f"{part.value}_s", seconds * task.repeat) for part, seconds in task.cut if seconds)
    if task.flows:
        yield "bytes", sum_in_order(flow.volume_bytes * flow.count for flow in task.flows) * task.repeat
        yield "flows", sum(flow.count for flow in task.flows)
    if task.part in OF_COLLECTIVES:
        yield "steps", task.repeat if task.flows else 0
        yield from zip(("phase", "algorithm"), overhead_lines(task.name), strict=False)


def of_machine(task: Task) -> tuple[str, str]:
    """Group and track of a task that is no IPU's."""
    if task.part in OF_COLLECTIVES:
        return COLLECTIVES, "steps of collectives"
    if task.kind is TaskKind.HOST:
        tracks = {Part.STREAMING: "streaming memory", Part.HOST: "input"}
        return HOSTS, tracks.get(task.part, "step")
    return MACHINE, "sync" if task.kind is TaskKind.SYNC else "transfers"


def _order(at: tuple[str, str]) -> tuple[int, int, str, str]:
    """The machine first, then IPUs by number, collectives and hosts."""
    group, track = at
    number = next((int(word) for word in group.split() if word.isdecimal()), 0)
    rank = {MACHINE: 0, COLLECTIVES: 2, HOSTS: 3}.get(group, 1)
    return rank, number, group, "" if track == STEPS else track
