"""Sweeps of a stencil over a grid that IPUs share: tiles' work, halos over the links of neighbours (Eq. 82)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.files.file_faults import unknown_choice
from podsim.model.program import Flow
from podsim.model.stencil import Stencil, StencilReport
from podsim.model.sums import sum_in_order
from podsim.physics import links
from podsim.physics.collectives import ring_order
from podsim.tiles import stencil_sweep as tiles
from podsim.tiles.supersteps import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.chip import Chip
    from podsim.model.fabric import Topology
    from podsim.model.tile_plan import TilePlan
    from podsim.topology.machine_network import Fabric

MOST_POINTS: Final = 10**13  # of a grid; 16 IPUs hold 10^9


def star(name: str, title: str, dimensions: int, source: str, *, reach: int = 1, more: int = 0) -> Stencil:
    """A point becomes a weighted mean of its neighbours: they and it are read, one is written; as many operations.

    `more` fields of earlier sweeps are read and taken off.
    """
    each = 2 * dimensions * reach + 2 + more
    return Stencil(
        name=name,
        title=title,
        dimensions=dimensions,
        reach=reach,
        accesses=each,
        flop=each,
        fields=2 + more,
        source=source,
    )


STENCILS: Final = {
    stencil.name: stencil
    for stencil in (
        star("heat-2d", "heat equation, 5 points", 2, "simehaa-ipu"),
        star("heat-3d", "heat equation, 7 points", 3, "simehaa-ipu"),
        star("diffusion-3d", "diffusion of order 4, 13 points", 3, "devito-ipu", reach=2),
        star("wave-3d", "wave equation of order 4, 13 points", 3, "devito-ipu", reach=2, more=1),
        Stencil(
            name="aliev-panfilov",
            title="Aliev-Panfilov, two fields",
            dimensions=2,
            accesses=8,
            flop=28,
            divisions=1,
            fields=3,
            source="aliev-1996",
        ),
    )
}
"""By name. Aliev-Panfilov: 7 of diffusion, 9 and 12 of the reactions; six values read and two written."""


def by_name(name: str) -> Stencil:
    """The stencil of that name; InputError where there is none."""
    if name not in STENCILS:
        raise InputError(
            f"stencil {unknown_choice(name, tuple(STENCILS))}", code="unknown-stencil", hint="podsim stencil --help"
        )
    return STENCILS[name]


def edges(text: str, stencil: Stencil) -> tuple[int, ...]:
    """A grid as `8000x8000` or `360^3` says it; InputError where it does not suit the stencil."""
    edge, power, count = text.partition("^")
    words = [edge] * int(count) if power and count.isdecimal() and len(count) < 3 else text.split("x")
    if len(words) != stencil.dimensions or not all(word.isdecimal() and 0 < len(word) < 15 for word in words):
        example = "x".join(["300"] * stencil.dimensions)
        raise InputError(
            f'--grid is "{text[:40]}": {stencil.name} has {stencil.dimensions} dimensions',
            code="bad-value",
            hint=f"for example --grid {example}",
        )
    grid = tuple(map(int, words))
    if min(grid) < 1 or math.prod(grid) > MOST_POINTS:
        raise InputError(
            f"--grid {text[:40]} has {math.prod(grid):,} points, not 1 to {MOST_POINTS:,}",
            code="bad-value",
            hint="for example --grid 300x300x300" if len(grid) > 2 else "for example --grid 8000x8000",
        )
    return grid


def slab(grid: tuple[int, ...], ipus: int) -> tuple[int, ...]:
    """The part of the grid that the IPU with most of it holds: the first dimension is cut."""
    return (math.ceil(grid[0] / ipus), *grid[1:])


def plan_part(stencil: Stencil, part: tuple[int, ...], chip: Chip) -> TilePlan:
    """One sweep over the part of one IPU; Infeasible where its tiles cannot hold it."""
    return tiles.plan(
        part,
        chip,
        accesses=stencil.accesses,
        flop=stencil.flop,
        divisions=stencil.divisions,
        fields=stencil.fields,
        reach=stencil.reach,
        name=stencil.name,
    )


def halo_s(part: tuple[int, ...], ipus: int, fabric: Fabric, reach: int) -> float:
    """Both faces of every slab at once, slabs in the order in which each is next to the one before [s]."""
    if ipus == 1:
        return 0.0
    volume = tiles.halo_bytes(part, 0, reach=reach)
    routes = [
        fabric.route(*ends)
        for number, other in pairwise(ring_order(ipus, around_ladder=True))
        for ends in ((number, other), (other, number))
    ]
    flows = [Flow(route.links, volume) for route in routes]
    return max(route.latency_s for route in routes) + links.alone_s(flows, fabric.capacities)


def report(stencil: Stencil, grid: tuple[int, ...], topology: Topology, fabric: Fabric) -> StencilReport:
    """One sweep on all IPUs of a machine; InputError where it has more than a rack or the grid too few rows."""
    chip, ipus = topology.chip, topology.ipus
    _check(grid, ipus, topology.ipus_per_rack)
    part = slab(grid, ipus)
    plan = plan_part(stencil, part, chip)
    sweep_cycles = total(plan.supersteps, chip)
    return StencilReport(
        stencil=stencil,
        grid=grid,
        topology=topology.name,
        chip=chip.name,
        ipus=ipus,
        compute_s=sweep_cycles.compute / chip.clock_hz,
        exchange_s=sweep_cycles.exchange / chip.clock_hz,
        sync_s=sweep_cycles.sync / chip.clock_hz,
        links_s=halo_s(part, ipus, fabric, stencil.reach),
        tiles=plan.tiles_used,
        sram_bytes_per_tile=sum_in_order(plan.sram_bytes_per_tile.values()),
        points=math.prod(grid),
    )


def _check(grid: Sequence[int], ipus: int, rack_ipus: int) -> None:
    if ipus > rack_ipus:
        raise InputError(
            f"{ipus:,} IPUs: slabs are neighbours over the IPU-Links of one rack, {rack_ipus} at most",
            code="bad-pod",
            hint=f"--pod {rack_ipus}",
        )
    if grid[0] < ipus:
        raise InputError(
            f"a grid of {grid[0]:,} rows cannot be cut for {ipus:,} IPUs",
            code="bad-value",
            hint="a larger first dimension, or fewer IPUs",
        )
