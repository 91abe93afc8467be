"""What events say beside the formula: agreement, tiles that wait, stalls at the all-reduce."""

import math
from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from engines.worlds import published

import podsim
from podsim.calibration import noise_fit
from podsim.calibration.fit_data import cases
from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.engines.des import tile_simulation as tile_engine
from podsim.files import blocks
from podsim.model.prediction import StepEvents
from podsim.model.training import EvaluationStyle
from podsim.physics.order_statistics import poisson_maximum
from podsim.predicting import step_events


@pytest.mark.parametrize("expected", [0.0, 1e-6, 0.3, 2.0, 15.0, 19.99, 20.01, 400.0])
def test_the_longest_of_a_poisson_number_of_stalls(expected):
    """Against the mean of exact draws, whose quantiles are those of an even grid."""
    grid = (np.arange(2_000_000) + 0.5) / 2_000_000
    drawn = float(np.mean(poisson_maximum(grid, expected)))
    assert step_events.longest_of(expected) == pytest.approx(drawn, rel=2e-4, abs=2e-6)


def test_few_stalls_add_up_and_many_hide_each_other():
    step_s = 0.3
    alone = step_events.stalled_s(1, step_s)
    assert step_events.stalled_s(512, step_s) == pytest.approx(512 * alone, rel=1e-3)
    assert step_events.stalled_s(10**8, step_s) < 0.1 * 10**8 * alone


def test_the_rate_of_stalls_is_that_of_the_logs():
    """Blocks too long over IPU-hours, less what a limit hides of exponential lengths; by run they fit worse."""
    runs = {}
    for run in blocks.published_blocks():
        runs.setdefault(run.point, []).append(run)
    seen, by_ipu, by_run = [], [], []
    for case in (case for case in cases() if case.point.id in runs):
        variation, step_s = noise_fit.variation(case, runs[case.point.id]), case.point.step_s
        each = median(block_s for run in runs[case.point.id] for block_s in run.blocks_s[1:])
        least = 0.0 if case.workload.benchmark.style is EvaluationStyle.EPOCHS else 1.5 * step_s
        limit_s = max(
            noise_fit.OUTLIER * variation.step_spread_s * math.sqrt(each / step_s), noise_fit.LEAST_HICCUP_S, least
        )
        shown = math.exp(-limit_s / step_events.STALL_S)
        run_s = variation.watched_s / case.preset.hosts
        seen.append(len(variation.above_s))
        by_run.append(run_s * shown)
        by_ipu.append(run_s * shown * case.topology.ipus)
    assert sum(seen) / sum(by_ipu) == pytest.approx(step_events.STALLS_PER_IPU_S, rel=0.02)
    assert deviance(seen, by_ipu) < len(seen) < deviance(seen, by_run) - 6


def deviance(counts, exposures):
    rate = sum(counts) / sum(exposures)
    return 2 * sum(
        (count * math.log(count / (rate * exposure)) if count else 0.0) - count + rate * exposure
        for count, exposure in zip(counts, exposures, strict=True)
    )


@pytest.mark.parametrize(("workload", "topology"), [("bert", "pod64"), ("resnet50", "pod256")])
def test_the_default_answer_says_that_formula_and_events_agree(workload, topology):
    prediction = podsim.predict(workload, topology=topology)
    assert prediction.events.difference == 0
    assert 0.01 < prediction.events.tiles_idle < 0.3
    assert prediction.events.stalls == pytest.approx(
        prediction.ipus * step_events.STALLS_PER_IPU_S * step_events.STALL_S, rel=0.01
    )
    assert podsim.predict(workload, topology=topology, engine="analytic").events is None


def test_an_event_step_that_is_longer_than_its_formula_says_by_how_much():
    """The same machine whose events take a tenth longer: what the screen shows is no constant."""
    item = StepEvents(step_s=1.1, formula_s=1.0, tiles_idle=0.1, stalls_s=0.0)
    assert item.difference == pytest.approx(0.1)
    assert replace(item, step_s=1.0 + 1e-12).difference == 0


def test_slower_tiles_make_the_step_of_the_event_engine_longer():
    """The tiles feed the step: where each takes twice the compute cycles, the step moves."""
    setup = published("bert", "pod16")

    def twice(plan, chip):
        run = tile_engine.as_run(plan, chip)
        return replace(run, cycles=replace(run.cycles, compute=2 * run.cycles.compute))

    def step(tiles):
        from podsim.lowering.lower import lower

        given = setup.workload, setup.mapping, setup.machine, setup.fabric
        return lower(*given, optimizer=setup.optimizer, tiles=tiles)

    usual, slow = (des.run(step(tiles), setup.fabric).step_s for tiles in (tile_engine.as_run, twice))
    assert slow > 1.3 * usual
    assert usual == pytest.approx(analytic.run(step(None), setup.fabric).step_s, rel=1e-9)
