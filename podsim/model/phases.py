"""A run in phases: workloads trained one after the other."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.quantity import Key

MOST_PHASES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseOf:
    """One phase: a workload whose run has a length of its own."""

    workload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """What a file of phases says."""

    name: str
    title: str
    phases: Annotated[tuple[PhaseOf, ...], Key("phase")]

    def __post_init__(self) -> None:
        if not 2 <= len(self.phases) <= MOST_PHASES:
            raise ValueError(f"phase: a run has from 2 to {MOST_PHASES} phases")

    @property
    def workloads(self) -> tuple[str, ...]:
        """What is trained, one after the other."""
        return tuple(phase.workload for phase in self.phases)
