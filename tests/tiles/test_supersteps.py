"""What a superstep takes where SRAM is slower, or faster, than the chip's own."""

from dataclasses import replace

import numpy as np
import pytest

from podsim.engines.des.tile_simulation import as_run
from podsim.model.chip import Precision
from podsim.model.tile_plan import Cohort, TilePlan
from podsim.tiles import supersteps, vector
from podsim.tiles.shares import step


def with_sram(chip, bytes_per_s):
    """The chip as --set chip.sram.bandwidth gives it."""
    return replace(chip, sram=replace(chip.sram, bandwidth_bytes_per_s=bytes_per_s))


def test_a_stated_sram_bandwidth_is_shared_by_loads_and_stores(gc200):
    """24 B a cycle and tile as the file has it: two loads of 8 B and a store."""
    assert supersteps.sram_rates(gc200) == (16.0, 8.0)
    assert supersteps.sram_rates(with_sram(gc200, 1472 * 1.325e9 * 12)) == pytest.approx((8.0, 4.0))


def test_a_copy_is_as_fast_as_the_sram(gc200):
    """11 cycles to start, six threads of 22, and 8 B a cycle of stores at 24 B in all."""
    elements = 1472 * 24_000
    for share in (0.5, 1.0, 2.0):
        chip = with_sram(gc200, share * gc200.sram_bytes_per_s)
        step = vector.plan(elements, ("copy",), Precision.FP16_16, chip).supersteps[0]
        assert supersteps.cycles(step, chip).compute == pytest.approx(11 + 6 * 22 + 24_000 * 2 / 8 / share)


@pytest.mark.parametrize("vectors", [("add",), ("exp",), ("multiply",)])
def test_a_vertex_waits_for_sram_that_delivers_less_than_it_asks_for(gc200, vectors):
    """On a twentieth of the bandwidth every operation of two or three vectors is bound by it."""
    chip = with_sram(gc200, gc200.sram_bytes_per_s / 20)
    step = vector.plan(1472 * 6000, vectors, Precision.FP16_16, chip).supersteps[0]
    cohort = step.cohorts[0]
    served = max(cohort.load_bytes / (16 / 20), cohort.store_bytes / (8 / 20))
    assert supersteps.cycles(step, chip).compute == pytest.approx(served)
    assert supersteps.cycles(step, gc200).compute == cohort.compute_cycles < served


AMOUNTS = {
    "compute": (0.0, 900.0, 10.0, 10.0),
    "send": (0.0, 4096.0, 0.0, 64.0),
    "receive": (0.0, 512.0, 0.0, 2048.0),
    "shared_receive": (0.0, 0.0, 0.0, 8192.0),
    "load": (0.0, 0.0, 48_000.0, 16.0),
    "store": (0.0, 0.0, 8.0, 32_000.0),
}


def test_a_superstep_of_arrays_takes_what_each_element_takes_alone_and_what_its_cohort_takes(gc200):
    """Eq. 2 once for all: numbers, arrays over candidates, cohorts of a plan, and their run as events."""
    chip = with_sram(gc200, gc200.sram_bytes_per_s / 3)
    rates = supersteps.TileRates.of(chip)
    arrays = supersteps.superstep_cycles(rates, **{name: np.array(values) for name, values in AMOUNTS.items()})
    for at in range(4):
        amounts = {name: values[at] for name, values in AMOUNTS.items()}
        alone = supersteps.superstep_cycles(rates, **amounts)
        assert alone == tuple(float(np.broadcast_to(part, 4)[at]) for part in arrays)
        compute = amounts.pop("compute")
        cohort = Cohort(tiles=2, compute_cycles=compute, **{f"{name}_bytes": value for name, value in amounts.items()})
        plan = TilePlan(
            operator="one",
            method="",
            splits={},
            supersteps=(step("one", "", (cohort,)),),
            flop=0.0,
            sram_bytes_per_tile={},
            tiles_used=2,
        )
        assert supersteps.total(plan.supersteps, chip) == supersteps.Cycles(*alone)
        assert as_run(plan, chip).cycles.total == pytest.approx(sum(alone), rel=1e-12)


def test_what_moves_nothing_has_no_exchange_and_what_moves_pays_its_start_and_fragments(gc200):
    rates = supersteps.TileRates.of(gc200)
    assert supersteps.superstep_cycles(rates, 5.0, fragments=7)[1] == 0
    _, exchange, _ = supersteps.superstep_cycles(rates, 5.0, receive=4.0, fragments=7)
    assert exchange == pytest.approx(gc200.exchange.start_cycles + 4.0 / rates.receive + 21)
