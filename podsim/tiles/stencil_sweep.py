"""Explicit stencils on a grid: each tile holds a box of points, takes a layer from its neighbours, sweeps (Eq. 43).

A compiled loop issues one instruction for each access of a point and three to advance and branch; arithmetic issues
beside the accesses, and holds them up where there is more of it.
"""

import math
from dataclasses import dataclass
from itertools import product as combinations

from podsim.model.chip import Chip
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.shares import check_fit, check_sizes, vertex

FLOAT_BYTES = 4
LOOP_CYCLES = 3  # of a thread, a point: two pointers and the branch of a compiled loop
DIVISION_CYCLES = 5  # of a thread, a float: poplibs, a vector of two takes 10
SWEEP_OVERHEAD = 20  # of a thread, as a vertex with a scalar operand (poplibs)


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes along each dimension of the grid, and the points of the largest."""

    counts: tuple[int, ...]
    edges: tuple[int, ...]

    @property
    def points(self) -> int:
        """Points of the largest box."""
        return math.prod(self.edges)

    def faces(self, reach: int) -> tuple[int, ...]:
        """Points that arrive over both faces of each dimension; none where the grid is not cut."""
        return tuple(
            2 * reach * self.points // edge if count > 1 else 0
            for edge, count in zip(self.edges, self.counts, strict=True)
        )


def plan(
    grid: tuple[int, ...],
    chip: Chip,
    *,
    accesses: int | None = None,
    flop: float | None = None,
    divisions: int = 0,
    fields: int = 2,
    reach: int = 1,
    name: str = "stencil",
) -> TilePlan:
    """One sweep over the part of a grid of float points that one IPU holds; the last dimension is next to each other.

    `accesses` and `flop` of a point default to those of the star that averages its 2 x dimensions neighbours: it reads
    them and itself and writes one; it adds them and multiplies twice. `divisions` of the arithmetic take longer;
    `fields` of the points lie on the tiles. What other IPUs send is `halo_bytes` a face.
    """
    check_sizes(name, reach=reach, dimensions=len(grid), **{f"grid_{at}": edge for at, edge in enumerate(grid)})
    boxes = cut(grid, chip.tiles)
    tiles = math.prod(boxes.counts)
    star = 2 * len(grid) * reach + 2
    point_accesses, point_flop = star if accesses is None else accesses, float(star) if flop is None else flop
    each = max(point_accesses, point_flop + divisions * (DIVISION_CYCLES - 1)) + LOOP_CYCLES
    sweep = vertex(SWEEP_OVERHEAD + each * math.ceil(boxes.points / chip.worker_threads), chip)
    face_bytes = float(sum(boxes.faces(reach)) * FLOAT_BYTES)
    footprint = {"points": float(fields) * boxes.points * FLOAT_BYTES, "halo": face_bytes}
    work = Cohort(
        tiles=tiles,
        compute_cycles=sweep,
        receive_bytes=face_bytes,
        send_bytes=face_bytes,
        load_bytes=float((point_accesses - 1) * boxes.points * FLOAT_BYTES),
        store_bytes=float(boxes.points * FLOAT_BYTES),
    )
    return TilePlan(
        operator=name,
        method="stencil",
        splits={f"dimension {at}": count for at, count in enumerate(boxes.counts)},
        supersteps=(Superstep(name="sweep", phase="vector", cohorts=(work,), fragments=_pieces(boxes, reach)),),
        flop=math.prod(grid) * point_flop,
        sram_bytes_per_tile=check_fit(name, footprint, chip, "a --grid of fewer points, or more IPUs: 64 at most"),
        tiles_used=tiles,
    )


def cut(grid: tuple[int, ...], tiles: int) -> Boxes:
    """The boxes that share a grid over at most so many tiles with the fewest points, then the smallest faces."""
    options = [[n for n in range(1, min(edge, tiles) + 1) if tiles % n == 0] for edge in grid[:-1]]
    best: tuple[tuple[int, int], Boxes] | None = None
    for counts in combinations(*options):
        rest = tiles // math.prod(counts)
        if not rest:
            continue
        full = (*counts, min(rest, grid[-1]))
        boxes = Boxes(full, tuple(-(-edge // count) for edge, count in zip(grid, full, strict=True)))
        key = (boxes.points, sum(boxes.faces(1)))
        if best is None or key < best[0]:
            best = (key, boxes)
    assert best is not None, "one box a dimension always fits"
    return best[1]


def halo_bytes(grid: tuple[int, ...], across: int, *, reach: int = 1) -> float:
    """What one IPU sends over one face of its grid, perpendicular to dimension `across`, in a sweep [B]."""
    return float(reach * math.prod(grid) // grid[across] * FLOAT_BYTES)


def _pieces(boxes: Boxes, reach: int) -> int:
    """Rows of the last dimension arrive whole; the faces across it point by point, `reach` of them at once."""
    faces = boxes.faces(reach)
    rows = sum(face // boxes.edges[-1] for face in faces[:-1])
    return rows + faces[-1] // reach
