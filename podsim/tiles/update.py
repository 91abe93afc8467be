"""Weight updates: the vector passes of an optimizer over weight, gradient and state, all of them on the same tiles.

Passes count what each definition needs: kingma-2014 (Adam), you-2017 (LARS), you-2019 (LAMB). Moments are float; the
norms of LARS and LAMB are sums over the whole tensor.
"""

from dataclasses import dataclass
from typing import Final

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Superstep, TilePlan
from podsim.tiles import reduction, vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.reduction import ScatteredSum
from podsim.tiles.shares import VECTOR_BYTES, check_fit, check_sizes, spread

FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Passes:
    """Operations on float state, on weights in their own type, norms of a tensor, and moments kept."""

    state: tuple[str, ...]
    weights: tuple[str, ...]
    norms: int
    moments: int


OPTIMIZERS: Final = {
    "sgd": Passes((), ("scaled_add",), 0, 0),
    # velocity = momentum x velocity + gradient + decay x weight; weight -= rate x velocity
    "momentum": Passes(("scaled_add", "scaled_add"), ("scaled_add",), 0, 1),
    "lars": Passes(("scaled_add", "scaled_add"), ("scaled_add",), 2, 1),
    # mean square, gradient / sqrt of it, velocity (tan-2019: RMSProp with momentum)
    "rmsprop": Passes(("square", "scaled_add", "rsqrt", "multiply", "scaled_add"), ("scaled_add",), 0, 2),
    # both moments, the step m / (sqrt v + eps), weight decay
    "adam": Passes(("scaled_add", "square", "scaled_add", "rsqrt", "multiply", "scaled_add"), ("scaled_add",), 0, 2),
    "lamb": Passes(("scaled_add", "square", "scaled_add", "rsqrt", "multiply", "scaled_add"), ("scaled_add",), 2, 2),
}


def plan(
    optimizer: str,
    parameters: int,
    precision: Precision,
    chip: Chip,
    *,
    tensors: int = 1,
    fused: bool = True,
    name: str = "",
) -> TilePlan:
    """Update `parameters` weights that lie in `tensors` equal tensors; `fused` makes one vertex of each type's passes.

    Every tensor pays its own supersteps. Raises InputError for an unknown optimizer.
    """
    if optimizer not in OPTIMIZERS:
        raise InputError(
            f'optimizer "{optimizer}" is not known', code="unknown-optimizer", hint=f"known: {', '.join(OPTIMIZERS)}"
        )
    title = name or f"{optimizer} update"
    check_sizes(title, parameters=parameters, tensors=tensors)
    passes, size = OPTIMIZERS[optimizer], OUTPUT_BYTES[precision]
    each = -(-parameters // tensors)
    shares = spread(each, chip.tiles, VECTOR_BYTES // size)
    tiles = sum(count for count, _ in shares)
    values = ScatteredSum(elements=each, share=shares[0][1], tiles=tiles, resident=1, outputs=1)
    share = shares[0][1] * tensors
    footprint = {"weights": float(2 * share * size), "optimizer_state": float(passes.moments * share * FLOAT_BYTES)}
    return TilePlan(
        operator=title,
        method="vector",
        splits={"elements": tiles, "tensors": tensors},
        supersteps=tuple(_repeat(step, tensors) for step in _steps(passes, each, values, precision, chip, fused=fused)),
        flop=float(parameters * (2 * (len(passes.state) + len(passes.weights)) + 2 * passes.norms)),
        sram_bytes_per_tile=check_fit(title, footprint, chip),
        tiles_used=tiles,
    )


def _steps(
    passes: Passes, each: int, values: ScatteredSum, precision: Precision, chip: Chip, *, fused: bool
) -> tuple[Superstep, ...]:
    """The supersteps of one tensor of `each` weights."""
    size = OUTPUT_BYTES[precision]
    steps: list[Superstep] = []
    if passes.state:  # float, as moments are
        steps += vector.plan(each, ("cast",), precision, chip).supersteps if size < FLOAT_BYTES else ()
        steps += vector.plan(each, passes.state, Precision.FP32, chip, fused=fused).supersteps
    for of, element_bytes in (("weight", size), ("step", FLOAT_BYTES))[: passes.norms]:
        steps += reduction.steps(values, element_bytes, chip, name=f"norm of {of}")
    steps += vector.plan(each, passes.weights, precision, chip, fused=fused).supersteps
    return tuple(steps)


def _repeat(superstep: Superstep, count: int) -> Superstep:
    return Superstep(
        name=superstep.name,
        phase="update",
        cohorts=superstep.cohorts,
        repeat=superstep.repeat * count,
        fragments=superstep.fragments,
    )
