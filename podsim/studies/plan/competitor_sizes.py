"""Competitors beside a plan: each at the sizes that have published results, and the size to look at first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.model.sums import sum_in_order
from podsim.planning import competitors
from podsim.studies.plan.candidates import PlanRequest, by_law, one_model
from podsim.studies.plan.result import Candidate, CompetitorSizes, ExcludedMachine, Objective

if TYPE_CHECKING:
    from collections.abc import Callable

    Worth = Callable[[Candidate, Objective], float]


def compare_sizes(
    names: Sequence[str], request: PlanRequest, beside: Candidate, worth: Worth
) -> tuple[tuple[CompetitorSizes, ...], tuple[ExcludedMachine, ...]]:
    """Each competitor of a plan, and those of which nothing is published with the reason.

    `beside` is the machine of the plan that they are compared with, `worth` what its objective has least of.
    """
    result, exclusions = [], []
    for name in names:
        try:
            answers = competitors.answers(name, one_model(request), request.scenario, request.terms)
        except (Infeasible, MissingParameter, InputError) as no:
            exclusions.append(ExcludedMachine(topology=name, reason=no.message))
            continue
        sizes = []
        for answer in answers:
            assert answer.prediction.money is not None, "competitors are priced as far as it goes"
            sizes.append(by_law(answer.name, answer.prediction, answer.prediction.money, request.demand))
        result.append(
            CompetitorSizes(
                machine=name,
                nearest=_nearest(sizes, request.demand.objective, beside, worth),
                sizes=tuple(sizes),
                published={answer.name: answer.published for answer in answers},
            )
        )
    return tuple(result), tuple(exclusions)


def _nearest(sizes: Sequence[Candidate], objective: Objective, beside: Candidate, worth: Worth) -> Candidate:
    """The size that comes nearest to the demands, of several the best by the objective.

    Where price or power are not published it is the one of which the time is nearest to that of the plan.
    """

    def order(candidate: Candidate) -> tuple[float, float, int]:
        over = [miss.over for miss in candidate.misses]
        finite_shares = [share for share in over if math.isfinite(share)]
        value = worth(candidate, objective)
        if len(finite_shares) < len(over) or not math.isfinite(value):
            value = abs(math.log(candidate.time_to_train_s.value / beside.time_to_train_s.value))
        return sum_in_order(finite_shares), value, candidate.chips

    return min(sizes, key=order)


def cheaper(
    against: Sequence[CompetitorSizes], chosen_candidate: Candidate, objective: Objective, worth: Worth
) -> list[Candidate]:
    """Competitors that meet every demand and are better than the recommended machine by the objective."""
    return [
        item.nearest
        for item in against
        if not item.nearest.misses and worth(item.nearest, objective) < worth(chosen_candidate, objective)
    ]
