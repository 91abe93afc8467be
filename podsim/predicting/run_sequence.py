"""Phases that follow each other, as one prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from podsim.model.activity import StepActivity
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Figure, Grades, Prediction, Run
from podsim.model.program import Part, StepTimeline
from podsim.model.quantity import Cause, Estimate, Grade
from podsim.model.sums import sum_in_order
from podsim.predicting import intervals, step_activity
from podsim.predicting.bottleneck import limited_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.model.phases import Phases

Key = TypeVar("Key", Part, Cause, Grade)


def together(result: Phases, phases: Sequence[Prediction]) -> Prediction:
    """Phases one after the other as one run, with times and ends of intervals added up [s] (Eq. 77).

    Parameters: `result`, the name and title of the whole; `phases`, predictions in their order, at least one. Result: a
    prediction: time to train [s], mean step [s], samples, throughput [samples/s], grades; the mapping is that of the
    longest phase.

    Equation: time, low and high = sums of those of the phases. Validity: what is wrong in one phase is so in all, which
    makes the widest interval; nothing lies between phases. Source: podsim's own assumption (Eq. 77 of the model).
    """
    longest = max(phases, key=lambda phase: phase.time_to_train_s.value)
    whole_run = _run([phase.run for phase in phases])
    steps = [phase.run.steps / whole_run.steps for phase in phases]
    timeline = _step([phase.timeline for phase in phases], steps)
    return replace(
        longest,
        workload=result.name,
        workload_title=result.title,
        target=", then ".join(phase.workload for phase in phases),
        ends_with_samples=False,
        timeline=timeline,
        step_s=_sum([phase.step_s for phase in phases], steps),
        throughput_samples_per_s=_rate(phases, whole_run),
        samples_to_converge=_sum([phase.samples_to_converge for phase in phases]),
        time_to_train_s=_sum([phase.time_to_train_s for phase in phases]),
        run=whole_run,
        mfu=sum_in_order(phase.mfu * phase.run.training_s for phase in phases) / whole_run.training_s,
        limited_by=limited_by(timeline, longest.mapping),
        assumptions=_assumption_notes(phases, longest),
        grades=_grades(phases),
        activity=_activity(phases),
        events=None,
        noise=None,
        faults=None,
        phases=tuple(phases),
    )


def _activity(phases: Sequence[Prediction]) -> StepActivity | None:
    """The mean over the steps of all phases, by how long they last."""
    each = [phase.activity for phase in phases if phase.activity is not None]
    whole_s = sum_in_order(phase.run.training_s for phase in phases)
    return step_activity.together(each, [phase.run.training_s / whole_s for phase in phases]) if each else None


def _sum(estimates: Sequence[Estimate], weights: Sequence[float] = ()) -> Estimate:
    """Values and ends of intervals added up, as errors that are all shared add up (Eq. 77)."""
    pairs = list(zip(estimates, weights or [1.0] * len(estimates), strict=True))
    value = sum_in_order(estimate.value * weight for estimate, weight in pairs)
    return Estimate(
        value=value,
        low=sum_in_order(estimate.low * weight for estimate, weight in pairs),
        high=sum_in_order(estimate.high * weight for estimate, weight in pairs),
        grade=intervals.worst(*(estimate.grade for estimate in estimates)),
        beyond=max(estimate.beyond for estimate in estimates),
        causes=_mean(
            [estimate.causes for estimate in estimates], [estimate.value * weight / value for estimate, weight in pairs]
        ),
        smaller=max(estimates, key=lambda estimate: estimate.beyond).smaller,
    )


def _mean(each: Sequence[Mapping[Key, float]], weights: Sequence[float]) -> dict[Key, float]:
    keys = dict.fromkeys(key for table in each for key in table)
    return {
        key: sum_in_order(table.get(key, 0.0) * weight for table, weight in zip(each, weights, strict=True))
        for key in keys
    }


def _run(runs: Sequence[Run]) -> Run:
    """All of them, one after the other."""
    return Run(
        steps=sum(run.steps for run in runs),
        evaluations=sum(run.evaluations for run in runs),
        interval_samples=None,
        startup_s=sum(run.startup_s for run in runs),
        training_s=sum_in_order(run.training_s for run in runs),
        evaluation_s=sum_in_order(run.evaluation_s for run in runs),
        checkpoint_s=sum_in_order(run.checkpoint_s for run in runs),
    )


def _step(each: Sequence[StepTimeline], weights: Sequence[float]) -> StepTimeline:
    """The mean step, which has parts but no course."""
    return StepTimeline(
        step_s=sum_in_order(timeline.step_s * weight for timeline, weight in zip(each, weights, strict=True)),
        period_s=sum_in_order(timeline.period_s * weight for timeline, weight in zip(each, weights, strict=True)),
        breakdown_s=_mean([timeline.breakdown_s for timeline in each], weights),
        spans=(),
        events=sum(timeline.events for timeline in each),
    )


def _rate(phases: Sequence[Prediction], whole_run: Run) -> Estimate:
    """Samples of all phases over the time of all their steps."""
    steps_s = _sum([phase.step_s for phase in phases], [phase.run.steps for phase in phases])
    samples = sum_in_order(phase.throughput_samples_per_s.value * phase.run.training_s for phase in phases)
    scale = whole_run.training_s / steps_s.value
    return replace(
        steps_s,
        value=samples / whole_run.training_s,
        low=samples / (steps_s.high * scale),
        high=samples / (steps_s.low * scale),
    )


def _with_workload_name(answer: Prediction, note: AnswerNote) -> AnswerNote:
    return AnswerNote.of(NoteCode.OF_ONE_RUN, caveat=note.caveat, phase=answer.workload, note=note)


def _assumption_notes(phases: Sequence[Prediction], longest: Prediction) -> tuple[AnswerNote, ...]:
    """What was assumed of all phases, then of one alone."""
    shared_notes = [note for note in phases[0].assumptions if all(note in phase.assumptions for phase in phases)]
    own = [
        _with_workload_name(phase, note) for phase in phases for note in phase.assumptions if note not in shared_notes
    ]
    longest_note = AnswerNote.of(NoteCode.LONGEST_RUN, phase=longest.workload)
    return (*shared_notes, *own, longest_note, AnswerNote.of(NoteCode.ERRORS_SHARED))


def _grades(phases: Sequence[Prediction]) -> Grades:
    """The worst grade of each figure, and shares by what each phase takes."""
    whole_s = sum_in_order(phase.time_to_train_s.value for phase in phases)
    names = dict.fromkeys(name for phase in phases for name in phase.grades.figures)
    figures = {}
    for name in names:
        of = [phase.grades.figures[name] for phase in phases if name in phase.grades.figures]
        figures[name] = Figure(
            grade=intervals.worst(*(figure.grade for figure in of)), beyond=max(figure.beyond for figure in of)
        )
    weights = [phase.time_to_train_s.value / whole_s for phase in phases]
    return Grades(figures=figures, shares=_mean([phase.grades.shares for phase in phases], weights))
