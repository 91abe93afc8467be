"""Which measurement would narrow an answer's interval most: fitted parameters updated by each, without its value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.calibration.next_point import ConvergedRuns, NextPoint, with_point
from podsim.errors import InputError, PodsimError
from podsim.model.parameters import FREE, sensitivities
from podsim.model.quantity import Cause
from podsim.planning import workload_sequence
from podsim.planning.answering import answer
from podsim.predicting import assemble, intervals, unknown_length
from podsim.predicting.uncertainty import step_doubt
from podsim.resolve import resolve
from podsim.scenario import Constraints, EngineSpec, RunLength, Scenario, WhatIfs
from podsim.studies.argument_check import takes_scenario
from podsim.studies.explain.measurements_result import Measurement, MeasurementRanking

if TYPE_CHECKING:
    from podsim.model.machine import Machine
    from podsim.model.prediction import Prediction
    from podsim.resolve import Case
    from podsim.studies.predict.study import Progress

RUNS: Final = 3
"""Runs of a measurement: as many as tell how much they differ."""
SIZES: Final = (16, 64, 128, 256)
"""IPUs of pods that are sold; the machine of the question is among the candidates too."""


@takes_scenario
def explain_measurements(scenario: Scenario, *, on_progress: Progress | None = None) -> MeasurementRanking:
    """Which measurement would narrow the answer's interval most, and by how much: `podsim explain --measure`.

    Candidates are steps of the workload, and of those that are calibrated, on the machine and on smaller pods of its
    chip, and runs of the workload there to its target. Raises InputError where the question is malformed, Infeasible
    where the answer is no.
    """
    if len(workload_sequence.run(scenario.workload).workloads) > 1:
        raise InputError(
            f"{scenario.workload} has several phases", code="bad-value", hint="ask for one: podsim workload list"
        )
    prediction, case = answer(resolve(scenario, needs_length=False), weighs=False)
    prediction = unknown_length.untimed(prediction, case.missing)
    estimate = prediction.time_to_train_s if prediction.timed else prediction.step_s
    candidates = [*_candidates(scenario, prediction, case)]
    measurements: list[Measurement] = []
    for done, candidate in enumerate(candidates, start=1):
        with suppress(PodsimError):  # a machine that cannot run it
            measurements += _measurements(candidate, prediction, case)
        if on_progress:
            on_progress(done, len(candidates))
    return MeasurementRanking(
        prediction=prediction,
        answer=estimate,
        runs=RUNS,
        measurements=tuple(sorted(measurements, key=lambda item: (-item.narrower, item.ipus, item.converges))),
    )


def _candidates(scenario: Scenario, prediction: Prediction, case: Case) -> Iterator[Scenario]:
    """Questions whose steps may be measured: machines as they are, none with faults or changed numbers."""
    workloads = (scenario.workload, *case.question.machine.parameters.largest)
    plain = replace(
        scenario,
        length=RunLength(division=scenario.length.division),
        what_if=WhatIfs(),
        faults=(),
        engine=EngineSpec(engine="analytic"),
    )
    for workload in dict.fromkeys(workloads):
        same = workload == scenario.workload
        yield replace(plain, workload=workload, mapping=scenario.mapping if same else Constraints())
        for pod in SIZES:
            if pod < prediction.ipus:
                chip = "bow" if prediction.chip == "bow" else None
                machine = replace(scenario.machine, pod=pod, topology=None, chip=chip, hosts=None)
                yield replace(plain, workload=workload, machine=machine, mapping=Constraints())


def _measurements(candidate: Scenario, prediction: Prediction, case: Case) -> Iterator[Measurement]:
    """What the interval would be after steps of a candidate, and after runs to the target; raises as a prediction."""
    known, other = answer(resolve(candidate, needs_length=False), weighs=False)
    yield _measurement(candidate, known, other, prediction, case)
    if known.workload == prediction.workload and prediction.timed and case.question.samples is None:
        question = other.question
        need = assemble.samples(question, known.mapping.global_batch)
        runs = ConvergedRuns(
            optimizer=question.optimizer,
            division=str(question.division),
            seed_spread=need.seed_spread,
            sdk=known.sdk,
        )
        yield _measurement(candidate, known, other, prediction, case, runs)


def _measurement(
    candidate: Scenario,
    known: Prediction,
    other: Case,
    prediction: Prediction,
    case: Case,
    converged: ConvergedRuns | None = None,
) -> Measurement:
    """What the interval would be after runs of a candidate that is predicted so."""
    machine = other.question.machine
    point = NextPoint(
        workload=known.workload,
        ipus=known.mapping.ipus,
        chip=known.chip,
        runs=RUNS,
        slopes=_slopes(known, other),
        converged=converged,
    )
    after = with_point(case.question.machine.parameters, point, FREE)
    shares = _taken(prediction, case, replace(case.question.machine, parameters=after))
    left = math.sqrt(max(0.0, 1 - math.fsum(shares.values())))
    estimate = prediction.time_to_train_s if prediction.timed else prediction.step_s
    flags = " ".join((known.workload, *_machine_flags(candidate)))
    return Measurement(
        workload=known.workload,
        machine=machine.topology.title,
        ipus=known.ipus,
        flags=flags,
        step_s=known.step_s.value,
        low_s=estimate.value * (estimate.low / estimate.value) ** left,
        high_s=estimate.value * (estimate.high / estimate.value) ** left,
        narrower=1 - left,
        causes={cause: share for cause, share in shares.items() if share > 0},
        converges=converged is not None,
    )


def _machine_flags(scenario: Scenario) -> Iterator[str]:
    machine = scenario.machine
    for name in ("pod", "topology", "chip"):
        if (value := getattr(machine, name)) is not None:
            yield f"--{name} {value}"


def _slopes(known: Prediction, case: Case) -> dict[str, float]:
    """Log change of a step with that of each fitted parameter, from where the step goes (Eq. 31)."""
    machine = case.question.machine
    shares = {part: seconds / known.step_s.value for part, seconds in known.breakdown_s.items()}
    return sensitivities(machine.parameters.fitted, shares, machine.like)


def _taken(prediction: Prediction, case: Case, machine: Machine) -> dict[Cause, float]:
    """The share of the answer's variance that other parameters take away, by cause (Eq. 31)."""
    slopes = _slopes(prediction, case)
    before, after = (
        step_doubt(each, prediction.workload, slopes, ipus=prediction.mapping.ipus).variances
        for each in (case.question.machine, machine)
    )
    whole, inside = _whole(prediction, case)
    shares = {cause: inside**2 * (before[cause] - after[cause]) / whole for cause in before}
    if not prediction.timed:
        return shares
    questions = case.question, replace(case.question, machine=machine)
    doubt, less = (assemble.samples(each, prediction.mapping.global_batch).doubt for each in questions)
    outside, less_outside = (each.outside_error for each in questions)
    shares[Cause.CONVERGENCE] = (doubt**2 - less**2) / whole
    shares[Cause.OUTSIDE] = (1 - inside) ** 2 * (outside**2 - less_outside**2) / whole
    return shares


def _whole(prediction: Prediction, case: Case) -> tuple[float, float]:
    """The variance of the log of the answer, and the share of it that steps take."""
    estimate = prediction.time_to_train_s if prediction.timed else prediction.step_s
    quantile = intervals.normal_quantile(case.question.interval)
    variance = (math.log(estimate.high / estimate.low) / 2 / quantile) ** 2
    if not prediction.timed:
        return variance, 1.0
    pace = assemble.question_pace(case.question, prediction.mapping, prediction.step_s.value)
    return variance, intervals.inside_s(pace, prediction.run) / prediction.run.total_s
