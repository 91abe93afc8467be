"""How one operator runs on the tiles of a chip: supersteps of cohorts, what they hold, and what was not chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MULTIPLY = "multiply"
"""What supersteps are for in which the AMP works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """Tiles that do identical work in one superstep; bytes and cycles are those of one tile.

    `receive_bytes` counts what arrives at a port of 4 B per cycle; `shared_receive_bytes` what two neighbouring tiles
    take off one bus together at 8 B per cycle. A multicast counts once at its sender.
    """

    tiles: int
    compute_cycles: float = 0.0
    send_bytes: float = 0.0
    receive_bytes: float = 0.0
    shared_receive_bytes: float = 0.0
    load_bytes: float = 0.0
    store_bytes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Superstep:
    """Exchange, sync, compute; `repeat` equal ones follow each other.

    `phase` names what it is for: "input", "weights", "multiply", "reduce", "rearrange", "vector", "slice", "cast", ...
    `fragments` is the number of separate pieces the busiest tile receives.
    """

    name: str
    phase: str
    cohorts: tuple[Cohort, ...]
    repeat: int = 1
    fragments: int = 0

    @property
    def exchanges(self) -> bool:
        """Whether anything moves between tiles."""
        return any(c.send_bytes or c.receive_bytes or c.shared_receive_bytes for c in self.cohorts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedPlan:
    """A plan that lost: its splits, cycles, SRAM, and why."""

    splits: Mapping[str, int]
    cycles: float
    sram_bytes_per_tile: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePlan:
    """One operator on one chip."""

    operator: str
    method: str  # "AMP 1x1", "AMP n x 1", "SLIC", "vector", ...
    splits: Mapping[str, int]  # parallel and serial splits by name
    supersteps: tuple[Superstep, ...]
    flop: float  # arithmetic asked for, padding not counted
    sram_bytes_per_tile: Mapping[str, float]  # by category, on the most loaded tile
    tiles_used: int
    layout_in: str = ""  # layout in which the first operand is expected
    layout_out: str = ""  # layout in which the result is left
    alternatives: tuple[RejectedPlan, ...] = field(default=())

    @property
    def multiplies(self) -> bool:
        """Whether its arithmetic is the AMP's."""
        return any(step.phase == MULTIPLY for step in self.supersteps)
