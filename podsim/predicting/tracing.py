"""One step of a mapping, or the supersteps of one of its stages, as spans on tracks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from podsim.engines.des import chip as tile_engine
from podsim.errors import InputError
from podsim.lowering.lower import lower
from podsim.model.chip import Chip
from podsim.model.chip_timeline import ChipTimeline, TileSpan
from podsim.model.mapping import Mapping
from podsim.model.program import Part, Span, StepProgram, Task, TaskKind
from podsim.model.tile_plan import TilePlan
from podsim.model.trace import Trace, TraceLevel, TraceSpan
from podsim.model.workload import Pass
from podsim.predicting.assemble import Question
from podsim.tiles.supersteps import Cycles, cycles, total

NARROWER = " shows one of each set of equal tiles; podsim op --fidelity full runs one operator tile by tile"
MOST_SPANS = 1_000_000  # a few hundred MB of JSON; the viewers grow slow long before
TRACKS = {
    TaskKind.COMPUTE: "compute",
    TaskKind.TRANSFER: "transfers",
    TaskKind.SYNC: "sync",
    TaskKind.HOST: "host and streaming memory",
}


def step(question: Question, mapping: Mapping) -> Trace:
    """Every micro-batch of one step; of equal replicas one, unless the question is not folded.

    Raises InputError where that would be more spans than any viewer opens.
    """
    program = _unrolled(
        lower(
            question.workload, mapping, question.machine, question.fabric,
            optimizer=question.optimizer, folded=question.folded,
        )
    )  # fmt: skip
    timeline = question.engine(program, question.fabric)
    tasks = [task for block in program.blocks for task in block.tasks]
    return Trace(
        workload=question.workload.name,
        topology=question.machine.topology.name,
        chip=question.machine.chip.name,
        level=TraceLevel.POD,
        title=f"one step of {question.workload.title} on {question.machine.topology.title}",
        shown=_shown(question, mapping),
        length_s=timeline.step_s,
        spans=tuple(_spans(tasks, timeline.spans, mapping)),
    )


def _unrolled(program: StepProgram) -> StepProgram:
    """Each block as often as it runs, so that every micro-batch has its own spans."""
    count = sum(len(block.tasks) * block.repeat for block in program.blocks)
    fewer = "--fidelity folded shows one of equal replicas; a smaller --accumulation shows fewer micro-batches"
    refuse_many(count, "step", fewer)
    once = (replace(block, repeat=1) for block in program.blocks for _ in range(block.repeat))
    return replace(program, blocks=tuple(once))


def refuse_many(count: int, what: str, hint: str = "--fidelity folded shows one of each set of equal tiles") -> None:
    """Raise InputError where that is more spans than any viewer opens."""
    if count > MOST_SPANS:
        raise InputError(
            f"the {what} has {count:,} spans, more than the {MOST_SPANS:,} that can be drawn", code="too-large-to-draw",
            hint=hint,
        )  # fmt: skip


def _shown(question: Question, mapping: Mapping) -> str:
    if mapping.replicas == 1:
        return "the one replica"
    return f"one of {mapping.replicas:,} equal replicas" if question.folded else f"all {mapping.replicas:,} replicas"


def _spans(tasks: Sequence[Task], spans: Sequence[Span], mapping: Mapping) -> Iterator[TraceSpan]:
    """Spans in the order of their start; where two would overlap on a track, the later one gets the next lane."""
    free: dict[tuple[str, str], list[float]] = {}
    order = sorted(range(len(spans)), key=lambda at: (spans[at].start_s, spans[at].where, at))
    for at in order:
        span, task = spans[at], tasks[at]
        group = _group(span.where, mapping)
        ends = free.setdefault((group, TRACKS[span.kind]), [])
        lane = next((lane for lane, end_s in enumerate(ends) if end_s <= span.start_s), len(ends))
        ends[lane : lane + 1] = [span.end_s]
        yield TraceSpan(
            name=span.name,
            part=span.part,
            group=group,
            track=TRACKS[span.kind] + (f" {lane + 1}" if lane else ""),
            start_s=span.start_s,
            end_s=span.end_s,
            details={f"{part.value}_s": seconds * task.repeat for part, seconds in task.cut if seconds},
        )


def _group(where: int, mapping: Mapping) -> str:
    if where < 0:
        return "machine"
    held = [str(stage.index) for stage in mapping.stages if stage.ipu == where % mapping.ipus_per_replica]
    return f"IPU {where} (stage{'' if len(held) == 1 else 's'} {', '.join(held)})"


def stage_number(mapping: Mapping, asked: int | None) -> int:
    """The stage asked for, else the one with the most arithmetic; InputError where there is none of that number."""
    if asked is None:
        return max(
            mapping.stages, key=lambda one: (sum(unit.flop(Pass.FORWARD) for unit in one.units), -one.index)
        ).index
    if not 0 <= asked < len(mapping.stages):
        raise InputError(f"there is no stage {asked}", code="bad-value",
                         context=[f"the mapping has stages 0 to {len(mapping.stages) - 1}"])  # fmt: skip
    return asked


Plans = Iterable[tuple[str, Pass, TilePlan]]


def stage(question: Question, mapping: Mapping, number: int, plans: Plans) -> Trace:
    """The supersteps of stage `number` for one micro-batch, one operator after the other, tile by tile.

    Raises InputError where every tile is wanted on its own and that would be more spans than any viewer opens.
    """
    chip = question.machine.chip
    group = _group(mapping.stages[number].ipu, mapping)
    spans: list[TraceSpan] = []
    clock_s = 0.0
    plans = tuple(plans)
    if not question.folded:
        count = sum(tile_engine.spans_of(plan, chip) for _, _, plan in plans)
        refuse_many(count, f"stage tile by tile, in {len(plans)} plans,", f"--fidelity folded{NARROWER}")
    for name, run, plan in plans:
        timeline = tile_engine.run(plan, chip, unfolded=not question.folded)
        spans += _operator(name, run, plan, timeline, chip=chip, group=group, clock_s=clock_s)
        clock_s += timeline.total_cycles / chip.clock_hz
    which = "one of each set of equal" if question.folded else "all"
    return Trace(
        workload=question.workload.name,
        topology=question.machine.topology.name,
        chip=chip.name,
        level=TraceLevel.TILE,
        title=f"stage {number} of {question.workload.title} on {question.machine.topology.title}",
        shown=f"one micro-batch of {mapping.micro_batch:,}, {which} tiles",
        length_s=clock_s,
        spans=tuple(spans),
    )


def _operator(
    name: str, run: Pass, plan: TilePlan, timeline: ChipTimeline, *, chip: Chip, group: str, clock_s: float
) -> Iterator[TraceSpan]:
    """The operator, its supersteps below it, and what each set of equal tiles does below those."""

    def span(label: str, part: Part | None, track: str, start: float, end: float, **details: float | str) -> TraceSpan:
        return TraceSpan(
            name=label, part=part, group=group, track=track, start_s=clock_s + start / chip.clock_hz,
            end_s=clock_s + end / chip.clock_hz, details=details,
        )  # fmt: skip

    splits = " ".join(f"{key} {count}" for key, count in plan.splits.items())
    costs = _costs(total(plan.supersteps, chip))
    told = {"run": run.value, "method": plan.method, "splits": splits, "idle": timeline.idle}
    yield span(name, None, "operators", 0.0, timeline.total_cycles, **told, **costs)
    clock = 0.0
    for superstep in plan.supersteps:
        spent = cycles(superstep, chip)
        yield span(superstep.name, None, "supersteps", clock, clock + spent.total,
                   purpose=superstep.phase, repeat=superstep.repeat, **_costs(spent))  # fmt: skip
        clock += spent.total
    rank = {share.first_tile: at for at, share in enumerate(timeline.shares, 1)}
    for one in timeline.spans:
        last = one.first_tile + one.tiles - 1
        yield span(one.part.value, one.part, _track(one, rank), one.start_cycles, one.end_cycles,
                   superstep=plan.supersteps[one.superstep].name, tiles=f"{one.first_tile} to {last}")  # fmt: skip


def _track(span: TileSpan, rank: dict[int, int]) -> str:
    return f"tile {span.first_tile}" if span.tiles == 1 else f"equal tiles {rank[span.first_tile]}"


def _costs(spent: Cycles) -> dict[str, float]:
    return {"compute_cycles": spent.compute, "exchange_cycles": spent.exchange, "sync_cycles": spent.sync}
