"""Proxy norm: activations normalised by what a Gaussian in the place of the norm before them would give (Eq. 90).

Source: labatie-2021. Mean and deviation of a channel are those of the activation of points of that Gaussian, so no
activation has a part in them: they cost channels times points, in float, however many images there are.
"""

import math
from functools import partial
from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.tiles import reduction, vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.reduction import Scattered
from podsim.tiles.shares import checked, fitted, spread, up

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
    checked(name, elements=elements, channels=channels)
    size = OUTPUT_BYTES[precision]
    shares = spread(elements, chip.tiles, reduction.GRAIN)
    few = spread(channels * POINTS, chip.tiles)
    placed = partial(vector.superstep, shares=few, precision=Precision.FP32, chip=chip)
    over = partial(vector.superstep, shares=shares, precision=precision, chip=chip)
    points = _sums(channels * POINTS, few[0][1], sum(count for count, _ in few), channels, held=1)
    tiles = sum(count for count, _ in shares)
    share = shares[0][1]
    sums = _sums(elements, share, tiles, channels, held=min(channels, share, up(math.isqrt(share), reduction.GRAIN)))
    small = partial(vector.superstep, shares=spread(channels, chip.tiles), precision=Precision.FP32, chip=chip)
    if backward:
        steps = (
            over("multiply"),
            *reduction.steps(sums, size, chip, moments=STATISTICS, name="mean and deviation"),
            over("bias"),
            *(placed(one) for one in (*APPLY, f"{function}_grad", "multiply")),
            *reduction.steps(points, FLOAT_BYTES, chip, moments=STATISTICS, name="proxy"),
            *(small(one) for one in ("multiply", "scaled_add")),
        )
    else:
        steps = (
            *(placed(one) for one in (*PLACE, function)),
            *reduction.steps(points, FLOAT_BYTES, chip, moments=STATISTICS, name="mean and power"),
            *(small(one) for one in ("square", "subtract", "rsqrt")),
            *(over(one) for one in APPLY),
        )
    held = {"operands": 2.0 * share * size, "result": float(share * size), "points": float(few[0][1] * FLOAT_BYTES)}
    return TilePlan(
        operator=name,
        method="vector",
        splits={"elements": tiles, "points": points.tiles},
        supersteps=steps,
        flop=float(len(APPLY) * elements + (len(PLACE) + 1 + STATISTICS) * channels * POINTS),
        sram_bytes_per_tile=fitted(name, held, chip),
        tiles_used=tiles,
    )


def _sums(elements: int, share: int, tiles: int, channels: int, *, held: int) -> Scattered:
    """One number a channel of what lies on these tiles."""
    return Scattered(elements=elements, share=share, tiles=tiles, held=held, outputs=channels)
