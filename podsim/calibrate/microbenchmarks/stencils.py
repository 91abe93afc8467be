"""STREAM and explicit stencils, on one IPU and over IPU-Links."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from podsim.calibrate.microbenchmarks.bench import from_rate, plan_cycles
from podsim.calibrate.microbenchmarks.rules import Rule, leave_out
from podsim.model.chip import Precision
from podsim.model.program import Flow
from podsim.physics import links
from podsim.physics.collectives import ring_order
from podsim.tiles import stencil, vector

if TYPE_CHECKING:
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.topology.fabric import Fabric

MACHINE: Final = "pod16"
TRIAD_PER_TILE: Final = 24_000  # floats of each of three arrays, 45 % of a tile's SRAM; the source states no size
TRIAD_BYTES: Final = 3 * 4
ORDER_REACH: Final = 2  # points to each side of a stencil of order 4
WAVE_ACCESSES: Final = 1  # the field of the step before the last is read as well


def _grid(row: Microbenchmark) -> tuple[int, ...]:
    edge, power, dimensions = row.shape["grid"].partition("^")
    return (int(edge),) * int(dimensions) if power else tuple(map(int, row.shape["grid"].split("x")))


def _triad(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    elements = chip.tiles * TRIAD_PER_TILE
    plan = vector.stream(elements, Precision.FP32, chip, reads=2, writes=1)
    return from_rate(row, elements * TRIAD_BYTES * chip.clock_hz / plan_cycles(plan, chip))


def _sweep_s(grid: tuple[int, ...], ipus: int, row: Microbenchmark, bench: Bench, *, reach: int, more: int) -> float:
    """One sweep: each IPU its slab of the first dimension, halos over the links between neighbours, the tiles' work."""
    chip = bench.chip(row)
    slab = (math.ceil(grid[0] / ipus), *grid[1:])
    accesses = 2 * len(grid) * reach + 2 + more
    plan = stencil.plan(slab, chip, reach=reach, accesses=accesses)
    return plan_cycles(plan, chip) / chip.clock_hz + _halo_s(slab, ipus, bench.fabric(MACHINE), reach)


def _halo_s(slab: tuple[int, ...], ipus: int, fabric: Fabric, reach: int) -> float:
    """Both faces of every slab at once, slabs in the order in which each is next to the one before."""
    if ipus == 1:
        return 0.0
    volume = stencil.halo_bytes(slab, 0, reach=reach)
    routes = [fabric.route(*ends) for one, other in pairwise(ring_order(ipus, around_ladder=True))
              for ends in ((one, other), (other, one))]  # fmt: skip
    flows = [Flow(route.links, volume) for route in routes]
    return max(route.latency_s for route in routes) + links.alone_s(flows, fabric.capacities)


def _heat(row: Microbenchmark, bench: Bench) -> float:
    """An average of 2 x dimensions neighbours: it adds them and multiplies twice."""
    grid = _grid(row)
    flop = math.prod(grid) * (2 * len(grid) + 2)
    return from_rate(row, flop / _sweep_s(grid, int(row.shape.get("ipus", 1)), row, bench, reach=1, more=0))


def _points(row: Microbenchmark, bench: Bench) -> float:
    grid, more = _grid(row), WAVE_ACCESSES if "wave" in row.what else 0
    return from_rate(row, math.prod(grid) / _sweep_s(grid, row.whole("ipus"), row, bench, reach=ORDER_REACH, more=more))


RULES = (
    Rule(category="hpc", what="^STREAM Triad", family="stream", predict=_triad),
    leave_out("hpc", "^STREAM", "printed as a round figure"),
    Rule(category="hpc", what="heat equation", family="heat equation", predict=_heat),
    leave_out("hpc", "", "the operations of a point are not stated"),
    Rule(category="other", what="heat equation", family="stencils", predict=_heat),
    Rule(category="other", what="^stencil throughput", family="stencils", predict=_points),
    leave_out("conv", "blur", "vertices and halo copies of its own, whose code is not stated"),
    leave_out("conv", "^stencil", "timed by the host, with a work split of its own"),
)  # fmt: skip
