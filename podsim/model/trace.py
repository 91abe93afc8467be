"""What happened when, and where: one step of a machine, or the supersteps of one stage, ready to be drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from podsim.model.program import Part


class TraceLevel(StrEnum):
    """How near the trace looks."""

    POD = "pod"  # the tasks of a step on IPUs, links and hosts
    TILE = "tile"  # the supersteps of one stage on the tiles of its IPU


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """One thing that lasted: on a track of a group (an IPU, the machine), with what else is known of it."""

    name: str
    part: Part | None
    group: str
    track: str
    start_s: float
    end_s: float
    details: Mapping[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Spans of one step; on one track none overlap. `shown` says of what they are all there is to see."""

    workload: str
    topology: str
    chip: str
    level: TraceLevel
    title: str
    shown: str
    length_s: float
    spans: tuple[TraceSpan, ...]
