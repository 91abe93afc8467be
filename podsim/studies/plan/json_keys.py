"""The keys of `podsim plan --json`: the question, the machine to take, and every machine evaluated."""

from typing import Final

from podsim.report.json_document import JsonDocument
from podsim.studies.predict.json_keys import WALL_CLOCK

OWNERSHIP_KEYS: Final = {"Miss": "* over", "Reuse": "* free"}

PLAN: Final = JsonDocument(
    "plan",
    {
        "Plan": """
            workload demand chosen closest candidates=ranking near=near.topology remedies unranked? contradiction
            excluded legal rejected=counts settled{candidates,largest_change} assumptions calibration terms currency
            inventory? neighbours?explain against with_cache?None
        """,
        "RankedCandidate": "+candidate front",
        "Candidate": """
            * -mapping -timeline -misses -failures -reuse -wall_clock finish_s~ failures reuse?None wall_clock mapping
            misses
        """,
        "Mapping": "replicas ipus_per_replica micro_batch accumulation",
        **WALL_CLOCK,
        "Neighbour": """
            topology=candidate.topology hosts=candidate.hosts roles misses=candidate.misses more dominated_by
        """,
        "CompetitorSizes": "machine nearest=nearest.topology sizes=published_sizes",
        "PublishedSize": "+candidate published",
        **OWNERSHIP_KEYS,
    },
    {"Neighbour.dominated_by": lambda neighbour: neighbour.dominated_by or None},
    rows="candidates",
)
MIX: Final = JsonDocument(
    "mix_plan",
    {
        "MixPlan": """
            jobs demand confidence use chosen=chosen.topology closest=closest.topology candidates excluded assumptions
            terms currency inventory? kept?inventory split?inventory
        """,
        "MixCandidate": "* -month -reuse used_ipus month?None reuse?None",
        "Reuse": "* free",
    },
    rows="candidates",
)
"""What fits of a month only where not all does, what is owned only where some of it is."""
SERVING: Final = JsonDocument(
    "serving_plan",
    {
        "ServingPlan": """
            workload row demand chosen closest candidates near=near.topology changes checks excluded assumptions
            calibration terms currency inventory?
        """,
        "ServingDemand": "* needed_per_s",
        "ServingCandidate": """
            topology title chip ipus hosts machines spares replicas ipus_per_replica slower grade holds_per_s
            expected_per_s each_per_s p99_s ttft_s busy filled capital_usd most_capital_usd power_w most_power_w
            batch=batch.service.batch wait_s=batch.wait_s period_s=batch.service.period_s
            latency_s=batch.service.latency_s first_token_s=batch.first_s token_s=batch.token_s
            usd_per_million_requests=cost.request usd_per_million_tokens=cost.token
            rent_usd_per_million_requests=cost.rented misses reuse?None
        """,
        **OWNERSHIP_KEYS,
    },
    rows="candidates",
)
