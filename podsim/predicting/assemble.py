"""A mapping on a machine, run by an engine, as a prediction."""

import math
from collections.abc import Iterator
from dataclasses import replace

from podsim.convergence.samples import Samples
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, FormAnswer, Prediction, StepEvents
from podsim.model.quantity import Cause, Estimate
from podsim.model.training import EvaluationStyle
from podsim.model.workload import Workload
from podsim.predicting import bottleneck, intervals, step_activity, step_events, switches
from podsim.predicting.grades import grades
from podsim.predicting.run import RunPace
from podsim.predicting.training_case import (
    TrainingCase,
    evaluation_s,
    formula_time_s,
    mean_run,
    moved_parts,
    question_pace,
    samples,
    step,
    step_doubt,
)
from podsim.predicting.uncertainty import StepDoubt, between_racks
from podsim.tiles import memory
from podsim.units import count_text


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
    doubt, training_run = step_doubt(question, mapping, timeline), mean_run(question, beat, need)
    step_s, time_s, others = time_estimates(question, mapping, timeline.step_s, beat, need, doubt)
    racks = between_racks(question, mapping, timeline)
    content, tokens = memory.fit(workload, mapping, machine.topology), workload.row_tokens if workload.decodes else None
    return Prediction(
        workload=workload.name,
        workload_title=workload.title,
        target=_target(question, mapping.global_batch),
        ends_with_samples=_ends_with_samples(question, mapping.global_batch),
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
        run=training_run,
        mfu=_mfu(question, mapping, timeline.step_s),
        memory=content,
        memory_relief=memory.relief(content, machine.chip.without(mapping.configuration.io_tiles)),
        limited_by=bottleneck.of_run(question, mapping, timeline, choice),
        assumptions=_notes(question, mapping, timeline.step_s, assumptions, need) if weighs else assumptions,
        calibration=intervals.held_out_note(
            machine.parameters,
            machine.parameters_file,
            machine.own(workload, mapping),
            workload.name,
            _own_elsewise(machine, workload, mapping),
        ),
        grades=grades(
            question,
            timeline,
            training_run,
            racks,
            doubt,
            need,
            changed_shares=moved_parts(question, mapping, timeline),
            evaluations_moved=_moves_evaluations(question, mapping, timeline.step_s),
        ),
        interval=question.interval,
        row_tokens=tokens,
        activity=step_activity.of_step(workload, mapping, machine, timeline),
        length_default=question.samples is not None and question.samples == workload.benchmark.run_samples,
        events=_events(question, mapping, timeline.step_s),
        forms=others if machine.parameters.forms else None,
    )


def _moves_evaluations(question: TrainingCase, mapping: Mapping, step_s: float) -> bool:
    """Whether faults make an evaluation longer or shorter than on the healthy machine."""
    if not question.faults:
        return False
    healthy = question.without_faults
    usual_s = evaluation_s(healthy, mapping, step(healthy, mapping).step_s)
    return not math.isclose(evaluation_s(question, mapping, step_s), usual_s, rel_tol=1e-9)


def _own_elsewise(machine: Machine, workload: Workload, mapping: Mapping) -> str:
    """The own runs of a workload on a machine and how they were made otherwise than an answer; "" where none were."""
    own = machine.own_elsewise(workload.name)
    if own is None:
        return ""
    runs = f"{own.runs} own run{'' if own.runs == 1 else 's'}"
    if not own.is_run_by(mapping):
        split = f"{own.replicas} × {own.ipus_per_replica} IPUs at batch {own.global_batch:,}"
        return f"{runs} of another mapping, {split}, which this one may not follow"
    if (own.sdk, own.hosts) != (machine.sdk, machine.hosts):
        hosts = f"{own.hosts} host{'' if own.hosts == 1 else 's'}"
        return f"{runs} of this mapping under SDK {own.sdk} with {hosts}, which this answer may not follow"
    return f"{runs} of this mapping with its published schedule and software, which this answer may not follow"


def _notes(
    question: TrainingCase, mapping: Mapping, step_s: float, assumptions: tuple[AnswerNote, ...], need: Samples
) -> tuple[AnswerNote, ...]:
    """Everything assumed: of the question, of its software, of the samples."""
    switch_notes = switches.switch_notes(question, mapping, step_s)
    fewer = question.workload.minimum.note(mapping.ipus) if question.workload.minimum else None
    return (
        *([fewer] if fewer else []),
        *assumptions,
        *switch_notes,
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
        change = formula_time_s(question, other) / formula_time_s(question, mapping) - 1
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
    for name, log_change in doubt.forms.items():
        theirs = replace(question.by_formula, machine=question.machine.in_form(name))
        other = question_pace(theirs, mapping, step_s * math.exp(log_change))
        longer = mean_run(question, other, need).total_s / mean_run(question, beat, need).total_s
        answers.append(FormAnswer(form=name, above=above[name], step_s=other.step_s, time_to_train_s=time_s * longer))
    return tuple(answers)


def _target(question: TrainingCase, batch: int) -> str:
    """What ends the run: the rules of its benchmark, or what was asked for instead of a stated length."""
    samples = question.samples
    if question.by_law is not None:
        return question.by_law.target
    if samples is not None and _is_another_length(question):
        return f"{count_text(samples)} sample{'' if samples == 1 else 's'}"
    return question.workload.benchmark.target_at(batch)


def _is_another_length(question: TrainingCase) -> bool:
    """Whether samples are stated that are not those of the benchmark's own length."""
    benchmark, samples = question.workload.benchmark, question.samples
    return samples is not None and (benchmark.style is not EvaluationStyle.FIXED or samples != benchmark.run_samples)


def _ends_with_samples(question: TrainingCase, batch: int) -> bool:
    """Whether the run ends with a number of samples, and not at a target."""
    if question.by_law is not None:
        return False
    return _is_another_length(question) or question.workload.benchmark.counts_samples_at(batch)


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
