"""Look-ups and scatter-adds, against calls through PyTorch on a Bow."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.model.workload import Gather
from podsim.tiles import gather
from podsim.tiles.gather_steps import Ask, look_up
from podsim.tiles.supersteps import total

FP16, FP32 = Precision.FP16_16, Precision.FP32
BOW = catalog.chip("bow").value

# table rows, width, look-ups, cycles: hydronet-gnn, experiments/bow/gather.csv and scatter_add.csv, every sixth row
GATHERED = [
    (16, 16, 128, 1597.8),
    (32, 32, 4096, 2322.8),
    (64, 128, 4096, 4140.0),
    (128, 16, 16384, 3687.3),
    (128, 512, 4096, 9393.0),
    (256, 512, 4096, 11696.0),
    (512, 128, 1024, 3965.9),
    (1024, 64, 2048, 8461.3),
    (2048, 128, 4096, 10912.0),
    (4096, 512, 16384, 60853.2),
]
# rows added, width, table rows
SCATTERED = [
    (16, 16, 128, 2641),
    (32, 64, 4096, 4497),
    (64, 64, 128, 3488),
    (128, 32, 32768, 11413),
    (256, 256, 4096, 15686),
    (512, 64, 4096, 13138),
    (512, 256, 32768, 58242),
    (1024, 256, 256, 9510),
    (2048, 32, 1024, 8728),
    (4096, 16, 128, 6285),
    (4096, 512, 2048, 57776),
]


def cycles(plan) -> float:
    return total(plan.supersteps, BOW).total


def test_measured_gathers():
    errors = [
        abs(cycles(gather.plan(Gather(table=table, width=width, lookups=lookups), FP32, BOW)) / measured - 1)
        for table, width, lookups, measured in GATHERED
    ]
    assert statistics.median(errors) <= 0.08


def test_measured_scatter_adds():
    errors = [
        abs(cycles(gather.scatter_add(Gather(table=table, width=width, lookups=rows), FP32, BOW)) / measured - 1)
        for rows, width, table, measured in SCATTERED
    ]
    assert statistics.median(errors) <= 0.08
    assert max(errors) <= 0.25


@given(table=st.integers(1, 10**5), width=st.integers(1, 1024), lookups=st.integers(1, 4096))
def test_a_plan_uses_tiles_that_are_there_and_loses_to_nothing_it_remembers(table, width, lookups):
    plan = gather.plan(Gather(table=table, width=width, lookups=lookups), FP16, BOW, rearranged=False)
    assert plan.tiles_used <= BOW.tiles
    assert all(cohort.tiles == plan.tiles_used for step in plan.supersteps[1:] for cohort in step.cohorts)
    own = total(plan.supersteps[1:], BOW).total
    fitting = [other for other in plan.alternatives if "fit" not in other.why and "before syncs" not in other.why]
    assert all(other.cycles >= own - 1e-6 * own for other in fitting)


def test_a_table_cut_over_tiles_has_a_second_stage():
    """1,024 rows of 64 bytes and few look-ups: measured 6,933 cycles (hydronet-gnn), 2,700 without the second stage."""
    plan = gather.plan(Gather(table=1024, width=32, lookups=128), FP32, BOW)
    assert plan.splits["rows"] > 1
    assert {"indices of the second stage", "merge parts of the table"} <= {step.name for step in plan.supersteps}
    assert cycles(plan) == pytest.approx(6933, rel=0.25)


def test_more_look_ups_may_take_less_as_measured():
    """128 look-ups in a table of 512 x 128 take 7,613 cycles and 1,024 take 3,966: those need no second stage."""
    few, many = (gather.plan(Gather(table=512, width=128, lookups=count), FP32, BOW) for count in (128, 1024))
    assert few.splits["rows"] > 1 == many.splits["rows"]
    assert cycles(few) > cycles(many)


@given(st.integers(1, 4096), st.integers(1, 256), st.integers(1, 500), st.integers(0, 500))
def test_what_splits_are_compared_by_never_falls_with_look_ups(table, width, lookups, more):
    def least(count):
        ask = Ask("gather", Gather(table=table, width=width, lookups=count), 2, BOW, True, float("inf"))
        return look_up(gather.candidates(ask, 1), ask).compared.min()

    assert least(lookups) <= least(lookups + more) * (1 + 1e-12)


def test_partial_tables_are_copied_into_the_order_of_the_table():
    """A pass over the part of a tile: 16 rows added to 32,768 x 256 take 40,377 cycles, one pass of which 8,900."""
    plan = gather.scatter_add(Gather(table=32768, width=256, lookups=16), FP32, BOW)
    step = next(step for step in plan.supersteps if step.name == "partial tables in order")
    assert total((step,), BOW).total == pytest.approx(8900, rel=0.05)
    assert cycles(plan) == pytest.approx(40_377, rel=0.05)


def test_order_and_call_are_charged_only_where_asked():
    shape = Gather(table=30_522, width=1024, lookups=512)
    whole = gather.plan(shape, FP16, BOW)
    bare = gather.plan(shape, FP16, BOW, rearranged=False, overhead_cycles=0)
    assert [step.phase for step in whole.supersteps[:2]] == ["overhead", "rearrange"]
    assert whole.supersteps[2:-1] == bare.supersteps


def test_less_memory_never_makes_a_cheaper_plan():
    shape = Gather(table=4096, width=512, lookups=2048)
    costs = [cycles(gather.plan(shape, FP32, BOW, available_memory=share)) for share in (0.05, 0.1, 0.6, 1.0)]
    assert costs == sorted(costs, reverse=True)


def test_look_ups_that_do_not_fit_at_once_follow_each_other(gc200: Chip):
    shape = Gather(table=64, width=4096, lookups=100_000)
    much, little = (gather.plan(shape, FP16, gc200, available_memory=share) for share in (1.0, 0.1))
    assert much.splits["serial lookups"] < little.splits["serial lookups"]
    assert little.sram_bytes_per_tile["temporary"] <= 0.1 * gc200.sram.bytes_per_tile
    looked = next(step for step in little.supersteps if step.name == "look up")
    assert looked.repeat == little.splits["serial lookups"]


def test_what_fits_no_split_is_refused(gc200: Chip):
    with pytest.raises(Infeasible, match="temporary memory"):
        gather.scatter_add(Gather(table=10**4, width=4096, lookups=10), FP32, gc200, available_memory=0.1)
    with pytest.raises(Infeasible, match="has 638,976 B"):
        gather.plan(Gather(table=10**6, width=4096, lookups=10), FP32, gc200)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01])
def test_a_share_of_memory_is_above_0_and_at_most_1(share, gc200: Chip):
    with pytest.raises(InputError, match="share of the SRAM"):
        gather.scatter_add(Gather(table=8, width=8, lookups=8), FP16, gc200, available_memory=share)


SIZES = st.integers(0, 24).flatmap(lambda bits: st.integers(2**bits // 2 + 1, 2**bits))


@given(
    SIZES, st.integers(1, 2048), st.integers(1, 5000), st.sampled_from([gather.plan, gather.scatter_add]), st.booleans()
)
def test_what_a_tile_holds_and_receives_fits_it(table, width, lookups, planned, rearranged):
    shape = Gather(table=table, width=width, lookups=lookups)
    try:
        plan = planned(shape, FP16, BOW, rearranged=rearranged)
    except Infeasible:
        return
    content = plan.sram_bytes_per_tile
    assert sum(content.values()) <= BOW.sram.bytes_per_tile
    on_all = BOW.tiles if rearranged else plan.tiles_used
    assert content["operands"] * on_all >= 2 * table * width
    for step in plan.supersteps:
        assert sum(cohort.tiles for cohort in step.cohorts) <= BOW.tiles
        for cohort in step.cohorts:
            assert cohort.receive_bytes <= sum(content.values())


def test_a_table_that_fills_tiles_is_spread_over_those_that_hold_it():
    """16 MB for one look-up: two tiles would do the work, and hold 8 MB each."""
    plan = gather.plan(Gather(table=10**6, width=8, lookups=1), FP16, BOW)
    assert plan.tiles_used >= 16e6 / BOW.sram.bytes_per_tile
    with pytest.raises(Infeasible, match=r"needs .* B on a tile"):
        gather.plan(Gather(table=400_000_000, width=1, lookups=1), FP16, BOW)


def test_what_goes_back_leaves_from_the_tiles_that_found_it():
    """A few tiles that send all rows take longer than all that receive them: 64 rows of 8 B on one tile are 512 B."""
    plan = gather.plan(Gather(table=2, width=4, lookups=64), FP16, BOW, available_memory=1.0)
    back = plan.supersteps[-1]
    assert back.name == "other order back"
    assert back.cohorts[0].send_bytes * plan.tiles_used >= 64 * 4 * 2
