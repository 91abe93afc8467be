"""Which measurement would narrow an answer's interval most: fitted parameters updated by each, without its value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.calibration import own_residual
from podsim.calibration.next_point import ConvergedRuns, NextPoint, with_point
from podsim.errors import InputError, PodsimError
from podsim.model.parameters import FREE, sensitivities
from podsim.model.quantity import Cause
from podsim.planning import workload_sequence
from podsim.planning.answering import answer
from podsim.predicting import assemble, training_case, unknown_length
from podsim.predicting.uncertainty import of_step
from podsim.resolve import resolve
from podsim.scenario import Constraints, EngineSpec, RunLength, Scenario, WhatIfs
from podsim.studies.argument_check import takes_scenario
from podsim.studies.explain.measurements_result import Measurement, MeasurementRanking

if TYPE_CHECKING:
    from podsim.model.calibration import OwnConfiguration, ParameterSet
    from podsim.model.prediction import Prediction
    from podsim.model.quantity import Estimate
    from podsim.resolve import Case
    from podsim.studies.predict.study import Progress

RUNS: Final = 3
"""Runs of a measurement: as many as tell how much they differ."""
LEAST: Final = 1e-9
"""Share of a variance below which nothing of it is taken away but rounding."""
SIZES: Final = (16, 64, 128, 256)
"""IPUs of pods that are sold; the machine of the question is among the candidates too."""


@takes_scenario
def explain_measurements(scenario: Scenario, *, on_progress: Progress | None = None) -> MeasurementRanking:
    """Which measurement would narrow the interval of the answer most, and by how much.

    The candidates are step times of the workload and of the calibrated workloads, on the machine and on smaller pods of
    its chip, and runs of the workload there to its target. Raises InputError for a malformed question, Infeasible where
    the mapping does not fit the machine.
    """
    if len(workload_sequence.run(scenario.workload).workloads) > 1:
        raise InputError(
            f"{scenario.workload} has several phases", code="bad-value", hint="ask for one: podsim workload list"
        )
    prediction, case = answer(resolve(scenario, needs_length=False), weighs=False)
    prediction = unknown_length.without_length(prediction, case.missing)
    estimate = prediction.time_to_train_s if prediction.has_length else prediction.step_s
    candidates = [*_candidates(scenario, prediction, case)]
    measurements: list[Measurement] = []
    for number, candidate in enumerate(candidates, start=1):
        with suppress(PodsimError):  # a machine that cannot run it
            measurements += _measurements(candidate, prediction, case)
        if on_progress:
            on_progress(number, len(candidates))
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
    candidate_prediction, other = answer(resolve(candidate, needs_length=False), weighs=False)
    yield _measurement(candidate, candidate_prediction, other, prediction, case)
    if candidate_prediction.workload == prediction.workload and prediction.has_length and case.question.samples is None:
        question = other.question
        need = training_case.samples(question, candidate_prediction.mapping.global_batch)
        runs = ConvergedRuns(
            optimizer=question.optimizer,
            division=str(question.division),
            seed_spread=need.seed_spread,
            sdk=candidate_prediction.sdk,
        )
        yield _measurement(candidate, candidate_prediction, other, prediction, case, runs)


def _measurement(
    candidate: Scenario,
    candidate_prediction: Prediction,
    other: Case,
    prediction: Prediction,
    case: Case,
    converged_runs: ConvergedRuns | None = None,
) -> Measurement:
    """What the interval would be after runs of a candidate that is predicted so."""
    machine = other.question.machine
    point = NextPoint(
        workload=candidate_prediction.workload,
        ipus=candidate_prediction.mapping.ipus,
        chip=candidate_prediction.chip,
        runs=RUNS,
        slopes=_slopes(candidate_prediction, other),
        converged=converged_runs,
        configuration=_configuration(candidate_prediction, other, converged_runs),
    )
    before = prediction.time_to_train_s if prediction.has_length else prediction.step_s
    after = _estimate(prediction, case, with_point(case.question.machine.parameters, point, FREE))
    width_ratio = _width(after) / _width(before)
    return Measurement(
        workload=candidate_prediction.workload,
        machine=machine.topology.title,
        ipus=candidate_prediction.ipus,
        flags=" ".join((candidate_prediction.workload, *_machine_flags(candidate))),
        step_s=candidate_prediction.step_s.value,
        low_s=after.low,
        high_s=after.high,
        narrower=1 - width_ratio,
        causes=_settled_shares(before.causes, after.causes),
        converges=converged_runs is not None,
    )


def _estimate(prediction: Prediction, case: Case, parameters: ParameterSet) -> Estimate:
    """The answer with the interval that other parameters leave it, which do not move its value."""
    mapping, step_s = prediction.mapping, prediction.step_s.value
    forms = training_case.step_doubt(case.question, mapping, prediction.timeline).forms
    question = replace(case.question, machine=replace(case.question.machine, parameters=parameters))
    moved_parts = training_case.moved_parts(case.question, mapping, prediction.timeline)
    doubt = of_step(question, mapping, prediction.timeline, forms, moved_parts)
    pace = training_case.question_pace(question, mapping, step_s)
    need = training_case.samples(question, mapping.global_batch)
    step, time, _ = assemble.time_estimates(question, mapping, step_s, pace, need, doubt)
    return time if prediction.has_length else step


def _settled_shares(before: Mapping[Cause, float], after: Mapping[Cause, float]) -> dict[Cause, float]:
    """What is taken away of each cause, as a share of the variance before; runs scatter as much as before."""
    noise_ratio = before[Cause.NOISE] / after[Cause.NOISE]
    reductions = {cause: share - noise_ratio * after.get(cause, 0.0) for cause, share in before.items()}
    return {cause: share for cause, share in reductions.items() if share > LEAST}


def _width(estimate: Estimate) -> float:
    return math.log(estimate.high / estimate.low)


def _configuration(prediction: Prediction, case: Case, converged_runs: ConvergedRuns | None) -> OwnConfiguration:
    """What runs of a candidate would leave in doubt of its own configuration, where they measure what is predicted."""
    question = case.question
    spread = question.machine.parameters.run_spread
    remaining_doubt = own_residual.remaining([spread / math.sqrt(RUNS)])
    configuration = own_residual.of_mapping(
        question, prediction.mapping, runs=RUNS, remaining=remaining_doubt, spread=spread
    )
    if converged_runs is None:
        return configuration
    need = training_case.samples(question, prediction.mapping.global_batch)
    error = own_residual.narrowed_doubt(need.doubt, need.seed_spread, RUNS)
    return replace(configuration, samples=need.mean, samples_error=error)


def _machine_flags(scenario: Scenario) -> Iterator[str]:
    machine = scenario.machine
    for name in ("pod", "topology", "chip"):
        if (value := getattr(machine, name)) is not None:
            yield f"--{name} {value}"


def _slopes(prediction: Prediction, case: Case) -> dict[str, float]:
    """Log change of a step with that of each fitted parameter, from where the step goes (Eq. 31)."""
    machine = case.question.machine
    shares = {part: seconds / prediction.step_s.value for part, seconds in prediction.breakdown_s.items()}
    return sensitivities(machine.parameters.fitted, shares, machine.like)
