"""What one operator takes on a chip, from costs of supersteps made by hand."""

from dataclasses import replace

import pytest

from podsim.model.chip import Precision
from podsim.model.chip_timeline import ChipTimeline, IoTiles
from podsim.model.program import Part
from podsim.model.tile_plan import Superstep, TilePlan
from podsim.studies.op.result import OperatorReport, SuperstepCost


def cost(phase, compute, exchange, sync, volume):
    return SuperstepCost(
        step=Superstep(name=phase, phase=phase, cohorts=()),
        compute_cycles=compute,
        exchange_cycles=exchange,
        sync_cycles=sync,
        exchange_bytes=volume,
    )


@pytest.fixture
def report(tiny):
    """1,000 cycles on a chip of 10 tiles at 1 GHz, 1 TFLOP/s, 1 MB a tile."""
    chip = tiny.chip
    return OperatorReport(
        operator="matmul",
        sizes={},
        chip=chip,
        precision=Precision.FP16_16,
        available_memory=0.6,
        plan=TilePlan(
            operator="matmul",
            method="AMP",
            splits={},
            supersteps=(),
            flop=5e5,
            sram_bytes_per_tile={"input": 3e5, "code": 1e5},
            tiles_used=10,
        ),
        costs=(cost("input", 0, 200, 50, 64), cost("multiply", 600, 10, 40, 36), cost("input", 0, 90, 10, 20)),
        timeline=ChipTimeline(total_cycles=1000, spans=(), shares=(), sram_bytes_per_tile={}, events=3),
        resident_bytes=4e6,
        on_amp=True,
        limited=True,
        code_bytes_per_tile=1e5,
    )


def test_time_and_rate_follow_from_cycles_and_clock(report):
    assert (report.cycles, report.time_s) == (1000, 1e-6)
    assert report.flop_per_s == pytest.approx(5e11)
    assert report.amp_share == pytest.approx(0.5)
    assert replace(report, on_amp=False).amp_share is None


def test_what_takes_no_time_has_no_rate(report):
    assert replace(report, timeline=replace(report.timeline, total_cycles=0)).flop_per_s == 0


def test_cycles_by_purpose_and_by_part_are_all_cycles(report):
    assert report.by_purpose == {"input": 350, "multiply": 650}
    assert report.by_part == {Part.COMPUTE: 600, Part.EXCHANGE: 300, Part.SYNC: 100}
    assert report.costs[0].cycles == 250
    assert (report.bound, report.exchange_bytes) == (Part.COMPUTE, 120)


def test_a_stream_takes_what_is_left_after_the_last_superstep(report):
    late = replace(report.timeline, total_cycles=1700)
    streamed = replace(report, io=IoTiles(tiles=2, volume_bytes=1, bytes_per_s=1), timeline=late)
    assert streamed.by_purpose["stream"] == streamed.by_part[Part.HOST] == 700
    assert streamed.bound is Part.HOST
    assert sum(streamed.by_part.values()) == 1700
    hidden = replace(streamed, timeline=replace(late, total_cycles=900))
    assert hidden.by_part[Part.HOST] == 0


def test_a_product_overflows_where_operands_buffers_and_code_are_more_than_a_tile(report):
    """0.4 MB of operands, 0.4 MB of buffers and 0.1 MB of code in 1 MB."""
    assert report.sram_bytes == 4e5
    assert not report.overflows
    assert replace(report, resident_bytes=5.1e6).overflows
    assert replace(report, code_bytes_per_tile=2.1e5).overflows
    assert not replace(report, resident_bytes=9e9, operator="softmax").overflows
