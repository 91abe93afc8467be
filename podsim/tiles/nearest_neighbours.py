"""The nearest neighbours of every node: distances of all pairs, masks, and the smallest of each row (Eq. 96)."""

from typing import Final

from podsim.model.chip import Chip, Precision
from podsim.model.messages import AXES, AllPairs
from podsim.model.tile_plan import TilePlan
from podsim.tiles import top_k, vector

DISTANCES: Final = (*("add",) * (AXES - 1), "sqrt")
MASKS: Final = ("mask", "mask", "mask")  # a node itself, other graphs, what is beyond the cutoff


def plans(shape: AllPairs, precision: Precision, chip: Chip, *, name: str = "nearest") -> tuple[TilePlan, ...]:
    """The plans in order: both positions of a pair brought together, their distance, masks, the first of each row.

    Raises InputError where more neighbours are wanted than there are nodes, Infeasible where no tile holds its share.
    """
    pairs = shape.pairs
    return (
        vector.plan(pairs * AXES, ("copy",), precision, chip, arriving_operands=1, name=f"{name} positions"),
        vector.plan(pairs * AXES, ("subtract", "square"), precision, chip, name=f"{name} differences"),
        vector.plan(pairs, DISTANCES, precision, chip, name=f"{name} distances"),
        vector.plan(pairs, MASKS, precision, chip, name=f"{name} masks"),
        top_k.plan(shape.nodes, shape.nodes, shape.neighbours, precision, chip, name=f"{name} first"),
    )
