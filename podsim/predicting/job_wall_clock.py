"""The wall clock of a job: its program compiled, its weights loaded, trained, its last checkpoint written."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import PodsimError
from podsim.model.framework import TITLES, Framework
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Estimate, Grade
from podsim.model.sums import sum_in_order
from podsim.model.wall_clock import ProgramStart, WallClock
from podsim.predicting import interruptions, run_with_failures, start
from podsim.predicting.intervals import worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.goodput import Failures, GoodputReport
    from podsim.model.prediction import Prediction
    from podsim.model.wall_clock import StartTimes
    from podsim.predicting.training_case import TrainingCase


def wall_clock(
    answer: Prediction, question: TrainingCase, times: StartTimes, failures: Failures, program: ProgramStart
) -> WallClock:
    """The wall clock of a predicted run with its parts [s], failures included where it is long enough (Eq. 102).

    Parameters: `answer`, the predicted run; `question`, what it answers; `times`, seconds per operator compiled and per
    byte of state; `failures`, mean times between failures, repairs and restarts [s]; `program`, whether it is compiled
    or loaded. Result: compile time, weights, last checkpoint and total [s]; no total where the run has no stated
    length.

    Equation: wall = compile + weights + time to train + (finish − work) + checkpoint; widths of intervals add in
    squares. Validity: independent errors; failures count above 0.05 expected ones in a run of at most 100 years, and
    are left out with a note where their simulation refuses; no opening of the data set, no queue. Source: derived: the
    parts of a job one after the other (Eq. 101, 48 and 49); calibration/compile-times.toml, calibration/failures.toml.
    """
    reports: tuple[GoodputReport, ...] = ()
    lines: tuple[AnswerNote, ...] = ()
    if answer.has_length:
        try:
            report = run_with_failures.where_likely(answer, question, failures)
        except PodsimError as no:
            lines = (AnswerNote.of(NoteCode.FAILURES_LEFT_OUT, message=no.message),)
        else:
            reports = (report,) if report else ()
    clock = with_failures(answer, question, times, failures, program, reports)
    return replace(clock, assumptions=(*clock.assumptions, *lines))


def with_failures(
    answer: Prediction,
    question: TrainingCase,
    times: StartTimes,
    failures: Failures,
    program: ProgramStart,
    reports: tuple[GoodputReport, ...],
) -> WallClock:
    """The wall clock of a predicted run with what is simulated of its failures; without reports it has none."""
    mapping, level = answer.mapping, question.interval
    operators, compile_s = start.compile_time(mapping, times, program, level)
    state = start.state_bytes(question.workload, mapping.configuration.moment_bytes)
    result = WallClock(
        start=program,
        operators=operators,
        compile_s=compile_s,
        state_bytes=state,
        weights_s=start.weights_time(state, times, level),
        checkpoint_s=interruptions.checkpoint(question, mapping, answer.memory, failures).total_s,
        failures=reports,
        total_s=None,
        assumptions=(
            *_of_program(answer, times, program, compile_s),
            AnswerNote.of(NoteCode.ONE_COPY_OF_WEIGHTS),
            AnswerNote.of(NoteCode.DATA_SET_OPENING),
        ),
    )
    return replace(result, total_s=_total(result, answer.time_to_train_s)) if answer.has_length else result


def together(clocks: Sequence[WallClock], time_to_train_s: Estimate) -> WallClock:
    """The wall clock of phases one after the other: each has a program, weights and a last checkpoint of its own."""
    if len(clocks) == 1:
        return clocks[0]
    result = replace(
        clocks[0],
        operators=sum(clock.operators for clock in clocks),
        compile_s=_add([clock.compile_s for clock in clocks]),
        weights_s=_add([clock.weights_s for clock in clocks]),
        checkpoint_s=sum_in_order(clock.checkpoint_s for clock in clocks),
        failures=tuple(report for clock in clocks for report in clock.failures),
        assumptions=tuple(dict.fromkeys(note for clock in clocks for note in clock.assumptions)),
    )
    return replace(result, total_s=_total(result, time_to_train_s))


def _total(clock: WallClock, time_to_train_s: Estimate) -> Estimate:
    """All parts added up; their errors are independent, so that widths add in squares, to each side (Eq. 102).

    A longer run loses as large a share to failures, so its interval grows by that share, as in `podsim goodput`.
    """
    parts = (clock.compile_s, clock.weights_s, *_with_failures(clock, time_to_train_s))
    value = sum_in_order(part.value for part in parts) + clock.checkpoint_s
    below = math.hypot(*(part.value - part.low for part in parts))
    above = math.hypot(*(part.high - part.value for part in parts))
    return Estimate(value=value, low=value - below, high=value + above, grade=worst(*(part.grade for part in parts)))


def _with_failures(clock: WallClock, time_to_train_s: Estimate) -> Iterator[Estimate]:
    """The time to train stretched by what is lost to failures, and around it how much failures vary [s]."""
    time, longer = time_to_train_s, 1 + clock.failures_s / time_to_train_s.value
    yield replace(time, value=time.value * longer, low=time.low * longer, high=time.high * longer)
    for finish in (report.finish_s for report in clock.failures):
        less_s, more_s = min(0.0, finish.p5 - finish.mean), max(0.0, finish.p95 - finish.mean)
        yield Estimate(value=0.0, low=less_s, high=more_s, grade=Grade.ASSUMED)


def _add(parts: Sequence[Estimate]) -> Estimate:
    """Times whose errors are shared: ends of intervals add up."""
    return Estimate(
        value=sum_in_order(part.value for part in parts),
        low=sum_in_order(part.low for part in parts),
        high=sum_in_order(part.high for part in parts),
        grade=worst(*(part.grade for part in parts)),
        beyond=max(part.beyond for part in parts),
        smaller=max(parts, key=lambda part: part.beyond).smaller,
    )


def _of_program(
    answer: Prediction, times: StartTimes, program: ProgramStart, compile_s: Estimate
) -> Iterator[AnswerNote]:
    if program is ProgramStart.CACHED:
        small = compile_s.value < times.cached_s
        yield AnswerNote.of(NoteCode.EXECUTABLE_OF_SMALL_PROGRAM if small else NoteCode.EXECUTABLE_CACHED)
    elif not start.is_known(answer.mapping, times):
        framework = answer.mapping.configuration.framework_named
        yield AnswerNote.of(
            NoteCode.COMPILE_TIMES_OF_OTHERS,
            frameworks=tuple(TITLES[Framework(name)] for name in times.frameworks),
            framework=TITLES[framework] if framework else None,
        )
