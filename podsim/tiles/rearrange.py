"""Changes of layout (Eq. 42): what two layouts of a matrix make the exchange move, and the copies on a tile after it.

The exchange puts whole words of 4 B where they belong. What is left to copy: pieces that are no whole words, and a
change of the dimension that lies next to each other, which takes elements apart.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.tiles.shares import VECTOR_BYTES, access_cycles, check_sizes, step, up, vertex

Along = Literal["rows", "columns"]

WORD_BYTES = 4  # the least the exchange moves (ipu21-target, getExchangeBytesPerCycle)
COPY_OVERHEAD = 3  # a thread; with its first piece 22, so that an empty call with its sync takes the 288 of ipu-stack
PIECE_CYCLES = 19  # a thread, for each piece it copies (poplibs PerformanceEstimation.cpp, a slice found)
ACCESS_CYCLES: Final = {8: 1.0, 4: 2.0, 2: 2.0}  # a thread, 8 B by how source and target align (poplibs; ipu-stack 6 B)
BYTE_CYCLES = 8.0  # a thread, a byte: there is no store of one byte (measured, ipu-stack: 52,333 for 5,832 B)
BLOCK_ELEMENTS: Final = {1: 8, 2: 4, 4: 2}  # edge of the blocks that are transposed in registers
BLOCK_CYCLES = 5 / 4  # a tile, an element transposed in such blocks (poplibs lib/poplin/ConvPlan.cpp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How matrices lie on tiles: the blocks of the most loaded tile and what is next to each other in its memory.

    `run` elements along a dimension follow each other; the next run starts `pitch` elements after the last.
    """

    rows: int
    columns: int
    along: Along
    run: int
    pitch: int
    tiles: int
    matrices: int = 1

    @property
    def elements(self) -> int:
        """Of the most loaded tile."""
        return self.rows * self.columns * self.matrices

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns} a tile, {self.run} along {self.along}"


def whole_rows(groups: int, rows: int, columns: int, chip: Chip, *, pitch: int | None = None) -> Layout:
    """Whole rows of all groups spread over the tiles, as softmax needs them; `pitch` is the length of a padded row."""
    footprint = -(-groups * rows // chip.tiles)
    tiles = -(-groups * rows // footprint)
    return Layout(rows=footprint, columns=columns, along="columns", run=columns, pitch=pitch or columns, tiles=tiles)


def product_result(
    groups: int,
    rows: int,
    columns: int,
    *,
    field: int,
    outputs: int,
    group_parts: int,
    swapped: bool,
    grain: int = 16,
) -> Layout:
    """What a product leaves: `grain` output channels next to each other; with operands swapped they are the rows.

    Splits are those of the product's plan: of the field, the output channels, and the groups.
    """
    field_size, channels = (columns, rows) if swapped else (rows, columns)
    block = -(-field_size // field), min(channels, up(-(-channels // outputs), grain))
    return Layout(
        rows=block[1] if swapped else block[0],
        columns=block[0] if swapped else block[1],
        along="rows" if swapped else "columns",
        run=min(grain, channels),
        pitch=grain,
        tiles=group_parts * field * outputs,
        matrices=-(-groups // group_parts),
    )


def product_operand(
    groups: int,
    rows: int,
    columns: int,
    *,
    field: int,
    inputs: int,
    group_parts: int,
    along: Along = "columns",
    grain: int = 16,
) -> Layout:
    """What a product takes: `grain` input channels next to each other, cut over `inputs` tiles."""
    field_size, channels = (rows, columns) if along == "columns" else (columns, rows)
    block = -(-field_size // field), min(channels, up(-(-channels // inputs), grain))
    return Layout(
        rows=block[0] if along == "columns" else block[1],
        columns=block[1] if along == "columns" else block[0],
        along=along,
        run=min(grain, channels),
        pitch=grain,
        tiles=group_parts * field * inputs,
        matrices=-(-groups // group_parts),
    )


def plan(
    rows: int, columns: int, before: Layout, after: Layout, precision: Precision, chip: Chip, *, name: str = "rearrange"
) -> TilePlan:
    """Bring matrices [rows, columns], as many as both layouts hold, from one layout to the other.

    `precision` says how long an element is. Raises InputError where a layout has no room for one matrix.
    """
    check_sizes(name, rows=rows, columns=columns)
    for layout in (before, after):
        if layout.tiles * layout.elements < rows * columns:
            raise InputError(
                f"{layout.tiles:,} tiles of {layout.rows} x {layout.columns} elements cannot hold {rows} x {columns}",
                code="bad-layout",
            )
    size = ELEMENT_BYTES[precision]
    steps: tuple[Superstep, ...] = ()
    if before != after:
        local = before.rows == after.rows and before.columns == after.columns and before.tiles == after.tiles
        exchange = () if local else (_exchange(before, after, size),)
        if before.along == after.along:
            steps = _same_way(before, after, size, chip, exchange)
        else:
            steps = (*exchange, *_transpose(rows, columns, after, size, chip))
    elements = max(before.elements, after.elements)
    return TilePlan(
        operator=name,
        method="rearrange",
        splits={"before": before.tiles, "after": after.tiles},
        supersteps=steps,
        flop=0.0,
        sram_bytes_per_tile={"operands": float(elements * size), "temporary": float(2 * after.elements * size)},
        tiles_used=min(chip.tiles, max(before.tiles, after.tiles)),
        layout_in=str(before),
        layout_out=str(after),
    )


def copy_cycles(pieces: float, piece_bytes: float, aligned_bytes: int, chip: Chip) -> float:
    """Tile cycles of the six threads to copy so many pieces whose ends align to 8, 4, 2 or 1 B."""
    a_piece = piece_cycles(piece_bytes, aligned_bytes, chip)
    each = math.ceil(pieces / chip.worker_threads) if pieces < chip.worker_threads else pieces / chip.worker_threads
    return vertex(COPY_OVERHEAD + PIECE_CYCLES * each + math.ceil(pieces * a_piece / chip.worker_threads), chip)


def piece_cycles(piece_bytes: float, aligned_bytes: int, chip: Chip) -> float:
    """Cycles of a thread to copy a piece, beside those of starting it: whole vectors at the SRAM's own rate."""
    if aligned_bytes not in ACCESS_CYCLES:
        return BYTE_CYCLES * piece_bytes
    whole = access_cycles(1, 1, chip) if aligned_bytes == VECTOR_BYTES else 1.0
    return ACCESS_CYCLES[aligned_bytes] * whole * math.ceil(piece_bytes / VECTOR_BYTES)


def _alignment(*sizes_bytes: int) -> int:
    """The widest access that meets all of these sizes."""
    return math.gcd(VECTOR_BYTES, *sizes_bytes)


def _extent(layout: Layout, along: Along) -> int:
    return layout.rows if along == "rows" else layout.columns


def _exchange(before: Layout, after: Layout, size: int) -> Superstep:
    """What is next to each other on both sides is a piece; a transposed block arrives in runs of its source."""
    piece = min(before.run, after.run if before.along == after.along else _extent(after, before.along))
    pieces = math.ceil(after.elements / piece)
    if before.along == after.along and before.run == before.pitch == after.run == after.pitch:
        pieces = -(-after.rows // before.rows) * -(-after.columns // before.columns)
    receive_bytes = float(after.elements * size)
    cohort = Cohort(
        tiles=min(before.tiles, after.tiles), receive_bytes=receive_bytes, send_bytes=float(before.elements * size)
    )
    return step("rearrange", "rearrange", (cohort,), fragments=pieces)


def _same_way(
    before: Layout, after: Layout, size: int, chip: Chip, exchange: tuple[Superstep, ...]
) -> tuple[Superstep, ...]:
    """Words go straight to their place; else the side that holds less copies its pieces to whole words."""
    piece = min(before.run, after.run)
    alignment = _alignment(piece * size, before.pitch * size, after.pitch * size)
    if exchange and alignment >= WORD_BYTES:
        return exchange
    less = min(before, after, key=lambda layout: layout.elements)
    lines = less.elements // _extent(less, less.along)
    pieces = lines * -(-_extent(less, less.along) // piece)
    cycles = copy_cycles(pieces, less.elements * size / pieces, alignment, chip)
    copy_step = _copies("copy pieces", cycles, less.elements * size, less.tiles)
    return (copy_step, *exchange) if less is before else (*exchange, copy_step)


def _transpose(rows: int, columns: int, after: Layout, size: int, chip: Chip) -> tuple[Superstep, ...]:
    """Blocks in registers where they fit the matrix; else element by element, then rows to their padded place."""
    edge, moved_bytes = BLOCK_ELEMENTS[size], after.elements * size
    if rows % edge == 0 and columns % edge == 0:
        return (
            _copies("transpose", vertex(COPY_OVERHEAD, chip) + BLOCK_CYCLES * after.elements, moved_bytes, after.tiles),
        )
    apart = _copies(
        "copy elements", copy_cycles(after.elements, size, _alignment(size) or 1, chip), moved_bytes, after.tiles
    )
    if after.pitch == _extent(after, after.along):
        return (apart,)
    lines = after.elements // _extent(after, after.along)
    line = _extent(after, after.along) * size
    cycles = copy_cycles(lines, line, _alignment(line, after.pitch * size), chip)
    return apart, _copies("pad", cycles, moved_bytes, after.tiles)


def _copies(name: str, cycles: float, moved_bytes: int, tiles: int) -> Superstep:
    cohort = Cohort(tiles=tiles, compute_cycles=cycles, load_bytes=float(moved_bytes), store_bytes=float(moved_bytes))
    return step(name, "rearrange", (cohort,))
