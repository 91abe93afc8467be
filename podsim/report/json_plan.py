"""Plans as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.mix import MixPlan
    from podsim.model.plan import Candidate, Plan


def plan(plan: Plan) -> str:
    """`podsim plan --json`: what was asked, the machine to take, and every machine weighed."""
    front = {id(candidate) for candidate in plan.frontier}
    return text(
        "plan",
        {
            "workload": plan.workload,
            "demand": plain(plan.demand),
            "chosen": _candidate(plan.chosen) if plan.chosen else None,
            "closest": _candidate(plan.closest) if plan.closest else None,
            "candidates": [{**_candidate(candidate), "front": id(candidate) in front} for candidate in plan.candidates],
            "near": [candidate.topology for candidate in plan.near],
            "remedies": plain(plan.remedies),
            "contradiction": plan.contradiction,
            "excluded": plain(plan.excluded),
            "legal": plan.legal,
            "rejected": plain(plan.counts),
            "settled": {"candidates": plan.settled[0], "largest_change": plain(plan.settled[1])},
            "assumptions": plain(plan.assumptions),
            "calibration": plan.calibration,
            "terms": plain(plan.terms),
        },
    )


def _candidate(candidate: Candidate) -> dict[str, Json]:
    """A candidate without what its step is made of."""
    body = {
        field.name: plain(getattr(candidate, field.name))
        for field in fields(candidate)
        if field.name not in ("mapping", "timeline", "misses")
    }
    mapping = candidate.mapping
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    misses: list[Json] = [
        {"demand": miss.demand, "limit": plain(miss.limit), "found": plain(miss.found), "over": plain(miss.over)}
        for miss in candidate.misses
    ]
    return {**body, "mapping": {name: getattr(mapping, name) for name in names} if mapping else None, "misses": misses}


def mix(plan: MixPlan) -> str:
    """`podsim plan --workloads --json`: the jobs, the machine to take, and the partitions of every machine weighed."""
    return text(
        "mix_plan",
        {
            "jobs": plain(plan.jobs),
            "demand": plain(plan.demand),
            "confidence": plain(plan.confidence),
            "use": plain(plan.use),
            "chosen": plan.chosen.topology if plan.chosen else None,
            "closest": plan.closest.topology if plan.closest else None,
            "candidates": [{**_plain(candidate), "used_ipus": candidate.used_ipus} for candidate in plan.candidates],
            "excluded": plain(plan.excluded),
            "assumptions": plain(plan.assumptions),
            "terms": plain(plan.terms),
        },
    )


def _plain(value: object) -> dict[str, Json]:
    body = plain(value)
    assert isinstance(body, dict), "a dataclass becomes an object"
    return body
