"""Attention of one micro-batch: as separate operators with the changes of layout between them, or fused on the tiles.

Fused, a tile keeps some rows of queries and their softmax, and all keys and values pass by in blocks.
"""

import math
from dataclasses import dataclass

import numpy as np

from podsim.errors import Infeasible
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.model.workload import Matmul
from podsim.tiles import amp, composite, product, rearrange, vector
from podsim.tiles.amp import ELEMENT_BYTES, OUTPUT_BYTES
from podsim.tiles.rearrange import Along, Layout
from podsim.tiles.reduction import ONE_OVERHEAD, READ_CYCLES
from podsim.tiles.shares import check_sizes, step, up, vectors, vertex
from podsim.tiles.supersteps import cycles

PASSES = ("maximum", "subtract", "exp", "multiply")  # of a block of scores; its sum is read besides
LEAST_KEYS = 16  # keys of the smallest block: one group of output channels


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """`groups` heads of all rows of a micro-batch: [queries, width] x [width, keys] x [keys, width]."""

    groups: int
    queries: int
    keys: int
    width: int

    @property
    def scores(self) -> Matmul:
        """Queries times keys."""
        return Matmul(groups=self.groups, m=self.queries, k=self.width, n=self.keys, weights=False)

    @property
    def context(self) -> Matmul:
        """Probabilities times values."""
        return Matmul(groups=self.groups, m=self.queries, k=self.keys, n=self.width, weights=False)

    @property
    def flop(self) -> float:
        """Of both products [FLOP]."""
        return self.scores.flop + self.context.flop


def separate(
    heads: Heads, precision: Precision, chip: Chip, *, available_memory: float = 0.6, name: str = "attention"
) -> TilePlan:
    """Product, rows brought together, softmax, rows cut up again, product; layouts are those the planner chooses.

    Raises Infeasible where one of them does not fit.
    """
    _check(heads, name)
    scores = product.plan(heads.scores, precision, chip, available_memory=available_memory, name="scores")
    context = product.plan(heads.context, precision, chip, available_memory=available_memory, name="context")
    to_rows, from_rows = around_softmax(heads, scores, context, precision, chip)
    rows = heads.groups * heads.queries
    between = composite.softmax(rows, heads.keys, precision, chip)
    parts = (scores, to_rows, between, from_rows, context)
    categories = sorted({category for part in parts for category in part.sram_bytes_per_tile})
    return TilePlan(
        operator=name,
        method="separate",
        splits={
            f"{part.operator} {split}": count for part in (scores, context) for split, count in part.splits.items()
        },
        supersteps=tuple(superstep for part in parts for superstep in part.supersteps),
        flop=heads.flop,
        sram_bytes_per_tile={
            category: max(part.sram_bytes_per_tile.get(category, 0.0) for part in parts) for category in categories
        },
        tiles_used=max(part.tiles_used for part in parts),
        layout_in=scores.layout_in,
        layout_out=context.layout_out,
    )


def around_softmax(
    heads: Heads, scores: TilePlan, context: TilePlan, precision: Precision, chip: Chip, *, name: str = "softmax"
) -> tuple[TilePlan, TilePlan]:
    """The changes of layout before and after softmax, between the product before and the product after it."""
    grain = amp.input_group(precision)
    pitch = up(heads.keys, LEAST_KEYS)
    scores_layout = rearrange.product_result(
        heads.groups,
        heads.queries,
        heads.keys,
        field=scores.splits.get("field", 1),
        outputs=scores.splits.get("outputs", 1),
        group_parts=scores.splits.get("groups", 1),
        swapped=scores.layout_out.startswith("m"),
    )
    operand_layout = _operand(heads, context, grain, chip)
    padded_rows = rearrange.whole_rows(heads.groups, heads.queries, heads.keys, chip, pitch=pitch)
    unpadded_rows = rearrange.whole_rows(heads.groups, heads.queries, heads.keys, chip)
    size = (heads.queries, heads.keys)
    return (
        rearrange.plan(
            *size,
            scores_layout,
            padded_rows,
            Precision.FP16_16 if ELEMENT_BYTES[precision] == 1 else precision,
            chip,
            name=f"{name} rows",
        ),
        rearrange.plan(*size, unpadded_rows, operand_layout, precision, chip, name=f"{name} operand"),
    )


def around_heads(
    heads: Heads, scores: TilePlan, context: TilePlan, precision: Precision, chip: Chip, *, name: str = "attention"
) -> tuple[TilePlan, ...]:
    """Copies between dense products over all heads and the products of each head: queries, keys, values, heads merged.

    A dense product leaves 16 rows next to each other (its operands are swapped), as does the product with the values.
    Queries and keys are taken with 16 of a head's columns together, values with 16 rows, what heads give with columns:
    three change the dimension, block by block where rows and columns are multiples of 4, else element by element, as
    the library's profile of a vision encoder with 729 tokens shows (ipu-stack).
    """
    width = heads.width
    parts: tuple[tuple[str, int, TilePlan, Along], ...] = (
        ("queries", heads.queries, scores, "columns"),
        ("keys", heads.keys, scores, "columns"),
        ("values", heads.keys, context, "rows"),
        ("heads", heads.queries, context, "columns"),
    )
    grain = amp.input_group(precision)
    plans = []
    for part, rows, product_plan, along in parts:
        inputs = 1 if part == "heads" else product_plan.splits.get("inputs", 1)
        groups = product_plan.splits.get("groups", 1)
        field_size = rows if along == "columns" else width
        after = rearrange.product_operand(
            heads.groups,
            rows,
            width,
            field=max(1, min(field_size, chip.tiles // (groups * inputs))),
            inputs=inputs,
            grain=grain,
            group_parts=groups,
            along=along,
        )
        before = _left_by_a_product(heads.groups, rows, width, chip)
        plans.append(rearrange.plan(rows, width, before, after, precision, chip, name=f"{name} {part}"))
    return tuple(plans)


def _left_by_a_product(groups: int, rows: int, columns: int, chip: Chip) -> Layout:
    """All heads' elements evenly over the tiles, up to 16 rows next to each other."""
    run = min(LEAST_KEYS, rows)
    wide = -(-groups * rows * columns // (run * chip.tiles))
    return Layout(
        rows=run, columns=wide, along="rows", run=run, pitch=run, tiles=-(-groups * rows * columns // (run * wide))
    )


def _operand(heads: Heads, context: TilePlan, grain: int, chip: Chip) -> Layout:
    """Probabilities as the second product takes them: `grain` keys together, spread evenly over the tiles before."""
    inputs, parts = context.splits.get("inputs", 1), context.splits.get("groups", 1)
    field = max(1, min(heads.queries, chip.tiles // (parts * inputs)))
    return rearrange.product_operand(
        heads.groups,
        heads.queries,
        heads.keys,
        field=field,
        inputs=inputs,
        grain=min(grain, heads.keys),
        group_parts=parts,
    )


def plan_fused(
    heads: Heads, precision: Precision, chip: Chip, *, available_memory: float = 0.6, name: str = "fused attention"
) -> TilePlan:
    """Keys and values pass the tiles in the blocks that cost least; no layout changes. Infeasible where none fits."""
    _check(heads, name)
    a_group = max(1, min(chip.tiles // heads.groups, heads.queries))
    rows = -(-heads.queries // a_group) * -(-heads.groups // (chip.tiles // a_group))
    tiles = min(chip.tiles, heads.groups * -(-heads.queries // -(-heads.queries // a_group)))
    blocks = [_block(heads, rows, tiles, -(-heads.keys // count), precision, chip) for count in _counts(heads.keys)]
    fitting = [block for block in blocks if block.sram_bytes <= available_memory * chip.sram.bytes_per_tile]
    if not fitting:
        least = min(block.sram_bytes for block in blocks)
        raise Infeasible(
            f"{name} needs {least:,.0f} B on a tile; {available_memory * chip.sram.bytes_per_tile:,.0f} B are allowed",
            hint=("a larger share of memory, or " if least <= chip.sram.bytes_per_tile else "") + "fewer heads at once",
        )
    best = min(fitting, key=lambda block: block.cycles)
    return TilePlan(
        operator=name,
        method="fused",
        splits={"groups": heads.groups, "queries": a_group, "serial keys": best.step.repeat},
        supersteps=(best.step,),
        flop=heads.flop,
        sram_bytes_per_tile={"temporary": best.sram_bytes},
        tiles_used=tiles,
        alternatives=tuple(_rejection(block, best, block in fitting) for block in blocks if block is not best),
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """The superstep of one block of keys, repeated; all cycles, and the bytes a tile holds meanwhile."""

    step: Superstep
    cycles: float
    sram_bytes: float


def _rejection(block: _Block, best: _Block, fits: bool) -> RejectedPlan:
    return RejectedPlan(
        splits={"serial keys": block.step.repeat},
        cycles=block.cycles,
        sram_bytes_per_tile=block.sram_bytes,
        why=f"{block.cycles / best.cycles - 1:+.1%} cycles" if fits else "does not fit the memory allowed",
    )


def _counts(keys: int) -> list[int]:
    """Numbers of blocks worth trying: doubling, down to the smallest block."""
    return [2**power for power in range(max(1, math.ceil(math.log2(max(2, keys / LEAST_KEYS))) + 1))]


def _block(heads: Heads, rows: int, tiles: int, keys: int, precision: Precision, chip: Chip) -> _Block:
    """A block of keys and values reaches the tiles of its head, two neighbours at once."""
    size, result = ELEMENT_BYTES[precision], OUTPUT_BYTES[precision]
    arriving = float(2 * keys * heads.width * size)
    compute = (
        _product(rows, heads.width, keys, precision, chip)
        + _softmax(rows, keys, result, chip)
        + _product(rows, keys, heads.width, precision, chip)
        + vertex(
            vector.OPERATIONS["scaled_add"].thread_cycles(vectors(rows * heads.width, result, chip), result, chip), chip
        )
    )
    send_bytes = float(2 * heads.keys * heads.width * size * heads.groups / tiles)
    cohort = Cohort(
        tiles=tiles, compute_cycles=compute, shared_receive_bytes=arriving, send_bytes=min(send_bytes, arriving)
    )
    block = step("block of keys", "multiply", (cohort,), repeat=-(-heads.keys // keys))
    footprint = arriving + rows * (keys * result + 2 * heads.width * result)
    return _Block(block, cycles(block, chip).total, footprint)


def _product(rows: int, inputs: int, outputs: int, precision: Precision, chip: Chip) -> float:
    """The cheaper of streaming the rows and of streaming the other operand."""
    item = amp.shapes(chip, precision, outputs)[0]
    sizes = (np.array([float(value)]) for value in (rows, inputs, outputs))
    field, channels, others = sizes
    single = np.ones(1)
    return float(
        min(
            amp.one_by_one(item, field, channels, others, single)[0],
            amp.one_by_one(item, others, channels, field, single)[0],
        )
    )


def _softmax(rows: int, keys: int, size: int, chip: Chip) -> float:
    """Running maximum and sum, exponentials, and what was summed before scaled."""
    count = vectors(rows * keys, size, chip)
    passes = sum(vector.OPERATIONS[pass_].thread_cycles(count, size, chip) for pass_ in PASSES)
    return vertex(passes + ONE_OVERHEAD + READ_CYCLES[size] * count, chip)


def _check(heads: Heads, name: str) -> None:
    check_sizes(name, groups=heads.groups, queries=heads.queries, keys=heads.keys, width=heads.width)
