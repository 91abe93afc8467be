"""Steps of a mapping, or the supersteps of one of its stages, as spans on tracks with the load of links."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podsim.engines.des import tile_simulation as tile_engine
from podsim.errors import InputError
from podsim.lowering.lower import lower
from podsim.lowering.replica_symmetry import unlike
from podsim.model.chip import Chip
from podsim.model.chip_timeline import ChipTimeline, TileSpan
from podsim.model.mapping import Mapping
from podsim.model.noise import Noise
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.program import LinkUse, Part, StepProgram, StepTimeline, Task, TaskKind
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import TilePlan
from podsim.model.trace import LinkLoad, Trace, TraceLevel, TraceSegment, TraceSpan
from podsim.model.workload import Pass
from podsim.predicting import drawing, noisy_steps
from podsim.predicting.link_loads import Links, loads, of_replicas
from podsim.predicting.training_case import TrainingCase
from podsim.tiles.supersteps import Cycles, cycles, total

NARROWER = " shows one of each set of equal tiles; podsim op --fidelity full runs one operator tile by tile"
MOST_TASKS = 1_000_000  # a few hundred MB of JSON; the viewers grow slow long before
LEAST_SPANS = 100


class TraceLimits(NamedTuple):
    """How much is drawn: so many steps, with noise `noise_scale` times as published runs have it, so many spans."""

    steps: int = 1
    noise_scale: float | None = None
    most_spans: int = MOST_TASKS

    def check(self, level: str = "pod", stage: int | None = None) -> None:
        """Raise InputError for what cannot be drawn, or does not go with the level."""
        if stage is not None and level != "tile":
            raise InputError("--stage goes with --level tile", code="conflicting-flags", hint="add --level tile")
        if level == "tile" and (self.steps != 1 or self.noise_scale is not None):
            raise InputError(
                "--level tile shows one micro-batch without noise",
                code="conflicting-flags",
                hint="leave out --steps and --noise-scale",
            )
        if self.most_spans < LEAST_SPANS + self.steps:
            raise InputError(
                f"--most-spans must be at least {LEAST_SPANS + self.steps}, not {self.most_spans:,}", code="bad-value"
            )


def step(
    question: TrainingCase, mapping: Mapping, limits: TraceLimits, noises: tuple[Noise, Noise] | None = None
) -> Trace:
    """Every micro-batch of the steps wanted; of equal replicas one, unless the question is not folded.

    `noises` are the noise asked for and that of published runs. Raises InputError where there is too much to simulate.
    """
    program = _lower(question, mapping)
    timeline = drawing.recording(question.engine, question.engine_name)(program, question.fabric)
    paces, notes = _paces(question, mapping, timeline, limits, noises)

    def place(task: Task) -> tuple[str, str]:
        if task.kind is TaskKind.COMPUTE and task.where >= 0:
            return _group(task.where, mapping), "compute"
        return drawing.of_machine(task)

    ran = drawing.runs(program, timeline)
    trace_drawing = drawing.Drawing(ran, place, paces, limits.most_spans)
    links = _links(question, mapping, timeline, trace_drawing, limits.most_spans)
    return Trace(
        workload=question.workload.name,
        topology=question.machine.topology.name,
        chip=question.machine.chip.name,
        level=TraceLevel.POD,
        title=f"{_count(limits.steps)} of {question.workload.title} on {question.machine.topology.title}",
        shown=_replicas_drawn(question, mapping),
        length_s=trace_drawing.length_s,
        step_s=timeline.step_s,
        spans=trace_drawing.spans,
        steps=limits.steps,
        parts_s={part: seconds for part, seconds in timeline.breakdown_s.items() if seconds},
        segments=drawing.segments(ran),
        busy=drawing.busy(ran, place),
        links=links,
        notes=(*notes, *trace_drawing.notes),
        faults=question.faults,
        left=question.left,
    )


def _count(steps: int) -> str:
    return "one step" if steps == 1 else f"{steps:,} steps"


def _lower(question: TrainingCase, mapping: Mapping) -> StepProgram:
    program = drawing.apart(
        lower(
            question.workload,
            mapping,
            question.machine,
            question.fabric,
            optimizer=question.optimizer,
            folded=question.folded,
        )
    )
    refuse_many(
        program.tasks,
        "step",
        "--fidelity folded shows one of equal replicas; a smaller --accumulation shows fewer micro-batches",
    )
    return program


def _paces(
    question: TrainingCase,
    mapping: Mapping,
    timeline: StepTimeline,
    limits: TraceLimits,
    noises: tuple[Noise, Noise] | None,
) -> tuple[Sequence[float], list[AnswerNote]]:
    """How long each step takes, as a multiple of the step without noise, and what is to be said of it."""
    if noises is None or limits.noise_scale is None:
        return [1.0] * limits.steps, []
    sample = noisy_steps.sample(
        question, mapping, timeline.step_s, noises, steps=max(limits.steps, noisy_steps.DRAWS), scale=limits.noise_scale
    )
    steps_s = sample.steps_s[: limits.steps].tolist()
    return [seconds / timeline.step_s for seconds in steps_s], [AnswerNote.of(NoteCode.NOISE_STRETCHES)]


def _links(
    question: TrainingCase, mapping: Mapping, timeline: StepTimeline, trace_drawing: drawing.Drawing, most: int
) -> tuple[LinkLoad, ...]:
    if not timeline.links:
        trace_drawing.notes.append(AnswerNote.of(NoteCode.LOADS_NOT_KEPT))
        return ()
    links = Links(question.fabric.link, question.fabric.kind)
    uses: Sequence[LinkUse] = timeline.links
    if question.folded and mapping.replicas > 1:
        machine = question.machine.topology.ipus_per_machine
        uses = of_replicas(uses, links, trace_drawing, mapping.ipus_per_replica, machine)
    return loads(uses, links, trace_drawing, most)


def refuse_many(count: int, what: str, hint: str = "--fidelity folded shows one of each set of equal tiles") -> None:
    """Raise InputError where that is more spans than any viewer opens."""
    if count > MOST_TASKS:
        raise InputError(
            f"the {what} has {count:,} spans, more than the {MOST_TASKS:,} that can be drawn",
            code="too-large-to-draw",
            hint=hint,
        )


def _replicas_drawn(question: TrainingCase, mapping: Mapping) -> str:
    """Which replicas are drawn: all, or one of each kind."""
    if mapping.replicas == 1:
        return "the only replica"
    kinds = len(unlike(mapping, question.fabric))
    if not question.folded or kinds == mapping.replicas:
        return f"all {mapping.replicas:,} replicas"
    return (
        f"one of {mapping.replicas:,} equal replicas"
        if kinds == 1
        else (f"{kinds:,} of {mapping.replicas:,} replicas, all kinds among them")
    )


def _group(where: int, mapping: Mapping) -> str:
    texts = [str(stage.index) for stage in mapping.stages if stage.ipu == where % mapping.ipus_per_replica]
    return f"IPU {where} (stage{'' if len(texts) == 1 else 's'} {', '.join(texts)})"


def stage_number(mapping: Mapping, stage_number: int | None) -> int:
    """The stage asked for, else the one with the most arithmetic; InputError where there is none of that number."""
    if stage_number is None:
        return max(
            mapping.stages,
            key=lambda stage: (sum_in_order(unit.flop(Pass.FORWARD) for unit in stage.units), -stage.index),
        ).index
    if not 0 <= stage_number < len(mapping.stages):
        raise InputError(
            f"there is no stage {stage_number}",
            code="bad-value",
            context=[f"the mapping has stages 0 to {len(mapping.stages) - 1}"],
        )
    return stage_number


OperatorPlan = tuple[str, Pass, TilePlan]
Plans = Iterable[OperatorPlan]


def stage(question: TrainingCase, mapping: Mapping, number: int, plans: Plans) -> Trace:
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
        step_s=clock_s,
        spans=tuple(spans),
        parts_s=_parts_s(plans, chip),
        segments=tuple(_operators(plans, chip)),
        faults=question.faults,
        left=question.left,
    )


def _parts_s(plans: tuple[OperatorPlan, ...], chip: Chip) -> dict[Part, float]:
    """What all operators compute, exchange and wait for, on the busiest tile of each superstep [s]."""
    each = [total(plan.supersteps, chip) for _, _, plan in plans]
    return {
        Part.COMPUTE: sum_in_order(part_cycles.compute for part_cycles in each) / chip.clock_hz,
        Part.EXCHANGE: sum_in_order(part_cycles.exchange for part_cycles in each) / chip.clock_hz,
        Part.SYNC: sum_in_order(part_cycles.sync for part_cycles in each) / chip.clock_hz,
    }


def _operators(plans: tuple[OperatorPlan, ...], chip: Chip) -> Iterator[TraceSegment]:
    """How often each operator runs in each direction, and for how long."""
    seconds_by_operator: dict[str, list[float]] = {}
    for name, run, plan in plans:
        seconds_by_operator.setdefault(f"{name} {run.value}", []).append(
            total(plan.supersteps, chip).total / chip.clock_hz
        )
    for name, seconds in seconds_by_operator.items():
        yield TraceSegment(name=name, times=len(seconds), seconds=sum_in_order(seconds))


def _operator(
    name: str, run: Pass, plan: TilePlan, timeline: ChipTimeline, *, chip: Chip, group: str, clock_s: float
) -> Iterator[TraceSpan]:
    """The operator, its supersteps below it, and what each set of equal tiles does below those."""

    def span(label: str, part: Part | None, track: str, start: float, end: float, **details: float | str) -> TraceSpan:
        return TraceSpan(
            name=label,
            part=part,
            group=group,
            track=track,
            start_s=clock_s + start / chip.clock_hz,
            end_s=clock_s + end / chip.clock_hz,
            details=details,
        )

    splits = " ".join(f"{key} {count}" for key, count in plan.splits.items())
    costs = _costs(total(plan.supersteps, chip))
    table = {"run": run.value, "method": plan.method, "splits": splits, "idle": timeline.idle}
    yield span(name, None, "operators", 0.0, timeline.total_cycles, **table, **costs)
    clock = 0.0
    for superstep in plan.supersteps:
        superstep_cycles = cycles(superstep, chip)
        yield span(
            superstep.name,
            None,
            "supersteps",
            clock,
            clock + superstep_cycles.total,
            purpose=superstep.phase,
            repeat=superstep.repeat,
            **_costs(superstep_cycles),
        )
        clock += superstep_cycles.total
    rank = {share.first_tile: at for at, share in enumerate(timeline.shares, 1)}
    for item in timeline.spans:
        last = item.first_tile + item.tiles - 1
        yield span(
            item.part.value,
            item.part,
            _track(item, rank),
            item.start_cycles,
            item.end_cycles,
            superstep=plan.supersteps[item.superstep].name,
            tiles=f"{item.first_tile} to {last}",
        )


def _track(span: TileSpan, rank: dict[int, int]) -> str:
    return f"tile {span.first_tile}" if span.tiles == 1 else f"equal tiles {rank[span.first_tile]}"


def _costs(part_cycles: Cycles) -> dict[str, float]:
    return {
        "compute_cycles": part_cycles.compute,
        "exchange_cycles": part_cycles.exchange,
        "sync_cycles": part_cycles.sync,
    }
