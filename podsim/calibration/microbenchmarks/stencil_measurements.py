"""STREAM and explicit stencils, on one IPU and over IPU-Links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from podsim.calibration.microbenchmarks.bench import from_rate, plan_cycles
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.model.chip import Precision
from podsim.predicting import stencils
from podsim.tiles import vector

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.stencil import Stencil

MACHINE: Final = "pod16"
TRIAD_PER_TILE: Final = 24_000  # floats of each of three arrays, 45 % of a tile's SRAM; the source states no size
TRIAD_BYTES: Final = 3 * 4
HEAT: Final = "heat"
STENCILS: Final = {
    "heat equation": HEAT,
    "diffusion order 4": "diffusion-3d",
    "wave order 4": "wave-3d",
    "Aliev-Panfilov": "aliev-panfilov",
}
"""What rows call a stencil, and what podsim does."""


def _grid(row: Microbenchmark) -> tuple[int, ...]:
    edge, power, dimensions = row.shape["grid"].partition("^")
    return (int(edge),) * int(dimensions) if power else tuple(map(int, row.shape["grid"].split("x")))


def _triad(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    elements = chip.tiles * TRIAD_PER_TILE
    plan = vector.stream(elements, Precision.FP32, chip, reads=2, writes=1)
    return from_rate(row, elements * TRIAD_BYTES * chip.clock_hz / plan_cycles(plan, chip))


def _sweep_s(stencil: Stencil, grid: tuple[int, ...], ipus: int, row: Microbenchmark, bench: Bench) -> float:
    """One sweep: each IPU its slab of the first dimension, halos over the links between neighbours, the tiles' work."""
    chip, part = bench.chip(row), stencils.slab(grid, ipus)
    tiles_s = plan_cycles(stencils.plan_part(stencil, part, chip), chip) / chip.clock_hz
    return tiles_s + stencils.halo_s(part, ipus, bench.fabric(MACHINE), stencil.reach)


def stencil_of(row: Microbenchmark) -> Stencil | None:
    """The stencil that a row measures, where its operations are known."""
    if row.category not in ("hpc", "other") or "grid" not in row.shape:
        return None
    text = next((name for what, name in STENCILS.items() if what in row.what), "")
    if text == HEAT:
        text = f"heat-{len(_grid(row))}d"
    return stencils.STENCILS.get(text)


def _flop_rate(row: Microbenchmark, bench: Bench) -> float:
    return from_rate(row, _of(row).flop * _rate(row, bench))


def _point_rate(row: Microbenchmark, bench: Bench) -> float:
    return from_rate(row, _rate(row, bench))


def _of(row: Microbenchmark) -> Stencil:
    stencil = stencil_of(row)
    assert stencil is not None, row.what
    return stencil


def _rate(row: Microbenchmark, bench: Bench) -> float:
    grid = _grid(row)
    return math.prod(grid) / _sweep_s(_of(row), grid, int(row.shape.get("ipus", 1)), row, bench)


RULES = (
    Rule(category="hpc", what="^STREAM Triad", family="stream", predict=_triad),
    leave_out("hpc", "^STREAM", "a round figure of C++ that a compiler vectorised; podsim prices those of poplibs"),
    Rule(category="hpc", what="heat equation", family="heat equation", predict=_flop_rate),
    Rule(category="hpc", what="Aliev-Panfilov", family="stencils", predict=_flop_rate),
    Rule(category="other", what="heat equation", family="stencils", predict=_flop_rate),
    Rule(category="other", what="^stencil throughput", family="stencils", predict=_point_rate),
    leave_out("conv", "blur", "vertices and halo copies of its own, whose code is not stated"),
    leave_out("conv", "^stencil", "timed by the host, with a work split of its own"),
)
