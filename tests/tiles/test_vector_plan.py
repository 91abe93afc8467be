"""Elementwise chains, against vertices timed on hardware."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.tiles import vector
from podsim.tiles.supersteps import total

FP16, FP32 = Precision.FP16_16, Precision.FP32


def cycles(plan, chip):
    return total(plan.supersteps, chip).total


@pytest.mark.parametrize(
    ("operation", "elements", "measured"),
    [  # one tile of a Bow, launch and sync in the count (tessellate-ipu tests and basics notebook)
        ("scaled_add", 64, 375),
        ("scaled_add", 128, 467),
        ("scaled_add", 256, 665),
        ("scaled_add", 512, 1043),
        ("add", 4, 330),
        ("add", 1024, 1860),
    ],
)
def test_measured_vertices(operation, elements, measured):
    chip = catalog.chip("bow").value
    assert cycles(vector.plan(elements, (operation,), FP32, chip, tiles=1), chip) == pytest.approx(measured, rel=0.08)


def test_stream_triad_reaches_the_measured_bandwidth(gc200: Chip):
    # 46.55 TB/s on one GC200 (simehaa-ipu, STREAMTriad/README.md); three arrays that fill nine tenths of the SRAM
    elements = 48_000 * gc200.tiles
    plan = vector.stream(elements, FP32, gc200, reads=2, writes=1)
    reached = 3 * 4 * elements * gc200.clock_hz / cycles(plan, gc200)
    assert reached == pytest.approx(46.55e12, rel=0.02)
    assert plan.flop == 2 * elements


def test_random_numbers_of_mk1():
    # 944 Gsamples/s of uniform float samples (jia-2019, section 5.3)
    chip = catalog.chip("gc2").value
    elements = 10_000 * chip.tiles
    rate = elements * chip.clock_hz / cycles(vector.plan(elements, ("uniform",), FP32, chip), chip)
    assert rate == pytest.approx(944e9, rel=0.05)


def test_a_chain_is_the_sum_of_its_operations_and_fusing_it_is_cheaper(gc200: Chip):
    chain = ("bias", "gelu", "dropout")
    parts = sum(cycles(vector.plan(10**6, (text,), FP16, gc200), gc200) for text in chain)
    assert cycles(vector.plan(10**6, chain, FP16, gc200), gc200) == parts
    assert cycles(vector.plan(10**6, chain, FP16, gc200, fused=True), gc200) < parts - 2 * gc200.sync.on_chip_cycles


def test_a_fused_chain_of_one_is_that_one(gc200: Chip):
    alone, fused = (vector.plan(10**6, ("exp",), FP16, gc200, fused=flag).supersteps for flag in (False, True))
    assert alone == fused


@given(elements=st.integers(1, 10**7), operation=st.sampled_from(sorted(vector.OPERATIONS)))
def test_all_elements_are_stored_once(elements, operation):
    chip = catalog.chip("gc200").value
    plan = vector.plan(elements, (operation,), FP16, chip)
    assert sum(cohort.tiles * cohort.store_bytes for cohort in plan.supersteps[0].cohorts) == 2 * elements
    assert plan.tiles_used <= chip.tiles


def test_an_operand_that_lies_elsewhere_is_exchanged_first(gc200: Chip):
    near, far = (vector.plan(10**6, ("add",), FP16, gc200, arriving_operands=moved) for moved in (0, 1))
    assert [step.exchanges for step in far.supersteps] == [True, False]
    assert far.supersteps[1:] == near.supersteps


@pytest.mark.parametrize("operations", [("gelo",), ()])
def test_unknown_operations_are_refused(operations, gc200: Chip):
    with pytest.raises(InputError) as refused:
        vector.plan(10, operations, FP16, gc200)
    assert "gelu" in refused.value.hint


def test_more_than_the_chip_holds_is_refused(gc200: Chip):
    with pytest.raises(Infeasible, match="638,976"):
        vector.plan(10**9, ("add",), FP32, gc200)
    with pytest.raises(InputError, match="cannot be planned"):
        vector.plan(0, ("add",), FP32, gc200)
