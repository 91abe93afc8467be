"""Operators made of several vector supersteps: softmax, norms, losses, pooling (Eq. 40).

The passes are those of poplibs: lib/popnn/NonLinearity.cpp, lib/poplin/Norms.cpp, lib/popnn/GroupNorm.cpp,
lib/popnn/Loss.cpp, lib/popnn/PoolVertices.cpp. Rows stay on their tiles; only sums and what is made of them move.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.tiles import reduction, vector
from podsim.tiles.amp import OUTPUT_BYTES
from podsim.tiles.reduction import ScatteredSum
from podsim.tiles.shares import Share, check_fit, check_sizes, spread, step, up, vectors, vertex
from podsim.tiles.supersteps import slower, total

NormKind = Literal["layer", "batch", "group"]
FLOAT_BYTES = 4
OPERANDS_AND_RESULT: Final = 3  # tensors of a tile's share that are live at once
LOST_KEPT = 5  # layouts a plan remembers
CHANNELS_ON_A_TILE = 16  # channels next to each other where a product left them (lib/poplin/ConvVertexType.cpp)
STATISTICS: Final = 2  # mean and power forward, two sums backward, that replicas of a batch norm add up
SOFTMAX: Final = (("subtract",), ("exp",))
SOFTMAX_BACKWARD: Final = (("multiply",), ("multiply", "subtract"))
WHITEN: Final = ("bias", "bias")  # subtract the mean, multiply by the inverse deviation
AFFINE: Final = ("bias", "bias")  # multiply by gamma, add beta
NORM_BACKWARD: Final = ("copy", "multiply", "multiply", "add", "scaled_add", "multiply")
LOSS_CYCLES, ARGMAX_CYCLES = 9, 3  # a thread: 9 a pair of half or a float; 3 an element
POOL_CYCLES, POOL_GRADIENT_CYCLES, POOL_OVERHEAD = 3, 5, 30  # a thread, a vector and element of the window; once


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of `columns` over tiles: whole rows, or `parts` tiles for a row where there are fewer rows than tiles."""

    rows: int
    columns: int
    parts: int
    shares: tuple[Share, ...]

    @property
    def tiles(self) -> int:
        """Tiles that hold any."""
        return sum(count for count, _ in self.shares)

    @property
    def rows_on_a_tile(self) -> int:
        """Rows, or parts of rows, on the most loaded tile."""
        return max(1, self.shares[0][1] * self.parts // self.columns)

    @property
    def scatter(self) -> ScatteredSum:
        """The sums of the rows."""
        return ScatteredSum(
            elements=self.rows * self.columns,
            share=self.shares[0][1],
            tiles=self.tiles,
            resident=self.rows_on_a_tile,
            outputs=self.rows,
        )


@dataclass(frozen=True, slots=True)
class _Choice:
    """The layout of rows that costs least, its supersteps, and the layouts that lost."""

    laid: _Rows
    steps: tuple[Superstep, ...]
    lost: tuple[RejectedPlan, ...]

    @property
    def splits(self) -> dict[str, int]:
        """Tiles that hold any, and parts of a row."""
        return {"rows": self.laid.tiles, "parts": self.laid.parts}


def _layouts(rows: int, columns: int, chip: Chip) -> list[_Rows]:
    """Whole rows, and every cut of a row into groups of channels for which there are tiles.

    Fewer or shorter rows have all the layouts of more or longer ones, so that they never cost more.
    """
    most = min(chip.tiles // rows, -(-columns // CHANNELS_ON_A_TILE))
    sizes = dict.fromkeys(up(-(-columns // parts), CHANNELS_ON_A_TILE) for parts in range(2, most + 1))
    layouts = [_Rows(rows, columns, 1, tuple((count, number * columns) for count, number in spread(rows, chip.tiles)))]
    for part in sizes:
        parts = -(-columns // part)
        if parts > 1:
            blocks = spread(rows * parts, chip.tiles)
            layouts.append(_Rows(rows, columns, parts, tuple((count, number * part) for count, number in blocks)))
    return layouts


def _cheapest(
    size: tuple[int, int], element_bytes: int, chip: Chip, steps: Callable[[_Rows], tuple[Superstep, ...]]
) -> _Choice:
    """Rows and columns laid out so that these supersteps cost least, of the layouts that fit the SRAM if any does."""
    candidates = [(layout, steps(layout)) for layout in _layouts(*size, chip)]
    candidate_costs = [(layout, supersteps, total(supersteps, chip)) for layout, supersteps in candidates]
    bytes_of = {layout: float(OPERANDS_AND_RESULT * layout.shares[0][1] * element_bytes) for layout, _ in candidates}
    fitting = [item for item in candidate_costs if bytes_of[item[0]] <= chip.sram.bytes_per_tile]
    best, supersteps, least = min(fitting, key=lambda item: item[2].total) if fitting else candidate_costs[-1]
    rejections = tuple(
        RejectedPlan(
            splits={"rows": layout.tiles, "parts": layout.parts},
            cycles=own.total,
            sram_bytes_per_tile=bytes_of[layout],
            why=slower(own, least) if bytes_of[layout] <= chip.sram.bytes_per_tile else "does not fit",
        )
        for layout, _, own in sorted(candidate_costs, key=lambda item: item[2].total)
        if layout is not best
    )
    return _Choice(best, supersteps, rejections[:LOST_KEPT])


def softmax(
    rows: int, columns: int, precision: Precision, chip: Chip, *, backward: bool = False, name: str = "softmax"
) -> TilePlan:
    """Softmax of each row: maximum, subtract, exponential, sum in float, inverse, cast, multiply.

    Backward multiplies by the gradient, sums, multiplies and subtracts. Rows are whole or cut, whichever costs less.
    """
    check_sizes(name, rows=rows, columns=columns)
    steps = _softmax_backward if backward else _softmax
    size = OUTPUT_BYTES[precision]
    choice = _cheapest((rows, columns), size, chip, lambda layout: steps(layout, precision, chip))
    return _of_rows(name, choice, flop=5.0 * rows * columns, element_bytes=size, chip=chip)


def _softmax(layout: _Rows, precision: Precision, chip: Chip) -> tuple[Superstep, ...]:
    size = OUTPUT_BYTES[precision]
    small = spread(layout.rows_on_a_tile * layout.tiles, layout.tiles)
    return (
        *_row_sums(layout, size, chip, "maximum"),
        *_passes((*SOFTMAX[0], *SOFTMAX[1]), layout.shares, precision, chip),
        *_row_sums(layout, size, chip, "sum"),
        *_passes(("inverse", "cast"), small, Precision.FP32, chip),
        *_passes(("multiply",), layout.shares, precision, chip),
    )


def _softmax_backward(layout: _Rows, precision: Precision, chip: Chip) -> tuple[Superstep, ...]:
    return (
        *_passes(SOFTMAX_BACKWARD[0], layout.shares, precision, chip),
        *_row_sums(layout, OUTPUT_BYTES[precision], chip, "sum"),
        *_passes(SOFTMAX_BACKWARD[1], layout.shares, precision, chip),
    )


def norm(
    kind: NormKind,
    rows: int,
    channels: int,
    precision: Precision,
    chip: Chip,
    *,
    images: int = 1,
    channel_groups: int = 1,
    backward: bool = False,
    tile_channels: int | None = None,
    name: str = "",
) -> TilePlan:
    """Norm of [rows, channels]: of each row (layer), each channel (batch) or each group of an image's channels (group).

    `tile_channels` are the channels a tile holds, as the operator before left them; by default a square block, for a
    batch norm 16. Replicas that share a batch norm add up `statistics_bytes` twice: once forward, once backward.
    """
    title = name or f"{kind} norm"
    check_sizes(title, rows=rows, channels=channels, images=images, channel_groups=channel_groups)
    size = OUTPUT_BYTES[precision]
    shares = spread(rows * channels, chip.tiles, min(CHANNELS_ON_A_TILE, channels))
    tiles = sum(count for count, _ in shares)
    footprint = min(channels, shares[0][1], tile_channels or _tile_channels(kind, shares[0][1]))
    statistics = {"layer": rows, "batch": channels, "group": images * channel_groups}[kind]
    on_tile = {"layer": math.ceil(shares[0][1] / footprint), "batch": footprint, "group": 1}[kind]
    scatter = partial(ScatteredSum, elements=rows * channels, share=shares[0][1], tiles=tiles)
    sums = scatter(resident=min(on_tile, statistics), outputs=statistics)
    per_channel = scatter(resident=footprint, outputs=channels)
    if backward:
        steps = _norm_backward(sums, per_channel, shares, precision, chip)
    else:
        steps = (
            *reduction.steps(sums, size, chip, moments=STATISTICS, name="mean and power"),
            *_statistics(sums, chip),
            *_passes((*WHITEN, *AFFINE), shares, precision, chip),
        )
    splits, share_bytes = {"elements": tiles, "channels": -(-channels // footprint)}, shares[0][1] * size
    return _plan(title, splits, steps, tiles=tiles, flop=8.0 * rows * channels, share_bytes=share_bytes, chip=chip)


def statistics_bytes(channels: int) -> float:
    """What each replica of a shared batch norm contributes to one all-reduce [B]: two floats a channel."""
    return float(STATISTICS * channels * FLOAT_BYTES)


def loss(
    rows: int, classes: int, precision: Precision, chip: Chip, *, backward: bool = False, name: str = "loss"
) -> TilePlan:
    """Softmax and cross-entropy of each row with its label, and the accuracy; backward subtracts and scales."""
    check_sizes(name, rows=rows, classes=classes)
    steps = _loss_backward if backward else _loss
    size = OUTPUT_BYTES[precision]
    choice = _cheapest((rows, classes), size, chip, lambda layout: steps(layout, precision, chip))
    return _of_rows(name, choice, flop=8.0 * rows * classes, element_bytes=size, chip=chip)


def _loss(layout: _Rows, precision: Precision, chip: Chip) -> tuple[Superstep, ...]:
    size = OUTPUT_BYTES[precision]
    element = LOSS_CYCLES / 2 if size < FLOAT_BYTES else LOSS_CYCLES
    return (
        *_softmax(layout, precision, chip),
        *_passes(("fill",), layout.shares, precision, chip),
        _each("cross-entropy", element, layout.shares, chip),
        *_row_sums(layout, size, chip, "sum"),
        _each("largest", ARGMAX_CYCLES, layout.shares, chip),
    )


def _loss_backward(layout: _Rows, precision: Precision, chip: Chip) -> tuple[Superstep, ...]:
    return _passes(("subtract", "scale"), layout.shares, precision, chip)


def _of_rows(name: str, choice: _Choice, *, flop: float, element_bytes: int, chip: Chip) -> TilePlan:
    layout = choice.laid
    share = layout.shares[0][1] * element_bytes
    plan = _plan(name, choice.splits, choice.steps, tiles=layout.tiles, flop=flop, share_bytes=share, chip=chip)
    return replace(plan, alternatives=choice.lost)


def pool(
    outputs: int, window: int, precision: Precision, chip: Chip, *, backward: bool = False, name: str = "pool"
) -> TilePlan:
    """Maximum or mean of `window` elements for each output; what a window overlaps arrives from its neighbours."""
    check_sizes(name, outputs=outputs, window=window)
    size = OUTPUT_BYTES[precision]
    shares = spread(outputs, chip.tiles, CHANNELS_ON_A_TILE)
    each = POOL_GRADIENT_CYCLES if backward else POOL_CYCLES
    cohorts = tuple(
        Cohort(
            tiles=count,
            compute_cycles=vertex(POOL_OVERHEAD + each * window * vectors(share, size, chip), chip),
            receive_bytes=float(share * size),
            send_bytes=float(share * size),
            load_bytes=float(window * share * size),
            store_bytes=float(share * size),
        )
        for count, share in shares
    )
    tiles = sum(count for count, _ in shares)
    steps = (step(name, "vector", cohorts),)
    flop, share = float(outputs * window), shares[0][1] * size
    return _plan(name, {"outputs": tiles}, steps, tiles=tiles, flop=flop, share_bytes=share, chip=chip)


def _plan(
    name: str,
    splits: dict[str, int],
    steps: tuple[Superstep, ...],
    *,
    tiles: int,
    flop: float,
    share_bytes: int,
    chip: Chip,
) -> TilePlan:
    """Two operands and a result of `share_bytes` on the most loaded tile."""
    return TilePlan(
        operator=name,
        method="vector",
        splits=splits,
        supersteps=steps,
        flop=flop,
        sram_bytes_per_tile=check_fit(name, {"operands": 2.0 * share_bytes, "result": float(share_bytes)}, chip),
        tiles_used=tiles,
    )


def _passes(
    operations: tuple[str, ...], shares: tuple[Share, ...], precision: Precision, chip: Chip
) -> tuple[Superstep, ...]:
    return tuple(vector.superstep(operation, shares, precision, chip) for operation in operations)


def _each(name: str, thread_cycles: float, shares: tuple[Share, ...], chip: Chip) -> Superstep:
    """A vertex that takes so long for each element."""
    cohorts = tuple(
        Cohort(tiles=count, compute_cycles=vertex(thread_cycles * math.ceil(share / chip.worker_threads), chip))
        for count, share in shares
    )
    return step(name, "vector", cohorts)


def _row_sums(layout: _Rows, element_bytes: int, chip: Chip, name: str) -> tuple[Superstep, ...]:
    """One value a row, and back to the tiles of a row that is cut into parts."""
    count = vectors(layout.shares[0][1], element_bytes, chip)
    cycles = vertex(reduction.ONE_OVERHEAD + reduction.READ_CYCLES[element_bytes] * count, chip)
    local = step(f"{name} on tile", "reduce", (Cohort(tiles=layout.tiles, compute_cycles=cycles),))
    if layout.parts == 1:
        return (local,)
    return (local, *reduction.across(layout.scatter, chip, name=name), _back(layout.scatter, 1))


def _back(sums: ScatteredSum, moments: int) -> Superstep:
    """Each tile receives what was made of the sums it has a part in."""
    arriving = float(moments * sums.resident * FLOAT_BYTES)
    return step("back to tiles", "reduce", (Cohort(tiles=sums.tiles, receive_bytes=arriving, send_bytes=arriving),))


def _tile_channels(kind: NormKind, share: int) -> int:
    """A group of channels for each channel's own sums, else a block about as long as wide, as a product leaves it."""
    return CHANNELS_ON_A_TILE if kind == "batch" else up(math.isqrt(share), CHANNELS_ON_A_TILE)


def _statistics(sums: ScatteredSum, chip: Chip) -> tuple[Superstep, ...]:
    """The inverse deviation of the few sums, and both statistics back to every tile that needs them."""
    small = spread(sums.outputs, chip.tiles)
    passes = _passes(("square", "subtract", "rsqrt"), small, Precision.FP32, chip)
    return (*passes, _back(sums, STATISTICS)) if sums.sources > 1 else passes


def _norm_backward(
    sums: ScatteredSum, per_channel: ScatteredSum, shares: tuple[Share, ...], precision: Precision, chip: Chip
) -> tuple[Superstep, ...]:
    """Whiten again, sum for gamma and beta in one reading, then the gradient of what came in."""
    size = OUTPUT_BYTES[precision]
    return (
        *_passes((*WHITEN, "multiply"), shares, precision, chip),
        *reduction.steps(per_channel, size, chip, moments=STATISTICS, name="gamma and beta"),
        *_passes(("multiply",), shares, precision, chip),
        *reduction.steps(sums, size, chip, moments=STATISTICS, name="two sums"),
        *((_back(sums, STATISTICS),) if sums.sources > 1 else ()),
        *_passes(NORM_BACKWARD, shares, precision, chip),
    )
