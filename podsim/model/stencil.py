"""Explicit stencils on a grid: what is done at a point, and what a sweep over all of them takes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.model.displayable import Displayable

if TYPE_CHECKING:
    from podsim.model.microbenchmark import ComparedMeasurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Stencil:
    """What one sweep does at a point of float fields: accesses, arithmetic, how far its star reaches."""

    name: str
    title: str
    dimensions: int
    reach: int = 1
    accesses: int
    flop: int
    divisions: int = 0  # among the arithmetic
    fields: int = 2  # that lie on the tiles, the old and the new one at least
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StencilReport(Displayable):
    """A sweep over a grid on the IPUs of a machine; `published` are measured sweeps of the same stencil."""

    stencil: Stencil
    grid: tuple[int, ...]
    topology: str
    chip: str
    ipus: int
    compute_s: float
    exchange_s: float
    sync_s: float
    links_s: float
    tiles: int  # of an IPU that hold points
    sram_bytes_per_tile: float
    points: int
    published: "tuple[ComparedMeasurement, ...]" = ()

    @property
    def sweep_s(self) -> float:
        """One time step [s]."""
        return self.compute_s + self.exchange_s + self.sync_s + self.links_s

    @property
    def breakdown_s(self) -> dict[str, float]:
        """Where a sweep goes [s]."""
        return {
            "compute": self.compute_s,
            "exchange": self.exchange_s,
            "sync": self.sync_s,
            "ipu-links": self.links_s,
        }

    @property
    def points_per_s(self) -> float:
        """Points of the whole grid that are updated a second."""
        return self.points / self.sweep_s

    @property
    def flop_per_s(self) -> float:
        """Arithmetic of the whole grid over the time of a sweep [FLOP/s]."""
        return self.points * self.stencil.flop / self.sweep_s
