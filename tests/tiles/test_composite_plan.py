"""Softmax, norms, losses and pooling as the vector passes they are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.tiles import composite
from podsim.tiles.supersteps import total

FP16, FP32 = Precision.FP16_16, Precision.FP32


def test_softmax_of_the_measured_profile():
    # seven compute sets add up to about 18,300 cycles, exchange and sync excluded (ipu-stack, SDK profile on a C600)
    chip = catalog.chip("c600").value
    plan = composite.softmax(11_664, 736, FP16, chip)
    assert len(plan.supersteps) == 7
    assert plan.tiles_used == 1458
    assert total(plan.supersteps, chip).compute == pytest.approx(18_300, rel=0.05)
    assert not any(step.exchanges for step in plan.supersteps)


def test_few_long_rows_are_cut_and_their_sums_meet(gc200: Chip):
    plan = composite.softmax(10, 30_522, FP16, gc200)
    assert plan.splits["parts"] > 100
    assert plan.tiles_used > gc200.tiles // 2
    assert sum(step.exchanges for step in plan.supersteps) >= 4


@given(rows=st.integers(1, 5000), columns=st.integers(1, 3000), backward=st.booleans())
def test_a_softmax_of_any_size_stays_on_the_chip(rows, columns, backward):
    chip = catalog.chip("gc200").value
    plan = composite.softmax(rows, columns, FP16, chip, backward=backward)
    assert all(sum(cohort.tiles for cohort in step.cohorts) <= chip.tiles for step in plan.supersteps)
    content = sum(cohort.tiles * cohort.store_bytes for step in plan.supersteps for cohort in step.cohorts)
    assert content >= 2 * 2 * rows * columns


UNEVEN = 0.003
"""Share that a shorter row may cost more: its even parts may fill the last vector of 8 B worse than a longer one's."""


def grown(rows: int, columns: int, more_rows: int, more_columns: int) -> list[tuple[int, int]]:
    return [(rows, columns), (rows + more_rows, columns), (rows, columns + more_columns)]


@pytest.mark.parametrize("planned", [composite.softmax, composite.loss])
@pytest.mark.parametrize("backward", [False, True])
@given(sizes=st.builds(grown, *[st.integers(1, 4000)] * 2, *[st.integers(0, 4000)] * 2))
def test_more_rows_or_longer_ones_are_never_faster(planned, backward, sizes):
    chip = catalog.chip("gc200").value
    least, rows, columns = (
        total(planned(*size, FP16, chip, backward=backward).supersteps, chip).total for size in sizes
    )
    assert least <= rows * (1 + 1e-9)
    assert least <= columns * (1 + UNEVEN)


def test_rows_are_cut_only_where_that_pays(gc200: Chip):
    whole, cut = (composite.softmax(497, columns, FP16, gc200) for columns in (55, 5500))
    assert (whole.splits["parts"], whole.tiles_used) == (1, 497)
    assert cut.splits["parts"] == 2
    for plan in (whole, cut):
        assert [lost.splits["parts"] for lost in plan.alternatives] == [3 - plan.splits["parts"]]
        assert plan.alternatives[0].cycles > total(plan.supersteps, gc200).total


def test_whole_rows_that_no_tile_can_hold_lose(gc200: Chip):
    plan = composite.softmax(1, 200_000, FP16, gc200, backward=True)
    longest = composite.softmax(1, 10**6, FP16, gc200, backward=True)
    assert sum(plan.sram_bytes_per_tile.values()) <= gc200.sram.bytes_per_tile
    assert longest.splits["parts"] > 4


@pytest.mark.parametrize("kind", ["layer", "batch", "group"])
@pytest.mark.parametrize("backward", [False, True])
@given(sizes=st.builds(grown, *[st.integers(1, 4000)] * 2, *[st.integers(0, 4000)] * 2))
def test_larger_norms_are_not_faster_but_by_the_rounding_of_their_sums(kind, backward, sizes):
    """One sum a tile needs a superstep more than two of them, which its threads share: 700 cycles or 410 (Eq. 39)."""
    chip = catalog.chip("gc200").value
    least, rows, columns = (
        total(composite.norm(kind, *size, FP16, chip, backward=backward).supersteps, chip).total for size in sizes
    )
    assert least <= 1.15 * min(rows, columns)


@pytest.mark.parametrize(("kind", "rows", "channels"), [("layer", 7439, 1), ("batch", 1, 6719)])
def test_sums_that_lie_on_one_tile_cross_none(kind, rows, channels, gc200: Chip):
    """Seen: a last tile that is not full made every sum one of two tiles'."""
    assert not any(step.exchanges for step in composite.norm(kind, rows, channels, FP16, gc200).supersteps)


@pytest.mark.parametrize("kind", ["layer", "batch", "group"])
def test_backward_of_a_norm_costs_more_and_both_grow_with_the_rows(kind, gc200: Chip):
    def cycles(rows: int, backward: bool) -> float:
        plan = composite.norm(kind, rows, 256, FP16, gc200, images=4, channel_groups=8, backward=backward)
        return total(plan.supersteps, gc200).total

    assert cycles(4096, False) < cycles(4096, True) < cycles(65_536, True)
    assert cycles(4096, False) < cycles(65_536, False)


def test_batch_norm_sums_each_channel_over_all_tiles(gc200: Chip):
    plan = composite.norm("batch", 20_000, 64, FP16, gc200)
    first = next(step for step in plan.supersteps if step.exchanges)
    arrived = sum(cohort.tiles * cohort.receive_bytes for cohort in first.cohorts)
    # each tile holds 16 channels and sends two floats for each of them
    assert arrived == pytest.approx(plan.tiles_used * 16 * 2 * 4, rel=0.2)


def test_a_norm_whose_tiles_hold_whole_rows_exchanges_nothing(gc200: Chip):
    plan = composite.norm("layer", 1472, 1024, FP16, gc200, tile_channels=1024)
    assert not any(step.exchanges for step in plan.supersteps)


def test_replicas_share_two_floats_a_channel():
    assert composite.statistics_bytes(64) == 512.0


def test_loss_is_a_softmax_and_more(gc200: Chip):
    softmax = composite.softmax(228, 30_522, FP16, gc200)
    loss = composite.loss(228, 30_522, FP16, gc200)
    assert loss.supersteps[: len(softmax.supersteps)] == softmax.supersteps
    back = composite.loss(228, 30_522, FP16, gc200, backward=True)
    assert total(back.supersteps, gc200).total < total(loss.supersteps, gc200).total / 3


def test_a_pool_reads_its_window_for_every_output(gc200: Chip):
    plan = composite.pool(20 * 56 * 56 * 64, 9, FP16, gc200)
    loaded = sum(cohort.tiles * cohort.load_bytes for cohort in plan.supersteps[0].cohorts)
    assert loaded == 9 * 2 * 20 * 56 * 56 * 64
    assert plan.flop == 9 * 20 * 56 * 56 * 64


@pytest.mark.parametrize(
    "planned",
    [
        lambda chip: composite.softmax(0, 5, FP16, chip),
        lambda chip: composite.norm("layer", 5, -1, FP16, chip),
        lambda chip: composite.loss(5, 0, FP16, chip),
        lambda chip: composite.pool(0, 0, FP16, chip),
    ],
)
def test_sizes_are_checked(planned, gc200: Chip):
    with pytest.raises(InputError) as refused:
        planned(gc200)
    assert refused.value.context
