"""What a rule may use to predict a measurement, and the measurement's unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.tiles import supersteps
from podsim.topology.build import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from podsim.model.chip import Chip
    from podsim.model.fabric import Topology
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.tile_plan import TilePlan
    from podsim.topology.machine_network import Fabric

CYCLES: Final = "cycles"
SECONDS: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
RATES: Final = {
    "GB/s": 1e9,
    "TB/s": 1e12,
    "TFLOP/s": 1e12,
    "Gsamples/s": 1e9,
    "Gpoint/s": 1e9,
    "samples/s": 1.0,
    "percent": 0.01,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Chips and machines by name, read once; `server` is that of the measurements between Mk1 IPUs, `rows` are all."""

    chip_of: Callable[[str], Chip]
    topology_of: Callable[[str], Topology]
    server: Fabric
    rows: Sequence[Microbenchmark] = ()
    fabrics: dict[str, Fabric] = field(default_factory=dict)
    chips: dict[str, Chip] = field(default_factory=dict)

    def chip(self, row: Microbenchmark) -> Chip:
        """The chip that a row names."""
        if row.chip not in self.chips:
            self.chips[row.chip] = self.chip_of(row.chip)
        return self.chips[row.chip]

    def fabric(self, name: str) -> Fabric:
        """The links of a machine."""
        if name not in self.fabrics:
            self.fabrics[name] = build(self.topology_of(name))
        return self.fabrics[name]


def from_cycles(row: Microbenchmark, cycles: float, chip: Chip) -> float:
    """Cycles in the unit of a row that measures a time."""
    return cycles if row.unit == CYCLES else from_seconds(row, cycles / chip.clock_hz)


def from_seconds(row: Microbenchmark, seconds: float) -> float:
    """A time in the unit of its row."""
    return seconds / _factor(row, SECONDS)


def from_rate(row: Microbenchmark, rate: float) -> float:
    """A rate an SI second, or a share, in the unit of its row."""
    return rate / _factor(row, RATES)


def _factor(row: Microbenchmark, factors_by_unit: dict[str, float]) -> float:
    if row.unit not in factors_by_unit:
        raise InputError(
            f'{row.id} is in "{row.unit}"',
            code="bad-microbenchmark-file",
            context=(row.what,),
            hint=f"known here: {', '.join(factors_by_unit)}",
        )
    return factors_by_unit[row.unit]


def plan_cycles(plan: TilePlan, chip: Chip) -> float:
    """Cycles of a whole operator."""
    return supersteps.total(plan.supersteps, chip).total


def compute_cycles(plan: TilePlan, chip: Chip, kinds: Iterable[str]) -> float:
    """Cycles that the slowest tiles compute in the supersteps of these kinds."""
    names = frozenset(kinds)
    selection = [step for step in plan.supersteps if step.phase in names]
    return supersteps.total(selection, chip).compute


def plan_flop_per_s(plan: TilePlan, chip: Chip) -> float:
    """Arithmetic of an operator over its time."""
    return plan.flop * chip.clock_hz / plan_cycles(plan, chip)
