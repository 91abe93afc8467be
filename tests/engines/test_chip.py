"""Tiles in supersteps: the simulation, folded or not, against the closed form and against what must hold."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines.des import tile_simulation as engine
from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip
from podsim.model.chip_timeline import ChipTimeline, IoTiles
from podsim.model.fabric import Topology
from podsim.model.program import Part
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.supersteps import total


def plan(*steps: Superstep) -> TilePlan:
    return TilePlan(
        operator="by hand",
        method="vector",
        splits={},
        supersteps=steps,
        flop=0.0,
        sram_bytes_per_tile={"activations": 640.0},
        tiles_used=10,
    )


def spent(timeline: ChipTimeline) -> float:
    return sum(
        share.tiles * (share.compute_cycles + share.exchange_cycles + share.sync_cycles + share.stream_cycles)
        for share in timeline.shares
    )


@pytest.fixture
def tiny_chip(tiny: Topology) -> Chip:
    """10 tiles, ports of 1 B a cycle (2 shared), 100 cycles a sync, no start."""
    return tiny.chip


HALVES = Superstep(
    name="halves",
    phase="multiply",
    cohorts=(
        Cohort(tiles=4, compute_cycles=500.0, receive_bytes=30.0),
        Cohort(tiles=3, compute_cycles=200.0, send_bytes=40.0),
    ),
)


def test_a_superstep_by_hand(tiny_chip: Chip) -> None:
    """A sync of 100, an exchange as long as its busiest port (40), and 500 of the slowest tile."""
    timeline = engine.run(plan(HALVES), tiny_chip)
    assert timeline.total_cycles == 640.0
    first, second, nobody = timeline.shares
    assert (first.first_tile, first.tiles, first.compute_cycles, first.exchange_cycles, first.idle_cycles) == (
        0,
        4,
        500.0,
        30.0,
        10.0,
    )
    assert (second.first_tile, second.tiles, second.compute_cycles, second.idle_cycles) == (4, 3, 200.0, 300.0)
    assert (nobody.first_tile, nobody.tiles, nobody.sync_cycles, nobody.idle_cycles) == (7, 3, 100.0, 540.0)
    assert timeline.idle == pytest.approx((4 * 10 + 3 * 300 + 3 * 540) / 6400)
    assert timeline.sram_bytes_per_tile == {"activations": 640.0}


def test_compute_starts_when_the_exchange_of_all_tiles_is_through(tiny_chip: Chip) -> None:
    spans = engine.run(plan(HALVES), tiny_chip).spans
    starts = {span.start_cycles for span in spans if span.part is Part.COMPUTE}
    assert starts == {140.0}
    assert {span.end_cycles for span in spans if span.part is Part.EXCHANGE} == {130.0, 140.0}


def test_tiles_are_cut_where_any_cohort_ends(tiny_chip: Chip) -> None:
    other = Superstep(name="reduce", phase="reduce", cohorts=(Cohort(tiles=6, compute_cycles=70.0),))
    timeline = engine.run(plan(HALVES, other), tiny_chip)
    assert [(share.first_tile, share.tiles) for share in timeline.shares] == [(0, 4), (4, 2), (6, 1), (7, 3)]
    assert [share.compute_cycles for share in timeline.shares] == [570.0, 270.0, 200.0, 0.0]


def test_repeats_follow_each_other_in_one_span_unless_unfolded(tiny_chip: Chip) -> None:
    thrice = plan(replace(HALVES, repeat=3))
    folded, full = engine.run(thrice, tiny_chip), engine.run(thrice, tiny_chip, unfolded=True)
    assert folded.total_cycles == full.total_cycles == 3 * 640.0
    assert (len(folded.spans), folded.events) == (7, 7)  # 3 groups sync, 2 exchange, 2 compute
    assert full.events == 3 * (10 + 7 + 7)


def test_a_plan_without_supersteps_takes_no_time(tiny_chip: Chip) -> None:
    timeline = engine.run(plan(), tiny_chip)
    assert (timeline.total_cycles, timeline.idle, timeline.spans) == (0.0, 0.0, ())


BYTES = st.floats(1e-3, 1e6) | st.just(0.0)
COHORTS = st.builds(
    Cohort,
    tiles=st.integers(1, 5),
    compute_cycles=st.floats(0, 1e6),
    send_bytes=BYTES,
    receive_bytes=BYTES,
    shared_receive_bytes=BYTES,
)
STEPS = st.builds(
    Superstep,
    name=st.just("step"),
    phase=st.just("multiply"),
    cohorts=st.lists(COHORTS, max_size=2).map(tuple),
    repeat=st.integers(0, 4),
    fragments=st.integers(0, 50),
)


@settings(max_examples=settings.default.max_examples // 2)
@given(steps=st.lists(STEPS, max_size=5))
def test_folded_unfolded_and_closed_form_are_one(tiny: Topology, gc200: Chip, steps: list[Superstep]) -> None:
    given_plan = plan(*steps)
    for chip in (tiny.chip, replace(gc200, tiles=16)):
        expected = total(steps, chip).total
        folded, full = engine.run(given_plan, chip), engine.run(given_plan, chip, unfolded=True)
        assert folded.total_cycles == pytest.approx(expected, rel=1e-9)
        assert full.total_cycles == pytest.approx(expected, rel=1e-9)
        assert spent(folded) == pytest.approx(spent(full), rel=1e-9)
        assert folded.idle == pytest.approx(full.idle, abs=1e-9)
        assert sum(share.tiles for share in folded.shares) == len(full.shares) == chip.tiles


@settings(max_examples=settings.default.max_examples // 2)
@given(steps=st.lists(STEPS, min_size=1, max_size=4), unfolded=st.booleans())
def test_cycles_of_every_tile_add_up(tiny: Topology, steps: list[Superstep], *, unfolded: bool) -> None:
    timeline = engine.run(plan(*steps), tiny.chip, unfolded=unfolded)
    for share in timeline.shares:
        busy = share.compute_cycles + share.exchange_cycles + share.sync_cycles
        assert busy + share.idle_cycles == pytest.approx(timeline.total_cycles, rel=1e-9, abs=1e-6)


def test_all_1472_tiles_run_as_processes_of_their_own(gc200: Chip) -> None:
    step = Superstep(
        name="multiply",
        phase="multiply",
        cohorts=(
            Cohort(tiles=1455, compute_cycles=57_000.0, receive_bytes=7_836.0, shared_receive_bytes=85_920.0),
            Cohort(tiles=1, compute_cycles=41_000.0, receive_bytes=7_836.0, send_bytes=5_000.0),
        ),
        repeat=2,
    )
    timeline = engine.run(plan(step), gc200, unfolded=True)
    assert len(timeline.shares) == 1472
    assert timeline.total_cycles == pytest.approx(total([step], gc200).total, rel=1e-9)
    assert timeline.shares[-1].idle_cycles == pytest.approx(timeline.total_cycles - 2 * gc200.sync.on_chip_cycles)


def test_io_tiles_stream_beside_compute(tiny_chip: Chip) -> None:
    """640 cycles of plan hide a stream of 500 (1 GHz, 1 GB/s); then a sync, and 250 B through each of 2 ports."""
    timeline = engine.run(plan(HALVES), tiny_chip, io=IoTiles(tiles=2, volume_bytes=500.0, bytes_per_s=1e9))
    assert timeline.total_cycles == 640.0 + 100.0 + 250.0
    assert timeline.shares[-1].stream_cycles == 500.0
    assert (timeline.shares[-1].first_tile, timeline.shares[-1].tiles) == (8, 2)
    slow = engine.run(plan(HALVES), tiny_chip, io=IoTiles(tiles=2, volume_bytes=500.0, bytes_per_s=0.5e9))
    assert slow.total_cycles == 1000.0 + 100.0 + 250.0


def test_compute_tiles_take_what_many_io_tiles_send_at_their_own_rate(tiny_chip: Chip) -> None:
    superstep = Superstep(name="one", phase="vector", cohorts=(Cohort(tiles=1, compute_cycles=10.0),))
    timeline = engine.run(plan(superstep), tiny_chip, io=IoTiles(tiles=9, volume_bytes=900.0, bytes_per_s=1e12))
    assert timeline.total_cycles == pytest.approx(110.0 + 100.0 + 900.0)


def test_what_does_not_fit_is_refused_before_it_runs(tiny_chip: Chip) -> None:
    with pytest.raises(Infeasible, match="needs 11 tiles; 10 of tiny") as refused:
        engine.run(plan(replace(HALVES, cohorts=(Cohort(tiles=11),))), tiny_chip)
    assert refused.value.hint == ""
    with pytest.raises(Infeasible, match="needs 7 tiles; 6 of tiny") as refused:
        engine.run(plan(HALVES), tiny_chip, io=IoTiles(tiles=4, volume_bytes=1.0, bytes_per_s=1.0))
    assert "at most 3 IO tiles" in refused.value.hint
    with pytest.raises(Infeasible, match="2 IO tiles hold 2,000,000 B") as refused:
        engine.run(plan(HALVES), tiny_chip, io=IoTiles(tiles=2, volume_bytes=2.5e6, bytes_per_s=1e9))
    assert "at least 3 IO tiles" in refused.value.hint


@pytest.mark.parametrize(
    "wrong", [(0, 1.0, 1.0), (10, 1.0, 1.0), (1, -1.0, 1.0), (1, 1.0, 0.0), (1, 1.0, float("nan"))]
)
def test_io_tiles_that_cannot_be_are_input_errors(tiny_chip: Chip, wrong: tuple[int, float, float]) -> None:
    tiles, volume, rate = wrong
    with pytest.raises(InputError, match="IO tiles"):
        engine.run(plan(HALVES), tiny_chip, io=IoTiles(tiles=tiles, volume_bytes=volume, bytes_per_s=rate))
