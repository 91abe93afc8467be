"""Machines next to the recommended one, and why each is not the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from podsim.studies.plan import pareto
from podsim.studies.plan.choice_order import shortfall, worth
from podsim.studies.plan.result import Candidate, Neighbour, Objective

OWNED_COLUMN: Final = "owned"
SMALLER: Final = "smaller"
LARGER: Final = "larger"
OTHER_CHIP: Final = "other chip"
CHEAPEST: Final = "cheapest"
FASTEST: Final = "fastest"
ROLES: Final = (OWNED_COLUMN, SMALLER, LARGER, OTHER_CHIP, CHEAPEST, FASTEST)


def neighbours(
    candidates: Sequence[Candidate], frontier: Sequence[Candidate], centre: Candidate, objective: Objective
) -> tuple[Neighbour, ...]:
    """The machines next to the one at the centre, each once with its roles.

    They are the best one of owned machines, the next smaller and larger machine of the same chip, that of another chip
    with as many IPUs, the cheapest of those that meet every demand (of all where no other does), and the fastest where
    it is faster than the centre.
    `frontier` are the Pareto-optimal candidates.
    """
    others = _each_once(candidates, centre, objective)
    same = [item for item in others if item.chip == centre.chip]
    priced_candidates = [item for item in others if item.capital_usd is not None]
    near = {
        OWNED_COLUMN: next((item for item in others if item.reuse is not None), None),
        SMALLER: max((item for item in same if item.chips < centre.chips), key=_size, default=None),
        LARGER: min((item for item in same if item.chips > centre.chips), key=_size, default=None),
        OTHER_CHIP: next((item for item in others if item.chip != centre.chip and item.chips == centre.chips), None),
        CHEAPEST: min(
            [item for item in priced_candidates if not item.misses] or priced_candidates, key=_price, default=None
        ),
        FASTEST: min((item for item in others if _time(item) < _time(centre)), key=_time, default=None),
    }
    each = dict.fromkeys(item.topology for role in ROLES if (item := near[role]) is not None)
    result = []
    for name in each:
        roles = tuple(role for role in ROLES if (item := near[role]) is not None and item.topology == name)
        candidate = next(item for item in others if item.topology == name)
        result.append(
            Neighbour(
                candidate=candidate,
                roles=roles,
                more=_more(candidate, centre, objective),
                dominated_by=_better(candidate, (centre, *frontier)),
            )
        )
    return tuple(result)


def _size(candidate: Candidate) -> int:
    return candidate.chips


def _price(candidate: Candidate) -> float:
    return math.inf if candidate.capital_usd is None else candidate.capital_usd


def _time(candidate: Candidate) -> float:
    return candidate.time_to_train_s.value


def _each_once(candidates: Sequence[Candidate], centre: Candidate, objective: Objective) -> list[Candidate]:
    """Each other machine with the number of hosts that misses demands least, then serves the objective best."""
    order = sorted(candidates, key=lambda item: (*shortfall(item), worth(item, objective), _time(item), item.hosts))
    first: dict[str, Candidate] = {}
    for candidate in order:
        if candidate.topology != centre.topology:
            first.setdefault(candidate.topology, candidate)
    return list(first.values())


def _more(candidate: Candidate, centre: Candidate, objective: Objective) -> float | None:
    """By how much the objective of a candidate is above that of the centre; None where one of them is not known."""
    more = worth(candidate, objective) - worth(centre, objective)
    return more if math.isfinite(more) else None


def _better(candidate: Candidate, others: Sequence[Candidate]) -> str:
    """The first candidate that is nowhere worse and somewhere better (Eq. 64); "" where there is none."""
    return next((item.topology for item in others if pareto.dominates(item.merits, candidate.merits)), "")
