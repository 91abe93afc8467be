"""How sure an answer is: spreads, grades, and the score of MLPerf simulated."""

import math
from dataclasses import replace

import numpy as np
import pytest

from podsim.caches.tables import Table
from podsim.convergence.samples import Samples
from podsim.files import catalog
from podsim.model.quantity import Cause, Grade
from podsim.predicting import intervals
from podsim.predicting.intervals import (
    given_samples,
    lognormal,
    normal_quantile,
    quantile,
    score_variances,
    scores,
    time_to_train,
    worst,
)
from podsim.predicting.run import NO_OVERHEAD, RunPace, run, stop_samples
from podsim.predicting.uncertainty import StepDoubt

PARAMETERS = catalog.parameters()
BENCHMARK = replace(catalog.workload("bert").value.benchmark, runs_scored=5)
PACE = RunPace(
    step_s=1,
    evaluation_s=1,
    samples_per_step=1,
    benchmark=BENCHMARK,
    overhead=replace(NO_OVERHEAD, startup_s=10),
    interval_samples=100,
)


def doubtful(spread, grade=Grade.INTERPOLATED, beyond=1.0):
    """A step in doubt by one cause."""
    return StepDoubt(variances={Cause.MODEL: spread**2}, grade=grade, beyond=beyond)


CERTAIN = doubtful(0.0)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95, 1.0])
@pytest.mark.parametrize("count", [2, 3, 21, 400])
def test_quantiles_are_those_of_numpy_to_the_last_digit(count, share):
    values = sorted(np.random.default_rng(count).lognormal(size=count).tolist())
    assert quantile(values, share) == np.quantile(values, share)


def need(**changes):
    stated = {"mean": 1000, "seed_spread": 0.0, "doubt": 0.0, "grade": Grade.MEASURED, "beyond": 1.0, "basis": ""}
    return Samples(**(stated | changes))


def test_ninety_percent_of_a_lognormal():
    """z = 1.645: exp(0.1645) = 1.1788."""
    estimate = lognormal(100, {Cause.MODEL: 0.006, Cause.NOISE: 0.004}, Grade.MEASURED, 1)
    assert estimate.causes == pytest.approx({Cause.MODEL: 0.6, Cause.NOISE: 0.4})
    assert (estimate.low, estimate.high) == pytest.approx((100 / 1.17881, 100 * 1.17881), rel=1e-4)


def test_the_worst_grade_wins():
    assert worst(Grade.MEASURED, Grade.ASSUMED, Grade.EXTRAPOLATED) is Grade.ASSUMED
    assert worst(Grade.MEASURED, Grade.INTERPOLATED) is Grade.INTERPOLATED


# --- the score of a benchmark ---------------------------------------------------------------------------------------


def test_a_score_is_the_mean_without_the_fastest_and_the_slowest(monkeypatch):
    """Five runs need 500, 1,000, 2,000, 4,000 and 8,000 samples of 1 s, evaluate every 100, and start for 10 s.

    They take 515, 1,020, 2,030, 4,050 and 8,090 s; the score is (1,020 + 2,030 + 4,050) / 3.
    """

    class Loaded:
        def standard_normal(self, shape):
            if shape in (1, (1, 2)):
                return np.zeros(shape)
            return np.array([[math.log(factor) for factor in (4, 0.5, 8, 1, 2)]])

    monkeypatch.setattr(intervals, "SCORES", 1)
    monkeypatch.setattr(intervals, "_NORMAL", Table(1))
    monkeypatch.setattr(intervals, "_ENDS", Table(1))
    monkeypatch.setattr(np.random, "default_rng", lambda _: Loaded())
    estimate = time_to_train(PACE, need(seed_spread=1.0), CERTAIN, 0)
    assert estimate.value == pytest.approx((1020 + 2030 + 4050) / 3)
    assert estimate.low == estimate.high == estimate.value


def test_without_any_doubt_the_answer_is_the_run_itself():
    estimate = time_to_train(PACE, need(), CERTAIN, 0)
    assert estimate.low == estimate.value == estimate.high == run(PACE, 1000).total_s == 1020


def test_time_to_train_is_quantised_by_the_evaluations():
    """With no spread, all needs of one interval take the same time."""
    seconds = {time_to_train(PACE, need(mean=mean), CERTAIN, 0).value for mean in (960, 1000, 1040, 1050)}
    assert seconds == {1020}
    assert time_to_train(PACE, need(mean=1051), CERTAIN, 0).value == 1121


def test_the_same_seed_gives_the_same_bytes_and_others_stay_close():
    def asked(seed):
        return time_to_train(PACE, need(seed_spread=0.06, doubt=0.05), doubtful(0.05), seed)

    assert asked(3) == asked(3)
    values = [asked(seed).value for seed in range(10)]
    assert len(set(values)) == 10
    assert max(values) / min(values) < 1.03


@pytest.mark.parametrize(
    ("seed_spread", "doubt", "slower"), [(0.06, 0.05, 0.05), (0.15, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.2, 0.0)]
)
def test_the_interval_holds_ninety_percent_of_new_scores(seed_spread, doubt, slower):
    """2,000 scores drawn here by the rule: every run its luck, every score its doubt in steps and in samples.

    An evaluation after each sample, so that scores are not lumps of probability.
    """
    often = replace(PACE, interval_samples=1)
    estimate = time_to_train(often, need(seed_spread=seed_spread, doubt=doubt), doubtful(slower), 0)
    stream = np.random.default_rng(2024)
    inside = 0
    for _ in range(2000):
        pace_s, more = math.exp(slower * stream.standard_normal()), math.exp(doubt * stream.standard_normal())
        times = []
        for _ in range(5):
            needed = 1000 * more * math.exp(seed_spread * stream.standard_normal())
            times.append(10 + 2 * stop_samples(BENCHMARK, 1, needed) * pace_s)
        inside += estimate.low - 1e-9 <= sum(sorted(times)[1:-1]) / 3 <= estimate.high + 1e-9
    assert 0.86 <= inside / 2000 <= 0.94


def test_a_score_is_surer_than_one_run():
    """Five runs, the extremes dropped, average much of the luck away."""
    luck = time_to_train(PACE, need(seed_spread=0.15), CERTAIN, 0)
    estimate = lognormal(1020, {Cause.SEEDS: 0.15**2}, Grade.MEASURED, 1)
    assert luck.high - luck.low < 0.75 * (estimate.high - estimate.low)


def test_the_answer_is_no_surer_than_its_worst_part():
    estimate = time_to_train(PACE, need(grade=Grade.EXTRAPOLATED, beyond=2), doubtful(0.1, beyond=8), 0)
    assert (estimate.grade, estimate.beyond) == (Grade.EXTRAPOLATED, 8)


def test_given_samples_leave_only_the_step_in_doubt():
    """990 of 1,010 + 10 s hang on the step: 10 s to start do not."""
    estimate = given_samples(PACE, 1000, doubtful(0.1, Grade.EXTRAPOLATED, 4))
    factor = math.exp(intervals.NINETY * 0.1)
    assert estimate.value == 1020
    assert (estimate.low, estimate.high) == pytest.approx((10 + 1010 / factor, 10 + 1010 * factor))
    assert (estimate.grade, estimate.beyond) == (Grade.EXTRAPOLATED, 4)


def test_overheads_outside_training_do_not_slow_down_with_the_step():
    """Checkpoints are evaluated after training, in another graph."""
    benchmark = catalog.workload("resnet50").value.benchmark
    overhead = replace(NO_OVERHEAD, graph_switch_s=50, first_evaluation_s=30)
    pace = replace(PACE, benchmark=benchmark, overhead=overhead, interval_samples=None, samples_per_step=1281167)
    estimate = given_samples(pace, 4 * 1281167, doubtful(0.1))
    assert estimate.value == 84
    assert estimate.high == pytest.approx(80 + 4 * math.exp(intervals.NINETY * 0.1))


def test_the_note_says_what_calibration_is_worth():
    text = intervals.held_out_note(PARAMETERS)
    assert text == f"28 calibration points, held-out step error {100 * PARAMETERS.step_error:.1f} % (rms)"


def test_the_note_says_that_no_result_is_of_the_workload():
    note = intervals.held_out_note(PARAMETERS, workload="gpt2-small")
    assert note.startswith("28 calibration points, none of this workload, held-out step error")
    assert "none of" not in intervals.held_out_note(PARAMETERS, workload="bert")


def test_a_wider_level_gives_a_wider_interval_around_the_same_value():
    """z of 50, 80, 90 and 95 %: 0.6745, 1.2816, 1.6449, 1.9600."""
    levels = (0.5, 0.8, 0.9, 0.95)
    assert [normal_quantile(level) for level in levels] == pytest.approx([0.6745, 1.2816, 1.6449, 1.96], abs=1e-4)
    estimates = [time_to_train(PACE, need(doubt=0.05), doubtful(0.05), 0, level=level) for level in levels]
    assert len({estimate.value for estimate in estimates}) == 1
    assert [estimate.low for estimate in estimates] == sorted((estimate.low for estimate in estimates), reverse=True)
    assert [estimate.high for estimate in estimates] == sorted(estimate.high for estimate in estimates)


def test_the_variance_of_a_score_is_the_sum_of_its_causes(monkeypatch):
    """Causes are to first order, scores simulated: 4,000 of them agree within a tenth."""
    monkeypatch.setattr(intervals, "SCORES", 4000)
    pace = replace(PACE, overhead=replace(NO_OVERHEAD, startup_s=500))
    step = StepDoubt(variances={Cause.PARAMETERS: 0.02**2, Cause.NOISE: 0.06**2}, grade=Grade.INTERPOLATED, beyond=1.0)
    request = need(mean=1050, seed_spread=0.08, doubt=0.03)
    ordered, _ = scores(pace, request, step, 0, 0.1)
    variances = score_variances(pace, request, step, 0.1)
    assert set(variances) == {
        Cause.PARAMETERS,
        Cause.NOISE,
        Cause.SEEDS,
        Cause.CONVERGENCE,
        Cause.EVALUATION,
        Cause.OUTSIDE,
    }
    assert math.sqrt(sum(variances.values())) == pytest.approx(float(np.std(np.log(ordered))), rel=0.1)


def test_runs_average_their_noise_and_not_what_they_share():
    noisy = StepDoubt(variances={Cause.NOISE: 0.05}, grade=Grade.MEASURED, beyond=1.0)
    shared = StepDoubt(variances={Cause.MODEL: 0.05}, grade=Grade.MEASURED, beyond=1.0)
    table, other = (score_variances(PACE, need(), step, 0.0) for step in (noisy, shared))
    assert other[Cause.MODEL] == pytest.approx(5 * table[Cause.NOISE])


def test_what_lies_outside_steps_widens_given_samples_by_its_share():
    pace = replace(PACE, overhead=replace(NO_OVERHEAD, startup_s=1010))
    estimate = given_samples(pace, 1000, CERTAIN, outside_error=0.1)
    assert (estimate.value, estimate.low) == (2020, pytest.approx(1010 + 1010 * math.exp(-intervals.NINETY * 0.1)))
    assert estimate.causes == {Cause.OUTSIDE: 1.0}


@pytest.mark.parametrize("deviations", [1.0, 4.0, 9.0, 15.0])
def test_a_small_chance_has_its_digits(deviations):
    """The tail of the normal distribution by its own series: Q(x) = φ(x) / (x + 1 / (x + 2 / (x + …)))."""
    spread = 0.01
    estimate = lognormal(1.0, {Cause.MODEL: spread**2}, Grade.ASSUMED, 1.0)
    fraction = deviations
    for step in range(400, 0, -1):
        fraction = deviations + step / fraction
    tail = math.exp(-(deviations**2) / 2) / math.sqrt(2 * math.pi) / fraction
    assert intervals.chance(estimate, math.exp(-deviations * spread)) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("step_beyond", "batch_beyond", "smaller"), [(4.0, 1.0, True), (4.0, 8.0, False)])
def test_a_time_beyond_calibration_by_its_batch_is_not_called_one_of_a_smaller_machine(
    step_beyond, batch_beyond, smaller
):
    step = replace(doubtful(0.1, Grade.EXTRAPOLATED, step_beyond), smaller=True)
    result = time_to_train(PACE, need(grade=Grade.EXTRAPOLATED, beyond=batch_beyond), step, 0)
    assert (result.beyond, result.smaller) == (max(step_beyond, batch_beyond), smaller)


def test_a_stated_length_on_a_smaller_machine_is_beyond_calibration_by_the_machine():
    step = replace(doubtful(0.1, Grade.EXTRAPOLATED, 4.0), smaller=True)
    assert given_samples(PACE, 1000.0, step).smaller
    assert not given_samples(PACE, 1000.0, replace(step, smaller=False)).smaller
