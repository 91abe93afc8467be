"""The operators of one micro-batch, ranked by their time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.lowering.work import stage_plans
from podsim.planning.choose import choose
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario
from podsim.studies.explain.ranking import ranking

if TYPE_CHECKING:
    from podsim.scenario import Scenario
    from podsim.studies.explain.ranking_result import OperatorRanking


@takes_scenario
def explain_operators(scenario: Scenario) -> OperatorRanking:
    """Operators of one micro-batch ranked by time, with what limits each.

    Raises InputError for a malformed question, Infeasible where the mapping does not fit the machine.
    """
    analytic = replace(scenario, engine=replace(scenario.engine, engine="analytic"))
    case = resolve(analytic, needs_length=False)
    model, machine, mapping = case.question.workload, case.question.machine, choose(case).mapping
    plans = (item for stage in mapping.stages for item in stage_plans(model, mapping, machine, stage))
    return ranking(case.question, mapping.micro_batch, plans)
