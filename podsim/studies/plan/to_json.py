"""Plans as JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from podsim.report.digits import Json
from podsim.report.json_text import drawn, plain, text
from podsim.report.views import wall_clock

if TYPE_CHECKING:
    from podsim.studies.plan.inventory_result import Reuse
    from podsim.studies.plan.mix_result import MixCandidate, MixPlan
    from podsim.studies.plan.result import Candidate, CompetitorSizes, Neighbour, Plan


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
            **({"unranked": True} if plan.unranked else {}),
            "contradiction": plan.contradiction,
            "excluded": plain(plan.excluded),
            "legal": plan.legal,
            "rejected": plain(plan.counts),
            "settled": {"candidates": plan.settled[0], "largest_change": plain(plan.settled[1])},
            "assumptions": plain(plan.assumptions),
            "calibration": plan.calibration,
            "terms": plain(plan.terms),
            "currency": plain(plan.currency),
            **({"inventory": plain(plan.inventory)} if plan.inventory else {}),
            **({"neighbours": [_neighbour(item) for item in plan.neighbours]} if plan.explain else {}),
            "against": [_competitor(item) for item in plan.against],
        },
    )


def _competitor(item: CompetitorSizes) -> Json:
    """A competitor at each size, with its published runs."""
    return {
        "machine": item.machine,
        "nearest": item.nearest.topology,
        "sizes": [
            {**_candidate(candidate), "published": plain(item.published[candidate.topology])}
            for candidate in item.sizes
        ],
    }


def _neighbour(neighbour: Neighbour) -> dict[str, Json]:
    """A machine near the recommended one, by the name and hosts that it has among the candidates, and why not it."""
    return {
        "topology": neighbour.candidate.topology,
        "hosts": neighbour.candidate.hosts,
        "roles": plain(neighbour.roles),
        "misses": _misses(neighbour.candidate),
        "more": plain(neighbour.more),
        "dominated_by": neighbour.dominated_by or None,
    }


def _misses(candidate: Candidate) -> list[Json]:
    """The demands that a candidate misses."""
    return [
        {"demand": miss.demand, "limit": plain(miss.limit), "found": plain(miss.found), "over": plain(miss.over)}
        for miss in candidate.misses
    ]


def reused(reuse: Reuse) -> Json:
    """What of a candidate is owned, and what is bought."""
    return {**_plain(reuse), "free": reuse.free}


def _candidate(candidate: Candidate) -> dict[str, Json]:
    """A candidate without what its step is made of."""
    body = {
        field.name: plain(getattr(candidate, field.name))
        for field in fields(candidate)
        if field.name not in ("mapping", "timeline", "misses", "failures", "reuse", "wall_clock")
    }
    mapping = candidate.mapping
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    failures: list[Json] = [wall_clock.interrupted(report) for report in candidate.failures]
    body = {**body, "finish_s": drawn(candidate.finish_s), "failures": failures}
    if candidate.reuse is not None:
        body["reuse"] = reused(candidate.reuse)
    clock = candidate.wall_clock
    return {
        **body,
        "wall_clock": None if clock is None else wall_clock.fields(clock),
        "mapping": {name: getattr(mapping, name) for name in names} if mapping else None,
        "misses": _misses(candidate),
    }


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
            "candidates": [_mix_candidate(candidate) for candidate in plan.candidates],
            "excluded": plain(plan.excluded),
            "assumptions": plain(plan.assumptions),
            "terms": plain(plan.terms),
            "currency": plain(plan.currency),
            **_mix_inventory(plan),
        },
    )


def _mix_candidate(candidate: MixCandidate) -> dict[str, Json]:
    """A machine of a mix; what fits of a month only where not all does, what is owned only where some of it is."""
    body = _plain(candidate)
    del body["month"], body["reuse"]
    body["used_ipus"] = candidate.used_ipus
    if candidate.month is not None:
        body["month"] = plain(candidate.month)
    if candidate.reuse is not None:
        body["reuse"] = reused(candidate.reuse)
    return body


def _mix_inventory(plan: MixPlan) -> dict[str, Json]:
    """The owned machines with what they hold, and what is bought for the rest where that is cheaper."""
    if not plan.inventory:
        return {}
    bought: Json = None
    if plan.split is not None:
        added = plan.split.added
        bought = {**_plain(plan.split), "added": None if added is None else _mix_candidate(added)}
    return {"inventory": plain(plan.inventory), "kept": plain(plan.kept), "split": bought}


def _plain(value: object) -> dict[str, Json]:
    body = plain(value)
    assert isinstance(body, dict), "a dataclass becomes an object"
    return body
