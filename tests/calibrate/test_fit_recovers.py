"""The fit finds the parameters that made its points, and says what it cannot know."""

import math
from dataclasses import replace

import pytest

from podsim.calibration import holdout
from podsim.calibration.fit import best, blank, error, fit, free_parameters, round_values
from podsim.calibration.fit_cases import StepTimes, groups, steps_s
from podsim.calibration.fit_data import cases as _cases
from podsim.errors import MissingParameter
from podsim.model.parameters import FREE

CASES = _cases()
TIMES = StepTimes()
TRUE = {
    "program.stretch": 1.2,
    "sdk-2.1.program": 1.1,
    "collective.efficiency": 0.42,
    "rack.step": 350e-6,
    "sharding.weight": 2.5e-3,
}


def made_with(values):
    """The published cases with the step times that these parameters predict."""
    parameters = blank(free_parameters(FREE, [values[name] for name in FREE.names]))
    seconds = steps_s(CASES, parameters)
    return tuple(
        replace(case, point=replace(case.point, step_s=step_s)) for case, step_s in zip(CASES, seconds, strict=True)
    )


def stated(**changes):
    """The free parameters with other priors: a change is made of each in turn."""
    return replace(FREE, parameters=tuple(replace(parameter, **changes) for parameter in FREE.parameters))


def test_parameters_are_recovered_from_synthetic_points():
    assert TRUE.keys() == set(FREE.names)
    result = fit(made_with(TRUE), stated(prior_error=1e3))
    assert result.values == pytest.approx(TRUE, rel=0.001)


@pytest.mark.slow
@pytest.mark.parametrize(("doubt", "nearest"), [(0.01, 1e-3), (1e3, 2.5e-3)])
def test_a_prior_holds_a_parameter_as_tightly_as_it_says(doubt, nearest):
    """The prior says 1 ms, the points say 2.5, and the other priors agree with the points."""
    parameters = tuple(
        replace(parameter, prior_error=doubt)
        if parameter.name == "sharding.weight"
        else replace(parameter, prior=TRUE[parameter.name])
        for parameter in FREE.parameters
    )
    cases = [case for case in made_with(TRUE) if case.point.workload == "bert"]
    begin = {**TRUE, "sharding.weight": nearest}
    item = fit(cases, replace(FREE, parameters=parameters), begin, TIMES).fitted["sharding.weight"]
    assert item.value == pytest.approx(nearest, rel=0.1)
    assert item.prior < item.value
    assert item.pull == pytest.approx(math.log(item.value / 1e-3) / doubt)


@pytest.mark.slow
def test_points_weigh_by_the_model_and_the_spread_of_their_runs():
    """One of two points on one mapping, 20 % apart, repeats so badly that the other decides."""
    case = replace(CASES[0], point=replace(CASES[0].point, runs=4, step_spread=0.08))
    assert error(case, FREE) == pytest.approx(math.hypot(0.03, 0.04))
    assert error(case, replace(FREE, model_error=0.04)) == pytest.approx(math.hypot(0.04, 0.04))
    true = made_with(TRUE)
    loose = [replace(c, point=replace(c.point, step_s=c.point.step_s * 1.2, step_spread=50.0)) for c in true[:5]]
    assert fit([*true, *loose], stated(prior_error=1e3), TRUE, TIMES).values == pytest.approx(TRUE, rel=0.01)


@pytest.mark.slow
def test_a_parameter_at_its_bound_is_said():
    """Points whose sharded state takes 2.5 ms for a million weights, and a bound at 2."""
    parameters = [
        replace(parameter, most=2e-3) if parameter.name == "sharding.weight" else parameter
        for parameter in FREE.parameters
    ]
    bert = [case for case in made_with(TRUE) if case.point.workload == "bert"]
    result = fit(bert, replace(FREE, parameters=tuple(parameters)), TRUE, TIMES)
    assert "sharding.weight: at its bound" in result.warnings


def test_parameters_that_hang_together_are_said():
    """Without a submission of SDK 2.3 only the product of stretch and release is known."""
    result = fit(
        [case for case in CASES if case.point.sdk == "2.1" and case.point.workload == "resnet50"],
        stated(prior_error=10.0),
    )
    assert result.correlation["program.stretch"]["sdk-2.1.program"] < -0.85
    assert any(w.startswith("program.stretch and sdk-2.1.program correlate -") for w in result.warnings)


def test_fewer_mappings_than_parameters_is_said_and_one_is_refused():
    two = [case for case in CASES if case.point.sdk == "2.1" and case.point.workload == "resnet50"]
    assert any(warning.startswith("2 different mappings for 5 parameters") for warning in fit(two, FREE).warnings)
    with pytest.raises(MissingParameter) as caught:
        fit([case for case in CASES if case.shape == CASES[0].shape], FREE)
    assert caught.value.code == "too-few-points"


def test_nothing_is_held_out_of_one_group():
    cases = [case for case in CASES if case.point.round == "v1.0" and case.point.workload == "resnet50"]
    with pytest.raises(MissingParameter) as caught:
        holdout.calibrate(cases, FREE, "round")
    assert caught.value.code == "too-few-points"
    assert "--hold-out none" in caught.value.hint


def test_without_hold_out_there_is_one_fit():
    few = [case for case in CASES if case.point.sdk == "2.1" and case.point.workload == "resnet50"]
    parameters, report = holdout.calibrate(few, FREE, "none")
    assert (report.held_out, report.groups, parameters.step_error) == (None, {}, 0.0)
    assert report.in_sample.count == len(few)


def test_what_no_point_informs_is_said():
    """Without a log of SDK 2.1 its factor stays at the prior, with the whole prior error."""
    result = fit([case for case in CASES if case.point.sdk == "2.3" and case.topology.ipus == 16], FREE)
    item = result.fitted["sdk-2.1.program"]
    assert item.value == pytest.approx(item.prior, rel=1e-6)
    assert item.error == pytest.approx(item.prior_error, rel=1e-6)
    assert any(warning.startswith("sdk-2.1.program: barely informed") for warning in result.warnings)


def test_written_values_have_six_digits():
    values = {parameter.name: parameter.prior * 1.23456789 for parameter in FREE.parameters}
    short = round_values(blank(free_parameters(FREE, list(values.values()))))
    for name, item in short.fitted.items():
        assert item.value == float(f"{values[name]:.6g}")


def test_each_size_is_one_group():
    cases = groups(CASES, "machine")
    assert list(cases) == ["16 IPUs", "64 IPUs", "128 IPUs", "256 IPUs"]
    assert sum(map(len, cases.values())) == len(CASES)
    assert all(name == f"{case.topology.ipus} IPUs" for name, cases in cases.items() for case in cases)
    assert list(groups(CASES, "round")) == ["v1.0", "v1.1", "v2.0"]
    assert list(groups(CASES, "workload")) == ["bert", "resnet50"]
    (larger,) = groups(CASES, "larger").values()
    assert {case.topology.ipus for case in larger} == {128, 256}
    (bow,) = groups(CASES, "chip").values()
    assert {case.point.sdk for case in bow} == {"2.5"}


@pytest.mark.slow
def test_the_form_with_the_least_chi_square_is_taken():
    """Points made by another form: its own fit is exact, and the form of the file is not."""
    tensor = FREE.forms[1]
    values = TRUE | {"sharding.tensor": 3e-3}
    seconds = steps_s(CASES, blank(free_parameters(tensor, [values[name] for name in tensor.names])))
    made = [replace(case, point=replace(case.point, step_s=s)) for case, s in zip(CASES, seconds, strict=True)]
    result = best(made, FREE)
    assert set(result.forms) == {"sharding.weight", "sharding.tensor", "sharding.turn", "sharding.step"}
    assert result.free.form == "sharding.tensor"
    assert result.values["sharding.tensor"] == pytest.approx(3e-3, rel=0.1)
    each = {name: form.chi_square for name, form in result.forms.items()}
    assert result.chi_square == min(each.values()) < each["sharding.weight"] - 1
    assert result.forms["sharding.tensor"].values == result.values


def test_cases_of_one_mapping_have_one_step_time():
    by_id = dict(
        zip((case.point.id for case in CASES), steps_s(CASES, blank(free_parameters(FREE, [0.5] * 5))), strict=True)
    )
    assert by_id["bert/pod64/v1.1-closed"] == by_id["bert/pod64/v1.1-open"]
    assert by_id["bert/pod64/v1.0-closed"] != by_id["bert/pod64/v1.1-closed"]
