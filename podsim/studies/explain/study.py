"""The parts of the duration of a run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.planning import workload_sequence
from podsim.planning.answering import answer
from podsim.planning.configuration import what_if
from podsim.predicting import unknown_length
from podsim.resolve import resolve, topology
from podsim.studies.argument_check import takes_scenario
from podsim.studies.explain import alternatives, explained_run, influences
from podsim.studies.explain import what_if as explaining
from podsim.studies.explain.result import Explanation

if TYPE_CHECKING:
    from podsim.scenario import Scenario
    from podsim.studies.predict.study import Progress


@takes_scenario
def explain(scenario: Scenario, *, on_progress: Progress | None = None) -> Explanation:
    """Explain a predicted run: what its time consists of, what it is sensitive to, and what would shorten it.

    Raises InputError for a malformed question, Infeasible where the mapping does not fit the machine.
    """
    run = workload_sequence.run(scenario.workload)
    run.check(scenario)
    explanations = [_of_workload(replace(scenario, workload=workload), on_progress) for workload in run.workloads]
    if run.phases is None:
        return explanations[0]
    return explained_run.together(run.whole([explanation.prediction for explanation in explanations]), explanations)


def _of_workload(scenario: Scenario, on_progress: Progress | None) -> Explanation:
    """One workload taken apart."""
    prediction, case = answer(resolve(scenario, needs_length=bool(scenario.faults)), on_progress)
    question, changes, missing = case.question, scenario.what_if.changes, case.missing
    if missing:  # a step is explained instead of a run
        prediction, question = unknown_length.of_step(prediction), unknown_length.endless(question)
    baseline = explaining.answer_of(question, prediction)
    machine = topology(scenario.machine, changes)
    around = alternatives.around(
        baseline, what_if(scenario), scenario.machine, changes=changes, faults=prediction.faults
    )
    explanation = Explanation(
        prediction=unknown_length.without_length(prediction, missing),
        waterfall=explaining.waterfall(question, prediction),
        without=tuple(explaining.without(baseline)),
        influences=influences.influences(baseline, prediction, machine, on_progress, timed=not missing),
        alternatives=alternatives.alternatives(around),
    )
    return _of_step(explanation) if missing else explanation


def _of_step(explanation: Explanation) -> Explanation:
    """The explanation of a step: changes, without times to train."""
    return replace(
        explanation,
        without=tuple(
            replace(without, time_to_train_s=math.nan)
            for without in explanation.without
            if without.name != explaining.STEPS_ALONE
        ),
        alternatives=tuple(
            replace(alternative, time_to_train_s=None if alternative.change is None else math.nan)
            for alternative in explanation.alternatives
        ),
    )
