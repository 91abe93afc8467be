"""The verb that answers about one machine: wiring only.

`resolve` makes the case of a scenario, `answering.answer` chooses its mapping and asks `predicting.assemble`, whose
`step` (of `predicting.training_case`) has the step lowered (`lowering.lower`: pipeline, then weight update with its
collectives) and timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from podsim.errors import InputError
from podsim.files import failures_file, start_times_file
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.model.wall_clock import ProgramStart
from podsim.planning import answering, comparator_runs, near_batches, workload_sequence
from podsim.predicting import job_wall_clock
from podsim.predicting.unknown_length import without_length
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.resolve import Case
    from podsim.scenario import Scenario

Progress = Callable[[int, int], None]
FEW_UPDATES: Final = 100
"""Weight updates below which passes over a data set look like no published fine-tuning: SQuAD takes 690."""


@takes_scenario
def predict(
    scenario: Scenario,
    *,
    compile: Literal["fresh", "cached"] = "fresh",  # noqa: A002  (named after its flag)
    on_progress: Progress | None = None,
) -> Prediction | ComparatorPrediction:
    """Predict a training run: time to train, where the time of a step goes, what limits it, and how sure the answer is.

    Call it with a workload and the arguments below, or with these in one object,
    `podsim.Scenario.of("bert", pod=16)`. A workload that trains in several phases, such as bert-large-full, is
    answered as their sum, a machine without IPUs by a scaling law. `compile` is for the wall clock, of which the time
    to train is a part. Raises InputError for a malformed question, Infeasible where nothing fits.
    """
    run, engine = workload_sequence.run(scenario.workload), scenario.engine
    run.check(scenario)
    if comparator_runs.has_law(scenario.machine):
        if compile != "fresh":
            raise InputError(
                f"--compile does not apply to {scenario.machine.topology}, which has no IPUs: nothing times its start",
                code="conflicting-flags",
                hint="leave out --compile",
            )
        return comparator_runs.predict(scenario, run)
    comparator_runs.refuse_chips(scenario.machine)
    answers, clocks = [], []
    times, rates, program = start_times_file.times(), failures_file.failures().value, ProgramStart(compile)
    for workload in run.workloads:
        needs_length = bool(engine.steps or scenario.faults)
        case = resolve(
            replace(scenario, workload=workload), needs_length=needs_length, also="noise." if engine.steps else ""
        )
        prediction, case = answering.answer(case, on_progress)
        prediction = near_batches.with_intervals(prediction, case)
        advised_prediction = _few_updates(near_batches.with_advice(prediction, case), case)
        answers.append(_with_noise(advised_prediction, case))
        clocks.append(job_wall_clock.wall_clock(answers[-1], case.question, times, rates, program))
    whole = run.whole(answers)
    return replace(whole, wall_clock=job_wall_clock.together(clocks, whole.time_to_train_s))


@takes_scenario
def predict_comparator(scenario: Scenario) -> ComparatorPrediction:
    """Predict a training run on a machine without IPUs, by the scaling law of its published results.

    Raises InputError for a malformed question, MissingParameter where no result of the machine is published.
    """
    return comparator_runs.answer(scenario)


def _few_updates(answer: Prediction, case: Case) -> Prediction:
    """The answer with a caveat where passes over a data set leave so few weight updates that no recipe takes them."""
    flags = case.scenario.flags()
    if "epochs" not in flags or "global_batch" in flags or answer.run.steps >= FEW_UPDATES:
        return answer
    note = AnswerNote.of(NoteCode.FEW_UPDATES, caveat=True, updates=answer.run.steps, batch=answer.mapping.global_batch)
    return replace(answer, assumptions=(*answer.assumptions, note))


def _with_noise(answer: Prediction, case: Case) -> Prediction:
    """The answer with simulated steps, if any are wanted; without a length of the run one of its steps alone."""
    steps, scale = case.scenario.engine.steps, case.scenario.engine.noise_scale
    if case.missing:
        return without_length(answer, case.missing)
    if scale is not None and not steps:
        raise InputError("--noise-scale goes with --steps", code="conflicting-flags", hint="--steps 1000")
    if not steps:
        return answer
    from podsim.files import noise_file
    from podsim.predicting import noisy_steps

    shipped_noise, changed_noise = noise_file.noise().value, noise_file.noise(case.scenario.what_if.changes).value
    factor = 1.0 if scale is None else scale
    return replace(
        answer,
        noise=noisy_steps.simulate(answer, case.question, changed_noise, shipped_noise, steps=steps, scale=factor),
    )


def of_ipus(workload: str, **keywords: Any) -> Prediction:  # noqa: ANN401  (those of `predict`)
    """`predict`; InputError for a machine without IPUs."""
    prediction = predict(workload, **keywords)
    if not isinstance(prediction, Prediction):
        raise InputError(
            f"{prediction.topology} has no IPUs", code="no-ipus", hint="podsim compare holds it against others"
        )
    return prediction
