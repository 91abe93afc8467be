"""Vector operators of one chip: SRAM reads, elementwise, sums, softmax, random numbers, changes of layout, look-ups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from podsim.calibration.microbenchmarks.bench import compute_cycles, from_cycles, from_rate, plan_cycles
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.model.chip import Precision
from podsim.model.sums import sum_in_order
from podsim.model.workload import Gather, Matmul
from podsim.tiles import composite, gather, product, rearrange, reduction, vector
from podsim.tiles.shares import VECTOR_BYTES
from podsim.tiles.supersteps import cycles

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.chip import Chip
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.tile_plan import TilePlan

PRECISIONS: Final = {"fp32": Precision.FP32, "fp16": Precision.FP16_16, "FP8": Precision.FP8_16}
LOADED_BYTES: Final = {"naive": 4, "float": 8, "64-bit": 8, "128-bit": 16}  # an instruction of the loop that is named
RANDOM_PER_TILE: Final = 10_000  # enough to hide the start; the source states no size
SCORES: Final = re.compile(r"(\d+)x(\d+)x(\d+)")
HEAD: Final = 72  # width of a head in the profile (ipu-stack, SDK_ONNX_PROFILE_ANALYSIS.md)
PADDED_SIZE: Final = 736  # length of a softmax row there


def _sram_rate(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    load_bytes = next(size for name, size in LOADED_BYTES.items() if name in row.what)
    return from_rate(row, min(load_bytes, chip.sram.load_bytes_per_cycle) * chip.tiles * chip.clock_hz)


def _sram_latency(row: Microbenchmark, bench: Bench) -> float:
    # A thread issues once a turn, and a load of one turn is there in the next.
    return from_cycles(row, bench.chip(row).worker_threads, bench.chip(row))


def _elements(row: Microbenchmark) -> int:
    text = next(value for key, value in row.shape.items() if key.startswith(("elements", "cols")))
    return int(text) * int(row.shape.get("rows", 1))


def _on_one_tile(row: Microbenchmark, bench: Bench, *operations: str) -> float:
    chip = bench.chip(row)
    plan = vector.plan(_elements(row), operations, PRECISIONS[row.precision], chip, tiles=1)
    return from_cycles(row, plan_cycles(plan, chip), chip)


def _add(row: Microbenchmark, bench: Bench) -> float:
    return _on_one_tile(row, bench, "add")


def _scaled_add(row: Microbenchmark, bench: Bench) -> float:
    return _on_one_tile(row, bench, "scaled_add")


def _gelu(row: Microbenchmark, bench: Bench) -> float:
    return _on_one_tile(row, bench, *(("bias", "gelu") if row.what.startswith("bias") else ("gelu",)))


def _norm(row: Microbenchmark, bench: Bench) -> float:
    """As many rows on each tile as the row says, so that no tile is idle."""
    chip = bench.chip(row)
    rows, columns = int(row.shape.get("rows", 1)), int(row.shape.get("cols") or row.shape["elements_per_tile"])
    precision = PRECISIONS[row.precision]
    total_cycles = plan_cycles(composite.norm("layer", rows * chip.tiles, columns, precision, chip), chip)
    if row.what.startswith("add"):
        total_cycles += plan_cycles(vector.plan(rows * columns, ("add",), precision, chip, tiles=1), chip)
    return from_cycles(row, total_cycles, chip)


def _softmax_row(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    plan = composite.softmax(row.whole("rows") * chip.tiles, row.whole("cols"), PRECISIONS[row.precision], chip)
    return from_cycles(row, plan_cycles(plan, chip), chip)


def _softmax(row: Microbenchmark, bench: Bench) -> float:
    """The compute of all its supersteps: the profile leaves exchange and sync out."""
    chip = bench.chip(row)
    plan = composite.softmax(row.whole("rows"), row.whole("cols"), PRECISIONS[row.precision], chip)
    return from_cycles(row, compute_cycles(plan, chip, {step.phase for step in plan.supersteps}), chip)


def _partials(row: Microbenchmark, bench: Bench) -> float:
    chip, outputs = bench.chip(row), row.whole("elements")
    plan = reduction.plan(
        outputs * row.whole("partials"),
        outputs,
        PRECISIONS[row.precision],
        chip,
        footprint=outputs,
        tiles=1,
        overhead_cycles=0.0,
    )
    return from_cycles(row, plan_cycles(plan, chip), chip)


def _sum_size(row: Microbenchmark, chip: Chip) -> tuple[int, int]:
    """Values, and the tiles that hold them."""
    flag = "one tile" in row.what or row.what.endswith(", 1 tile")
    tiles = 1 if flag else int(row.shape.get("tiles") or row.tiles or chip.tiles)
    return (row.whole("values") if "values" in row.shape else row.whole("values_per_tile") * tiles), tiles


def _sum(row: Microbenchmark, bench: Bench) -> float:
    chip, precision = bench.chip(row), PRECISIONS[row.precision]
    values, tiles = _sum_size(row, chip)
    total_cycles = plan_cycles(reduction.plan(values, 1, precision, chip, tiles=tiles), chip)
    if row.unit == "GB/s":
        return from_rate(row, values * composite.FLOAT_BYTES * chip.clock_hz / total_cycles)
    return from_cycles(row, total_cycles, chip)


def _random(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    elements = RANDOM_PER_TILE * chip.tiles
    plan = vector.plan(elements, ("uniform",), PRECISIONS[row.precision], chip)
    return from_rate(row, elements * chip.clock_hz / plan_cycles(plan, chip))


def _scores_to_rows(row: Microbenchmark, bench: Bench) -> TilePlan:
    """Attention scores as the planner's product leaves them, brought to whole padded rows."""
    chip = bench.chip(row)
    match = SCORES.search(row.shape_text)
    assert match, "the rule asks for a shape"
    heads, rows, columns = map(int, match.groups())
    precision = PRECISIONS[row.precision]
    splits = product.plan(Matmul(groups=heads, m=rows, k=HEAD, n=columns, weights=False), precision, chip).splits
    before = rearrange.product_result(
        heads,
        rows,
        columns,
        field=splits["field"],
        outputs=splits["outputs"],
        group_parts=splits.get("groups", 1),
        swapped=True,
    )
    after = rearrange.whole_rows(heads, rows, columns, chip, pitch=PADDED_SIZE)
    return rearrange.plan(rows, columns, before, after, precision, chip)


def _rearrangement(row: Microbenchmark, bench: Bench) -> float:
    chip, plan = bench.chip(row), _scores_to_rows(row, bench)
    if row.what.endswith(", exchange"):
        return from_cycles(row, sum_in_order(_exchange_cycles(plan, chip)), chip)
    name = "pad" if "second copy" in row.what else "copy elements"
    return from_cycles(row, max(c.compute_cycles for s in plan.supersteps if s.name == name for c in s.cohorts), chip)


def _exchange_cycles(plan: TilePlan, chip: Chip) -> list[float]:
    return [cycles(step, chip).exchange for step in plan.supersteps]


def _panel(row: Microbenchmark, bench: Bench) -> float:
    """A range that the threads share, and the sync of the call."""
    chip, threads = bench.chip(row), bench.chip(row).worker_threads
    copy_cycles = rearrange.copy_cycles(threads, row.whole("bytes") / threads, VECTOR_BYTES, chip)
    return from_cycles(row, copy_cycles + chip.sync.on_chip_cycles, chip)


def _available(row: Microbenchmark) -> float:
    return 0.1 if "available memory 0.1" in row.note else product.AVAILABLE_MEMORY


def _gather(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    shape = Gather(table=row.whole("inputs"), width=row.whole("features"), lookups=row.whole("outputs"))
    plan = gather.plan(shape, PRECISIONS[row.precision], chip, available_memory=_available(row))
    return from_cycles(row, plan_cycles(plan, chip), chip)


def _scatter_add(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    shape = Gather(table=row.whole("outputs"), width=row.whole("features"), lookups=row.whole("inputs"))
    plan = gather.scatter_add(shape, PRECISIONS[row.precision], chip, available_memory=_available(row))
    return from_cycles(row, plan_cycles(plan, chip), chip)


RULES = (
    leave_out("memory", "theoretical", "theory, not a measurement"),
    Rule(category="memory", what="^local SRAM read bandwidth", family="sram", predict=_sram_rate),
    Rule(category="latency", what="SRAM read latency", family="sram", predict=_sram_latency),
    leave_out("memory", "^block size", "the start of the loop is not stated"),
    leave_out("memory", "encoder:", "memory of a whole program that podsim has no workload file for"),
    leave_out("memory", "fixed cost", "the fixed cost of a copy is taken from it"),
    Rule(category="memory", what="panel", family="rearrangement", predict=_panel),
    leave_out("memory", "packing", "neither layout is stated"),
    Rule(category="elementwise", what="^fp32 add", family="elementwise", predict=_add),
    Rule(category="elementwise", what="axpy", family="elementwise", predict=_scaled_add),
    Rule(category="elementwise", what="x-=w", family="independent", predict=_scaled_add),
    leave_out("elementwise", "rotation", "a vertex of its own, whose operations are not stated"),
    leave_out("elementwise", "FP8|numerators|moments|apply|statistics", "a part of an operator, or of two precisions"),
    Rule(category="elementwise", what="layernorm", family="independent", predict=_norm),
    Rule(category="elementwise", what="softmax", family="independent", predict=_softmax_row),
    Rule(category="elementwise", what="GELU", family="independent", predict=_gelu),
    Rule(category="elementwise", what="add on one tile", family="independent", predict=_add),
    Rule(category="reduce", what="sum of partials", family="independent", predict=_partials),
    Rule(category="reduce", what="reduction", family="reduction", predict=_sum),
    Rule(category="rng", family="random", predict=_random),
    Rule(category="other", what="^poplibs softmax", family="softmax", predict=_softmax),
    Rule(category="exchange|other", what="^poplibs: scores", family="rearrangement", predict=_rearrangement),
    leave_out("other", "^poplibs: ", "the layouts of these copies are not stated"),
    Rule(category="other", what="^row gather", family="gather", predict=_gather),
    Rule(category="other", what="^scatter-add", family="gather", predict=_scatter_add),
    leave_out("other", "^SchNet", "a whole block of a model: framework-bound"),
    leave_out("other", "", "an upper bound, not a measurement", note="upper bound"),
    leave_out("other", "Hessenberg|tridiagonal", "an algorithm with vertices of its own"),
    leave_out("other", "nanoGPT", "framework-bound: timed by the host"),
    leave_out("other", "SigLIP", "a whole model that podsim has no workload file for"),
)
