"""What happened when, and where: steps of a machine, the supersteps of one stage, or a collective, to be drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote
from podsim.model.program import Part


class TraceLevel(StrEnum):
    """How near the trace looks."""

    POD = "pod"  # the tasks of a step on IPUs, links and hosts
    TILE = "tile"  # the supersteps of one stage on the tiles of its IPU
    COLLECTIVE = "collective"  # the steps of one collective on links


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
class TrackUse:
    """For how long of one step anything ran on a track, drawn or not."""

    group: str
    track: str
    busy_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSegment:
    """What one step does several times under one name, cycles of a pipeline or an operator, and for how long [s]."""

    name: str
    times: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLoad:
    """A link that stands for `alike` of its kind with the same load; bytes and busy seconds are those of one step.

    `changes` hold (time, rate) [s, B/s]: the rate from then on, from 0 B/s at 0 s or the first rate, to 0 B/s.
    """

    name: str
    kind: str
    alike: int
    bytes_per_s: float
    moved_bytes: float
    busy_s: float
    changes: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(Displayable):
    """Spans on tracks; on one track they follow each other or lie inside each other. `shown` says of what they are all.

    `notes` say what was left out. `length_s` is the whole of the `steps` drawn, `step_s` the step without noise, of
    which `parts_s` are the parts and `segments` the stretches in a row; both add up to it, drawn or not.
    `faults` are those of the machine; where parts are lost `left` says on what the run goes on.
    """

    workload: str
    topology: str
    chip: str
    level: TraceLevel
    title: str
    shown: str
    length_s: float
    step_s: float
    spans: tuple[TraceSpan, ...]
    steps: int = 1
    parts_s: Mapping[Part, float] = field(default_factory=dict)
    segments: tuple[TraceSegment, ...] = ()
    busy: tuple[TrackUse, ...] = ()
    links: tuple[LinkLoad, ...] = ()
    notes: tuple[AnswerNote, ...] = ()
    faults: tuple[str, ...] = ()
    left: str = ""
