"""The prediction of a run of unknown length: its rate and its memory, without the time it would take."""

import math
from dataclasses import replace

from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice, ConsideredMapping, Figure, Prediction, Run
from podsim.model.quantity import Estimate, Grade
from podsim.predicting.training_case import TrainingCase

ENDLESS = 1e15
"""Samples of a run to which start-up and the last step add nothing: its time follows the throughput alone."""
UNKNOWN_ESTIMATE = Estimate(value=math.nan, low=math.nan, high=math.nan, grade=Grade.ASSUMED)
"""What needs a length: NaN in Python, null in JSON."""


def without_length(prediction: Prediction, flags: tuple[str, ...]) -> Prediction:
    """The prediction without its length and all that follows from one; `flags` would give it, none if it is stated."""
    if not flags:
        return prediction
    nothing = math.nan
    run = Run(
        steps=0,
        evaluations=0,
        interval_samples=None,
        startup_s=nothing,
        training_s=nothing,
        evaluation_s=nothing,
        checkpoint_s=nothing,
    )
    return replace(
        prediction,
        length_flags=flags,
        target="no stated length",
        samples_to_converge=UNKNOWN_ESTIMATE,
        time_to_train_s=UNKNOWN_ESTIMATE,
        run=run,
        choice=_choice_without_length(prediction.choice),
        grades=replace(prediction.grades, figures=_of_steps(prediction), shares={}),
        assumptions=tuple(note for note in prediction.assumptions if note.code is not NoteCode.SAMPLES),
        forms=prediction.forms and tuple(replace(form, time_to_train_s=nothing) for form in prediction.forms),
    )


def endless(question: TrainingCase) -> TrainingCase:
    """The question about a run that goes on, so that times compare as times of a sample do."""
    return replace(question, samples=ENDLESS, by_law=None)


def on_and_on(prediction: Prediction) -> Prediction:
    """The prediction with the time of that run, to compare with others of it."""
    time_s = ENDLESS / prediction.throughput_samples_per_s.value
    return replace(prediction, time_to_train_s=replace(prediction.step_s, value=time_s))


def of_step(prediction: Prediction) -> Prediction:
    """The prediction of one step alone, as if it were the run."""
    run = Run(
        steps=1,
        evaluations=0,
        interval_samples=None,
        startup_s=0.0,
        training_s=prediction.timeline.step_s,
        evaluation_s=0.0,
        checkpoint_s=0.0,
    )
    step = replace(prediction.step_s, value=prediction.timeline.step_s)
    return replace(prediction, run=run, time_to_train_s=step)


def _choice_without_length(choice: Choice) -> Choice:
    def candidate(other: ConsideredMapping) -> ConsideredMapping:
        return replace(other, time_to_train_s=math.nan, samples=math.nan)

    return replace(
        choice, reason=choice.reason.with_reason(by_rate=True), considered=tuple(map(candidate, choice.considered))
    )


def _of_steps(prediction: Prediction) -> dict[str, Figure]:
    run_figures = ("samples_to_converge", "time_to_train", "outside_steps")
    return {name: figure for name, figure in prediction.grades.figures.items() if name not in run_figures}
