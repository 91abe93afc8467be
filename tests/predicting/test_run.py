"""A run around its steps, by arithmetic a person can do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.convergence.samples import Samples
from podsim.files import catalog
from podsim.model.calibration import Overhead
from podsim.model.quantity import Grade
from podsim.predicting.run import NO_OVERHEAD, RunPace, evaluation_interval, expected_s, run, stop_counts, stop_samples

BERT = catalog.workload("bert").value.benchmark
RESNET = catalog.workload("resnet50").value.benchmark
IMAGES = 1_281_167

EACH_PART = Overhead(startup_s=7, graph_switch_s=100, first_evaluation_s=20, each_evaluation_s=2, checkpoint_s=3)


def pace(benchmark, **changes):
    """2 s a step of 1,000 samples, 5 s an evaluation."""
    pace = RunPace(
        step_s=2,
        evaluation_s=5,
        samples_per_step=1000,
        benchmark=benchmark,
        overhead=EACH_PART,
        interval_samples=None if benchmark is RESNET else 25_000,
    )
    return replace(pace, **changes)


@pytest.mark.parametrize(
    ("batch", "interval"),
    [(256, 150_000), (3072, 175_000), (4608, 200_000), (6144, 200_000), (6912, 225_000), (16384, 325_000)],
)
def test_bert_evaluates_at_the_interval_of_the_rules(batch, interval):
    """floor(0.05 (230.23 B + 3,000,000) / 25,000) x 25,000."""
    assert evaluation_interval(BERT, batch) == interval


def test_an_interval_is_never_nought():
    assert evaluation_interval(replace(BERT, interval_base=1.0), 1) == 25_000


def test_resnet_evaluates_checkpoints_afterwards():
    assert evaluation_interval(RESNET, 3072) is None


@pytest.mark.parametrize(
    ("needed", "stop"),
    [
        (1, 25_000),  # nobody passes before the first evaluation
        (37_500, 25_000),  # half an interval late on average: 37,500 is the middle of the second interval
        (37_501, 50_000),
        (62_500, 50_000),
        (1e6, 1e6),
    ],
)
def test_a_run_stops_at_the_evaluation_that_passes(needed, stop):
    assert stop_samples(BERT, 25_000, needed) == stop


@given(st.floats(1, 1e9), st.floats(1e3, 1e6))
def test_stops_are_whole_intervals_within_half_of_one(needed, interval):
    stop = stop_samples(BERT, interval, needed)
    assert stop / interval == pytest.approx(round(stop / interval))
    assert stop == interval or abs(stop - needed) <= interval / 2 * (1 + 1e-9)


def test_resnet_runs_whole_epochs():
    assert stop_samples(RESNET, None, 38.4 * IMAGES) == 38 * IMAGES
    assert stop_samples(RESNET, None, 38.6 * IMAGES) == 39 * IMAGES
    assert stop_samples(RESNET, None, 1) == IMAGES


def test_a_run_that_evaluates_as_it_goes():
    """100,000 samples: 100 steps of 2 s, 4 evaluations of 5 s, 7 s to start."""
    result = run(pace(BERT), 100_000)
    assert (result.steps, result.evaluations, result.interval_samples) == (100, 4, 25_000)
    assert (result.startup_s, result.training_s, result.evaluation_s, result.checkpoint_s) == (7, 200, 20, 0)
    assert result.total_s == 227


def test_a_run_of_fixed_epochs():
    """10 epochs of 1,281,167 images are 12,812 steps and three checkpoints, the last after a broken four epochs.

    Afterwards the graph is switched, the first evaluation takes 20 s and the two others 2 s each.
    """
    result = run(pace(RESNET), 10 * IMAGES)
    assert (result.steps, result.evaluations, result.interval_samples) == (12_812, 3, None)
    assert result.training_s == 25_624
    assert result.evaluation_s == 100 + 20 + 2 * 2
    assert result.checkpoint_s == 3 * 3
    assert result.total_s == 7 + 25_624 + 124 + 9


@given(st.floats(1, 1e8))
def test_exactly_the_samples_asked_for_are_charged(samples):
    """No rounding up to a step or to an evaluation: training time is proportional."""
    result = run(pace(BERT), samples)
    assert result.training_s == pytest.approx(samples / 1000 * 2)
    assert result.steps - 1 < samples / 1000 + 1e-6
    assert result.steps >= min(1, samples / 1000 - 1e-6)


def test_whole_steps_are_not_one_more_by_rounding():
    assert run(pace(BERT, samples_per_step=0.1), 0.3).steps == 3


@given(st.floats(1, 1e8), st.floats(1.001, 10))
def test_more_samples_never_take_less(samples, factor):
    for benchmark in (BERT, RESNET):
        assert run(pace(benchmark), samples * factor).total_s >= run(pace(benchmark), samples).total_s


def test_what_a_search_compares_is_not_quantised():
    def seconds(mean):
        need = Samples(mean=mean, seed_spread=0, doubt=0, grade=Grade.MEASURED, beyond=1, basis="")
        return expected_s(pace(BERT, overhead=NO_OVERHEAD, evaluation_s=0), need)

    assert seconds(1_010_000) - seconds(1_000_000) == pytest.approx(20)


@pytest.mark.parametrize("style", ["interval", "epochs"])
def test_many_runs_stop_where_each_stops(style):
    """To the last digit, halves and the first evaluation among them."""
    benchmark = BERT if style == "interval" else RESNET
    grain = float(benchmark.dataset_samples or 1) if style == "epochs" else 76_543.0
    interval = None if style == "epochs" else grain
    needed = [grain * part for part in (1e-6, 0.5, 1.0, 1.5, 2.5, 3.1, 40.49999, 41.0000001)]
    assert stop_counts(benchmark, interval, np.array(needed)).tolist() == [
        stop_samples(benchmark, interval, value) for value in needed
    ]
