"""The verb that ranks mappings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario
from podsim.studies.mappings import search as advising
from podsim.studies.mappings.result import Rank

if TYPE_CHECKING:
    from podsim.scenario import Scenario
    from podsim.studies.mappings.result import Mappings
    from podsim.studies.predict.study import Progress


@takes_scenario
def mappings(
    scenario: Scenario,
    *,
    by: Literal["time", "throughput"] = "time",
    most: int = 20,
    on_progress: Progress | None = None,
) -> Mappings:
    """Rank the legal mappings that fit the machine by time to train, or by throughput where no run length is known.

    Raises InputError for a malformed question, Infeasible where no mapping fits.
    """
    rank, analytic = Rank(by), replace(scenario.engine, engine="analytic")
    case = resolve(replace(scenario, engine=analytic), needs_length=False)
    return advising.mappings(case, Rank.THROUGHPUT if case.missing else rank, most, on_progress)
