"""Which cuts of a product are looked at."""

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.workload import Conv, Gather, Matmul, Pass
from podsim.tiles import convolution, gather, product, splitting
from podsim.tiles.supersteps import total

FP16 = Precision.FP16_16
GC200 = catalog.chip("gc200").value


@pytest.mark.parametrize("tiles", [1, 7, 60])
def test_every_combination_within_the_tiles_and_no_other_is_made(tiles):
    axes = tuple(np.array(axis, dtype=float) for axis in ([1, 2, 3, 5], [1, 4], [1, 2, 9], [1, 2, 7, 30]))
    at = splitting._within(axes, tiles)
    values = [axis[here] for axis, here in zip(axes, at, strict=True)]
    expected = [cut for cut in itertools.product(*axes) if np.prod(cut) <= tiles]
    assert sorted(zip(*values, strict=True)) == sorted(expected)


# Every dimension has more parts than there are tiles: all splits of all of them at once would be 24 GB of candidates.
HUGE = [
    lambda: product.plan(Matmul(groups=1500, m=25_000, k=25_000, n=1500), FP16, GC200, relax=True),
    *(
        lambda run=run: convolution.plan(
            Conv(batch=4, size=1500, kernel=1499, in_channels=96_000, out_channels=96_000, channel_groups=1500),
            run,
            FP16,
            GC200,
            relax=True,
        )
        for run in (Pass.FORWARD, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
    ),
    lambda: gather.plan(Gather(table=10**7, width=8192, lookups=10**7), FP16, GC200),
    lambda: gather.scatter_add(Gather(table=10**7, width=8192, lookups=10**7), FP16, GC200),
]


@pytest.mark.parametrize("planned", HUGE)
def test_a_product_that_is_huge_in_every_dimension_is_planned_in_little_memory(planned):
    tracemalloc.start()
    try:
        planned()
    except Infeasible:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 200e6


# Of 16 groups of a tiny product, cut over all tiles, two would wait for operands that one tile has to itself.
@pytest.mark.parametrize(
    ("shape", "precision"),
    [
        (Matmul(groups=16, m=2, k=6, n=3), FP16),
        (Matmul(groups=3, m=1, k=126, n=2), Precision.FP32),
        (Matmul(m=97, k=40, n=389), FP16),
    ],
)
def test_more_tiles_never_make_a_slower_small_product(shape, precision):
    chips = [replace(GC200, tiles=tiles) for tiles in (1, 23, 55, 297, 600, 973, 1472)]
    took = [total(product.plan(shape, precision, chip, rivals=False).supersteps, chip).total for chip in chips]
    assert took == sorted(took, reverse=True)
