"""A cut written down: the cheapest that fits, its tiles all in cohorts, what it lost against in full."""

import math

import numpy as np
import pytest

from podsim.model.chip import Precision
from podsim.tiles import amp
from podsim.tiles.problem import Problem
from podsim.tiles.product_search import Request, search
from podsim.tiles.supersteps import total
from podsim.tiles.vertices import OneByOne
from podsim.tiles.writing import RIVALS, plan


@pytest.fixture(scope="module")
def request_of(gc200):
    return lambda share=0.6: Request(gc200, share, 0.0)


def ways_of(request, *sizes):
    ways = []
    for width, inputs, outputs in sizes:
        problem = Problem(transform="pixels in one row", width=width, inputs=inputs, outputs=outputs)
        ways += [(problem, OneByOne(shape)) for shape in amp.shapes(request.chip, Precision.FP16_16, outputs)]
    return search(tuple(ways), request)


@pytest.fixture(scope="module")
def uneven(request_of):
    """Sizes that no number of tiles divides."""
    ways, limit = ways_of(request_of(), (1000, 100, 72))
    return ways, limit, plan(ways, limit, request_of(), name="o", flop=2.0 * 1000 * 100 * 72)


def test_the_cheapest_cut_that_fits_is_written(uneven, gc200):
    """Of all cuts within the limit none takes fewer cycles than the supersteps that are written."""
    ways, limit, result = uneven
    least = min(float(way.cycles[way.sram_bytes <= limit].min()) for way in ways)
    assert total(result.supersteps, gc200).total == pytest.approx(least, rel=0.02)
    assert sum(result.sram_bytes_per_tile.values()) <= limit
    assert (result.operator, result.flop, result.method) == ("o", 14.4e6, ways[0].vertex.method)


def test_every_tile_is_in_a_cohort_of_every_superstep(uneven, gc200):
    result = uneven[2]
    for step in result.supersteps:
        assert sum(cohort.tiles for cohort in step.cohorts) == gc200.tiles
        assert len(set(step.cohorts)) == len(step.cohorts)
    assert 0 < result.tiles_used <= math.prod(result.splits.values())


def test_only_what_multiplies_reads_and_writes_sram(uneven):
    loads = {step.phase: sum(cohort.load_bytes for cohort in step.cohorts) for step in uneven[2].supersteps}
    assert loads.pop("multiply") > 0
    assert set(loads.values()) <= {0.0}


def test_layouts_are_in_groups_of_the_grains(uneven):
    result, vertex = uneven[2], uneven[0][0].vertex
    assert result.layout_in == f"input channels in groups of {vertex.in_grain}"
    assert result.layout_out == f"output channels in groups of {vertex.out_grain}"


def test_rivals_lost_the_cheapest_first(uneven):
    """Each differs from what was chosen, and takes more or does not fit."""
    _, limit, result = uneven
    rivals = result.alternatives
    assert 0 < len(rivals) <= RIVALS
    assert [rival.cycles for rival in rivals] == sorted(rival.cycles for rival in rivals)
    assert all(rival.splits != result.splits for rival in rivals)
    for rival in rivals:
        assert ("do not fit" in rival.why) is (rival.sram_bytes_per_tile > limit)
        if rival.sram_bytes_per_tile <= limit:
            assert not rival.why.split(": ")[1].startswith("-")
    assert len({(rival.why.partition(":")[0], *rival.splits.items()) for rival in rivals}) == len(rivals)


def test_rivals_are_left_out_where_nobody_asks(uneven, request_of):
    ways, limit, result = uneven
    bare = plan(ways, limit, request_of(), name="o", flop=1.0, rivals=False)
    assert bare.alternatives == ()
    assert (bare.splits, bare.supersteps) == (result.splits, result.supersteps)


def test_splits_are_named_where_they_split_and_a_row_is_a_field(uneven):
    splits = uneven[2].splits
    assert {"field", "inputs", "outputs"} <= set(splits)
    assert "width" not in splits
    assert all(value > 1 for name, value in splits.items() if name not in ("field", "inputs", "outputs"))


def test_what_does_not_fit_in_one_pass_is_cut_into_serial_parts(request_of):
    """A large product, where a tile has a seventh of its memory for it."""
    request = request_of(0.15)
    ways, limit = ways_of(request, (8192, 4096, 4096))
    result = plan(ways, limit, request, name="o", flop=1.0)
    serial = [name for name in result.splits if name.startswith("serial ")]
    assert len(serial) == 1
    assert result.splits[serial[0]] > 1
    assert sum(result.sram_bytes_per_tile.values()) <= limit
    assert any(step.repeat == result.splits[serial[0]] for step in result.supersteps)


def test_of_two_ways_that_cost_the_same_the_earlier_is_taken(uneven, request_of):
    ways, limit, result = uneven
    twice = [*ways, *ways]
    assert plan(twice, limit, request_of(), name="o", flop=14.4e6).splits == result.splits
    assert np.isfinite(ways[0].cycles).all()
