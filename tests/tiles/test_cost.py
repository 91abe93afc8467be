"""The seconds of an operator are the cycles of its plans, stretched, over the clock; at corners, in closed form."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.errors import Infeasible, MissingParameter
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.model.program import Part
from podsim.model.workload import Conv, Gather, Kind, Matmul, Operator, Pass
from podsim.tiles.cost import Rates, TileCost, cost
from podsim.tiles.operator_plans import plans
from podsim.tiles.planner import Planner, PlanTarget
from podsim.tiles.supersteps import Cycles, total
from podsim.workloads import vector_operators

RUNS = (Pass.FORWARD, Pass.RECOMPUTE, Pass.BACKWARD, Pass.WEIGHT_GRADIENT)
SIZES = st.sampled_from([1, 7, 16, 60, 96, 128, 333, 512])
ELEMENTS = st.integers(1, 10**6)
FEW = settings(max_examples=settings.default.max_examples // 2)


def one(shape, kind=Kind.MATMUL, **changes):
    return Operator(name="o", kind=kind, shape=shape, **changes)


CHAINS = st.one_of(
    st.builds(vector_operators.residual, st.just("o"), ELEMENTS),
    st.builds(vector_operators.activation, st.just("o"), ELEMENTS, st.sampled_from(["relu", "gelu", "tanh"])),
    st.builds(vector_operators.scale_and_mask, st.just("o"), ELEMENTS),
    st.builds(
        lambda outs, window: vector_operators.pool("o", outs * window, window, outs), ELEMENTS, st.integers(1, 49)
    ),
)
SHARED = st.one_of(
    CHAINS,
    st.builds(lambda rows, row: vector_operators.bias("o", rows * row, row), st.integers(2, 500), st.integers(1, 2000)),
    st.builds(
        lambda rows, row: vector_operators.layer_norm("o", rows * row, row), st.integers(1, 500), st.integers(1, 2000)
    ),
    st.builds(
        lambda rows, row: vector_operators.batch_norm("o", rows * row, row), st.integers(1, 500), st.integers(1, 2000)
    ),
)
WHOLE_ROWS = st.one_of(
    st.builds(
        lambda rows, row: vector_operators.softmax("o", rows * row, row), st.integers(1, 500), st.integers(1, 2000)
    ),
    st.builds(lambda rows, row: vector_operators.loss("o", rows * row, row), st.integers(1, 500), st.integers(1, 2000)),
)
PRODUCTS = st.one_of(
    st.builds(one, st.builds(Matmul, groups=st.integers(1, 4), m=SIZES, k=SIZES, n=SIZES)),
    st.builds(one, st.builds(Matmul, groups=st.integers(1, 4), m=SIZES, k=SIZES, n=SIZES, weights=st.just(False))),
    st.builds(
        one,
        st.builds(
            Conv,
            size=st.sampled_from([7, 14, 28]),
            in_channels=st.sampled_from([3, 16, 64]),
            out_channels=st.sampled_from([16, 64]),
            kernel=st.sampled_from([1, 3]),
            stride=st.sampled_from([1, 2]),
        ),
        st.just(Kind.CONVOLUTION),
    ),
)
VECTORS = st.one_of(SHARED, WHOLE_ROWS)
GATHERS = st.builds(one, st.builds(Gather, table=SIZES, width=SIZES, lookups=SIZES), st.just(Kind.GATHER))
OPERATORS = st.one_of(VECTORS, PRODUCTS, GATHERS)


def on(chip, precision=Precision.FP16_16, stretch=1.0):
    return Rates(Planner(PlanTarget(chip, precision)), stretch)


@pytest.fixture(scope="module")
def rates(gc200):
    return on(gc200)


def parts(took):
    return [seconds for _, seconds in took.cut]


def superstep_s(chip):
    return chip.sync.on_chip_cycles / chip.clock_hz


@given(OPERATORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_seconds_are_cycles_of_the_plans_stretched_over_the_clock(rates, operator, run, rows):
    target, stretched = rates.planner.target, replace(rates, stretch=1.7)
    result = plans(operator, Pass.FORWARD if run is Pass.RECOMPUTE else run, rows, target)
    cycles = sum((total(plan.supersteps, target.chip) for plan in result), Cycles())
    expected = [1.7 * count / target.chip.clock_hz for count in (cycles.compute, cycles.exchange, cycles.sync)]
    assert parts(cost(operator, run, rows, stretched)) == pytest.approx(expected, rel=1e-12)


def test_a_table_for_which_no_split_fits_is_looked_up_in_parts(rates):
    """The gradient of 128,100 × 768 needs three copies of a tile's share, 402 of 383 kB: of half the table it fits."""
    target = PlanTarget(rates.planner.target.chip, Precision.FP16_16)
    whole, half = (
        plans(Operator(name="o", kind=Kind.GATHER, shape=Gather(table=rows, width=768, lookups=512)), run, 1, target)[0]
        for rows, run in ((128100, Pass.WEIGHT_GRADIENT), (64050, Pass.WEIGHT_GRADIENT))
    )
    assert whole.splits == {**half.splits, "table parts in turn": 2}
    assert [step.repeat for step in whole.supersteps] == [2 * step.repeat for step in half.supersteps]
    assert whole.sram_bytes_per_tile == half.sram_bytes_per_tile
    with pytest.raises(Infeasible):
        plans(
            Operator(name="o", kind=Kind.GATHER, shape=Gather(table=1, width=10**9, lookups=512)),
            Pass.FORWARD,
            1,
            target,
        )


def test_a_chain_of_vector_operations_by_hand(rates):
    """A million halves: 680 on the fullest tile, 114 of them on a thread, 29 vectors.

    An add takes 11 + 6 (26 + 3 x 29) cycles, a scale 11 + 6 (20 + 2 x 29), a mask 11 + 6 (19 + 2 x 29).
    """
    add, scale, mask = 11 + 6 * (26 + 3 * 29), 11 + 6 * (20 + 2 * 29), 11 + 6 * (19 + 2 * 29)
    clock, sync_s = rates.planner.target.chip.clock_hz, superstep_s(rates.planner.target.chip)
    summed = cost(vector_operators.residual("o", 10**6), Pass.FORWARD, 1, rates)
    assert parts(summed) == pytest.approx([add / clock, 0, sync_s], rel=1e-12)
    scores = vector_operators.scale_and_mask("o", 10**6)
    forward, backward = (cost(scores, run, 1, rates) for run in (Pass.FORWARD, Pass.BACKWARD))
    assert parts(forward) == pytest.approx([(scale + mask) / clock, 0, 2 * sync_s], rel=1e-12)
    assert parts(backward) == pytest.approx([scale / clock, 0, sync_s], rel=1e-12)


def test_a_huge_product_is_bound_by_the_amp(rates):
    """FLOP over the peak, all but a few per cent: what is not, is the reduction and the edges of blocks."""
    size = 2**15
    took = cost(one(Matmul(m=size, k=size, n=size)), Pass.FORWARD, 1, rates)
    peak_s = 2 * size**3 / (1472 * 128 * 1.325e9)
    assert peak_s < took.compute_s < 1.03 * peak_s
    assert took.compute_s < took.total_s < 1.06 * peak_s


def test_a_tiny_operator_is_bound_by_its_start(rates):
    """One vector takes 11 + 6 (26 + 3) cycles and a sync, four million times as many no more than 4,000 times that."""
    tiny, large = (
        cost(vector_operators.residual("o", count), Pass.FORWARD, 1, rates) for count in (4, 4 * 1472 * 6 * 100)
    )
    chip = rates.planner.target.chip
    assert tiny.total_s == pytest.approx((185 + chip.sync.on_chip_cycles) / chip.clock_hz, rel=1e-12)
    assert large.compute_s == pytest.approx((11 + 6 * (26 + 3 * 100)) / chip.clock_hz, rel=1e-12)


def test_three_colours_are_not_padded_to_sixteen(rates):
    """The stem on a micro-batch of 20 images: padded it would take as long as with 16 channels."""
    three, sixteen = (
        cost(
            one(Conv(size=224, in_channels=channels, out_channels=64, kernel=7, stride=2), Kind.CONVOLUTION),
            Pass.FORWARD,
            20,
            rates,
        )
        for channels in (3, 16)
    )
    peak_s = 20 * 2 * 112**2 * 3 * 49 * 64 / (1472 * 128 * 1.325e9)
    assert peak_s < three.compute_s < three.total_s < 0.75 * sixteen.total_s


def test_a_gather_moves_every_row_once(rates):
    took = cost(one(Gather(table=30522, width=1024, lookups=512), Kind.GATHER), Pass.FORWARD, 1, rates)
    chip = rates.planner.target.chip
    assert took.exchange_s >= 512 * 1024 * 2 / (chip.exchange_bytes_per_s * chip.exchange.efficiency)


def test_exchange_of_a_product_grows_slower_than_its_arithmetic(rates):
    """Eight times the products have four times the surface (irony-2004); never eight times."""
    small, large = (cost(one(Matmul(m=s, k=s, n=s)), Pass.FORWARD, 1, rates) for s in (1024, 2048))
    assert 1 < large.exchange_s / small.exchange_s < 5 < large.compute_s / small.compute_s < 9


def test_no_weights_no_weight_gradient(rates):
    """Nor any superstep for it; backward makes the gradients of both operands."""
    shape = Matmul(groups=16, m=512, k=64, n=512, weights=False)
    assert cost(one(shape), Pass.WEIGHT_GRADIENT, 1, rates) == TileCost()
    forward, backward = (cost(one(shape), run, 1, rates) for run in (Pass.FORWARD, Pass.BACKWARD))
    assert 1.5 * forward.compute_s < backward.compute_s < 4 * forward.compute_s


@given(OPERATORS)
@FEW
def test_the_first_operator_of_a_model_has_no_gradient_to_hand_on(rates, operator):
    first = replace(operator, input_gradient=False)
    assert cost(first, Pass.BACKWARD, 1, rates) == TileCost()
    assert cost(first, Pass.FORWARD, 1, rates) == cost(operator, Pass.FORWARD, 1, rates)


def test_weight_gradients_are_added_to_an_accumulator(rates):
    """An add over the weights after the product: 11 + 6 (26 + 3 x 119) cycles and a sync for 4,194,304 halves."""
    shape, target = Matmul(m=512, k=1024, n=4096), rates.planner.target
    made, added = plans(one(shape), Pass.WEIGHT_GRADIENT, 1, target)
    cycles = total(added.supersteps, target.chip)
    assert (cycles.compute, cycles.exchange) == (11 + 6 * (26 + 3 * 119), 0)
    whole = total(made.supersteps, target.chip) + cycles
    took = cost(one(shape), Pass.WEIGHT_GRADIENT, 1, rates)
    assert took.total_s == pytest.approx(whole.total / target.chip.clock_hz, rel=1e-12)


def test_float_products_run_at_the_float_rate(gc200):
    """32 FLOP a cycle against 128."""
    shape = Matmul(m=4096, k=4096, n=4096)
    half, single = (
        cost(one(shape), Pass.FORWARD, 1, on(gc200, precision)) for precision in (Precision.FP16_16, Precision.FP32)
    )
    assert single.compute_s == pytest.approx(4 * half.compute_s, rel=0.1)
    assert single.exchange_s > half.exchange_s


def test_a_precision_without_a_rate_is_refused(gc200):
    chip = replace(gc200, amp=replace(gc200.amp, flop_per_cycle={Precision.FP32: 32.0}))
    with pytest.raises(MissingParameter, match=r"no AMP rate for precision 16\.16") as caught:
        cost(one(Matmul(m=64, k=64, n=64)), Pass.FORWARD, 1, on(chip))
    assert "32" in caught.value.hint


@given(OPERATORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_twice_the_clock_halves_all_that_a_tile_does(gc200, operator, run, rows):
    slow, quick = (cost(operator, run, rows, on(chip)) for chip in (gc200, replace(gc200, clock_hz=2 * gc200.clock_hz)))
    assert parts(quick) == pytest.approx([seconds / 2 for seconds in parts(slow)], rel=1e-12)


@given(VECTORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_the_clock_moves_no_exchange_bandwidth_that_a_file_states(gc200, operator, run, rows):
    """`chip.exchange.bandwidth` is bytes a second: only what tiles compute, syncs and starts follow the clock."""
    exchange = replace(gc200.exchange, bandwidth_bytes_per_s=1e12, start_cycles=0.0)
    slow, fast = (
        cost(operator, run, rows, on(replace(gc200, exchange=exchange, clock_hz=by * gc200.clock_hz))) for by in (1, 2)
    )
    assert fast.exchange_s == pytest.approx(slow.exchange_s, rel=1e-12)
    assert (fast.compute_s, fast.sync_s) == pytest.approx((slow.compute_s / 2, slow.sync_s / 2), rel=1e-12)


def otherwise():
    """The other reading of 47.5 TB/s, as --set chip.exchange.bandwidth gives it."""
    return catalog.topology("pod16", {"chip.exchange.bandwidth": "47.5 TB/s"}).value.chip


@given(VECTORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_another_exchange_bandwidth_changes_the_exchange_and_nothing_else(gc200, operator, run, rows):
    """Where nothing is to choose: starts stay, bytes go 6 times as fast."""
    faster = 47.5e12 / (4 * 1472 * 1.325e9)
    base, other = (cost(operator, run, rows, on(chip)) for chip in (gc200, otherwise()))
    assert (other.compute_s, other.sync_s) == (base.compute_s, base.sync_s)
    result = plans(operator, Pass.FORWARD if run is Pass.RECOMPUTE else run, rows, PlanTarget(gc200, Precision.FP16_16))
    supersteps = [step for plan in result for step in plan.supersteps]
    starts_s = sum(s.repeat * s.exchanges for s in supersteps) * gc200.exchange.start_cycles / gc200.clock_hz
    assert other.exchange_s - starts_s == pytest.approx((base.exchange_s - starts_s) / faster, rel=1e-9, abs=1e-15)


@given(PRODUCTS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_a_faster_exchange_never_makes_a_slower_product(gc200, operator, run, rows):
    """Which may then be cut otherwise."""
    base, other = (cost(operator, run, rows, on(chip)) for chip in (gc200, otherwise()))
    assert other.total_s <= base.total_s * (1 + 1e-12)


@given(st.one_of(SHARED, PRODUCTS), st.sampled_from(RUNS), st.integers(2, 8))
@FEW
def test_more_rows_never_take_more_than_one_by_one(rates, operator, run, rows):
    """Where elements spread over all tiles: whole rows of a softmax or loss may leave some of them idle.

    More look-ups may need a second stage.
    """
    one_row, many = cost(operator, run, 1, rates), cost(operator, run, rows, rates)
    assert many.total_s <= rows * one_row.total_s * (1 + 1e-12)


@given(CHAINS, st.sampled_from(RUNS), st.integers(2, 8))
@FEW
def test_more_rows_never_take_less(rates, operator, run, rows):
    """Where there is nothing to cut another way: a product with more rows, or a softmax with whole ones, may gain.

    So may a gather, as measured (test_gather_plan.py).
    """
    assert cost(operator, run, 1, rates).total_s <= cost(operator, run, rows, rates).total_s * (1 + 1e-12)


@given(PRODUCTS, st.sampled_from(RUNS), st.integers(1, 8))
@FEW
def test_no_product_beats_the_amp(rates, operator, run, rows):
    """Its FLOP over the peak of the chip."""
    chip = rates.planner.target.chip
    peak_s = operator.flop(run, rows) / chip.peak_flop_per_s(rates.planner.target.precision)
    assert cost(operator, run, rows, rates).compute_s >= peak_s * (1 - 1e-12)


@given(OPERATORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_parts_are_never_negative_and_add_up(rates, operator, run, rows):
    took = cost(operator, run, rows, rates)
    assert min(parts(took)) >= 0
    assert took.total_s == took.compute_s + took.exchange_s + took.sync_s
    assert dict(took.cut) == {
        Part.COMPUTE: took.compute_s,
        Part.EXCHANGE: took.exchange_s,
        Part.SYNC: took.sync_s,
    }


@given(OPERATORS, st.integers(1, 3))
@FEW
def test_recomputing_is_going_forward_again(rates, operator, rows):
    assert cost(operator, Pass.RECOMPUTE, rows, rates) == cost(operator, Pass.FORWARD, rows, rates)


def with_sram(chip, bytes_per_s):
    """The chip as --set chip.sram.bandwidth gives it."""
    return replace(chip, sram=replace(chip.sram, bandwidth_bytes_per_s=bytes_per_s))


@given(OPERATORS, st.sampled_from(RUNS), st.integers(1, 3))
@FEW
def test_slower_sram_is_never_faster(gc200, operator, run, rows):
    chips = [with_sram(gc200, share * gc200.sram_bytes_per_s) for share in (0.2, 0.7, 1.0, 3.0)]
    times = [cost(operator, run, rows, on(chip)).total_s for chip in chips]
    assert all(late >= soon * (1 - 1e-9) for late, soon in itertools.pairwise(times))


def test_products_wait_for_the_sram_too(gc200):
    """A block streams 32 B of inputs and 32 of sums in four cycles: on half the bandwidth in eight."""
    product = one(Matmul(m=4096, k=4096, n=4096))
    full, half = (cost(product, Pass.FORWARD, 1, on(with_sram(gc200, share * 46.8e12))) for share in (1, 0.5))
    assert 1.4 < half.compute_s / full.compute_s < 2
