"""Explicit stencils, against the heat equation on one to sixteen GC200."""

import statistics
from itertools import product

import pytest

from podsim.errors import InputError
from podsim.model.chip import Chip
from podsim.tiles import stencil_sweep
from podsim.tiles.supersteps import total

LINK_BYTES_PER_S, LINK_S = 2 * 13.86e9, 0.545e-6  # two IPU-Links to a neighbour as measured on Mk1 (jia-2019)

# grid, IPUs, TFLOP/s: simehaa-ipu, README.md
MEASURED = [
    ((8000, 8000), 1, 1.28),
    ((10000, 10000), 2, 2.17),
    ((14000, 14000), 4, 4.35),
    ((19000, 19000), 8, 8.59),
    ((27000, 27000), 16, 17.2),
    ((360,) * 3, 1, 1.44),
    ((403,) * 3, 2, 2.30),
    ((508,) * 3, 4, 4.05),
    ((640,) * 3, 8, 7.99),
    ((806,) * 3, 16, 13.2),
]


def predicted(grid: tuple[int, ...], ipus: int, chip: Chip) -> float:
    part = (-(-grid[0] // ipus), *grid[1:])
    plan = stencil_sweep.plan(part, chip)
    seconds = total(plan.supersteps, chip).total / chip.clock_hz
    if ipus > 1:
        seconds += LINK_S + stencil_sweep.halo_bytes(part, 0) / LINK_BYTES_PER_S
    return ipus * plan.flop / seconds / 1e12


def test_heat_equation(gc200: Chip):
    errors = [abs(predicted(grid, ipus, gc200) / measured - 1) for grid, ipus, measured in MEASURED]
    assert statistics.mean(errors) <= 0.12
    assert max(errors) <= 0.2


@pytest.mark.parametrize("grid", [(1, 1), (7, 1000), (100, 100), (8000, 8000), (5, 6, 7), (360, 360, 360), (97,)])
def test_boxes_cover_the_grid_with_the_fewest_points(grid, gc200: Chip):
    boxes = stencil_sweep.cut(grid, gc200.tiles)
    assert all(count * edge >= whole for count, edge, whole in zip(boxes.counts, boxes.edges, grid, strict=True))
    tiles = 1
    for count in boxes.counts:
        tiles *= count
    assert tiles <= gc200.tiles


def test_a_small_grid_is_cut_no_worse_than_any_divisors_allow():
    best = min(
        (-(-12 // first) * -(-10 // second))
        for first, second in product(range(1, 9), repeat=2)
        if first * second <= 8 and 8 % first == 0
    )
    assert stencil_sweep.cut((12, 10), 8).points == best


def test_faces_of_a_box():
    boxes = stencil_sweep.Boxes((2, 1, 3), (4, 5, 6))
    assert boxes.faces(1) == (2 * 5 * 6, 0, 2 * 4 * 5)
    assert stencil_sweep.halo_bytes((4, 5, 6), 0) == 4 * 5 * 6


def test_a_wider_star_takes_longer(gc200: Chip):
    near, far = (total(stencil_sweep.plan((342,) * 3, gc200, reach=reach).supersteps, gc200).total for reach in (1, 2))
    assert 1.3 * near < far < 3 * near


def test_sizes_are_checked(gc200: Chip):
    for grid in ((), (0, 5), (5, -1, 5)):
        with pytest.raises(InputError, match="cannot be planned"):
            stencil_sweep.plan(grid, gc200)
