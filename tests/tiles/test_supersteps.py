"""What a superstep takes where SRAM is slower, or faster, than the chip's own."""

from dataclasses import replace

import pytest

from podsim.model.chip import Precision
from podsim.tiles import supersteps, vector


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
