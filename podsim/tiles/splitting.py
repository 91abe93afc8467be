"""Which ways to cut a product over the tiles of a chip are worth evaluating."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podsim.tiles.problem import Array, Problem, Tile, Vertex
from podsim.tiles.superstep_arrays import Splits, halo

Indices = npt.NDArray[np.intp]

BLOCK = 1 << 15  # cuts looked at together, before those of the field: some 20 arrays of them are held at a time
FIELD_WEIGHTS = (0.0, 0.5, 4.0)  # how a cut of the field weighs its halo against its outputs; each gives a candidate


@dataclass(frozen=True, slots=True)
class Candidates:
    """Ways to cut a product: the splits, the cut of the field, and the largest tile's part."""

    splits: Splits
    field: tuple[Array, Array, Array]
    tile: Tile

    @classmethod
    def joined(cls, blocks: list["Candidates"]) -> "Candidates":
        """Blocks of the same candidates one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        joined = [np.concatenate(axis) for axis in zip(*(one.field for one in blocks), strict=True)]
        return cls(
            Splits(*(np.concatenate([getattr(one.splits, name) for one in blocks]) for name in Splits.__slots__)),
            (joined[0], joined[1], joined[2]),
            Tile(*(np.concatenate([getattr(one.tile, name) for one in blocks]) for name in Tile.__slots__)),
        )

    def take(self, which: Indices) -> "Candidates":
        """Some of them."""
        return Candidates(
            Splits(*(getattr(self.splits, name)[which] for name in Splits.__slots__)),
            (self.field[0][which], self.field[1][which], self.field[2][which]),
            Tile(*(getattr(self.tile, name)[which] for name in Tile.__slots__)),
        )


def useful(size: int, limit: int) -> Array:
    """Splits of `size` grains that give different largest parts, at most `limit`."""
    parts = distinct(np.ceil(size / np.arange(min(size, limit), 0, -1)))
    splits = distinct(np.ceil(size / parts)[::-1])
    return splits[splits <= limit]


def distinct(ordered: Array) -> Array:
    """Values of an ordered array, each once; np.unique takes longer, and 10 ms the first time for numpy.ma."""
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def _even(splits: Array, size: int) -> Array:
    """Splits and the even ones next to odd ones: neighbours that need the same inputs share a bus in pairs."""
    more = splits[(splits % 2 == 1) & (splits < size)] + 1
    return distinct(np.sort(np.concatenate((splits, more))))


def candidates(
    problem: Problem, vertex: Vertex, tiles: int, serial: tuple[int, ...], over: str
) -> Iterator[Candidates]:
    """All cuts of groups, kernel rows and channels, each with as many parts of the field as tiles are left for.

    They come in blocks, nearly always one, so that arrays over them stay small.
    """
    found = [_with_serial(problem, vertex, tiles, parts, over) for parts in serial]
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    for start in range(0, len(columns[0]), BLOCK):
        yield _filled(problem, vertex, tiles, [column[start : start + BLOCK] for column in columns], over)


def _filled(problem: Problem, vertex: Vertex, tiles: int, columns: list[Array], over: str) -> Candidates:
    """Cuts of groups, kernel, inputs and outputs with the field cut over the tiles they leave."""
    groups, kernel, inputs, outputs, times = columns
    which, batch, height, width = _fields(problem, np.floor(tiles / (groups * kernel * inputs * outputs)))
    groups, kernel, inputs, outputs, times = (column[which] for column in (groups, kernel, inputs, outputs, times))
    by_outputs, by_inputs = (times, 1.0) if over == "outputs" else (1.0, times)
    grain, in_grain, out_grain = vertex.group_grain, vertex.in_grain, vertex.out_grain
    tile = Tile(
        groups=np.minimum(np.ceil(np.ceil(problem.groups / grain) / groups) * grain, problem.groups),
        batch=np.ceil(problem.batch / batch),
        height=np.ceil(problem.height / height),
        width=np.ceil(problem.width / width),
        kernel_height=np.ceil(problem.kernel_height / kernel),
        kernel_width=np.full_like(groups, problem.kernel_width),
        inputs=np.ceil(np.ceil(problem.inputs / in_grain) / (inputs * by_inputs)) * in_grain,
        outputs=np.ceil(np.ceil(problem.outputs / out_grain) / (outputs * by_outputs)) * out_grain,
    )
    return Candidates(
        Splits(groups, batch * height * width, kernel, inputs, outputs, times), (batch, height, width), tile
    )


def _with_serial(problem: Problem, vertex: Vertex, tiles: int, parts: int, over: str) -> tuple[Array, ...]:
    """Groups, kernel, inputs and outputs cut in every useful way within the tiles, for one number of serial parts."""
    ins, outs = -(-problem.inputs // vertex.in_grain), -(-problem.outputs // vertex.out_grain)
    if over == "outputs":
        outs = -(-outs // parts)
    else:
        ins = -(-ins // parts)
    groups = useful(-(-problem.groups // vertex.group_grain), tiles)
    kernel = useful(problem.kernel_height, tiles)
    axes = (groups, kernel, useful(ins, tiles), _even(useful(outs, tiles), outs))
    found = _within(axes, tiles)
    return (*found, np.full(len(found[0]), float(parts)))


def _within(axes: tuple[Array, ...], tiles: int) -> tuple[Array, ...]:
    """All combinations of one split of each axis that need no more than the tiles; no others are ever made."""
    product = np.ones(1)
    found: tuple[Array, ...] = ()
    for axis in axes:
        before, here = np.nonzero(np.outer(product, axis) <= tiles)
        found = (*(column[before] for column in found), axis[here])
        product = product[before] * axis[here]
    return found


def _fields(problem: Problem, budgets: Array) -> tuple[Indices, Array, Array, Array]:
    """For each number of tiles left, the cuts of batch, height and width to try: (which, batch, height, width)."""
    if problem.flat:
        part = np.ceil(problem.width / np.minimum(budgets, problem.width))
        one = np.ones_like(budgets)
        return np.arange(len(budgets)), one, one, np.ceil(problem.width / part)
    distinct, back = np.unique(budgets, return_inverse=True)
    most = int(distinct[-1])
    axes = (useful(size, most) for size in (problem.batch, problem.height, problem.width))
    batch, height, width = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    parts = batch * height * width
    inside = parts <= most
    batch, height, width, parts = batch[inside], height[inside], width[inside], parts[inside]
    chosen = _best_fields(problem, (batch, height, width), parts, distinct)
    which = np.repeat(np.arange(len(budgets)), chosen.shape[1])
    take = chosen[back].ravel()
    return which, batch[take], height[take], width[take]


def _best_fields(problem: Problem, cuts: tuple[Array, Array, Array], parts: Array, budgets: Array) -> Indices:
    """Indices of the cuts that need the least work and halo within each budget, for each weight of the halo."""
    images = np.ceil(problem.batch / cuts[0])
    rows, columns = np.ceil(problem.height / cuts[1]), np.ceil(problem.width / cuts[2])
    outputs = images * rows * (columns + 4)  # a row costs a worker about four outputs more
    one = np.ones_like(rows)
    height = halo(rows, one * problem.kernel_height, problem, problem.stride[0])
    inputs = images * height * halo(columns, one * problem.kernel_width, problem, problem.stride[1])
    order = np.argsort(parts, kind="stable")
    ends = np.searchsorted(parts[order], budgets, side="right")
    found = []
    for weight in FIELD_WEIGHTS:
        score = (outputs + weight * inputs)[order]
        least = np.minimum.accumulate(score)
        first = np.where(np.concatenate(([True], score[1:] < least[:-1])), np.arange(len(score)), 0)
        found.append(order[np.maximum.accumulate(first)[ends - 1]])
    return np.stack(found, axis=1)
