"""Plan a convolution on the tiles of a chip: forward, gradient of the input, gradient of the weights."""

from collections.abc import Iterator

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Conv, Pass
from podsim.tiles import gradients, transforms
from podsim.tiles.product import AVAILABLE_MEMORY, OVERHEAD_CYCLES, check_memory
from podsim.tiles.product_search import Request, Way, search
from podsim.tiles.transforms import Layer
from podsim.tiles.vertices import Slic
from podsim.tiles.writing import plan as write


def plan(
    shape: Conv,
    run: Pass,
    precision: Precision,
    chip: Chip,
    *,
    available_memory: float = AVAILABLE_MEMORY,
    overhead_cycles: float = OVERHEAD_CYCLES,
    relax: bool = False,
    rivals: bool = True,
    name: str = "",
) -> TilePlan:
    """How one pass of a convolution runs: the cheapest of the transforms, vertices and splits that fit.

    The library of the chip says whether plans are compared with the cycles of their copies, which the plan pays in any
    case, and whether there is SLIC. `relax` doubles the bound on temporary bytes up to twice the SRAM, then drops it,
    as poplibs does. `rivals` false leaves out the plans that lost.

    Raises
    ------
    InputError
        An available memory outside (0, 1], or channels that the groups do not divide.
    MissingParameter
        The chip states no rate for the precision.
    Infeasible
        No split fits the bytes a tile may use.

    """
    check_memory(available_memory)
    _check_groups(shape)
    library = chip.library
    request = Request(chip, available_memory, overhead_cycles, relax, library.counts_copies)
    ways = tuple(
        way for way in _ways(Layer(shape, precision, chip), run) if library.slic or not isinstance(way[1], Slic)
    )
    evaluations, limit = search(ways, request)
    return write(evaluations, limit, request, name=name, flop=shape.flop, rivals=rivals)


def _check_groups(shape: Conv) -> None:
    """Refuse groups that do not divide the channels."""
    if shape.in_channels % shape.channel_groups or shape.out_channels % shape.channel_groups:
        raise InputError(
            f"{shape.channel_groups} groups do not divide {shape.in_channels} input and {shape.out_channels} output "
            "channels",
            code="channels-do-not-divide",
        )


def _ways(layer: Layer, run: Pass) -> Iterator[Way]:
    """Every transform of a pass with the vertices that run it."""
    if run is Pass.WEIGHT_GRADIENT:
        return gradients.of_weights(layer)
    if run is Pass.BACKWARD:
        return gradients.of_input(layer)
    return transforms.forward(layer)
