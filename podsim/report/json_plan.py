"""Plans as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.mix import MixPlan
    from podsim.model.plan import Candidate, Plan


def plan(found: Plan) -> str:
    """`podsim plan --json`: what was asked, the machine to take, and every machine weighed."""
    front = {id(one) for one in found.frontier}
    return text("plan", {
        "workload": found.workload,
        "demand": plain(found.demand),
        "chosen": _candidate(found.chosen) if found.chosen else None,
        "closest": _candidate(found.closest) if found.closest else None,
        "candidates": [{**_candidate(one), "front": id(one) in front} for one in found.candidates],
        "near": [one.topology for one in found.near],
        "remedies": plain(found.remedies),
        "contradiction": found.contradiction,
        "excluded": plain(found.excluded),
        "legal": found.legal,
        "rejected": plain(found.counts),
        "settled": {"candidates": found.settled[0], "largest_change": plain(found.settled[1])},
        "assumptions": plain(found.assumptions),
        "calibration": found.calibration,
        "terms": plain(found.terms),
    })  # fmt: skip


def _candidate(one: Candidate) -> dict[str, Json]:
    """A candidate without what its step is made of."""
    body = {field.name: plain(getattr(one, field.name)) for field in fields(one)
            if field.name not in ("mapping", "timeline", "misses")}  # fmt: skip
    mapping = one.mapping
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    misses: list[Json] = [
        {"demand": miss.demand, "limit": plain(miss.limit), "found": plain(miss.found), "over": plain(miss.over)}
        for miss in one.misses
    ]
    return {**body, "mapping": {name: getattr(mapping, name) for name in names} if mapping else None, "misses": misses}


def mix(found: MixPlan) -> str:
    """`podsim plan --workloads --json`: the jobs, the machine to take, and the partitions of every machine weighed."""
    return text("mix_plan", {
        "jobs": plain(found.jobs),
        "demand": plain(found.demand),
        "confidence": plain(found.confidence),
        "use": plain(found.use),
        "chosen": found.chosen.topology if found.chosen else None,
        "closest": found.closest.topology if found.closest else None,
        "candidates": [{**_plain(one), "used_ipus": one.used_ipus} for one in found.candidates],
        "excluded": plain(found.excluded),
        "assumptions": plain(found.assumptions),
        "terms": plain(found.terms),
    })  # fmt: skip


def _plain(one: object) -> dict[str, Json]:
    body = plain(one)
    assert isinstance(body, dict), "a dataclass becomes an object"
    return body
