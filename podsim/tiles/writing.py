"""Write a chosen cut down as a plan: supersteps of cohorts, SRAM by category, and what was not chosen."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.tiles.problem import Array, Problem, Tile, Vertex
from podsim.tiles.product_search import EvaluatedCuts, Request, in_full
from podsim.tiles.superstep_arrays import Splits, SuperstepArray, accesses, memory_bytes, sequence, tile_elements

RIVALS = 6  # plans kept that were not chosen


def plan(
    evaluations: list[EvaluatedCuts],
    limit_bytes: float,
    request: Request,
    *,
    name: str,
    flop: float,
    rivals: bool = True,
) -> TilePlan:
    """The cheapest cut of all evaluated that fits the limit, with its rivals where they are wanted."""
    way, at = _cheapest(evaluations, limit_bytes)
    problem, vertex = way.problem, way.vertex
    candidates = way.cuts.take(np.array([at]))
    tiles, tile, splits = _cohorts(problem, vertex, way, at)
    hold, overhead = tile_elements(problem, vertex, tile, splits), request.overhead_cycles
    arrays = sequence(problem, vertex, tile, splits, way.serial, request.chip, hold=hold, overhead_cycles=overhead)
    memory = memory_bytes(
        problem,
        vertex,
        tile_elements(problem, vertex, candidates.tile, candidates.splits),
        candidates.splits,
        way.serial,
    )
    idle = request.chip.tiles - int(tiles.sum())
    access = accesses(problem, vertex, tile, hold)
    return TilePlan(
        operator=name,
        method=vertex.method,
        splits=_splits_by_name(way, at),
        supersteps=tuple(_superstep(step, tiles, idle, access) for step in arrays),
        flop=flop,
        sram_bytes_per_tile={category: float(value[0]) for category, value in memory.items() if value[0]},
        tiles_used=int(tiles.sum()),
        layout_in=f"{problem.channels_in} in groups of {vertex.in_grain}",
        layout_out=f"{problem.channels_out} in groups of {vertex.out_grain}",
        alternatives=tuple(_rivals(evaluations, (way, at), limit_bytes, request)) if rivals else (),
    )


def _cheapest(evaluations: list[EvaluatedCuts], limit_bytes: float) -> tuple[EvaluatedCuts, int]:
    """The cheapest cut that fits; the earlier way to multiply wins where two cost the same."""
    result = [(way, way.cheapest(way.sram_bytes <= limit_bytes)) for way in evaluations]
    fitting = [(way, at) for way, at in result if at is not None]
    return min(fitting, key=lambda pair: float(pair[0].cycles[pair[1]]))


def _splits_by_name(way: EvaluatedCuts, at: int) -> dict[str, int]:
    """Parallel and serial splits of one cut by name, without those that split nothing."""
    splits = way.cuts.splits
    images, height, width = way.cuts.field
    table = {
        "groups": splits.groups,
        "batch": images,
        "height": height,
        "field" if way.problem.flat else "width": width,
        "kernel": splits.kernel,
        "outputs": splits.outputs,
        "inputs": splits.inputs,
    }
    counts = {name: int(value[at]) for name, value in table.items()}
    always = ("field", "outputs", "inputs")
    split_counts = {name: value for name, value in counts.items() if value > 1 or name in always}
    if way.serial:
        split_counts[f"serial {way.serial.over}"] = int(splits.serial[at])
    return split_counts


# --- cohorts ---------------------------------------------------------------------------------------------------------


def _cohorts(problem: Problem, vertex: Vertex, way: EvaluatedCuts, at: int) -> tuple[Array, Tile, Splits]:
    """Tiles that do the same, and what one of each does: every dimension is cut into parts that differ by one grain."""
    splits = way.cuts.take(np.array([at])).splits
    fields = [int(axis[at]) for axis in way.cuts.field]
    serial = int(splits.serial[0]) if way.serial else 1
    over = way.serial.over if way.serial else ""
    axes = (
        _parts(problem.groups, vertex.group_grain, int(splits.groups[0])),
        _parts(problem.batch, 1, fields[0]),
        _parts(problem.height, 1, fields[1]),
        _parts(problem.width, 1, fields[2]),
        _parts(problem.kernel_height, 1, int(splits.kernel[0])),
        _parts(problem.inputs, vertex.in_grain, int(splits.inputs[0]), serial if over == "inputs" else 1),
        _parts(problem.outputs, vertex.out_grain, int(splits.outputs[0]), serial if over == "outputs" else 1),
    )
    rows = list(itertools.product(*axes))
    tiles = np.array([float(math.prod(count for count, _ in row)) for row in rows])
    sizes = [np.array([row[axis][1] for row in rows], dtype=float) for axis in range(len(axes))]
    groups, images, height, width, kernel, inputs, outputs = sizes
    columns = np.full_like(tiles, float(problem.kernel_width))
    tile = Tile(groups, images, height, width, kernel, columns, inputs, outputs)
    return tiles, tile, Splits(*(np.full_like(tiles, getattr(splits, name)[0]) for name in Splits.__slots__))


def _parts(size: int, grain: int, parts: int, serial: int = 1) -> tuple[tuple[int, int], ...]:
    """(tiles, elements) of the parts of one dimension, the larger first; of serial parts, the largest."""
    grains = math.ceil(math.ceil(size / grain) / serial)
    least, more = divmod(grains, parts)
    numbers = ((more, (least + 1) * grain), (parts - more, least * grain))
    return tuple((count, min(elements, size)) for count, elements in numbers if count and elements)


def _superstep(step: SuperstepArray, tiles: Array, idle: int, access: tuple[Array, Array]) -> Superstep:
    """One superstep; cohorts with the same work are one.

    The largest part comes first: a smaller one that is no whole number of vectors is padded where that is faster.
    """
    tiles_by_work: dict[tuple[float, ...], int] = {}
    multiplies = step.purpose == "multiply"
    none = np.zeros_like(tiles)
    load, store = access if multiplies else (none, none)
    columns = (np.minimum(step.compute, step.compute[0]), step.send, step.receive, step.shared, load, store)
    for count, *work in zip(tiles, *columns, strict=True):
        key = tuple(float(value) for value in work)
        tiles_by_work[key] = tiles_by_work.get(key, 0) + int(count)
    if idle:
        nothing = (0.0,) * len(columns)
        tiles_by_work[nothing] = tiles_by_work.get(nothing, 0) + idle
    cohorts = (
        Cohort(
            tiles=count,
            compute_cycles=work[0],
            send_bytes=work[1],
            receive_bytes=work[2],
            shared_receive_bytes=work[3],
            load_bytes=work[4],
            store_bytes=work[5],
        )
        for work, count in tiles_by_work.items()
    )
    return Superstep(name=step.name, phase=step.purpose, cohorts=tuple(cohorts), repeat=int(step.repeat[0]))


# --- what was not chosen ---------------------------------------------------------------------------------------------


def _rivals(
    evaluations: list[EvaluatedCuts], choice: tuple[EvaluatedCuts, int], limit_bytes: float, request: Request
) -> list[RejectedPlan]:
    """The best of each other kind, cheapest first; where there are few kinds, the next best splits as well."""
    best = float(choice[0].cycles[choice[1]])
    descriptions = {_describe(*choice)}
    plans: list[RejectedPlan] = []
    next_best = ((choice[0], int(at)) for at in np.argsort(choice[0].cycles, kind="stable")[: 2 * RIVALS])
    for target, rivals in ((math.inf, _of_each_kind(evaluations, choice, limit_bytes)), (RIVALS, next_best)):
        for way, at in rivals:
            if len(plans) < target and _describe(way, at) not in descriptions:
                descriptions.add(_describe(way, at))
                plans.append(_rival(way, at, best, limit_bytes, request))
    return sorted(plans, key=lambda rival: rival.cycles)[:RIVALS]


def _way_name(way: EvaluatedCuts) -> str:
    vertex = way.vertex
    return f"{way.problem.transform}, {vertex.method} in blocks of {vertex.in_grain} x {vertex.out_grain}"


def _describe(way: EvaluatedCuts, at: int) -> tuple[str, tuple[tuple[str, int], ...]]:
    return _way_name(way), tuple(_splits_by_name(way, at).items())


def _rival(way: EvaluatedCuts, at: int, best: float, limit_bytes: float, request: Request) -> RejectedPlan:
    """What it takes in full, and why it lost: compared as the chosen one was."""
    cycles, sram = float(way.cycles[at]), float(way.sram_bytes[at])
    why = f"{cycles - best:,.0f} cycles more{'' if request.price_copies else ' before copies'}"
    if sram > limit_bytes:
        why = f"{sram:,.0f} B per tile do not fit {limit_bytes:,.0f} B"
    return RejectedPlan(
        splits=_splits_by_name(way, at),
        cycles=in_full(way, at, request),
        sram_bytes_per_tile=sram,
        why=f"{_way_name(way)}: {why}",
    )


def _of_each_kind(
    evaluations: list[EvaluatedCuts], choice: tuple[EvaluatedCuts, int], limit_bytes: float
) -> Iterator[tuple[EvaluatedCuts, int]]:
    everything = [(way, np.ones_like(way.cycles, dtype=bool)) for way in evaluations]
    way, at = choice
    fits, splits = way.sram_bytes <= limit_bytes, way.cuts.splits
    own = [(way, fits & (getattr(splits, name) == 1)) for name in ("inputs", "field", "outputs")]
    other = [(way, fits & (getattr(splits, name) != getattr(splits, name)[at])) for name in ("inputs", "outputs")]
    fitting = [(entry, entry.sram_bytes <= limit_bytes) for entry in evaluations]
    for item, within in (*everything, *fitting, *own, *other):
        index = item.cheapest(within)
        if index is not None:
            yield item, index
