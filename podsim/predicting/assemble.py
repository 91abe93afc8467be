"""A mapping on a machine, run by an engine, as a prediction."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

from podsim.convergence.curve import critical_batch
from podsim.convergence.samples import LawLength, Samples, to_converge
from podsim.engines import analytic
from podsim.engines.base import Engine
from podsim.lowering.lower import lower, lower_evaluation, reach
from podsim.model.calibration import Overhead
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, FormAnswer, Prediction, Run, StepEvents
from podsim.model.program import Part, StepTimeline
from podsim.model.quantity import NINETY_PERCENT, Cause, Estimate, Grade
from podsim.model.training import Division, EvaluationStyle
from podsim.model.workload import Workload
from podsim.predicting import intervals, steady_state, step_activity, step_events, switches
from podsim.predicting.grades import grades
from podsim.predicting.run import NO_OVERHEAD, RunPace, expected_s, pace, run, stop_samples
from podsim.predicting.timed_steps import TimedSteps
from podsim.predicting.uncertainty import StepDoubt, between_racks, of_step
from podsim.tiles import memory
from podsim.tiles.supersteps import TileEngine
from podsim.topology.machine_network import Fabric
from podsim.units import count_text


@dataclass(frozen=True, kw_only=True)  # without slots, so that what a search asks of it is put together once
class TrainingCase:
    """What is asked of a mapping; intervals are to hold the share `interval` of truths."""

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

    @cached_property
    def overhead(self) -> Overhead:
        """What a run spends outside its steps, evaluations without their forward program (Eq. 29).

        Nothing where no evaluation is stated. A run of a fixed length loads its program once more, to train: the clock
        of MLPerf starts after that.
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
        """Log error of start-up, evaluations and checkpoints, wider for a release without logs (Eq. 30)."""
        parameters = self.machine.parameters
        return math.hypot(parameters.outside_error, parameters.outside.error(self.machine.sdk))


def step(question: TrainingCase, mapping: Mapping) -> StepTimeline:
    """One weight update, timed once for a question and those made of it.

    Result: its length [s] and that of each part. `lower` says what is computed and sent (micro-batches in
    `lowering.pipeline`, collectives in `lowering.weight_update`). `question.engine`, which `resolve.engine_of` names
    (`engines.analytic.run`, `engines.des.pod.run`), times each cycle as the longest path through its tasks (Eq. 15).
    Where nothing separates micro-batches, as many of them are timed as it takes to see a period.
    """
    known = question.steps.get(question, mapping)
    if known is not None:
        return known
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
    """How far a step that was predicted may be off, other forms of the model among the causes (Eq. 31)."""
    return of_step(question, mapping, timeline, _in_other_forms(question, mapping, timeline))


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
    """One evaluation: a forward-only program and a call of it, or as many training steps as it takes [s] (Eq. 27).

    Source: the v1.0 and v1.1 logs of BERT, where an evaluation takes a whole number of steps; v2.0 and checkpoints that
    are evaluated after training have the forward program.
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
        published = question.samples == benchmark.run_samples
        fixed = AnswerNote.of(NoteCode.SAMPLES_FIXED, target=benchmark.target_at(batch)) if published else None
        basis = fixed or AnswerNote.of(NoteCode.GIVEN)
        grade = Grade.MEASURED if published and not question.given_length else Grade.GIVEN
        return Samples(mean=question.samples, seed_spread=0.0, doubt=0.0, grade=grade, beyond=1.0, basis=basis)
    learned = question.machine.parameters.samples.get(question.workload.name, {})
    workload = question.workload
    samples = to_converge(workload.curve, batch, learned, question.optimizer, question.division)
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
    spent = question.overhead
    if question.workload.benchmark.evaluates_checkpoints:
        forward = one_s - spent.each_evaluation_s
        spent = replace(spent, first_evaluation_s=spent.first_evaluation_s + forward, each_evaluation_s=one_s)
        if mapping.configuration.separate_evaluation:
            spent = replace(
                spent, graph_switch_s=question.machine.parameters.outside.at("process", question.machine.sdk)
            )
    return pace(question.workload, mapping, step_s, one_s, spent)


def predict(
    question: TrainingCase,
    mapping: Mapping,
    choice: Choice,
    assumptions: tuple[AnswerNote, ...],
    *,
    weighs: bool = True,
) -> Prediction:
    """The answer for one mapping; unless it `weighs` what other software would do, assumptions are those given."""
    workload, machine, timeline = question.workload, question.machine, step(question, mapping)
    beat, need = question_pace(question, mapping, timeline.step_s), samples(question, mapping.global_batch)
    doubt, spent = step_doubt(question, mapping, timeline), mean_run(question, beat, need)
    step_s, time_s, others = time_estimates(question, mapping, timeline.step_s, beat, need, doubt)
    content, tokens = memory.fit(workload, mapping, machine.topology), workload.row_tokens if workload.decodes else None
    return Prediction(
        workload=workload.name,
        workload_title=workload.title,
        target=_target(question, mapping.global_batch),
        topology=machine.topology.name,
        topology_title=machine.topology.title,
        chip=machine.chip.name,
        ipus=machine.topology.ipus,
        sdk=machine.sdk,
        division=None if workload.benchmark.style is EvaluationStyle.FIXED else question.division,
        optimizer=question.optimizer,
        hosts=machine.hosts,
        engine=question.engine_name,
        mapping=mapping,
        choice=choice,
        timeline=timeline,
        step_s=step_s,
        throughput_samples_per_s=_rate(beat, step_s),
        samples_to_converge=_samples_estimate(need, question.interval),
        time_to_train_s=time_s,
        run=spent,
        mfu=_mfu(question, mapping, timeline.step_s),
        memory=content,
        memory_relief=memory.relief(content, machine.chip.without(mapping.configuration.io_tiles)),
        limited_by=limited_by(timeline, mapping) + _of_larger_batches(question, mapping, timeline, choice),
        assumptions=_notes(question, mapping, timeline.step_s, assumptions, need) if weighs else assumptions,
        calibration=intervals.held_out_note(
            machine.parameters, machine.parameters_file, machine.own(workload.name, mapping), workload.name
        ),
        grades=grades(question, timeline, spent, between_racks(question, mapping, timeline), doubt, need),
        interval=question.interval,
        row_tokens=tokens,
        activity=step_activity.of_step(workload, mapping, machine, timeline),
        length_default=question.samples is not None and question.samples == workload.benchmark.run_samples,
        events=_events(question, mapping, timeline.step_s),
        forms=others if machine.parameters.forms else None,
    )


def _notes(
    question: TrainingCase, mapping: Mapping, step_s: float, assumptions: tuple[AnswerNote, ...], need: Samples
) -> tuple[AnswerNote, ...]:
    """Everything assumed: of the question, of its software, of the samples."""
    switched = switches.switch_notes(question, mapping, step_s)
    fewer = question.workload.minimum.note(mapping.ipus) if question.workload.minimum else None
    return (
        *([fewer] if fewer else []),
        *assumptions,
        *switched,
        *_large_machine_notes(question, mapping),
        AnswerNote.of(NoteCode.SAMPLES, basis=need.basis),
    )


def _events(question: TrainingCase, mapping: Mapping, step_s: float) -> StepEvents | None:
    """The same step by formula, and how long tiles wait; None where the formula alone was asked for."""
    if question.tiles is None:
        return None
    formula = step(question.by_formula, mapping)
    return step_events.of_step(question, mapping, step_s, formula.step_s)


def _large_machine_notes(question: TrainingCase, mapping: Mapping) -> Iterator[AnswerNote]:
    """A note for each configuration for large machines that would move the time to train by more than a tenth.

    Both at the mean number of samples, by formula.
    """
    for large_pod in question.workload.large_pods:
        configuration = large_pod.of(mapping.configuration)
        if question.machine.topology.ipus <= large_pod.above or configuration is mapping.configuration:
            continue
        other = replace(mapping, configuration=configuration)
        change = _expected_s(question, other) / _expected_s(question, mapping) - 1
        if abs(change) > switches.LEAST:
            yield AnswerNote.of(NoteCode.LARGE_POD_OFFERED, name=large_pod.name, text=large_pod.text, change=change)


def time_estimates(
    question: TrainingCase, mapping: Mapping, step_s: float, beat: RunPace, need: Samples, doubt: StepDoubt
) -> tuple[Estimate, Estimate, tuple[FormAnswer, ...]]:
    """Step time and time to train [s], and what other forms answer, which both intervals contain from 90 % up.

    `step_s` is the step of the mapping [s], `beat` and `need` the pace and samples of a run, `doubt` that of the step.
    """
    level = question.interval
    step = intervals.lognormal(step_s, doubt.variances, doubt.grade, doubt.beyond, smaller=doubt.smaller, level=level)
    time = _time_to_train(question, beat, need, doubt)
    others = _form_answers(question, mapping, (step_s, time.value), beat, need, doubt)
    return (
        intervals.holding(step, (other.step_s for other in others), level),
        intervals.holding(time, (other.time_to_train_s for other in others), level),
        others,
    )


def _form_answers(
    question: TrainingCase, mapping: Mapping, own_s: tuple[float, float], beat: RunPace, need: Samples, doubt: StepDoubt
) -> tuple[FormAnswer, ...]:
    """Step and time to train of other forms, `own_s` being those predicted [s]; a time moves as its mean run does."""
    step_s, time_s = own_s
    above, answers = question.machine.parameters.near_forms, []
    for name, moved in doubt.forms.items():
        theirs = replace(question.by_formula, machine=question.machine.in_form(name))
        other = question_pace(theirs, mapping, step_s * math.exp(moved))
        longer = mean_run(question, other, need).total_s / mean_run(question, beat, need).total_s
        answers.append(FormAnswer(form=name, above=above[name], step_s=other.step_s, time_to_train_s=time_s * longer))
    return tuple(answers)


def _target(question: TrainingCase, batch: int) -> str:
    """What ends the run: the rules of its benchmark, or what was asked for instead of a stated length."""
    benchmark, samples = question.workload.benchmark, question.samples
    if question.by_law is not None:
        return question.by_law.target
    if samples is not None and (benchmark.style is not EvaluationStyle.FIXED or samples != benchmark.run_samples):
        return f"{count_text(samples)} sample{'' if samples == 1 else 's'}"
    return benchmark.target_at(batch)


def estimates(question: TrainingCase, mapping: Mapping) -> tuple[Estimate, Estimate]:
    """Step and time to train with the intervals that `predict` answers for a mapping [s]."""
    timeline = step(question, mapping)
    beat, need = question_pace(question, mapping, timeline.step_s), samples(question, mapping.global_batch)
    doubt = step_doubt(question, mapping, timeline)
    step_s, time_s, _ = time_estimates(question, mapping, timeline.step_s, beat, need, doubt)
    return step_s, time_s


def answer_s(question: TrainingCase, mapping: Mapping) -> float:
    """The time to train that `predict` answers for a mapping [s]."""
    timeline = step(question, mapping)
    beat, need = question_pace(question, mapping, timeline.step_s), samples(question, mapping.global_batch)
    return _time_to_train(question, beat, need, step_doubt(question, mapping, timeline)).value


def _time_to_train(question: TrainingCase, beat: RunPace, need: Samples, doubt: StepDoubt) -> Estimate:
    outside, level = question.outside_error, question.interval
    if question.samples is not None:
        return intervals.given_samples(beat, question.samples, doubt, outside_error=outside, level=level)
    return intervals.time_to_train(beat, need, doubt, question.seed, outside_error=outside, level=level)


def mean_run(question: TrainingCase, beat: RunPace, need: Samples) -> Run:
    """The run at the mean number of samples, up to the evaluation that passes; exactly those given, if given."""
    if question.samples is not None:
        return run(beat, question.samples)
    return run(beat, stop_samples(beat.benchmark, beat.interval_samples, need.mean))


def _mfu(question: TrainingCase, mapping: Mapping, step_s: float) -> float:
    """Model FLOP/s of forward, backward and weight gradient over the peak of the IPUs used (Eq. 33)."""
    peak = question.machine.chip.peak_flop_per_s(question.workload.precision) * mapping.ipus
    return mapping.rows_per_step * question.workload.training_flop_per_row() / step_s / peak


def _rate(beat: RunPace, step_s: Estimate) -> Estimate:
    """True samples per second inside training."""
    each = beat.samples_per_step
    return replace(step_s, value=each / step_s.value, low=each / step_s.high, high=each / step_s.low)


def _samples_estimate(need: Samples, level: float) -> Estimate:
    variances = {Cause.SEEDS: need.seed_spread**2, Cause.CONVERGENCE: need.doubt**2}
    return intervals.lognormal(need.mean, variances, need.grade, need.beyond, level=level)


LEAST_STALL: Final = 0.05
"""Share of a step from which waiting for inputs that are loaded ahead is its bottleneck."""
LEAST_FASTER: Final = 0.05
"""Share of the time to train from which on a larger batch is said to be faster."""

NAMES = {
    Part.COMPUTE: "compute",
    Part.EXCHANGE: "on-chip exchange",
    Part.SYNC: "sync",
    Part.TRANSFER: "stage transfers",
    Part.BUBBLE: "pipeline bubble",
    Part.ALL_REDUCE: "gradient all-reduce",
    Part.TENSOR_PARALLEL: "tensor-parallel all-reduce",
    Part.COLLECTIVE_STEPS: "in-rack collective overhead",
    Part.RACK_STEPS: "cross-rack collective overhead",
    Part.WEIGHT_UPDATE: "weight update",
    Part.SHARDING: "optimizer-state sharding",
    Part.STREAMING: "streaming memory",
    Part.HOST: "host input",
    Part.HOST_STEP: "host round trip",
    Part.FRAMEWORK: "framework overhead",
}


PER_UPDATE: Final = frozenset(
    (
        Part.ALL_REDUCE,
        Part.COLLECTIVE_STEPS,
        Part.RACK_STEPS,
        Part.WEIGHT_UPDATE,
        Part.SHARDING,
        Part.BUBBLE,
        Part.HOST_STEP,
    )
)
"""Parts of a step that a weight update takes once, however many micro-batches it has."""


def _of_larger_batches(question: TrainingCase, mapping: Mapping, timeline: StepTimeline, choice: Choice) -> str:
    """Whether a larger global batch is faster, or what of a step it amortizes in vain; "" where none was searched.

    Tried are batches of twice as many micro-batches each, with the same split, as long as each is faster.
    """
    largest = max(timeline.breakdown_s, key=lambda part: timeline.breakdown_s[part])
    if choice.given != "search" or question.samples is not None or mapping.replicas == 1:
        return ""
    is_given = all(each.mapping.global_batch == mapping.global_batch for each in choice.considered)
    if largest is Part.COMPUTE and not is_given:  # of several the search has taken the fastest
        return ""
    first_s = last_s = best_s = _expected_s(question, mapping)
    best, larger = mapping, mapping.at(2 * mapping.accumulation)
    twice_s = next_s = _expected_s(question, larger)
    while next_s < last_s:
        if memory.fit(question.workload, larger, question.machine.topology).fits:
            best, best_s = larger, next_s
        last_s, larger = next_s, larger.at(2 * larger.accumulation)
        next_s = _expected_s(question, larger)
    if (less := 1 - best_s / first_s) > LEAST_FASTER:
        return f"; a larger global batch is faster: {best.global_batch:,} takes {100 * less:.0f} % less time"
    if largest not in PER_UPDATE or twice_s < first_s:  # by little, or it does not fit
        return ""
    longer = "< 1" if twice_s < 1.01 * first_s else f"{100 * (twice_s / first_s - 1):.0f}"
    why = f"it amortizes {NAMES[largest]} but needs more samples to converge"
    return f"; with twice the batch the run takes {longer} % longer: {why}"


def _expected_s(question: TrainingCase, mapping: Mapping) -> float:
    """The time to train at the mean number of samples, by formula [s]."""
    beat = question_pace(question.by_formula, mapping, step(question.by_formula, mapping).step_s)
    return expected_s(beat, samples(question, mapping.global_batch))


def limited_by(timeline: StepTimeline, mapping: Mapping) -> str:
    """The two longest parts of a step with their shares, and why they are long."""
    shares = sorted(((s / timeline.step_s, part) for part, s in timeline.breakdown_s.items()), reverse=True)
    stalled = timeline.breakdown_s.get(Part.HOST, 0.0) / timeline.step_s
    if mapping.configuration.prefetch and stalled >= LEAST_STALL:  # inputs come ahead, and still too late
        longest = next((share, part) for share, part in shares if part is not Part.HOST)
        text = f"{NAMES[Part.HOST]}: IPUs wait for it {100 * stalled:.0f} % of a step"
        if longest[1] in (Part.COMPUTE, Part.EXCHANGE):  # beside which inputs are loaded
            name = NAMES[longest[1]]
            text += f"; it is loaded during {name} ({100 * longest[0]:.0f} %)"
            return f"{text}, so faster {name} would only lengthen the wait"
        return f"{text}; {NAMES[longest[1]]} takes {100 * longest[0]:.0f} %"
    (first, most), (second, next_) = shares[0], shares[1]
    text = f"{NAMES[most]}, {100 * first:.0f} % of a step; then {NAMES[next_]}, {100 * second:.0f} %"
    if Part.BUBBLE in (most, next_):
        stages = len(mapping.stages)
        text += f"; accumulation {mapping.accumulation:,} is low for {stages} pipeline stages"
    return text
