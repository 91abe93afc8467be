"""The verb that says when everything of a step happens: wiring only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from podsim.files import noise_file
from podsim.lowering.work import stage_plans
from podsim.planning import with_faults
from podsim.predicting import tracing
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario

if TYPE_CHECKING:
    from podsim.model.trace import Trace
    from podsim.scenario import Scenario
    from podsim.studies.predict.study import Progress


@takes_scenario
def trace(
    scenario: Scenario,
    *,
    level: Literal["pod", "tile"] = "pod",
    stage: int | None = None,
    steps: int = 1,
    noise_scale: float | None = None,
    most_spans: int = 200_000,
    on_progress: Progress | None = None,
) -> Trace:
    """When each part of some steps happens, or each superstep of one pipeline stage.

    Raises InputError for a malformed question, Infeasible where the mapping does not fit the machine.
    """
    limits = tracing.TraceLimits(steps, noise_scale, most_spans)
    limits.check(level, stage)
    case = resolve(scenario, needs_length=False, also="noise." if noise_scale is not None else "")
    question, mapping = with_faults.map_with_faults(case.alone, on_progress)
    if level == "pod":
        changed_noise = noise_file.noise(scenario.what_if.changes) if noise_scale is not None else None
        return tracing.step(
            question, mapping, limits, (changed_noise.value, noise_file.noise().value) if changed_noise else None
        )
    at = tracing.stage_number(mapping, stage)
    plans = stage_plans(question.workload, mapping, question.machine, mapping.stages[at])
    return tracing.stage(question, mapping, at, plans)
