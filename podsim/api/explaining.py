"""Why a run takes as long as it does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.api.checking import takes_scenario

if TYPE_CHECKING:
    from podsim.api.answers import Progress
    from podsim.model.explanation import Explanation
    from podsim.scenario import Scenario


@takes_scenario
def explain(scenario: Scenario, *, on_progress: Progress | None = None) -> Explanation:
    """Take a predicted run apart; flags as those of `podsim explain`.

    Raises InputError where the question is malformed, Infeasible where the answer is no.
    """
    from podsim.planning import runs

    run = runs.run(scenario.workload)
    run.check(scenario)
    found = [_of_one(replace(scenario, workload=workload), on_progress) for workload in run.workloads]
    if run.phases is None:
        return found[0]
    from podsim.predicting import explained_run

    return explained_run.together(run.whole([one.prediction for one in found]), found)


def _of_one(scenario: Scenario, on_progress: Progress | None) -> Explanation:
    """One workload taken apart."""
    from podsim.model.explanation import Explanation
    from podsim.planning import alternatives, influences
    from podsim.planning.answering import answer
    from podsim.planning.practice import what_if
    from podsim.predicting import explaining
    from podsim.resolve import resolve, topology

    prediction, case = answer(resolve(scenario), on_progress)
    question, changes = case.question, scenario.what_if.changes
    known = explaining.answered(question, prediction)
    machine = topology(scenario.machine, changes)
    around = alternatives.around(known, what_if(scenario), scenario.machine, changed=bool(changes))
    return Explanation(
        prediction=prediction,
        waterfall=explaining.waterfall(question, prediction),
        without=tuple(explaining.without(known)),
        influences=influences.influences(known, prediction, machine, on_progress),
        alternatives=alternatives.alternatives(around),
    )
