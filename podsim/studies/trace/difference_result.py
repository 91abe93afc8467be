"""Two traces side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.displayable import Displayable
from podsim.model.trace import TraceLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTotals:
    """The totals of a trace in a file: a step [s], its parts, and what runs in a row, so many `times`."""

    file: str
    workload: str
    topology: str
    level: TraceLevel
    step_s: float
    parts_s: Mapping[str, float]
    segments_s: Mapping[str, float]
    times: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceChange:
    """One part or segment in both traces [s]; 0 where one has none of it, `times` how often it runs in each."""

    name: str
    old_s: float
    new_s: float
    times: tuple[int, int] | None = None

    @property
    def change_s(self) -> float:
        """By how much it got longer [s]."""
        return self.new_s - self.old_s


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TraceDifference(Displayable):
    """What got longer from one trace to another: parts and segments, each adding up to the change of the step."""

    old: TraceTotals
    new: TraceTotals

    @property
    def change_s(self) -> float:
        """By how much the step got longer [s]."""
        return self.new.step_s - self.old.step_s

    @property
    def parts(self) -> tuple[TraceChange, ...]:
        """Every part of the step, what changed most first."""
        return _changes(self.old.parts_s, self.new.parts_s)

    @property
    def segments(self) -> tuple[TraceChange, ...]:
        """Everything that runs in a row, what changed most first."""
        return _changes(self.old.segments_s, self.new.segments_s, (self.old.times, self.new.times))


def _changes(
    old: Mapping[str, float], new: Mapping[str, float], times: tuple[Mapping[str, int], Mapping[str, int]] | None = None
) -> tuple[TraceChange, ...]:
    names = list(dict.fromkeys((*old, *new)))
    each = (
        TraceChange(
            name=name,
            old_s=old.get(name, 0.0),
            new_s=new.get(name, 0.0),
            times=None if times is None else (times[0].get(name, 0), times[1].get(name, 0)),
        )
        for name in names
    )
    return tuple(sorted(each, key=lambda change: -abs(change.change_s)))
