"""Which ways to cut a product over the tiles of a chip are worth evaluating."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podsim.caches.tables import TABLES
from podsim.tiles.problem import Array, Problem, Tile, Vertex
from podsim.tiles.superstep_arrays import Splits, halo

Indices = npt.NDArray[np.intp]
Field = tuple[Array, Array, Array]

FEW = 4096  # cuts of a small product, all of which are looked at
BLOCK = 1 << 15  # cuts looked at together, before those of the field: some 20 arrays of them are held at a time
FIELD_WEIGHTS = (0.0, 0.5, 4.0)  # how a cut of the field weighs its halo against its outputs; each gives a candidate


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ways to cut a product: the splits, the cut of the field, and the largest tile's part."""

    splits: Splits
    field: Field
    tile: Tile

    @classmethod
    def join(cls, blocks: list["Candidates"]) -> "Candidates":
        """Blocks of the same candidates one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        field = [np.concatenate(axis) for axis in zip(*(block.field for block in blocks), strict=True)]
        return cls(
            Splits(*(np.concatenate([getattr(block.splits, name) for block in blocks]) for name in Splits.__slots__)),
            (field[0], field[1], field[2]),
            Tile(*(np.concatenate([getattr(block.tile, name) for block in blocks]) for name in Tile.__slots__)),
        )

    def take(self, which: Indices) -> "Candidates":
        """Some of them."""
        return Candidates(
            self.splits.take(which),
            (self.field[0][which], self.field[1][which], self.field[2][which]),
            Tile(*(getattr(self.tile, name)[which] for name in Tile.__slots__)),
        )


@TABLES.function("useful splits", 4096)
def useful(size: int, limit: int) -> Array:
    """Splits of `size` grains that give different largest parts, at most `limit`."""
    parts = distinct(np.ceil(size / np.arange(min(size, limit), 0, -1)))
    splits = distinct(np.ceil(size / parts)[::-1])
    return _read_only(splits[splits <= limit])


def _read_only(splits: Array) -> Array:
    """What a cache may hand out: read only."""
    splits.flags.writeable = False
    return splits


def distinct(values: Array) -> Array:
    """Values of an ordered array, each once; np.unique takes longer, and 10 ms the first time for numpy.ma."""
    return values[np.concatenate(([True], values[1:] != values[:-1]))]


@TABLES.function("useful and even splits", 4096)
def _even(size: int, limit: int) -> Array:
    """Useful splits and the even ones next to odd ones: neighbours that need the same inputs share a bus in pairs."""
    splits = useful(size, limit)
    more = splits[(splits % 2 == 1) & (splits < size)] + 1
    return _read_only(distinct(np.sort(np.concatenate((splits, more)))))


def candidates(
    problem: Problem, vertex: Vertex, tiles: int, serial: tuple[int, ...], over: str, *, busy: float = 0.0
) -> Iterator[Candidates]:
    """All cuts of groups, kernel rows and channels, each with as many parts of the field as tiles are left for.

    They come in blocks, nearly always one, so that arrays over them stay small. Cuts that use less than a share `busy`
    of the tiles that the busiest one yet uses are left out.
    """
    columns = _channel_cuts(problem, vertex, tiles, serial, over)
    most = 0.0
    for start in range(0, len(columns[0]), BLOCK):
        splits, field = _over_tiles(problem, vertex, tiles, [column[start : start + BLOCK] for column in columns])
        if busy:
            used_tiles = splits.tiles
            most = max(most, float(used_tiles.max()))
            keep = np.flatnonzero(used_tiles >= busy * most)
            splits, field = splits.take(keep), (field[0][keep], field[1][keep], field[2][keep])
        yield Candidates(splits, field, _largest(problem, vertex, splits, field, over))


def _over_tiles(problem: Problem, vertex: Vertex, tiles: int, columns: list[Array]) -> tuple[Splits, Field]:
    """Cuts of groups, kernel, inputs and outputs with the field cut over the tiles they leave."""
    groups, kernel, inputs, outputs, _ = columns
    budgets = np.floor(tiles / (groups * kernel * inputs * outputs))
    which, *field = _every_field(problem, budgets) if _few(problem, vertex) else _fields(problem, budgets)
    groups, kernel, inputs, outputs, times = (column[which] for column in columns)
    batch, height, width = field
    return Splits(groups, batch * height * width, kernel, inputs, outputs, times), (batch, height, width)


def _largest(problem: Problem, vertex: Vertex, splits: Splits, field: Field, over: str) -> Tile:
    """The part of the most loaded tile."""
    batch, height, width = field
    by_outputs, by_inputs = (splits.serial, 1.0) if over == "outputs" else (1.0, splits.serial)
    grain, in_grain, out_grain = vertex.group_grain, vertex.in_grain, vertex.out_grain
    return Tile(
        groups=np.minimum(np.ceil(np.ceil(problem.groups / grain) / splits.groups) * grain, problem.groups),
        batch=np.ceil(problem.batch / batch),
        height=np.ceil(problem.height / height),
        width=np.ceil(problem.width / width),
        kernel_height=np.ceil(problem.kernel_height / splits.kernel),
        kernel_width=np.full_like(splits.groups, problem.kernel_width),
        inputs=np.ceil(np.ceil(problem.inputs / in_grain) / (splits.inputs * by_inputs)) * in_grain,
        outputs=np.ceil(np.ceil(problem.outputs / out_grain) / (splits.outputs * by_outputs)) * out_grain,
    )


def _channel_cuts(problem: Problem, vertex: Vertex, tiles: int, serial: tuple[int, ...], over: str) -> list[Array]:
    """Groups, kernel, inputs and outputs cut in every useful way within the tiles, for each number of serial parts."""
    ins, outs = -(-problem.inputs // vertex.in_grain), -(-problem.outputs // vertex.out_grain)
    if over == "inputs":
        by_outputs = _even(outs, tiles)
        by_inputs, times = _of_parts([useful(-(-ins // parts), tiles) for parts in serial], serial)
    else:
        by_inputs = useful(ins, tiles)
        by_outputs, times = _of_parts([_even(-(-outs // parts), tiles) for parts in serial], serial)
    first = useful(-(-problem.groups // vertex.group_grain), tiles), useful(problem.kernel_height, tiles)
    axes = (*first, by_inputs, by_outputs)
    at = _within(axes, tiles)
    channel_cuts = [*(axis[here] for axis, here in zip(axes, at, strict=True)), times[at[2 if over == "inputs" else 3]]]
    if len(serial) == 1:
        return channel_cuts
    order = np.argsort(channel_cuts[-1], kind="stable")
    return [column[order] for column in channel_cuts]


def _of_parts(splits: list[Array], serial: tuple[int, ...]) -> tuple[Array, Array]:
    """The splits of each number of serial parts, all in ascending order, with that number."""
    every, times = np.concatenate(splits), np.repeat(np.array(serial, dtype=float), [len(split) for split in splits])
    order = np.argsort(every, kind="stable")
    return every[order], times[order]


def _within(axes: tuple[Array, ...], tiles: int) -> tuple[Indices, ...]:
    """Positions on ascending axes of all combinations that need no more than the tiles; no others are ever made."""
    product = np.ones(1)
    within: tuple[Indices, ...] = ()
    for axis in axes:
        # The methods of arrays: what is small here spends longer in numpy's functions than in the work.
        counts = axis.searchsorted(np.floor(tiles / product), side="right")
        before = np.arange(len(product)).repeat(counts)
        here = np.arange(len(before)) - (counts.cumsum() - counts).repeat(counts)
        within = (*(column[before] for column in within), here)
        product = product[before] * axis[here]
    return within


def _few(problem: Problem, vertex: Vertex) -> bool:
    """Whether there are so few cuts that the field need not take all tiles left; it does not depend on the tiles."""
    if not problem.flat:
        return False
    channels = (-(-problem.inputs // vertex.in_grain), -(-problem.outputs // vertex.out_grain))
    sizes = (problem.width, -(-problem.groups // vertex.group_grain), problem.kernel_height, *channels)
    return math.prod(2 * math.isqrt(size) for size in sizes if size > 1) <= FEW


def _every_field(problem: Problem, budgets: Array) -> tuple[Indices, Array, Array, Array]:
    """What `_fields` gives, for a field of one row that takes any useful number of the tiles left, the most first."""
    axis = useful(problem.width, int(budgets.max()))
    counts = np.searchsorted(axis, budgets, side="right")
    which = np.repeat(np.arange(len(budgets)), counts)
    at = np.repeat(np.cumsum(counts), counts) - 1 - np.arange(len(which))
    ones = np.ones(len(which))
    return which, ones, ones, axis[at]


def _fields(problem: Problem, budgets: Array) -> tuple[Indices, Array, Array, Array]:
    """For each number of tiles left, the cuts of batch, height and width to try: (which, batch, height, width)."""
    if problem.flat:
        part = np.ceil(problem.width / np.minimum(budgets, problem.width))
        ones_like = np.ones_like(budgets)
        return np.arange(len(budgets)), ones_like, ones_like, np.ceil(problem.width / part)
    distinct, back = np.unique(budgets, return_inverse=True)
    most = int(distinct[-1])
    axes = (useful(size, most) for size in (problem.batch, problem.height, problem.width))
    batch, height, width = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    parts = batch * height * width
    inside = parts <= most
    batch, height, width, parts = batch[inside], height[inside], width[inside], parts[inside]
    best_cuts = _best_fields(problem, (batch, height, width), parts, distinct)
    which = np.repeat(np.arange(len(budgets)), best_cuts.shape[1])
    take = best_cuts[back].ravel()
    return which, batch[take], height[take], width[take]


def _best_fields(problem: Problem, cuts: tuple[Array, Array, Array], parts: Array, budgets: Array) -> Indices:
    """Indices of the cuts that need the least work and halo within each budget, for each weight of the halo."""
    images = np.ceil(problem.batch / cuts[0])
    rows, columns = np.ceil(problem.height / cuts[1]), np.ceil(problem.width / cuts[2])
    outputs = images * rows * (columns + 4)  # a row costs a worker about four outputs more
    ones_like = np.ones_like(rows)
    height = halo(rows, ones_like * problem.kernel_height, problem, 0)
    inputs = images * height * halo(columns, ones_like * problem.kernel_width, problem, 1)
    order = np.argsort(parts, kind="stable")
    ends = np.searchsorted(parts[order], budgets, side="right")
    values = []
    for weight in FIELD_WEIGHTS:
        score = (outputs + weight * inputs)[order]
        least = np.minimum.accumulate(score)
        first = np.where(np.concatenate(([True], score[1:] < least[:-1])), np.arange(len(score)), 0)
        values.append(order[np.maximum.accumulate(first)[ends - 1]])
    return np.stack(values, axis=1)
