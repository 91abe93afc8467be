"""Measurements ranked by how much each would narrow an interval."""

import math

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.quantity import Cause
from podsim.studies.explain import measurements

COMMON = {"pod": 512, "engine": "analytic"}


@pytest.fixture(scope="module")
def ranking():
    return podsim.explain_measurements("bert", **COMMON)


def test_the_machine_itself_tells_most_where_it_is_beyond_calibration(ranking):
    best, *others = ranking.measurements
    assert (best.workload, best.ipus, best.flags) == ("bert", 512, "bert --pod 512")
    assert {Cause.DISTANCE, Cause.PARAMETERS} == set(best.causes)
    assert [item.narrower for item in others] == sorted((item.narrower for item in others), reverse=True)
    assert best.narrower > 2 * others[0].narrower > 0


def test_calibrated_workloads_and_smaller_pods_are_candidates(ranking):
    workloads = {item.workload for item in ranking.measurements}
    assert workloads == {"bert", *catalog.parameters().largest}
    assert {item.ipus for item in ranking.measurements} == {*measurements.SIZES, 512}
    bow = podsim.explain_measurements("bert", pod=64, chip="bow", engine="analytic")
    assert {item.flags for item in bow.measurements if item.workload == "bert"} == {
        "bert --pod 64 --chip bow",
        "bert --pod 16 --chip bow",
    }


def test_the_interval_shrinks_by_as_much_around_the_answer(ranking):
    answer, best = ranking.answer, ranking.measurements[0]
    assert answer == podsim.predict("bert", **COMMON).time_to_train_s
    assert answer.low < best.low_s < answer.value < best.high_s < answer.high
    assert math.log(best.high_s / best.low_s) == pytest.approx((1 - best.narrower) * math.log(answer.high / answer.low))


def test_what_steps_do_not_tell_is_left(ranking):
    """The whole variance less what is taken away is never less than that of the samples to converge."""
    samples = ranking.answer.causes[Cause.CONVERGENCE] + ranking.answer.causes[Cause.SEEDS]
    assert (1 - ranking.measurements[0].narrower) ** 2 > samples


def test_a_machine_that_is_calibrated_gains_nothing():
    ranking = podsim.explain_measurements("bert", pod=64, engine="analytic")
    assert all(abs(item.narrower) < 0.01 for item in ranking.measurements)


def test_a_workload_without_points_is_measured_itself_for_its_step():
    ranking = podsim.explain_measurements("vit-base", pod=64, engine="analytic")
    assert ranking.prediction.timed == (ranking.answer == ranking.prediction.time_to_train_s)
    best = ranking.measurements[0]
    assert (best.workload, best.ipus) == ("vit-base", 64)
    assert Cause.CHIP in best.causes


def test_a_run_of_no_stated_length_is_measured_by_its_step():
    ranking = podsim.explain_measurements("gpt2-xl", pod=64, engine="analytic")
    assert not ranking.prediction.timed
    assert ranking.answer == ranking.prediction.step_s
    assert all(math.isfinite(item.narrower) for item in ranking.measurements)


def test_what_if_machines_cannot_be_measured():
    changed = podsim.explain_measurements("bert", pod=128, changes=["chip.clock=2 GHz"], engine="analytic")
    plain = podsim.explain_measurements("bert", pod=128, engine="analytic")
    steps = {item.flags: item.step_s for item in plain.measurements}
    assert {item.flags: item.step_s for item in changed.measurements} == pytest.approx(steps)


def test_phases_are_asked_about_apart():
    with pytest.raises(InputError, match="several phases"):
        podsim.explain_measurements("bert-large-full", pod=64)
