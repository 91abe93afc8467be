"""What the logs say without a model: overheads and factors, against the filed runs."""

import csv
from dataclasses import replace
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean

import pytest

from podsim.calibration import convergence_factors
from podsim.calibration.fit_data import cases as _cases
from podsim.calibration.overheads import apart, of_seen, overheads, parts_s
from podsim.convergence.curve import LAW_ERROR
from podsim.files import catalog
from podsim.model.calibration import GAINING, MECHANISMS, SamplesFactor
from podsim.predicting.training_case import evaluation_s, forward_s, question_pace

CASES = _cases()
ROOT = Path(__file__).parents[2]


PARAMETERS = catalog.parameters()
FOUND = overheads(CASES, PARAMETERS)


def made(gain, seconds):
    """What logs would show of mechanisms that take so long under 2.5, and more by `gain` a quarter before it."""
    quarters = {"2.1": -4, "2.3": -2, "2.5": 0}
    return {
        name: {sdk: [second * exp(-gain * (q if name in GAINING else 0))] * 3 for sdk, q in quarters.items()}
        for name, second in seconds.items()
    }


TRUE = {"load": 8.0, "call": 0.4, "checkpoint": 1.2, "switch": 6.0, "process": 90.0}


@pytest.mark.parametrize("gain", [0.0, 0.1, 0.3])
def test_a_trend_of_releases_is_found_again(gain):
    outside = of_seen(made(gain, TRUE))
    assert outside.gain == pytest.approx(gain, abs=0.03)
    for name, seconds in TRUE.items():
        assert outside.at(name, "2.5") == pytest.approx(seconds, rel=0.03)


@pytest.mark.parametrize("sdk", ["2.1", "2.5"])
def test_a_release_without_logs_follows_the_trend_and_is_in_doubt(sdk):
    table = {name: {item: logs for item, logs in by.items() if item != sdk} for name, by in made(0.2, TRUE).items()}
    outside = of_seen(table)
    for name in TRUE:
        assert outside.at(name, sdk) == pytest.approx(made(0.2, TRUE)[name][sdk][0], rel=0.15)
    assert outside.error(sdk) > 0 == outside.error("2.3")


def test_the_trend_ends_where_nothing_was_ever_tested():
    """Two quarters beyond the newest release with logs; farther out the doubt grows instead."""
    at = {sdk: FOUND.at("load", sdk) for sdk in ("2.5", "2.6", "3.0", "3.1", "3.3")}
    assert at["3.0"] < at["2.6"] < FOUND.trend["load"]
    assert at["3.0"] == at["3.1"] == at["3.3"]
    errors = [FOUND.error(sdk) for sdk in ("2.5", "2.6", "3.0", "3.1", "3.3")]
    assert errors == sorted(errors)
    assert errors[0] == 0 < errors[1]


def test_a_host_that_changes_programs_does_not_follow_the_release():
    assert FOUND.at("switch", "1.4") == FOUND.at("switch", "3.3") == FOUND.trend["switch"]


def test_what_a_release_shows_is_near_its_logs():
    """Few submissions are drawn to the trend: none by more than a fifth."""
    for name in ("load", "checkpoint", "switch"):
        for sdk in FOUND.seconds[name]:
            logs = [
                log(parts_s(c, PARAMETERS)[name])
                for c in CASES
                if c.point.sdk == sdk and name in parts_s(c, PARAMETERS)
            ]
            assert FOUND.at(name, sdk) == pytest.approx(exp(fmean(logs)), rel=0.2)


def test_software_gains_from_release_to_release():
    """About 0.6 of the time half a year before, over loads, calls and checkpoints together."""
    assert 0.45 < exp(-2 * FOUND.gain) < 0.75
    assert 0 < FOUND.gain_error < FOUND.gain / 2


def test_nothing_grows_with_the_machine():
    """The same start-up, switch, call and checkpoint on 16 and on 256 IPUs."""
    few, many = (
        case for case in CASES if case.point.id in ("resnet50/bow-pod16/v2.0-closed", "resnet50/bow-pod256/v2.0-closed")
    )
    assert few.topology.ipus < many.topology.ipus
    assert few.question(PARAMETERS).overhead == many.question(PARAMETERS).overhead


def test_an_evaluation_is_a_forward_program_and_a_call():
    """BERT of v2.0 and ResNet-50 share the call; BERT of v1.1 evaluates in whole training steps."""
    for id_ in ("bert/bow-pod64/v2.0-closed", "resnet50/bow-pod64/v2.0-closed"):
        case = next(case for case in CASES if case.point.id == id_)
        question = case.question(PARAMETERS)
        call_s = evaluation_s(question, case.mapping, 1.0) - forward_s(question, case.mapping)
        assert call_s == pytest.approx(FOUND.at("call", "2.5"), rel=1e-4)
    older = next(case for case in CASES if case.point.id == "bert/pod64/v1.1-closed")
    assert evaluation_s(older.question(PARAMETERS), older.mapping, 0.6) == pytest.approx(4 * 0.6)


def test_a_process_of_its_own_evaluates_checkpoints_of_the_first_round():
    """A fact of the submission: from v1.1 on the process that trained evaluates."""
    spent = {}
    for case in CASES:
        if case.point.workload == "resnet50":
            pace = question_pace(case.question(PARAMETERS), case.mapping, case.point.step_s)
            spent[case.point.sdk] = pace.overhead.graph_switch_s
    assert spent["2.1"] == pytest.approx(FOUND.at("process", "2.1"), rel=1e-4)
    assert spent["2.1"] > 10 * spent["2.3"]


def test_every_mechanism_is_met_with_a_size_and_a_release_left_out():
    fits = {fit.part: fit for fit in apart(CASES, PARAMETERS)}
    assert set(fits) == set(MECHANISMS)
    for name, most in {"load": 0.25, "checkpoint": 0.45, "switch": 0.1, "process": 0.1}.items():
        assert fits[name].held_out < most
        assert fits[name].release_held_out < most


def test_shipped_time_outside_steps_is_that_of_the_logs():
    assert PARAMETERS.outside.trend == pytest.approx(FOUND.trend, rel=1e-3)
    assert PARAMETERS.outside.newest == FOUND.newest == "2.5"


def test_a_checkpoint_is_what_training_took_beyond_its_steps():
    """From the single runs: (train - steps x step) / evaluations, of the four submissions under 2.3."""
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    by_system: dict[str, list[float]] = {}
    for run in runs:
        if run["benchmark"] == "resnet" and run["round"] == "1.1":
            spare_s = float(run["train_s"]) - float(run["steps"]) * float(run["step_ms"]) / 1e3
            by_system.setdefault(run["system"], []).append(spare_s / float(run["evaluations"]))
    expected = exp(fmean(log(fmean(values)) for values in by_system.values()))
    assert FOUND.at("checkpoint", "2.3") == pytest.approx(expected, rel=0.1)


def test_factors_are_geometric_means_over_submissions():
    """BERT closed by hand: the reference needs 2,768,215 samples at 3,072 and 3,321,446 at 6,144."""
    reference = {3072: 2768215, 6144: 3321446}
    early = [case for case in CASES if case.point.round != "v2.0"]
    factors = convergence_factors.samples_factors(early)["bert"]["lamb"]
    for division in ("closed", "open"):
        points = [c.point for c in early if c.point.workload == "bert" and c.point.division == division]
        logs = [log(p.samples_to_converge * p.normalisation / reference[p.global_batch]) for p in points]
        assert factors[division].factor == pytest.approx(exp(fmean(logs)), rel=1e-4)
        assert factors[division].points == 5
    assert factors["open"].factor < factors["closed"].factor


def test_samples_count_as_the_score_does():
    """Two submissions converged sooner than the rules allow: their scores are 1.098 and 1.118 of their clocks."""
    normalised = [case for case in CASES if case.point.normalisation != 1]
    assert sorted(case.point.normalisation for case in normalised) == [1.098, 1.118]
    plain = [replace(case, point=replace(case.point, normalisation=1.0)) for case in CASES]
    scored, clocked = (convergence_factors.samples_factors(cases)["bert"]["lamb"]["closed"] for cases in (CASES, plain))
    assert log(scored.factor / clocked.factor) == pytest.approx(log(1.098 * 1.118) / scored.points, abs=1e-4)
    assert scored.spread < clocked.spread
    assert abs(log(scored.factor)) < 0.02


def test_momentum_needs_more_samples_than_lars():
    factors = convergence_factors.samples_factors(CASES)["resnet50"]
    assert factors["momentum"]["closed"].factor > 1.2 > factors["lars"]["closed"].factor > 1
    assert (factors["momentum"]["closed"].points, factors["lars"]["closed"].points) == (2, 8)


def test_two_submissions_are_not_believed_to_the_digit():
    momentum = convergence_factors.samples_factors(CASES)["resnet50"]["momentum"]["closed"]
    assert momentum.spread >= convergence_factors.LEAST_SPREAD


def test_own_runs_narrow_a_factor_as_the_product_of_two_densities():
    prior = SamplesFactor(factor=0.9, spread=0.06, points=7)
    same = convergence_factors.narrow(prior, 1.1, 0.06, 1)
    assert same.factor == pytest.approx(sqrt(0.9 * 1.1), rel=1e-4)
    assert same.spread == pytest.approx(0.06 / sqrt(2), rel=1e-3)
    assert same.points == 8
    many = convergence_factors.narrow(prior, 1.1, 0.06, 10_000)
    assert many.factor == pytest.approx(1.1, rel=1e-3)
    assert many.spread == pytest.approx(0.0006, rel=0.02)
    assert convergence_factors.narrow(prior, 1.1, 0.0, 3) == prior
    unknown = convergence_factors.narrow(None, 1.3, 0.05, 3)
    assert 1 < unknown.factor < 1.3
    assert unknown.spread < LAW_ERROR


def test_own_cases_change_their_own_factor_alone():
    known = convergence_factors.samples_factors(CASES)
    (case,) = (case for case in CASES if case.point.id == "bert/pod64/v1.1-closed")
    after = convergence_factors.own_factors(known, [case])
    assert {name: table for name, table in after.items() if name != "bert"} == {
        name: table for name, table in known.items() if name != "bert"
    }
    optimizer = case.point.optimizer
    assert after["bert"][optimizer]["closed"].spread < known["bert"][optimizer]["closed"].spread
    assert after["bert"][optimizer]["open"] == known["bert"][optimizer]["open"]
