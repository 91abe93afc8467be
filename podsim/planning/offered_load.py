"""The load that requests make: stated, or what replicas answer without a growing queue."""

from __future__ import annotations

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


def offered(load: Load, service: Service) -> Load:
    """The load that is meant, checked against what replicas can do.

    Raises Infeasible where requests come faster than they can be answered, with the highest rate to be had.
    """
    most = service.capacity_per_s
    if load.clients is not None:
        return load
    if load.rate_per_s is None:
        return replace(load, rate_per_s=USUAL_LOAD * most)
    if load.rate_per_s >= most:
        able = f"{service.replicas:,} replicas answer at most {_rate(most)} a second, batches of {service.batch:,} full"
        raise Infeasible(
            f"{_rate(load.rate_per_s)} requests a second cannot be answered: the queue would grow without end",
            code="too-many-requests",
            context=[able],
            hint=f"--rate {_rate(SAFE_LOAD * most)}/s, a larger --batch, or more IPUs",
        )
    return load


def _rate(per_s: float) -> str:
    """A rate as `--rate` takes it: whole from a hundred a second on."""
    return f"{per_s:,.0f}" if 100 <= per_s < MOST_WRITTEN else f"{per_s:.3g}"
