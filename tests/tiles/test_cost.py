"""The roofline at its corners, on the GC200 as shipped."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import MissingParameter
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.program import Part
from podsim.model.workload import Conv, Gather, Kind, Matmul, Operator, Pass, Stream
from podsim.tiles.cost import Rates, TileCost, cost, product_bytes

RUNS = (Pass.FORWARD, Pass.RECOMPUTE, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
COMPUTE, SRAM = 0.4, 0.25
SHAPES = st.one_of(
    st.builds(Matmul, groups=st.integers(1, 4), m=st.integers(1, 600), k=st.integers(1, 600), n=st.integers(1, 600)),
    st.builds(Matmul, m=st.integers(1, 600), k=st.integers(1, 600), n=st.integers(1, 600), weights=st.just(False)),
    st.builds(
        Conv,
        size=st.integers(1, 64),
        in_channels=st.integers(1, 64),
        out_channels=st.integers(1, 64),
        kernel=st.sampled_from([1, 3, 7]),
        stride=st.sampled_from([1, 2]),
    ),
    st.builds(
        Stream,
        elements=st.integers(1, 10**6),
        reads=st.integers(1, 9),
        writes=st.integers(1, 9),
        back_reads=st.integers(1, 9),
        back_writes=st.integers(0, 9),
        parameters=st.integers(0, 100),
    ),
    st.builds(Gather, table=st.integers(1, 1000), width=st.integers(1, 1000), lookups=st.integers(1, 1000)),
)


@pytest.fixture(scope="module")
def rates(gc200):
    return Rates(chip=gc200, precision=Precision.FP16_16, compute_efficiency=COMPUTE, sram_efficiency=SRAM)


def one(shape, **changes):
    return Operator(name="o", kind=Kind.MATMUL, shape=shape, **changes)


def superstep_s(chip):
    """A sync and the start of an exchange."""
    return (chip.sync.on_chip_cycles + chip.exchange.start_cycles) / chip.clock_hz


def test_a_huge_product_is_bound_by_the_amp(rates):
    """FLOP over peak times efficiency, all but a few per cent: exchange grows as the 2/3 power only."""
    size = 2**15
    took = cost(one(Matmul(m=size, k=size, n=size)), Pass.FORWARD, 1, rates)
    assert took.compute_s == pytest.approx(2 * size**3 / (1472 * 128 * 1.325e9 * COMPUTE), rel=1e-12)
    assert took.compute_s < took.total_s < 1.06 * took.compute_s


def test_a_tiny_product_is_bound_by_its_supersteps(rates):
    """Bring the operands, multiply, reduce: three syncs, and hardly anything else."""
    took = cost(one(Matmul(m=1, k=16, n=16)), Pass.FORWARD, 1, rates)
    assert took.sync_s == pytest.approx(3 * superstep_s(rates.chip), rel=1e-12)
    assert took.sync_s > 0.98 * took.total_s


def test_channels_come_in_groups_of_sixteen(rates):
    """A tile's AMP takes 16 input channels whether they are there or not; so do columns of the result."""

    def amp_s(k, n):
        return cost(one(Matmul(m=100, k=k, n=n)), Pass.FORWARD, 1, rates).compute_s

    assert {amp_s(k, 64) for k in range(1, 17)} == {amp_s(16, 64)}
    assert {amp_s(64, n) for n in range(17, 33)} == {amp_s(64, 32)}
    assert amp_s(17, 64) == amp_s(32, 64) == 2 * amp_s(16, 64)


def test_a_convolution_is_the_product_of_its_pixels(rates):
    """Where nothing is padded: pixels x (channels k^2) x outputs, forward, to the input, and to the weights."""
    shape = Conv(size=28, in_channels=64, out_channels=128, kernel=3, stride=2)
    flat = Matmul(m=14 * 14, k=64 * 9, n=128)
    for run in (Pass.FORWARD, Pass.RECOMPUTE):
        assert cost(one(shape), run, 4, rates) == cost(one(flat), run, 4, rates)
    assert cost(one(shape), Pass.BACKWARD, 4, rates).compute_s == pytest.approx(
        cost(one(flat), Pass.BACKWARD, 4, rates).compute_s, rel=1e-12
    )


def test_three_colours_pack_the_rows_of_a_kernel(rates):
    """The stem pads 3 channels to 4 and 4 x 49 to 208, not 3 to 16: else it would take 784 / 208 times as long."""
    stem = Conv(size=224, in_channels=3, out_channels=64, kernel=7, stride=2)
    took = cost(one(stem), Pass.FORWARD, 1, rates)
    assert took.compute_s == pytest.approx(2 * 112**2 * 208 * 64 / (rates.chip.peak_flop_per_s("16.16") * COMPUTE))


def test_vector_operators_are_bound_by_sram(rates):
    """Bytes read and written over bandwidth times efficiency, a superstep a pass over the data."""
    shape = Stream(elements=10**6, reads=5, writes=3, back_reads=6, back_writes=3)
    for run, accesses, passes in ((Pass.FORWARD, 8, 5), (Pass.BACKWARD, 9, 6)):
        took = cost(one(shape), run, 2, rates)
        bytes_per_s = 24 * 1472 * 1.325e9 * SRAM
        assert took.compute_s == pytest.approx(accesses * 2 * 10**6 * 2 / bytes_per_s, rel=1e-12)
        assert took.sync_s == pytest.approx(passes * superstep_s(rates.chip), rel=1e-12)
        assert took.exchange_s == 0


def test_a_gather_crosses_the_exchange_once(rates):
    took = cost(one(Gather(table=30522, width=1024, lookups=512)), Pass.FORWARD, 1, rates)
    chip = rates.chip
    assert took.exchange_s == pytest.approx(512 * 1024 * 2 / (4 * 1472 * 1.325e9 * chip.exchange.efficiency), rel=1e-12)


def test_a_product_exchanges_what_its_tiles_hold_as_fast_as_measured(rates):
    """4 B a cycle and tile, of which 98.7 % are reached (jia-2019)."""
    took = cost(one(Matmul(m=256, k=512, n=128)), Pass.FORWARD, 1, rates)
    held_bytes = product_bytes(256 * 512 * 128, rates.chip, Precision.FP16_16)
    assert took.exchange_s == pytest.approx(held_bytes / (4 * 1472 * 1.325e9 * 0.987), rel=1e-12)


def test_exchange_of_a_product_grows_with_the_power_of_two_thirds(rates):
    """Eight times the products have four times the surface (irony-2004)."""
    small = cost(one(Matmul(m=256, k=256, n=256)), Pass.FORWARD, 1, rates)
    large = cost(one(Matmul(m=512, k=512, n=512)), Pass.FORWARD, 1, rates)
    assert large.exchange_s == pytest.approx(4 * small.exchange_s, rel=1e-12)


def test_a_tile_with_a_cube_of_products_holds_three_faces(gc200):
    """x = s^3 products of a tile: two operands and a result of s x s elements."""
    side = 24
    assert product_bytes(side**3 * gc200.tiles, gc200, Precision.FP16_16) == pytest.approx(
        3 * side**2 * gc200.tiles * 2
    )
    assert product_bytes(1e6, gc200, Precision.FP32) == 2 * product_bytes(1e6, gc200, Precision.FP16_16)


@given(SHAPES, st.sampled_from(RUNS), st.integers(1, 4))
def test_twice_the_clock_halves_all_that_a_tile_does(rates, shape, run, rows):
    fast = replace(rates, chip=replace(rates.chip, clock_hz=2 * rates.chip.clock_hz))
    slow, quick = cost(one(shape), run, rows, rates), cost(one(shape), run, rows, fast)
    halved = TileCost(slow.compute_s / 2, slow.exchange_s / 2, slow.sync_s / 2)
    assert [part for _, part in quick.cut] == pytest.approx([part for _, part in halved.cut], rel=1e-12)


@given(SHAPES, st.sampled_from(RUNS), st.integers(1, 4))
def test_the_clock_moves_no_bandwidth_that_a_file_states(rates, shape, run, rows):
    """`chip.exchange.bandwidth` and `chip.sram.bandwidth` are bytes a second: only AMP and syncs follow the clock."""
    chip = rates.chip
    stated = replace(
        chip,
        exchange=replace(chip.exchange, bandwidth_bytes_per_s=1e12),
        sram=replace(chip.sram, bandwidth_bytes_per_s=1e13),
    )
    slow = cost(one(shape), run, rows, replace(rates, chip=stated))
    fast = cost(one(shape), run, rows, replace(rates, chip=replace(stated, clock_hz=2 * stated.clock_hz)))
    assert fast.exchange_s == slow.exchange_s
    assert fast.sync_s == pytest.approx(slow.sync_s / 2, rel=1e-12)
    if isinstance(shape, (Stream, Gather)):
        assert fast.compute_s == slow.compute_s


@given(SHAPES, st.sampled_from(RUNS), st.integers(1, 4))
def test_another_exchange_bandwidth_changes_the_exchange_and_nothing_else(rates, shape, run, rows):
    """The other reading of 47.5 TB/s, as --set chip.exchange.bandwidth gives it."""
    read_otherwise = catalog.topology("pod16", {"chip.exchange.bandwidth": "47.5 TB/s"}).value.chip
    other = cost(one(shape), run, rows, replace(rates, chip=read_otherwise))
    base = cost(one(shape), run, rows, rates)
    assert (other.compute_s, other.sync_s) == (base.compute_s, base.sync_s)
    assert other.exchange_s == pytest.approx(base.exchange_s * (4 * 1472 * 1.325e9) / 47.5e12, rel=1e-12)


@given(SHAPES, st.sampled_from(RUNS), st.integers(1, 8))
def test_more_rows_never_take_less_and_never_more_than_one_by_one(rates, shape, run, rows):
    one_row, many = cost(one(shape), run, 1, rates), cost(one(shape), run, rows, rates)
    assert one_row.total_s <= many.total_s * (1 + 1e-12)
    assert many.total_s <= rows * one_row.total_s * (1 + 1e-12)


@given(SHAPES, st.sampled_from(RUNS), st.integers(1, 4))
def test_parts_are_never_negative_and_add_up(rates, shape, run, rows):
    took = cost(one(shape), run, rows, rates)
    assert min(took.compute_s, took.exchange_s, took.sync_s) >= 0
    assert took.total_s == took.compute_s + took.exchange_s + took.sync_s
    assert dict(took.cut) == {
        Part.COMPUTE: took.compute_s,
        Part.EXCHANGE: took.exchange_s,
        Part.SYNC: took.sync_s,
    }


@given(SHAPES, st.integers(1, 4))
def test_recomputing_is_going_forward_again(rates, shape, rows):
    assert cost(one(shape), Pass.RECOMPUTE, rows, rates) == cost(one(shape), Pass.FORWARD, rows, rates)


@given(SHAPES, st.integers(1, 4))
def test_the_first_operator_of_a_model_has_no_gradient_to_pass_on(rates, shape, rows):
    assert cost(one(shape, input_gradient=False), Pass.BACKWARD, rows, rates) == TileCost()


def test_no_weights_no_weight_gradient(rates):
    """Nor any superstep for it."""
    shape = Matmul(groups=16, m=512, k=64, n=512, weights=False)
    assert cost(one(shape), Pass.WEIGHT_GRADIENT, 1, rates) == TileCost()
    assert cost(one(shape), Pass.BACKWARD, 1, rates).compute_s == pytest.approx(
        2 * cost(one(shape), Pass.FORWARD, 1, rates).compute_s
    )


def test_weight_gradients_are_added_to_an_accumulator(rates):
    """A product as large as forward, then three passes over the weights through SRAM."""
    shape = Matmul(m=512, k=1024, n=4096)
    forward, gradient = (cost(one(shape), run, 1, rates) for run in (Pass.FORWARD, Pass.WEIGHT_GRADIENT))
    added_s = 3 * 1024 * 4096 * 2 / (24 * 1472 * 1.325e9 * SRAM)
    assert gradient.compute_s == pytest.approx(forward.compute_s + added_s, rel=1e-12)


def test_float_products_run_at_the_float_rate(rates):
    """32 FLOP a cycle against 128, and twice the bytes."""
    shape = Matmul(m=512, k=512, n=512)
    half, single = (
        cost(one(shape), Pass.FORWARD, 1, replace(rates, precision=precision))
        for precision in (Precision.FP16_16, Precision.FP32)
    )
    assert single.compute_s == pytest.approx(4 * half.compute_s)
    assert single.exchange_s == pytest.approx(2 * half.exchange_s)


def test_a_precision_without_a_rate_is_refused(rates):
    chip = replace(rates.chip, amp=replace(rates.chip.amp, flop_per_cycle={Precision.FP32: 32.0}))
    with pytest.raises(MissingParameter, match=r"no AMP rate for precision 16\.16") as caught:
        cost(one(Matmul(m=1, k=1, n=1)), Pass.FORWARD, 1, replace(rates, chip=chip))
    assert "32" in caught.value.hint
