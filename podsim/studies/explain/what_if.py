"""A predicted run predicted again: with another number, without a mechanism, and added up from ideal arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.lowering.work import computing, rates
from podsim.model.program import Part, StepProgram
from podsim.model.sums import clean, sum_in_order
from podsim.model.training import Recompute, Schedule
from podsim.model.workload import Pass
from podsim.predicting import intervals, training_case
from podsim.predicting.run import NO_OVERHEAD, run
from podsim.predicting.uncertainty import StepDoubt
from podsim.studies.explain.result import Mechanism, Rise, Without
from podsim.tiles.cost import cost

if TYPE_CHECKING:
    from podsim.convergence.samples import Samples
    from podsim.engines.base import Engine, LinkRates
    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Prediction
    from podsim.model.program import StepTimeline
    from podsim.model.workload import Operator
    from podsim.predicting.run import RunPace
    from podsim.predicting.training_case import TrainingCase
    from podsim.tiles.cost import Rates


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with the quick engine, the mapping of its answer, and the doubt, which what-ifs keep as it is.

    `step_s` and `time_s` are of the quick engine, so that what-ifs differ from them in what they change alone;
    `answer_s` is the time to train that was answered. A second more of a step makes `slope` seconds more of a run.
    """

    question: TrainingCase
    mapping: Mapping
    doubt: StepDoubt
    answer_s: float
    timeline: StepTimeline
    evaluation_s: float
    time_s: float
    slope: tuple[float, float]

    def change(self, time_s: float) -> float:
        """By which share another time of the quick engine is longer."""
        return time_s / self.time_s - 1

    def told_s(self, time_s: float) -> float:
        """Another time of the quick engine, as the answer is scaled [s]."""
        return time_s / self.time_s * self.answer_s


def answer_of(question: TrainingCase, prediction: Prediction) -> AnsweredQuestion:
    """What a prediction answered."""
    quick, mapping = question.by_formula, prediction.mapping
    doubt = training_case.step_doubt(question, mapping, prediction.timeline)
    timeline = training_case.step(quick, mapping)
    beat = training_case.question_pace(quick, mapping, timeline.step_s)
    need = training_case.samples(quick, mapping.global_batch)
    base_s = score_s(quick, doubt, beat, need)
    longer = replace(beat, step_s=2 * beat.step_s), replace(beat, evaluation_s=beat.evaluation_s + beat.step_s)
    slope = tuple((score_s(quick, doubt, pace, need) - base_s) / beat.step_s for pace in longer)
    return AnsweredQuestion(
        question=quick,
        mapping=mapping,
        doubt=doubt,
        answer_s=prediction.time_to_train_s.value,
        timeline=timeline,
        evaluation_s=beat.evaluation_s,
        time_s=base_s,
        slope=(slope[0], slope[1]),
    )


def score_s(question: TrainingCase, doubt: StepDoubt, beat: RunPace, need: Samples) -> float:
    """The mean score at a pace [s] (Eq. 30); exactly the samples given, if given (Eq. 29)."""
    if question.samples is not None:
        return run(beat, need.mean).total_s
    return intervals.scores(beat, need, doubt, question.seed, question.outside_error)[1]


def at_pace_s(baseline: AnsweredQuestion, question: TrainingCase) -> float:
    """Time to train of a question that changes nothing but the pace [s]: a score is linear in it (Eq. 29, 30)."""
    step_s = training_case.step(question, baseline.mapping).step_s
    evaluation_s = training_case.evaluation_s(question, baseline.mapping, step_s)
    of_step_s, of_evaluation_s = baseline.slope
    slower_s = of_step_s * (step_s - baseline.timeline.step_s)
    return baseline.time_s + slower_s + of_evaluation_s * (evaluation_s - baseline.evaluation_s)


def time_mapping(baseline: AnsweredQuestion, question: TrainingCase, mapping: Mapping) -> tuple[StepTimeline, float]:
    """A step of another question or mapping and its time to train [s], with the doubt and the draws of the answer."""
    timeline = training_case.step(question, mapping)
    beat = training_case.question_pace(question, mapping, timeline.step_s)
    return timeline, time_s(baseline, beat, training_case.samples(question, mapping.global_batch))


def time_s(baseline: AnsweredQuestion, beat: RunPace, need: Samples) -> float:
    """The mean score at another pace or of other samples [s]."""
    return score_s(baseline.question, baseline.doubt, beat, need)


def _pace(baseline: AnsweredQuestion, question: TrainingCase, step_s: float) -> RunPace:
    return training_case.question_pace(question, baseline.mapping, step_s)


STEPS_ALONE: Final = "steps only"
"""What a run without start-up, evaluation and checkpoints is called."""

# --- without it -----------------------------------------------------------------------------------------------------

FREE_PARTS: dict[str, frozenset[Part]] = {
    "free all-reduce": frozenset({Part.ALL_REDUCE, Part.COLLECTIVE_STEPS, Part.RACK_STEPS}),
    "free tensor-parallel all-reduce": frozenset({Part.TENSOR_PARALLEL}),
    "free on-chip exchange": frozenset({Part.EXCHANGE}),
    "no sync": frozenset({Part.SYNC}),
    "free stage transfers": frozenset({Part.TRANSFER}),
    "no host": frozenset({Part.HOST, Part.HOST_STEP}),
    "input prefetch": frozenset({Part.FRAMEWORK}),
    "free streaming memory": frozenset({Part.STREAMING}),
    "free weight update": frozenset({Part.WEIGHT_UPDATE}),
}
"""Parts of a step that cost nothing in each row."""


def without(baseline: AnsweredQuestion) -> Iterator[Without]:
    """Each mechanism that takes time in this answer taken away, and the run predicted again (Eq. 68)."""
    timeline = baseline.timeline
    if timeline.breakdown_s.get(Part.BUBBLE):
        yield _row(baseline, "no pipeline bubble", baseline.question, unfilled=True)
    for name, parts in FREE_PARTS.items():
        if any(timeline.breakdown_s.get(part) for part in parts):
            yield _row(baseline, name, without_parts(baseline.question, parts))
    yield _steps_alone(baseline)
    yield _row(
        baseline, "compute only", without_parts(baseline.question, frozenset(Part) - {Part.COMPUTE}), unfilled=True
    )


def _row(baseline: AnsweredQuestion, name: str, question: TrainingCase, *, unfilled: bool = False) -> Without:
    timeline = training_case.step(question, baseline.mapping)
    step_s = _unfilled_s(question, baseline.mapping, timeline) if unfilled else timeline.step_s
    taken_s = time_s(
        baseline, _pace(baseline, question, step_s), training_case.samples(question, baseline.mapping.global_batch)
    )
    return Without(name=name, time_to_train_s=baseline.told_s(taken_s), change=baseline.change(taken_s))


def _steps_alone(baseline: AnsweredQuestion) -> Without:
    """No start-up, evaluation or checkpoint."""
    beat = replace(_pace(baseline, baseline.question, baseline.timeline.step_s), overhead=NO_OVERHEAD, evaluation_s=0.0)
    taken_s = time_s(baseline, beat, training_case.samples(baseline.question, baseline.mapping.global_batch))
    return Without(name=STEPS_ALONE, time_to_train_s=baseline.told_s(taken_s), change=baseline.change(taken_s))


def _unfilled_s(question: TrainingCase, mapping: Mapping, timeline: StepTimeline) -> float:
    """A step whose micro-batches each take a period of the full pipeline, then the weight update [s]."""
    update = question.weight_update(mapping)
    after_s = question.engine(update, question.fabric).step_s
    return min(timeline.step_s, mapping.accumulation * timeline.period_s + after_s)


def without_parts(question: TrainingCase, parts: frozenset[Part]) -> TrainingCase:
    """The question with an engine to which those parts of every program cost nothing."""
    engine: Engine = question.engine

    def run_less(program: StepProgram, fabric: LinkRates) -> StepTimeline:
        return engine(_less(program, parts), fabric)

    return replace(question, engine=run_less)


def _less(program: StepProgram, parts: frozenset[Part]) -> StepProgram:
    """A program whose tasks spend nothing on those parts; order, syncs and mapping stay."""
    blocks = tuple(
        replace(
            block,
            tasks=tuple(
                replace(
                    task,
                    cut=tuple((part, 0.0 if part in parts else seconds) for part, seconds in task.cut),
                    flows=() if task.part in parts else task.flows,
                )
                for task in block.tasks
            ),
        )
        for block in program.blocks
    )
    steady = tuple((part, 0.0 if part in parts else seconds) for part, seconds in program.steady)
    return replace(program, blocks=blocks, steady=steady)


# --- the waterfall --------------------------------------------------------------------------------------------------

IN_ORDER = (
    Part.EXCHANGE,
    Part.SYNC,
    Part.TRANSFER,
    Part.BUBBLE,
    Part.TENSOR_PARALLEL,
    Part.ALL_REDUCE,
    Part.COLLECTIVE_STEPS,
    Part.RACK_STEPS,
    Part.WEIGHT_UPDATE,
    Part.SHARDING,
    Part.STREAMING,
    Part.HOST,
    Part.HOST_STEP,
    Part.FRAMEWORK,
)


def waterfall(question: TrainingCase, prediction: Prediction) -> tuple[Rise, ...]:
    """From ideal arithmetic to the time to train, mechanism by mechanism; the last sum is the answer (Eq. 68)."""
    until_s, rises = 0.0, []
    for mechanism, added_s in _additions(question, prediction):
        if clean(added_s, prediction.time_to_train_s.value):
            until_s += added_s
            rises.append(Rise(mechanism=mechanism, added_s=added_s, until_s=until_s))
    return tuple(rises)


def _additions(question: TrainingCase, p: Prediction) -> Iterator[tuple[str, float]]:
    steps = p.run.training_s / p.timeline.step_s
    for mechanism, seconds in _of_compute(question, p):
        yield mechanism, seconds * steps
    for part in IN_ORDER:
        yield part, p.breakdown_s.get(part, 0.0) * steps
    yield Mechanism.EVALUATION, p.run.evaluation_s
    yield Mechanism.STARTUP, p.run.startup_s
    yield Mechanism.CHECKPOINTS, p.run.checkpoint_s
    yield Mechanism.SEEDS, p.time_to_train_s.value - p.run.total_s


def _of_compute(question: TrainingCase, p: Prediction) -> Iterator[tuple[str, float]]:
    """The compute of a step in seconds: ideal, then each reason why the busiest IPU takes longer."""
    configuration = p.mapping.configuration
    machine = computing(question.machine, question.workload, p.mapping)
    operator_rates, factor = rates(machine, question.workload, configuration.memory_proportion), machine.program_factor
    useful_s, again_s, calls = 0.0, 0.0, 0
    for stage in p.mapping.stages:
        for unit in stage.units:
            for operator in unit.active(p.mapping.configuration):
                useful, again = _compute_s(operator, p.mapping, operator_rates)
                useful_s, again_s = useful_s + useful, again_s + again
                calls += _calls(operator, p.mapping, operator_rates) if configuration.operator_call_cycles else 0
    each = p.mapping.accumulation / (1 if p.mapping.schedule is Schedule.PHASED else p.mapping.ipus_per_replica)
    useful_s, again_s = useful_s * each, again_s * each
    called_s = calls * configuration.operator_call_cycles / machine.chip.clock_hz * each
    ideal_s = p.mfu * p.timeline.step_s
    yield Mechanism.IDEAL, ideal_s
    yield Mechanism.BELOW_PEAK, useful_s / factor - ideal_s
    yield Mechanism.RECOMPUTATION, again_s / factor
    yield Mechanism.PROGRAMS, (useful_s + again_s) * (1 - 1 / factor) + called_s
    yield Mechanism.UNEVEN_STAGES, p.breakdown_s.get(Part.COMPUTE, 0.0) - useful_s - again_s - called_s


def _compute_s(operator: Operator, mapping: Mapping, operator_rates: Rates) -> tuple[float, float]:
    """Compute of one micro-batch, and of its recomputation [s]."""
    runs = (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
    useful_s = sum_in_order(cost(operator, run, mapping.micro_batch, operator_rates).compute_s for run in runs)
    if mapping.recompute is Recompute.NONE:
        return useful_s, 0.0
    return useful_s, cost(operator, Pass.RECOMPUTE, mapping.micro_batch, operator_rates).compute_s


def _calls(operator: Operator, mapping: Mapping, operator_rates: Rates) -> int:
    """Passes of an operator in one micro-batch that have any work (Eq. 97)."""
    runs = [Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT]
    runs += [] if mapping.recompute is Recompute.NONE else [Pass.RECOMPUTE]
    return sum(cost(operator, run, mapping.micro_batch, operator_rates).total_s > 0 for run in runs)
