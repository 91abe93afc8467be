"""Samplers without a network: what one sample draws, computes, keeps and returns, and what a run of many takes."""

from dataclasses import dataclass
from typing import Annotated, Final

from podsim.model.chip import Precision
from podsim.model.displayable import Displayable
from podsim.model.note import AnswerNote
from podsim.model.quantity import Count, Key, NotNegative, Whole
from podsim.model.sums import sum_in_order

MOST: Final = 2**31 - 1
"""Largest count of a file: Poplar counts elements of a dimension in 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Operations one after the other on `elements` of each sample, in poplibs' words; the last result may be summed."""

    name: str
    operations: tuple[str, ...]
    elements: Count
    sums: Count | None = None

    def __post_init__(self) -> None:
        if not self.operations:
            raise ValueError("operations: at least one operation is needed")
        if not 1 <= self.elements <= MOST:
            raise ValueError(f"elements: must be from 1 to {MOST:,}")
        if self.sums is not None and (self.sums < 1 or self.elements % self.sums):
            raise ValueError(f"sums: {self.sums} sums do not share {self.elements:,} elements evenly")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """One sample for itself: `rounds` times the work at the start, `steps` times that of a step, that of the end.

    A sample holds `state` elements, a tile `shared` ones for all its samples; after each round a share `kept` of
    the samples returns `returned` elements to the host.
    """

    name: str
    title: str
    sample: str
    precision: Precision
    state: Count
    shared: Whole = 0
    rounds: Count = 1
    steps: Count
    returned: Whole
    kept: NotNegative
    start: Annotated[tuple[Work, ...], Key("start")] = ()
    step: Annotated[tuple[Work, ...], Key("step")]
    end: Annotated[tuple[Work, ...], Key("end")] = ()
    notes: tuple[AnswerNote, ...] = ()

    def __post_init__(self) -> None:
        for name in ("state", "rounds", "steps"):
            if not 1 <= getattr(self, name) <= MOST:
                raise ValueError(f"{name}: must be from 1 to {MOST:,}")
        for name in ("shared", "returned"):
            if getattr(self, name) > MOST:
                raise ValueError(f"{name}: must be at most {MOST:,}")
        if self.kept > 1:
            raise ValueError("kept: a share of the samples, at most 1")
        if not self.step:
            raise ValueError("step: at least one [[step]] is needed")

    @property
    def parts(self) -> tuple[tuple[str, int, tuple[Work, ...]], ...]:
        """What a round is made of: name, times, work."""
        return ("start", 1, self.start), ("step", self.steps, self.step), ("end", 1, self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCost:
    """What one work costs in a whole run [s], and its arithmetic for one sample [FLOP]."""

    name: str
    part: str
    operations: tuple[str, ...]
    times: int
    elements: int
    sums: int | None
    draws_s: float
    elementwise_s: float
    sums_s: float
    sync_s: float
    sample_flop: float

    @property
    def time_s(self) -> float:
        """Time of the work in a whole run: draws, vector code, sums and syncs [s]."""
        return self.draws_s + self.elementwise_s + self.sums_s + self.sync_s


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SamplerReport(Displayable):
    """A run of so many samples on the IPUs of a machine."""

    sampler: Sampler
    samples: int
    rounds: int
    topology: str
    chip: str
    ipus: int
    tiles: int  # of an IPU that hold samples
    on_a_tile: int  # samples of the most loaded
    most_samples: int
    sram_bytes_per_tile: float
    works: tuple[WorkCost, ...]
    host_s: float
    returned_bytes: float
    assumed: tuple[AnswerNote, ...] = ()  # what is not published and assumed, with the reason

    @property
    def parts_s(self) -> dict[str, float]:
        """Where a run goes [s]."""
        return {
            "random numbers": sum_in_order(work.draws_s for work in self.works),
            "elementwise": sum_in_order(work.elementwise_s for work in self.works),
            "sums": sum_in_order(work.sums_s for work in self.works),
            "sync": sum_in_order(work.sync_s for work in self.works),
            "return to host": self.host_s,
        }

    @property
    def run_s(self) -> float:
        """All rounds [s]."""
        return sum_in_order(self.parts_s.values())

    @property
    def samples_per_s(self) -> float:
        """Rounds of all samples per second: a sampler that runs once finishes so many samples."""
        return self.samples * self.rounds / self.run_s

    @property
    def flop_per_s(self) -> float:
        """Arithmetic of all samples over the time of a run, drawing not counted [FLOP/s]."""
        return self.samples * sum_in_order(work.sample_flop for work in self.works) / self.run_s

    @property
    def limited_by(self) -> str:
        """The part that takes most of a run."""
        parts = self.parts_s
        return max(parts, key=lambda name: parts[name])
