"""What is asked of a mapping, and how long its step, its evaluations and its run take."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

from podsim.caches.tables import Table
from podsim.convergence.curve import critical_batch
from podsim.convergence.samples import LawLength, Samples, to_converge
from podsim.engines import analytic
from podsim.engines.base import Engine
from podsim.lowering.lower import lower, lower_evaluation, lower_update, reach
from podsim.model.calibration import Overhead
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Run
from podsim.model.program import Part, StepProgram, StepTimeline
from podsim.model.quantity import NINETY_PERCENT, Grade
from podsim.model.training import Division, EvaluationStyle
from podsim.model.workload import Workload
from podsim.predicting import changed_inputs, steady_state
from podsim.predicting.run import NO_OVERHEAD, RunPace, expected_s, pace, run, stop_samples
from podsim.predicting.uncertainty import StepDoubt, between_racks, of_step
from podsim.tiles.supersteps import TileEngine
from podsim.topology.build import shared_fabric
from podsim.topology.machine_network import Fabric

MOST_STEPS: Final = 128
"""Steps that are kept of one question, some tens of kB each."""


class TimedSteps:
    """Steps that were timed for one question and for those made of it, so that none is timed twice.

    Timelines by question and mapping; owned by a question, which hands it on to those made of it.
    """

    def __init__(self) -> None:
        self._known: Table[object, list[tuple[TrainingCase, Mapping, StepTimeline]]] = Table(MOST_STEPS)

    def get(self, question: "TrainingCase", mapping: Mapping) -> StepTimeline | None:
        """The step of an equal mapping on an equal machine by the same engine, where it was timed."""
        for other, of, timeline in self._known.get(_split(question, mapping), ()):
            if of == mapping and _same(other, question):
                return timeline
        return None

    def keep(self, question: "TrainingCase", mapping: Mapping, timeline: StepTimeline) -> StepTimeline:
        """The timeline, kept."""
        key = _split(question, mapping)
        self._known.keep(key, [*self._known.get(key, []), (question, mapping, timeline)][-MOST_STEPS:])
        return timeline


def _split(question: "TrainingCase", mapping: Mapping) -> tuple[object, ...]:
    """What tells most steps apart and is soon compared."""
    split = mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.accumulation
    return question.engine, question.tiles, question.folded, question.optimizer, *split


def _same(case: "TrainingCase", other: "TrainingCase") -> bool:
    """Whether a step of both takes the same time: engine and optimizer are in the key, the rest is what it runs on."""
    return case.fabric is other.fabric and case.machine == other.machine and case.workload == other.workload


@dataclass(frozen=True, kw_only=True)  # without slots, so that what a search asks of it is put together once
class TrainingCase:
    """What is asked of a mapping; `interval` is the confidence level of intervals."""

    workload: Workload
    machine: Machine
    fabric: Fabric
    engine: Engine
    engine_name: str
    tiles: TileEngine | None = None  # runs the supersteps of stages as events
    optimizer: str
    division: Division
    samples: float | None = None
    by_law: LawLength | None = None  # how long a run is, where a law says so
    given_length: bool = False  # whether the user states it: by a flag, or in a workload file of their own
    folded: bool = True
    seed: int = 0
    faults: tuple[str, ...] = ()  # as they were said, of the whole machine
    left: str = ""  # where parts are lost, on what the run goes on
    interval: float = NINETY_PERCENT
    steps: TimedSteps = field(default_factory=TimedSteps, compare=False, repr=False)

    @property
    def by_formula(self) -> "TrainingCase":
        """The same, answered by formula: the longest path of what is folded, with closed forms of supersteps."""
        return replace(self, engine=analytic.run, tiles=None, folded=True)

    @property
    def without_faults(self) -> "TrainingCase":
        """The same of a healthy machine."""
        return replace(self, fabric=shared_fabric(self.machine.topology), faults=()) if self.faults else self

    @cached_property
    def overhead(self) -> Overhead:
        """What a run spends outside its steps [s], evaluations without their forward program (Eq. 29).

        Result: seconds of start-up, of a change of programs, of the first and each later evaluation, and of a
        checkpoint.

        Equation: load, call, checkpoint and switch of the release, by the style of the benchmark. A run of a fixed
        length loads its program once more, to train: the clock of MLPerf starts after that. Validity: the same for
        every workload and machine; 0 where no evaluation is stated; a release without logs by the trend. Source: the
        calibration points (calibration/points).
        """
        style = self.workload.benchmark.style
        load_s, call_s, checkpoint_s, switch_s = (
            self.machine.parameters.outside.at(name, self.machine.sdk)
            for name in ("load", "call", "checkpoint", "switch")
        )
        if style is EvaluationStyle.INTERVAL:
            return replace(NO_OVERHEAD, startup_s=load_s, each_evaluation_s=call_s)
        if not self.workload.benchmark.evaluates_checkpoints:
            return NO_OVERHEAD
        return Overhead(
            startup_s=load_s if style is EvaluationStyle.FIXED else 0.0,
            graph_switch_s=switch_s,
            first_evaluation_s=load_s + call_s,
            each_evaluation_s=call_s,
            checkpoint_s=checkpoint_s,
        )

    @property
    def outside_error(self) -> float:
        """Log error of start-up, evaluations and checkpoints [1], wider for a release without logs (Eq. 30).

        Result: a log standard error, without unit.

        Equation: √(outside_error² + error of the release²) (Eq. 29). Validity: one error for all mechanisms of a run;
        independent of the errors of steps. Source: derived: rms of logs over calibration/points, with their machine
        size left out.
        """
        parameters = self.machine.parameters
        return math.hypot(parameters.outside_error, parameters.outside.error(self.machine.sdk))

    def weight_update(self, mapping: Mapping) -> StepProgram:
        """The weight update of a step alone, as an engine runs it."""
        return lower_update(
            self.workload, mapping, self.machine, self.fabric, optimizer=self.optimizer, folded=self.folded
        )


def step(question: TrainingCase, mapping: Mapping) -> StepTimeline:
    """One weight update: its length and that of each part [s], timed once for a question (Eq. 15).

    Parameters: `question`, workload, machine, fabric, engine and optimizer; `mapping`, replicas, stages and
    micro-batches. Result: a timeline: seconds of the step, of its parts and of a period; questions made of this one
    share it.

    Equation: `lower` says what is computed and sent (micro-batches in `lowering.pipeline`, collectives in
    `lowering.weight_update`); `question.engine`, which `resolve.engine_of` names (`engines.analytic.run`,
    `engines.des.step_simulation.run`), times each cycle as the longest path through its tasks, and
    `engines.base.timeline` adds the cycles up. Validity: Eq. 15 to 17 by schedule; without noise; where nothing
    separates micro-batches, as many are timed as show a period (Eq. 16). Source: graphcore-examples, the pipelines of
    PopART; narayanan-2019 for 1F1B.
    """
    cached_timeline = question.steps.get(question, mapping)
    if cached_timeline is not None:
        return cached_timeline
    program = partial(
        lower,
        question.workload,
        machine=question.machine,
        fabric=question.fabric,
        optimizer=question.optimizer,
        folded=question.folded,
        tiles=question.tiles,
    )

    def time(count: int) -> StepTimeline:
        return question.engine(program(mapping=mapping.at(count)), question.fabric)

    far = reach(question.workload, mapping, question.machine, question.fabric) if question.folded else 0
    if far:
        return question.steps.keep(question, mapping, steady_state.run(time, mapping.accumulation, far))
    return question.steps.keep(question, mapping, question.engine(program(mapping=mapping), question.fabric))


def step_doubt(question: TrainingCase, mapping: Mapping, timeline: StepTimeline) -> StepDoubt:
    """How far a step that was predicted may be off: variances of its log by cause [1] (Eq. 31).

    Parameters: `question`, workload, machine and faults; `mapping`, with its IPUs; `timeline`, the predicted step and
    its parts [s]. Result: variances, without unit, grade, and the factor beyond the calibrated sizes.

    Equation: as `uncertainty.step_doubt`, other forms of the model among the causes: each form times the step anew, by
    formula. Validity: forms within NEAR_CHI_SQUARE of the fit; what own runs leave of the doubt where they timed this
    configuration (Eq. 107). Source: derived: propagation of the covariance of the fit (calibration/parameters.toml).
    """
    forms = _in_other_forms(question, mapping, timeline)
    return of_step(question, mapping, timeline, forms, moved_parts(question, mapping, timeline))


def moved_parts(question: TrainingCase, mapping: Mapping, timeline: StepTimeline) -> dict[Part, float]:
    """The share of each part of a step that changed inputs and faults carry: no published run has either."""
    changed_paths = question.machine.changed
    over_gw_links = any(path.startswith(changed_inputs.GW_LINK) for path in changed_paths)
    racks = between_racks(question, mapping, timeline) if over_gw_links else 0.0
    changed_shares = changed_inputs.weights(changed_paths, racks)
    if question.faults:
        changed_shares |= changed_inputs.parts_that_differ(timeline, step(question.without_faults, mapping))
    return changed_shares


def _in_other_forms(question: TrainingCase, mapping: Mapping, timeline: StepTimeline) -> dict[str, float]:
    """Log of the step in each form that the fit cannot rule out, over that in the one in use; analytic, both."""
    parameters, quick = question.machine.parameters, question.by_formula
    if not parameters.near_forms:
        return {}
    same = question.engine is analytic.run and question.folded
    own_s = timeline.step_s if same else step(quick, mapping).step_s
    return {
        name: math.log(step(replace(quick, machine=question.machine.in_form(name)), mapping).step_s / own_s)
        for name in parameters.near_forms
    }


def evaluation_s(question: TrainingCase, mapping: Mapping, step_s: float) -> float:
    """One evaluation [s]: a forward-only program and a call of it, or as many training steps as it takes (Eq. 27).

    Parameters: `question`, workload with its rules, machine and engine; `mapping`, with its configuration; `step_s`, a
    training step [s]. Result: seconds, 0 where the benchmark evaluates nothing.

    Equation: ceil(evaluation_samples / global_batch) × step_s, or forward program + call. Validity: training steps for
    BERT in configurations of v1.0 and v1.1, where its logs have a whole number of them; a forward program in those of
    v2.0 and for checkpoints evaluated after training; all IPUs evaluate. Source: mlperf-training-v1-0,
    mlperf-training-v1-1, mlperf-training-v2-0.
    """
    style, forward = question.workload.benchmark.style, mapping.configuration.forward_evaluation
    if style is EvaluationStyle.INTERVAL and not forward:
        return math.ceil(question.workload.benchmark.evaluation_samples / mapping.global_batch) * step_s
    if style is not EvaluationStyle.INTERVAL and not question.workload.benchmark.evaluates_checkpoints:
        return 0.0
    return forward_s(question, mapping) + question.overhead.each_evaluation_s


def forward_s(question: TrainingCase, mapping: Mapping) -> float:
    """The forward-only program over the samples of one evaluation [s]."""
    each = mapping.micro_batch * mapping.replicas
    rows = math.ceil(question.workload.benchmark.evaluation_samples / mapping.samples_per_row)

    def time(micro_batches: int) -> StepTimeline:
        program = lower_evaluation(
            question.workload,
            mapping,
            question.machine,
            question.fabric,
            rows=micro_batches * each,
            folded=question.folded,
            tiles=question.tiles,
        )
        return question.engine(program, question.fabric)

    far = reach(question.workload, mapping, question.machine, question.fabric) if question.folded else 0
    micro_batches = math.ceil(rows / each)
    return (steady_state.run(time, micro_batches, far) if far else time(micro_batches)).step_s


def samples(question: TrainingCase, batch: int) -> Samples:
    """Samples to converge at a global batch, as asked or as learned."""
    if question.by_law is not None:
        return question.by_law.at(batch)
    if question.samples is not None:
        benchmark = question.workload.benchmark
        is_published = question.samples == benchmark.run_samples
        fixed_note = AnswerNote.of(NoteCode.SAMPLES_FIXED, target=benchmark.target_at(batch)) if is_published else None
        basis = fixed_note or AnswerNote.of(NoteCode.GIVEN)
        grade = Grade.MEASURED if is_published and not question.given_length else Grade.GIVEN
        return Samples(mean=question.samples, seed_spread=0.0, doubt=0.0, grade=grade, beyond=1.0, basis=basis)
    samples_factors = question.machine.parameters.samples.get(question.workload.name, {})
    workload = question.workload
    samples = to_converge(workload.curve, batch, samples_factors, question.optimizer, question.division)
    machine = question.machine
    own = machine.parameters.own_samples(workload.name, machine.sdk, question.optimizer, question.division, batch)
    if own is not None and own.samples is not None:
        samples = replace(samples, mean=own.samples, doubt=own.samples_error)
    if workload.benchmark.style is not EvaluationStyle.POINTS:
        return samples
    return replace(samples, basis=_of_points(workload, samples, batch))


def _of_points(workload: Workload, need: Samples, batch: int) -> AnswerNote:
    """What the points say of the batch, and of how little a run is that they describe."""
    tokens = None
    if workload.row_tokens is not None:
        tokens = need.mean * workload.row_tokens / (workload.samples_per_row * workload.packing)
    return AnswerNote.of(
        NoteCode.SAMPLES_OF_POINTS,
        basis=need.basis,
        outside=batch if need.beyond > 1 else None,
        first=workload.points[0].batch,
        last=workload.points[-1].batch,
        tokens=tokens,
        each=None if tokens is None else tokens / workload.parameters,
        critical=critical_batch(workload.curve),
    )


def question_pace(question: TrainingCase, mapping: Mapping, step_s: float, each_s: float | None = None) -> RunPace:
    """The pace of a run with a given step; `each_s` is that of its evaluations where it is known."""
    one_s = evaluation_s(question, mapping, step_s) if each_s is None else each_s
    overhead = question.overhead
    if question.workload.benchmark.evaluates_checkpoints:
        forward = one_s - overhead.each_evaluation_s
        overhead = replace(overhead, first_evaluation_s=overhead.first_evaluation_s + forward, each_evaluation_s=one_s)
        if mapping.configuration.separate_evaluation:
            overhead = replace(
                overhead, graph_switch_s=question.machine.parameters.outside.at("process", question.machine.sdk)
            )
    return pace(question.workload, mapping, step_s, one_s, overhead)


def mean_run(question: TrainingCase, beat: RunPace, need: Samples) -> Run:
    """The run at the mean number of samples, up to the evaluation that passes; exactly those given, if given."""
    if question.samples is not None:
        return run(beat, question.samples)
    return run(beat, stop_samples(beat.benchmark, beat.interval_samples, need.mean))


def formula_time_s(question: TrainingCase, mapping: Mapping) -> float:
    """The time to train at the mean number of samples, by formula [s]."""
    beat = question_pace(question.by_formula, mapping, step(question.by_formula, mapping).step_s)
    return expected_s(beat, samples(question, mapping.global_batch))
