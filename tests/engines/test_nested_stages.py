"""Stages whose supersteps run as events: the closed form of their maximum, tiles folded or not, kept results."""

from dataclasses import replace

import pytest
from engines.worlds import published
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.caches.tables import TABLES
from podsim.engines.des import tile_simulation as engine
from podsim.lowering import work
from podsim.lowering.work import stage_plans, stage_work
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.tiles.planner import Planner
from podsim.tiles.supersteps import AsRun, total

SHIPPED = [("bert", "pod16"), ("resnet50", "pod16")]


@pytest.fixture
def from_nothing(monkeypatch):
    """No result of an earlier test, and no folder of results."""
    monkeypatch.setenv("PODSIM_CACHE", "")
    TABLES.clear()


def uneven(*, loads, repeat=1):
    """Tiles that compute, send and receive unequally: one cohort for each of `loads`."""
    cohorts = tuple(
        Cohort(tiles=tiles, compute_cycles=compute, send_bytes=send, receive_bytes=receive)
        for tiles, compute, send, receive in loads
    )
    step = Superstep(name="uneven", phase="multiply", cohorts=cohorts, repeat=repeat)
    return TilePlan(
        operator="uneven",
        method="vector",
        splits={},
        supersteps=(step,),
        flop=0.0,
        sram_bytes_per_tile={},
        tiles_used=sum(load[0] for load in loads),
    )


LOADS = st.lists(
    st.tuples(st.integers(1, 3), st.floats(0, 1e5), st.floats(0, 1e4), st.floats(0, 1e4)), min_size=1, max_size=3
)


@settings(max_examples=settings.default.max_examples // 2)
@given(loads=LOADS, repeat=st.integers(1, 3))
def test_tiles_with_unequal_work_take_the_largest_of_each_part(tiny, loads, repeat):
    """Sync of 100 cycles, ports of 1 B a cycle, no start: maxima by hand, whatever the closed form in podsim says."""
    run = engine.as_run(uneven(loads=loads, repeat=repeat), tiny.chip)
    compute = max(load[1] for load in loads)
    port = max(max(load[2], load[3]) for load in loads)
    assert run.cycles.compute == pytest.approx(repeat * compute, rel=1e-9, abs=1e-6)
    assert run.cycles.exchange == pytest.approx(repeat * port, rel=1e-9, abs=1e-6)
    assert run.cycles.sync == pytest.approx(repeat * 100.0)
    busy = sum(tiles * (work + max(sent, come)) for tiles, work, sent, come in loads) / tiny.chip.tiles
    assert run.idle == pytest.approx(repeat * (compute + port - busy), rel=1e-6, abs=1e-3)


@settings(max_examples=settings.default.max_examples // 2)
@given(loads=LOADS, repeat=st.integers(1, 3))
def test_cohorts_are_all_their_tiles(tiny, loads, repeat):
    plan = uneven(loads=loads, repeat=repeat)
    folded, full = engine.as_run(plan, tiny.chip), engine.run(plan, tiny.chip, unfolded=True)
    assert folded.cycles.total == pytest.approx(full.total_cycles, rel=1e-9, abs=1e-6)
    assert folded.idle == pytest.approx(full.idle * full.total_cycles, rel=1e-6, abs=1e-3)


@pytest.mark.parametrize(("workload", "topology"), SHIPPED)
def test_stages_as_events_take_what_the_closed_form_says(from_nothing, workload, topology):
    """By construction: where all tiles wait at each barrier, events can add rounding and nothing else."""
    setup = published(workload, topology)
    question = setup.workload, setup.mapping, setup.machine
    events, formula = stage_work(*question, tiles=engine.as_run), stage_work(*question)
    for ran, closed in zip(events, formula, strict=True):
        for cost, other in ((ran.forward, closed.forward), (ran.backward, closed.backward)):
            assert dict(cost.cut) == pytest.approx(dict(other.cut), rel=1e-12)
            assert 0 < cost.idle_s < cost.total_s
            assert other.idle_s == 0


def test_a_stage_is_the_sum_of_its_plans_run_one_by_one(from_nothing):
    setup = published("bert", "pod16")
    stage = setup.mapping.stages[0]
    (ran, *_) = stage_work(setup.workload, setup.mapping, setup.machine, tiles=engine.as_run)
    chip = work.computing(setup.machine, setup.workload, setup.mapping).chip
    cycles = [
        engine.run(plan, chip, unfolded=index == 0).total_cycles
        for index, (_, _, plan) in enumerate(stage_plans(setup.workload, setup.mapping, setup.machine, stage))
    ]
    whole_s = sum(cycles) * setup.machine.program_factor / chip.clock_hz
    assert ran.forward.total_s + ran.backward.total_s == pytest.approx(whole_s, rel=1e-9)


def test_what_ran_once_is_kept_and_equal_from_an_empty_folder(from_nothing, tmp_path, monkeypatch):
    """The second process reads what the first one wrote and runs vector operators alone; the third has nothing."""
    setup = published("bert", "pod16")
    ran = []

    def counted(plan, chip):
        ran.append(plan.operator)
        return engine.as_run(plan, chip)

    def again(folder):
        TABLES.clear()
        monkeypatch.setenv("PODSIM_CACHE", str(folder))
        ran.clear()
        return stage_work(setup.workload, setup.mapping, setup.machine, tiles=counted), len(ran)

    first, written = again(tmp_path / "one")
    second, read = again(tmp_path / "one")
    third, anew = again(tmp_path / "two")
    assert first == second == third
    assert read < written == anew


def test_a_kept_run_is_not_that_of_another_chip(from_nothing):
    setup = published("bert", "pod16")
    operator = setup.workload.units[1].operators[0]
    machine = setup.machine
    slow = replace(machine.chip, sync=replace(machine.chip.sync, on_chip_cycles=10 * machine.chip.sync.on_chip_cycles))
    runs = []
    for chip in (machine.chip, slow):
        planner = Planner(work.PlanTarget(chip, setup.workload.precision))
        runs.append(planner.as_run(operator, work.Pass.FORWARD, 2, engine.as_run))
        assert runs[-1].cycles == pytest.approx(planner.pass_cost(operator, work.Pass.FORWARD, 2).cycles)
    assert isinstance(runs[0], AsRun)
    assert runs[0].cycles.sync < runs[1].cycles.sync


def test_a_plan_of_no_supersteps_takes_nothing(tiny):
    empty = replace(uneven(loads=[(1, 1.0, 0.0, 0.0)]), supersteps=())
    assert engine.as_run(empty, tiny.chip) == AsRun()
    assert total((), tiny.chip).total == 0
