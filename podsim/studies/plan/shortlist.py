"""Which candidates the default screen of a plan lists."""

import math

from podsim.studies.plan.result import Candidate, Plan


def shortlist(plan: Plan, most: int) -> list[Candidate]:
    """At most so many: the recommended machine, near misses, Pareto-optimal machines nearest in time, a row a machine.

    A machine with other numbers of hosts is another candidate; `--verbose` lists them all. The row of one has enough
    hosts for all its IPUs, where any such candidate is optimal or near.
    """
    best = plan.chosen or plan.closest
    middle = best.time_to_train_s.value if best else min(row.time_to_train_s.value for row in plan.candidates)

    def distance(candidate: Candidate) -> float:
        return abs(math.log(candidate.time_to_train_s.value / middle))

    order = [*([best] if best else ()), *plan.near, *sorted(plan.frontier, key=distance)]
    whole = [candidate for candidate in order if candidate is best or candidate.ipus_used == candidate.chips]
    first = {candidate.topology: candidate for candidate in reversed((*whole, *order))}
    names = dict.fromkeys(candidate.topology for candidate in order)
    return [first[name] for name in names][:most]
