"""Cuts that are left out before they are priced are those nobody wants, and no plan depends on it."""

from dataclasses import replace

import numpy as np
import pytest

from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.workload import Conv, Matmul
from podsim.tiles import convolution, product, product_search, splitting, supersteps
from podsim.tiles.problem import Problem
from podsim.tiles.superstep_arrays import Serial, broadcast_each_time, memory_bytes, sequence, tile_elements
from podsim.tiles.vertices import OneByOne, amp

FP16 = Precision.FP16_16
GC200 = catalog.chip("gc200").value
VERTEX = OneByOne(amp.AmpVertex(FP16, 16, 16, 16))
PROBLEM = Problem(transform="as it is", groups=3, width=3000, inputs=700, outputs=5000)
REQUEST = product_search.Request(GC200, 0.3, 350.0)


def all_cuts(over):
    return splitting.Candidates.join(
        list(splitting.candidates(PROBLEM, VERTEX, GC200.tiles, product_search.PARTS, over))
    )


def rows(cuts, which=None):
    columns = [getattr(cuts.splits, name) for name in cuts.splits.__slots__] + [*cuts.field]
    columns += [getattr(cuts.tile, name) for name in cuts.tile.__slots__]
    table = np.stack([np.broadcast_to(column, cuts.splits.tiles.shape) for column in columns], axis=1)
    return table if which is None else table[which]


@pytest.mark.parametrize("block", [1 << 15, 500])
@pytest.mark.parametrize("over", ["outputs", "inputs"])
def test_kept_are_the_cuts_that_fit_and_use_three_quarters_of_the_busiest_ones_tiles(over, block, monkeypatch):
    every, serial = all_cuts(over), Serial(over)
    size = memory_bytes(PROBLEM, VERTEX, tile_elements(PROBLEM, VERTEX, every.tile, every.splits), every.splits, serial)
    needed, used = sum(size.values()), every.splits.tiles
    target = (needed <= 0.3 * GC200.sram.bytes_per_tile) & (used >= 0.75 * used.max())
    assert 0 < target.sum() < (used >= 0.5 * used.max()).sum()
    monkeypatch.setattr(splitting, "BLOCK", block)
    kept, memory = product_search._fitting_cuts(PROBLEM, VERTEX, serial, REQUEST)
    assert rows(kept).tolist() == rows(every, target).tolist()
    assert memory.tolist() == needed[target].tolist()


@pytest.mark.parametrize("over", ["outputs", "inputs"])
def test_where_none_is_kept_it_is_the_cut_of_all_that_needs_least(over):
    every, serial = all_cuts(over), Serial(over)
    size = memory_bytes(PROBLEM, VERTEX, tile_elements(PROBLEM, VERTEX, every.tile, every.splits), every.splits, serial)
    kept, memory = product_search._fitting_cuts(PROBLEM, VERTEX, serial, replace(REQUEST, available_memory=1e-4))
    assert memory.tolist() == [sum(size.values()).min()]
    assert kept.splits.tiles.size == 1


def test_inputs_sent_in_every_part_are_the_broadcast_ones_with_the_exchange_moved():
    cuts = all_cuts("outputs")
    hold = tile_elements(PROBLEM, VERTEX, cuts.tile, cuts.splits)
    once, each = (
        sequence(PROBLEM, VERTEX, cuts.tile, cuts.splits, serial, GC200, hold=hold, overhead_cycles=1.0)
        for serial in (Serial("outputs", once=True), Serial("outputs"))
    )
    moved = broadcast_each_time(once)
    assert [step.name for step in moved] == [step.name for step in each]
    for array, other in zip(moved, each, strict=True):
        for name in ("repeat", "compute", "receive", "shared", "send"):
            assert getattr(array, name).tolist() == getattr(other, name).tolist(), (array.name, name)


SHAPES = [
    lambda **request: product.plan(Matmul(m=4096, k=4096, n=4096), FP16, GC200, **request),
    lambda **request: product.plan(Matmul(m=7298, k=4364, n=3749), Precision.FP32, GC200, **request),
    lambda **request: convolution.plan(
        Conv(batch=8, size=56, in_channels=256, out_channels=512, kernel=3),
        "forward",
        FP16,
        GC200,
        available_memory=0.1,
        **request,
    ),
]


@pytest.mark.parametrize("planned", SHAPES)
def test_leaving_idle_cuts_out_changes_no_plan(planned, monkeypatch):
    plan = planned(rivals=False)
    assert any(name.startswith("serial") for name in plan.splits)
    monkeypatch.setattr(product_search, "BUSY", 0.0)
    assert planned(rivals=False) == plan
    monkeypatch.setattr(product_search, "BUSY", 1.0)
    busiest = planned(rivals=False)
    assert supersteps.total(busiest.supersteps, GC200).total >= supersteps.total(plan.supersteps, GC200).total
