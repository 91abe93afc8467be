"""The shipped noise follows from the shipped blocks, and the fit finds noise that was put in."""

import csv
import math
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from podsim.calibration import noise_fit as fitting
from podsim.calibration.fit_data import cases as _cases
from podsim.files import blocks, catalog, failures_file, noise_file
from podsim.model.calibration import RunBlocks

ROOT = Path(__file__).parents[2]
CASES = {case.point.id: case for case in _cases()}
BLOCKS = blocks.published_blocks()


@pytest.fixture(scope="module")
def found():
    return fitting.fit(tuple(CASES.values()), BLOCKS, catalog.parameters())


def test_the_shipped_noise_is_what_the_logs_say(found):
    shipped = noise_file.noise().value
    # jitter hangs on the fitted step a little; the rest on the logs alone
    assert found.noise.ipu.jitter == pytest.approx(shipped.ipu.jitter, rel=0.1)
    assert found.noise.host.jitter == pytest.approx(shipped.host.jitter, rel=0.1)
    assert replace(found.noise.host, jitter=0.0) == replace(shipped.host, jitter=0.0)
    assert found.noise.run == shipped.run


def test_written_and_read_again_it_is_the_same(tmp_path):
    shipped = noise_file.noise()
    assert noise_file.text(shipped.value) == shipped.text


def test_jitter_of_ipus_is_a_bound_that_one_submission_reaches(found):
    jitters = [submission.ipu_jitter for submission in found.submissions]
    assert len(jitters) == 28
    assert found.noise.ipu.jitter == pytest.approx(min(jitters), rel=0.02)
    least = min(found.submissions, key=lambda item: item.ipu_jitter)
    assert least.host_jitter < 0.1 * found.noise.host.jitter


def test_blocks_are_those_of_the_runs_kept_for_the_tests():
    """Training time of each run, less what rounding 45 blocks to a millisecond can do."""
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        kept = list(csv.DictReader(file))
    assert len(kept) == len(BLOCKS) == 230
    for row, run in zip(kept, BLOCKS, strict=True):
        assert (row["source_path"], int(row["run"])) == (run.locator, run.run)
        assert sum(run.blocks_s) == pytest.approx(float(row["train_s"]), abs=0.06)
        assert run.point in CASES


def test_start_up_before_the_clock_is_the_median_of_the_logs():
    assert failures_file.failures().value.restart.init_s == pytest.approx(
        median(run.init_s for run in BLOCKS), abs=0.05
    )


def synthetic(case, spread_s, *, runs=40, count=20, steps=56, hiccups=()):
    """Blocks of `steps` steps that vary independently."""
    rng = np.random.default_rng(5)
    lengths = steps * case.point.step_s + spread_s * np.sqrt(steps) * rng.standard_normal((runs, count + 1))
    for run, block, size_s in hiccups:
        lengths[run, block] += size_s
    return [
        RunBlocks(point=case.point.id, run=at, init_s=1.0, blocks_s=tuple(row), source="", locator="")
        for at, row in enumerate(lengths.tolist())
    ]


@pytest.mark.parametrize("point", ["bert/pod64/v1.1-closed", "resnet50/pod64/v1.1-closed"])
def test_the_spread_of_steps_is_found_again(point):
    case = CASES[point]
    spread_s = 0.01 * case.point.step_s
    variation = fitting.variation(case, synthetic(case, spread_s))
    assert variation.step_spread_s == pytest.approx(spread_s, rel=0.1)
    assert variation.above_s == variation.below_s == ()


def test_a_whole_step_more_or_less_is_no_noise():
    """The log of BERT evaluates after so many samples: a block holds 56 steps, or 55."""
    case = CASES["bert/pod64/v1.1-closed"]
    spread_s = 0.005 * case.point.step_s
    runs = synthetic(case, spread_s)
    uneven = [
        replace(run, blocks_s=tuple(s - case.point.step_s * (at % 5 == 0) for at, s in enumerate(run.blocks_s)))
        for run in runs
    ]
    assert fitting.variation(case, uneven).step_spread_s == pytest.approx(spread_s, rel=0.15)
    assert fitting.variation(case, uneven).above_s == ()


def test_checkpoints_at_the_same_places_are_no_noise():
    case = CASES["resnet50/pod64/v1.1-closed"]
    spread_s = 0.01 * case.point.step_s
    runs = [
        replace(run, blocks_s=tuple(s + 3.0 * (at % 4 == 2) for at, s in enumerate(run.blocks_s)))
        for run in synthetic(case, spread_s)
    ]
    variation = fitting.variation(case, runs)
    assert variation.step_spread_s == pytest.approx(spread_s, rel=0.1)
    assert variation.above_s == ()


@pytest.mark.parametrize("point", ["bert/pod64/v1.1-closed", "resnet50/pod64/v1.1-closed"])
def test_hiccups_are_counted_with_their_size(point):
    case = CASES[point]
    hiccups = ((3, 5, 4.0), (7, 18, 6.0), (20, 11, 5.0), (21, 0, 9.0))  # the last in a first block: part of the start
    variation = fitting.variation(case, synthetic(case, 0.002 * case.point.step_s, hiccups=hiccups))
    assert sorted(variation.above_s) == pytest.approx([4.0, 5.0, 6.0], abs=0.1)
    blocks_s = sum(sum(run.blocks_s[1:]) for run in synthetic(case, 0.002 * case.point.step_s))
    assert variation.watched_s == pytest.approx(case.preset.hosts * (blocks_s + 15.0), rel=1e-3)


def test_slower_steps_all_along_a_run_are_no_jitter():
    case = CASES["resnet50/pod64/v1.1-closed"]
    runs = synthetic(case, 0.01 * case.point.step_s)
    slower = [replace(run, blocks_s=tuple(s + 0.1 * run.run for s in run.blocks_s)) for run in runs]
    variation, plain = fitting.variation(case, slower), fitting.variation(case, runs)
    assert variation.above_s == variation.below_s == ()
    # 40 runs are slower by 2 s on average, which a step's share of a block is taken from
    assert variation.step_spread_s == pytest.approx(
        plain.step_spread_s / math.sqrt(1 + 2.0 / (56 * case.point.step_s)), rel=0.03
    )
