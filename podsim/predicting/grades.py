"""On what the figures of an answer rest, and how much of the time to train on what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.model.prediction import Figure, Grades
from podsim.model.program import Part
from podsim.model.quantity import Grade
from podsim.predicting.intervals import worst
from podsim.predicting.uncertainty import OF_FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.convergence.samples import Samples
    from podsim.model.prediction import Run
    from podsim.model.program import StepTimeline
    from podsim.predicting.training_case import TrainingCase
    from podsim.predicting.uncertainty import StepDoubt

OF_SIZE = (Part.ALL_REDUCE, Part.TENSOR_PARALLEL, Part.COLLECTIVE_STEPS, Part.RACK_STEPS)
"""Parts that grow with the machine; the rest of a step is that of one replica, at any size."""


def grades(
    question: TrainingCase,
    timeline: StepTimeline,
    run: Run,
    racks: float,
    doubt: StepDoubt,
    need: Samples,
    *,
    changed_shares: Mapping[Part, float],
    evaluations_moved: bool = False,
) -> Grades:
    """The grade of every figure, and shares of the time to train by the grade of their evidence.

    `racks` is the share of all-reduce between racks, `changed_shares` that of each part which changed inputs and faults
    carry, `evaluations_moved` whether faults change the time of evaluations.
    """
    outside = _outside(question, doubt)
    time = worst(doubt.grade, need.grade)
    beyond = max(doubt.beyond, need.beyond)
    figures = {
        "step": Figure(grade=doubt.grade, beyond=doubt.beyond),
        "throughput": Figure(grade=doubt.grade, beyond=doubt.beyond),
        "samples_to_converge": Figure(grade=need.grade, beyond=need.beyond),
        "time_to_train": Figure(grade=time, beyond=beyond),
        "outside_steps": Figure(grade=outside, beyond=doubt.beyond if outside is Grade.EXTRAPOLATED else 1.0),
        "memory": Figure(grade=Grade.ASSUMED, beyond=1.0),  # nobody has published what a mapping takes
    }
    shares = _shares(
        question,
        timeline,
        run,
        racks,
        doubt,
        outside,
        changed_shares=changed_shares,
        evaluations_moved=evaluations_moved,
    )
    return Grades(figures=figures, shares=shares)


def _outside(question: TrainingCase, doubt: StepDoubt) -> Grade:
    parameters, sdk = question.machine.parameters, question.machine.sdk
    if question.workload.name not in parameters.largest:
        return Grade.ASSUMED
    return Grade.EXTRAPOLATED if doubt.beyond > 1 or parameters.outside.error(sdk) > 0 else Grade.INTERPOLATED


def _shares(
    question: TrainingCase,
    timeline: StepTimeline,
    run: Run,
    racks: float,
    doubt: StepDoubt,
    outside: Grade,
    *,
    changed_shares: Mapping[Part, float],
    evaluations_moved: bool,
) -> dict[Grade, float]:
    fromkeys = dict.fromkeys(Grade, 0.0)
    apart_s = run.evaluation_s if run.interval_samples is None else 0.0  # evaluations that go not at the pace of steps
    at_pace_s = run.training_s + run.evaluation_s - apart_s
    fromkeys[Grade.ASSUMED if evaluations_moved else outside] += apart_s
    fromkeys[outside] += run.total_s - at_pace_s - apart_s
    for grade, share in _of_step(question, timeline, racks, doubt, changed_shares).items():
        fromkeys[grade] += share * at_pace_s
    return {grade: seconds / run.total_s for grade, seconds in fromkeys.items() if seconds > 0}


def _of_step(
    question: TrainingCase, timeline: StepTimeline, racks: float, doubt: StepDoubt, changed_shares: Mapping[Part, float]
) -> dict[Grade, float]:
    """Shares of a step: one replica as its chip is known, parts that grow with the machine as its size is.

    `racks` is the share of all-reduce between racks, which depends on the GW-Links; host input depends on the servers,
    waits for input under a framework on published rates of other programs.
    """
    machine, table = question.machine, dict.fromkeys(Grade, 0.0)
    chip = Grade.INTERPOLATED if machine.chip.name in machine.parameters.chips else Grade.EXTRAPOLATED
    if question.workload.name not in machine.parameters.largest:
        chip = Grade.ASSUMED
    machine_grade = Grade.ASSUMED if machine.topology.fabric else chip  # no such machine exists
    size = worst(machine_grade, Grade.EXTRAPOLATED if doubt.beyond > 1 else Grade.INTERPOLATED)
    for part, seconds in timeline.breakdown_s.items():
        share = seconds / timeline.step_s
        if changed_share := changed_shares.get(part, 0.0):  # what a change or a fault does
            table[Grade.ASSUMED] += share * changed_share
            share *= 1 - changed_share
        grade = size if part in OF_SIZE else chip
        if part is Part.ALL_REDUCE and not changed_share and machine.is_guessed("gw-link."):
            table[Grade.ASSUMED] += share * racks
            share *= 1 - racks
        if part is Part.HOST and machine.is_guessed("hosts."):
            grade = Grade.ASSUMED
        if part is Part.FRAMEWORK:  # constants of other whole programs, which no calibrated step has
            grade = worst(chip, OF_FRAMEWORK)
        table[grade] += share
    return table
