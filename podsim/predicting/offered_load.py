"""The load that requests make: stated, or what replicas answer without a growing queue."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible

if TYPE_CHECKING:
    from podsim.model.inference import Load, Service

USUAL_LOAD: Final = 0.8
"""Of what the replicas can do, where no flag says who asks; assumed."""
SAFE_LOAD: Final = 0.95
"""The highest rate that a refusal proposes, of what the replicas can do; assumed."""
MOST_WRITTEN: Final = 1e12
"""Requests a second up to which a rate is written in digits."""


def check_load(load: Load, service: Service, ipus: int, *, size: str = "this batch size") -> Load:
    """The load that is meant, checked against what replicas on so many IPUs can do.

    Raises Infeasible where requests come faster than they can be answered, with the highest rate possible and how many
    IPUs would meet this one at a batch size that is called `size`.
    """
    most = service.capacity_per_s
    if load.clients is not None:
        return load
    if load.rate_per_s is None:
        return replace(load, rate_per_s=USUAL_LOAD * most)
    if not takes(load, service):
        able = f"{service.replicas:,} replicas serve at most {_rate(most)} requests/s at batch size {service.batch:,}"
        safe, needed_ipus = f"{100 * SAFE_LOAD:.0f} % of capacity", float(f"{ipus_for(load, service, ipus):.3g}")
        raise Infeasible(
            f"{_rate(load.rate_per_s)} requests/s exceed the capacity",
            code="too-many-requests",
            context=[able, f"at {size} about {needed_ipus:,.0f} IPUs would serve them at {safe}"],
            hint=f"--rate {_rate(SAFE_LOAD * most)}/s: {safe}",
        )
    return load


def takes(load: Load, service: Service) -> bool:
    """Whether replicas answer a stated rate at all, with however little room."""
    return load.rate_per_s is None or load.rate_per_s < service.capacity_per_s


def most_text(service: Service) -> str:
    """The most that replicas answer: "at most 3,623 requests/s"."""
    return f"at most {_rate(service.capacity_per_s)} requests/s"


def serves(load: Load, service: Service) -> bool:
    """Whether replicas answer a stated rate with room to spare."""
    return load.rate_per_s is None or load.rate_per_s <= SAFE_LOAD * service.capacity_per_s


def ipus_for(load: Load, service: Service, ipus: int) -> int:
    """How many IPUs would answer a stated rate with room to spare, if so many make these replicas."""
    return math.ceil(ipus * (load.rate_per_s or 0.0) / (SAFE_LOAD * service.capacity_per_s))


def _rate(per_s: float) -> str:
    """A rate as `--rate` takes it: whole from a hundred a second on."""
    return f"{per_s:,.0f}" if 100 <= per_s < MOST_WRITTEN else f"{per_s:.3g}"
