"""Matmul and convolution: whole operators, compute alone, one vertex a tile.

Bounds on temporary bytes are relaxed as poplibs relaxes them: what was measured has run.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.calibration.microbenchmarks.bench import (
    compute_cycles,
    from_cycles,
    from_rate,
    plan_cycles,
    plan_flop_per_s,
)
from podsim.calibration.microbenchmarks.rules import Rule, leave_out
from podsim.model.chip import Library, Precision
from podsim.model.workload import Conv, Matmul, Pass
from podsim.tiles import amp, convolution, product, vector

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.chip import Chip
    from podsim.model.microbenchmark import Microbenchmark

PRECISIONS: Final = {
    "FP16.16": Precision.FP16_16,
    "FP16.32": Precision.FP16_32,
    "FP32.32": Precision.FP32,
    "fp32": Precision.FP32,
    "FP8.16": Precision.FP8_16,
    "fp16": Precision.FP16_32,  # poplin's partials are float unless asked otherwise
}
FULL_GROUP: Final = 16  # channels that fill an input group of half values


def _matmul(row: Microbenchmark) -> Matmul:
    return Matmul(groups=int(row.shape.get("groups", 1)), m=row.whole("m"), k=row.whole("k"), n=row.whole("n"))


def _conv(row: Microbenchmark) -> Conv:
    return Conv(
        batch=row.whole("batch"),
        size=int(row.shape["in"].partition("x")[0]),
        in_channels=row.whole("cin"),
        out_channels=row.whole("cout"),
        kernel=int(row.shape["kernel"].partition("x")[0]),
        stride=row.whole("stride"),
        channel_groups=row.whole("groups"),
    )


def _dense(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    plan = product.plan(_matmul(row), PRECISIONS[row.precision], chip, relax=True)
    rate = plan_flop_per_s(plan, chip)
    return from_cycles(row, plan_cycles(plan, chip), chip) if row.unit == "cycles" else from_rate(row, rate)


def _multiply_alone(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    plan = product.plan(_matmul(row), PRECISIONS[row.precision], chip, relax=True)
    return from_cycles(row, compute_cycles(plan, chip, ("multiply",)), chip)


def _vertex_cycles(row: Microbenchmark, chip: Chip) -> float:
    """One call of the 1 x 1 vertex with the shape of a single tile."""
    precision = PRECISIONS[row.precision]
    units = amp.units(chip, precision)
    unit = amp.AmpVertex(precision, units, amp.input_group(precision), units)
    field, channels_in, channels_out = (np.array([row.whole(key)], float) for key in ("per_tile m", "k", "n"))
    return float(amp.one_by_one(unit, field, channels_in, channels_out, np.ones(1))[0])


def _vertex(row: Microbenchmark, bench: Bench) -> float:
    chip = bench.chip(row)
    cycles = _vertex_cycles(row, chip)
    if row.unit == "cycles":
        return from_cycles(row, cycles, chip)
    flop = 2.0 * row.whole("per_tile m") * row.whole("k") * row.whole("n")
    return from_rate(row, flop * chip.tiles * chip.clock_hz / cycles)


def _square(row: Microbenchmark, bench: Bench) -> float:
    """The largest square that fits, and the scaled add that the benchmark ran with it."""
    chip, precision = bench.chip(row), PRECISIONS[row.precision]
    edge = int(re.findall(r"\d+", row.shape_text)[-1])
    plan = product.plan(Matmul(m=edge, k=edge, n=edge), precision, chip, relax=True)
    add_plan = vector.plan(edge * edge, ("scaled_add",), precision, chip)
    return from_rate(row, plan.flop * chip.clock_hz / (plan_cycles(plan, chip) + plan_cycles(add_plan, chip)))


def _convolution(row: Microbenchmark, bench: Bench) -> float:
    return _planned_on(row, bench.chip(row))


def _otherwise(row: Microbenchmark, bench: Bench) -> float | None:
    """As the released library plans; nothing where the chip has that one."""
    chip = bench.chip(row)
    if chip.library == Library():
        return None
    return _planned_on(row, replace(chip, library=Library()))


def _planned_on(row: Microbenchmark, chip: Chip) -> float:
    """The rate that poplibs reports: multiplications by padding do not count."""
    shape = _conv(row)
    plan = convolution.plan(shape, Pass.FORWARD, PRECISIONS[row.precision], chip, relax=True)
    return from_rate(row, plan_flop_per_s(plan, chip) * shape.flop_in_image / shape.flop)


def _narrow(row: Microbenchmark, bench: Bench) -> float:
    """So many convolutions of 3 x 3 over few channels; the image as the square of the same area."""
    chip = bench.chip(row)
    kernel, channels, count = (int(number) for number in re.findall(r"(\d+)x\d+ .* (\d+)->.*, (\d+) conv", row.what)[0])
    width, height = map(int, row.shape["image"].split("x"))
    shape = Conv(size=round(math.sqrt(width * height)), in_channels=channels, out_channels=channels, kernel=kernel)
    plan = convolution.plan(
        shape,
        Pass.FORWARD,
        PRECISIONS[row.precision],
        chip,
        available_memory=float(row.shape["availableMemoryProportion"]),
        relax=True,
    )
    return from_cycles(row, count * plan_cycles(plan, chip), chip)


def _is_stem(row: Microbenchmark) -> bool:
    return row.whole("cin") < FULL_GROUP


def _is_grouped(row: Microbenchmark) -> bool:
    return row.whole("groups") > 1


RULES = (
    Rule(category="gemm", what=r"^dense matmul \(poplin\)", family="matmul", predict=_dense),
    leave_out("gemm", "sparse", "sparse kernels: out of scope", note="plot|table"),
    leave_out("gemm", "sparse", "sparse kernels, timed by the host: out of scope"),
    leave_out("gemm", "non-zero FLOPs", "best over batches that are not stated", note="plot"),
    leave_out("gemm", "non-zero FLOPs", "framework-bound: timed by the host through PyTorch"),
    Rule(category="gemm", what="^one AMP vertex", family="amp", predict=_vertex),
    Rule(category="gemm", what="^poplibs matmul compute", family="matmul compute", predict=_multiply_alone),
    Rule(
        category="gemm",
        what="^best square GEMM",
        family="square matmul",
        predict=_square,
        where=lambda row: "1 IPU" in row.what,
    ),
    leave_out("gemm", "^best square GEMM", "derived from another row: twice the figure of one IPU"),
    leave_out("gemm", "theoretical", "theory, not a measurement"),
    leave_out("gemm", "^dense attention for one query", "keys and values stay in place: no plan of a matmul"),
    Rule(category="gemm", what="^AMP kernel on one tile", family="independent", predict=_vertex),
    Rule(category="gemm", what="^square GEMM, whole device", family="independent", predict=_dense),
    leave_out("gemm", "fixed cost", "a constant fitted to other kernels, not a measurement"),
    leave_out("gemm", "", "a chain of operators of another compiler", note="^not poplibs"),
    Rule(
        category="conv",
        what="^forward convolution",
        family="grouped",
        predict=_convolution,
        otherwise=_otherwise,
        where=_is_grouped,
    ),
    Rule(
        category="conv",
        what="^forward convolution",
        family="stems",
        predict=_convolution,
        otherwise=_otherwise,
        where=_is_stem,
    ),
    Rule(
        category="conv", what="^forward convolution", family="convolution", predict=_convolution, otherwise=_otherwise
    ),
    Rule(
        category="conv",
        what="^poplin 3x3",
        family="narrow",
        predict=_narrow,
        where=lambda row: row.shape["ipus"] == "1",
    ),
    leave_out("conv", "^poplin 3x3", "over two IPUs, whose copies between them are not stated"),
)
