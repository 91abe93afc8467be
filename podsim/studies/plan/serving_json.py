"""Machines that serve, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text
from podsim.studies.plan.to_json import reused

if TYPE_CHECKING:
    from podsim.report.digits import Json
    from podsim.studies.plan.serving_result import ServingCandidate, ServingPlan

PLAIN = (
    "topology",
    "title",
    "chip",
    "ipus",
    "hosts",
    "machines",
    "spares",
    "replicas",
    "ipus_per_replica",
    "slower",
    "grade",
    "holds_per_s",
    "expected_per_s",
    "each_per_s",
    "p99_s",
    "ttft_s",
    "busy",
    "filled",
    "capital_usd",
    "most_capital_usd",
    "power_w",
    "most_power_w",
)


def document(plan: ServingPlan) -> str:
    """`podsim plan --rate --json`, schema podsim.serving_plan/1: the question, the machines to buy, all weighed."""
    return text(
        "serving_plan",
        {
            "workload": plan.workload,
            "row": plan.row,
            "demand": {**_object(plan.demand), "needed_per_s": plain(plan.demand.needed_per_s)},
            "chosen": _candidate(plan.chosen) if plan.chosen else None,
            "closest": _candidate(plan.closest) if plan.closest else None,
            "candidates": [_candidate(candidate) for candidate in plan.candidates],
            "near": [candidate.topology for candidate in plan.near],
            "changes": plain(plan.changes),
            "checks": plain(plan.checks),
            "excluded": plain(plan.excluded),
            "assumptions": plain(plan.assumptions),
            "calibration": plan.calibration,
            "terms": plain(plan.terms),
            "currency": plain(plan.currency),
            **({"inventory": plain(plan.inventory)} if plan.inventory else {}),
        },
    )


def _candidate(candidate: ServingCandidate) -> dict[str, Json]:
    service, cost = candidate.batch.service, candidate.cost
    misses: list[Json] = [
        {"demand": miss.demand, "limit": plain(miss.limit), "found": plain(miss.found), "over": plain(miss.over)}
        for miss in candidate.misses
    ]
    return {
        **{name: plain(getattr(candidate, name)) for name in PLAIN},
        "batch": service.batch,
        "wait_s": plain(candidate.batch.wait_s),
        "period_s": plain(service.period_s),
        "latency_s": plain(service.latency_s),
        "first_token_s": plain(candidate.batch.first_s),
        "token_s": plain(candidate.batch.token_s),
        "usd_per_million_requests": plain(cost.request) if cost else None,
        "usd_per_million_tokens": plain(cost.token) if cost else None,
        "rent_usd_per_million_requests": plain(cost.rented) if cost else None,
        "misses": misses,
        **({"reuse": reused(candidate.reuse)} if candidate.reuse else {}),
    }


def _object(value: object) -> dict[str, Json]:
    body = plain(value)
    assert isinstance(body, dict), "a dataclass becomes an object"
    return body
