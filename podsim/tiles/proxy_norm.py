"""Proxy norm: activations normalised by what a Gaussian in the place of the norm before them would give (Eq. 92).

Source: labatie-2021. Mean and deviation of a channel are those of the activation of points of that Gaussian, so no
activation has a part in them: they cost channels times points, in float, however many images there are.
"""

import math
from functools import partial
from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Superstep, TilePlan
from podsim.tiles import reduction, vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.reduction import ScatteredSum
from podsim.tiles.shares import check_fit, check_sizes, spread, up

POINTS: Final = 256  # of the Gaussian, for each channel
PLACE: Final = ("bias", "bias", "bias", "bias")  # the proxy's scale and mean, then gamma and beta of the norm before
APPLY: Final = ("bias", "bias")  # subtract the mean, multiply by the inverse deviation
STATISTICS: Final = 2  # mean and power forward, two sums backward
FLOAT_BYTES: Final = 4


def plan(
    elements: int,
    channels: int,
    precision: Precision,
    chip: Chip,
    *,
    function: str,
    backward: bool = False,
    name: str = "proxy norm",
) -> TilePlan:
    """One pass over `elements` that the activation `function` left; backward sums for mean and scale to learn too."""
    check_sizes(name, elements=elements, channels=channels)
    size = OUTPUT_BYTES[precision]
    shares, points = spread(elements, chip.tiles, reduction.GRAIN), _points(channels, chip)
    tiles, share = sum(count for count, _ in shares), shares[0][1]
    over = partial(vector.superstep, shares=shares, precision=precision, chip=chip)
    if backward:
        sums = ScatteredSum(
            elements=elements,
            share=share,
            tiles=tiles,
            outputs=channels,
            resident=min(channels, share, up(math.isqrt(share), reduction.GRAIN)),
        )
        steps = (
            over("multiply"),
            *reduction.steps(sums, size, chip, moments=STATISTICS, name="mean and deviation"),
            over("bias"),
            *_of_points((*APPLY, f"{function}_grad", "multiply"), ("multiply", "scaled_add"), channels, chip),
        )
    else:
        few = _of_points((*PLACE, function), ("square", "subtract", "rsqrt"), channels, chip)
        steps = (*few, *(over(text) for text in APPLY))
    memory = {
        "operands": 2.0 * share * size,
        "result": float(share * size),
        "points": float(points.share * FLOAT_BYTES),
    }
    return TilePlan(
        operator=name,
        method="vector",
        splits={"elements": tiles, "points": points.tiles},
        supersteps=steps,
        flop=float(len(APPLY) * elements + (len(PLACE) + 1 + STATISTICS) * points.elements),
        sram_bytes_per_tile=check_fit(name, memory, chip),
        tiles_used=tiles,
    )


def _points(channels: int, chip: Chip) -> ScatteredSum:
    """The points of all channels, and the two sums that each channel has of its own."""
    shares = spread(channels * POINTS, chip.tiles)
    tiles = sum(count for count, _ in shares)
    return ScatteredSum(elements=channels * POINTS, share=shares[0][1], tiles=tiles, resident=1, outputs=channels)


def _of_points(each: tuple[str, ...], after: tuple[str, ...], channels: int, chip: Chip) -> tuple[Superstep, ...]:
    """Passes over the points in float, their two sums, and passes over a number a channel."""
    points = partial(
        vector.superstep, shares=spread(channels * POINTS, chip.tiles), precision=Precision.FP32, chip=chip
    )
    small = partial(vector.superstep, shares=spread(channels, chip.tiles), precision=Precision.FP32, chip=chip)
    return (
        *(points(text) for text in each),
        *reduction.steps(_points(channels, chip), FLOAT_BYTES, chip, moments=STATISTICS, name="points"),
        *(small(text) for text in after),
    )
