"""Measurements ranked by how much each would narrow an interval."""

import math

import pytest

import podsim
from podsim.convergence.samples import reference
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.quantity import Cause, Grade
from podsim.studies.explain import measurements

COMMON = {"pod": 512, "engine": "analytic"}


@pytest.fixture(scope="module")
def ranking():
    return podsim.explain_measurements("bert", **COMMON)


def of_steps(ranking):
    return [item for item in ranking.measurements if not item.converges]


def test_the_machine_itself_tells_most_where_it_is_beyond_calibration(ranking):
    assert [item.narrower for item in ranking.measurements] == sorted(
        (item.narrower for item in ranking.measurements), reverse=True
    )
    best, *others = of_steps(ranking)
    assert (best.workload, best.ipus, best.flags) == ("bert", 512, "bert --pod 512")
    assert {Cause.DISTANCE, Cause.PARAMETERS, Cause.MODEL, Cause.FORM} == set(best.causes)
    assert all(set(item.causes) <= {Cause.PARAMETERS, Cause.DISTANCE} for item in others)
    assert best.narrower > 2 * others[0].narrower > 0


def test_runs_to_the_target_settle_samples_to_converge_too(ranking):
    """By the product of two densities: the scatter of submissions with the reference's doubt, and three runs' seeds."""
    best, steps = ranking.measurements[0], of_steps(ranking)[0]
    assert best.converges
    assert best.flags == steps.flags
    assert set(best.causes) == {*steps.causes, Cause.CONVERGENCE}
    prior = catalog.parameters().samples["bert"]["lamb"]["closed"].spread
    samples = ranking.prediction.samples_to_converge
    curve = reference(catalog.workload("bert").value.curve, ranking.prediction.mapping.global_batch)
    whole = prior**2 + curve.doubt**2
    left = 1 / (1 / whole + measurements.RUNS / curve.seed_spread**2)
    assert samples.grade is not Grade.ASSUMED
    share = best.causes[Cause.CONVERGENCE] / ranking.answer.causes[Cause.CONVERGENCE]
    assert share == pytest.approx(1 - left / whole, rel=1e-3)


def test_samples_that_are_stated_are_not_measured():
    ranking = podsim.explain_measurements("bert", samples=4e6, **COMMON)
    assert not any(item.converges for item in ranking.measurements)


def test_a_release_without_logs_has_its_start_and_evaluations_measured():
    ranking = podsim.explain_measurements("resnet50", pod=16, sdk="3.2", engine="analytic")
    best = next(item for item in ranking.measurements if item.converges and item.ipus == 16)
    assert best.causes[Cause.OUTSIDE] > 0
    assert not any(item.causes.get(Cause.OUTSIDE) for item in of_steps(ranking))


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
    assert (1 - of_steps(ranking)[0].narrower) ** 2 > samples


def test_steps_of_other_machines_gain_nothing_where_the_machine_is_calibrated():
    """What the model misses belongs to a configuration: its own steps tell that, those of a smaller machine do not."""
    ranking = podsim.explain_measurements("bert", pod=64, engine="analytic")
    own = [item for item in of_steps(ranking) if item.ipus == 64 and item.workload == "bert"]
    assert all(item.narrower > 0.1 and Cause.MODEL in item.causes for item in own)
    assert all(abs(item.narrower) < 0.02 for item in of_steps(ranking) if item not in own)
    assert 0.3 < ranking.measurements[0].narrower < 0.4
    assert set(ranking.measurements[0].causes) >= {Cause.CONVERGENCE, Cause.MODEL, Cause.FORM}


def test_a_workload_without_points_is_measured_itself_for_its_step():
    ranking = podsim.explain_measurements("vit-base", pod=64, engine="analytic")
    assert ranking.prediction.has_length == (ranking.answer == ranking.prediction.time_to_train_s)
    best = ranking.measurements[0]
    assert (best.workload, best.ipus) == ("vit-base", 64)
    assert Cause.CHIP in best.causes


def test_a_run_of_no_stated_length_is_measured_by_its_step():
    ranking = podsim.explain_measurements("gpt2-xl", pod=64, engine="analytic")
    assert not ranking.prediction.has_length
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
