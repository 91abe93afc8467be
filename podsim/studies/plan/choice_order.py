"""The order of candidates: by an objective, and by how far each is from the demands."""

import math
from collections.abc import Sequence

from podsim.model.sums import sum_in_order
from podsim.studies.plan.result import Candidate, Objective


def best(candidates: Sequence[Candidate], objective: Objective) -> Candidate | None:
    """The least by the objective of those that miss nothing; None where there is none.

    Of two alike it is the one for which no owned racks have to be joined; of owned machines, for which nothing is paid,
    the one with the lower cost of a run; then the quicker. Where the objective is known of none of them, for want of a
    price or a power, it is the quickest.
    """
    meeting = [candidate for candidate in candidates if not candidate.misses]
    comparable_candidates = [candidate for candidate in meeting if math.isfinite(worth(candidate, objective))]
    return min(
        comparable_candidates or meeting,
        key=lambda candidate: (
            worth(candidate, objective),
            candidate.reuse is not None and candidate.reuse.extended,
            running(candidate, objective),
            candidate.time_to_train_s.value,
        ),
        default=None,
    )


def worth(candidate: Candidate, objective: Objective) -> float:
    """What the objective has least of; infinite where it is not known (Eq. 66)."""
    time_s = candidate.time_to_train_s.value
    value = {
        Objective.CAPITAL: candidate.capital_usd,
        Objective.TIME: time_s,
        Objective.COST: candidate.cost_usd,
        Objective.ENERGY: candidate.energy_j,
        Objective.PRICE_PERFORMANCE: None if candidate.capital_usd is None else time_s * candidate.capital_usd,
    }[objective]
    return math.inf if value is None else value


def running(candidate: Candidate, objective: Objective) -> float:
    """The cost of a run where the price is the objective and nothing is paid [USD], else 0."""
    if objective is not Objective.CAPITAL or candidate.capital_usd != 0:
        return 0.0
    return math.inf if candidate.cost_usd is None else candidate.cost_usd


def farthest(candidate: Candidate) -> float:
    """By which share the demand that a machine misses most is missed; 0 where it misses none."""
    return max((miss.over for miss in candidate.misses), default=0.0)


def shortfall(candidate: Candidate) -> tuple[float, float]:
    """How far a machine is from what is demanded: by the demand missed most, then by all of them."""
    return farthest(candidate), sum_in_order(miss.over for miss in candidate.misses)
