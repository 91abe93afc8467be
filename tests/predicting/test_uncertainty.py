"""How far a step may be off, and why: parameters, model, noise, distance, other chips."""

import math
from dataclasses import replace

import pytest

from podsim.calibration.fit_data import cases as _cases
from podsim.files import catalog
from podsim.model.calibration import FittedParameter
from podsim.model.machine import Machine
from podsim.model.quantity import Cause, Grade
from podsim.predicting.training_case import step
from podsim.predicting.uncertainty import (
    OTHER_CHIP,
    PER_DOUBLING,
    between_racks,
    parameter_variance,
    sensitivity,
    step_doubt,
)

PARAMETERS = catalog.parameters()
CASES = _cases()


def machine(name, parameters=PARAMETERS):
    return Machine(topology=catalog.topology(name).value, parameters=parameters, sdk="2.3", hosts=1)


def doubt_of(name, workload, sensitivity=None, ipus=None):
    """The doubt of a step on all IPUs of a machine, or on some."""
    result = machine(name)
    return step_doubt(result, workload, sensitivity or {}, ipus=ipus or result.topology.ipus)


@pytest.mark.parametrize("name", ["pod16", "pod64", "pod128"])
def test_inside_the_fitted_sizes_parameters_model_and_noise_remain(name):
    result = doubt_of(name, "bert", {"program.stretch": 1.0})
    assert (result.grade, result.beyond) == (Grade.INTERPOLATED, 1)
    assert {cause for cause, variance in result.variances.items() if variance} == {
        Cause.PARAMETERS,
        Cause.MODEL,
        Cause.NOISE,
    }
    stretch = PARAMETERS.fitted["program.stretch"].error
    assert result.spread == pytest.approx(math.hypot(stretch, PARAMETERS.model_error, PARAMETERS.run_spread))


@pytest.mark.parametrize(
    ("name", "workload", "beyond"),
    [
        ("pod1024", "bert", 4),
        ("pod512", "bert", 2),
        ("pod512", "resnet50", 2),
        ("pod4", "bert", 4),
        ("m2000", "bert", 4),
    ],
)
def test_beyond_the_fitted_sizes_doubt_grows_by_the_doubling(name, workload, beyond):
    result = doubt_of(name, workload)
    assert (result.grade, result.beyond) == (Grade.EXTRAPOLATED, beyond)
    assert result.smaller is (name in {"pod4", "m2000"})
    assert result.variances[Cause.DISTANCE] == pytest.approx((PER_DOUBLING * math.log2(beyond)) ** 2)


def test_a_calibration_of_large_machines_calls_others_smaller():
    """Own runs of one pod may be all there is: what is beyond them is below or above that pod."""
    own = replace(PARAMETERS, largest={"bert": 64}, smallest={"bert": 64})
    below, within, above = (step_doubt(machine(f"pod{n}", own), "bert", {}, ipus=n) for n in (16, 64, 256))
    assert [(each.beyond, each.smaller) for each in (below, within, above)] == [(4, True), (1, False), (4, False)]


def test_idle_ipus_add_no_doubt():
    assert doubt_of("pod1024", "bert", ipus=256) == doubt_of("pod256", "bert")
    assert doubt_of("pod1024", "bert", ipus=512).beyond == 2


def test_a_chip_or_a_workload_without_a_point_counts_once_each():
    chip, workload = doubt_of("c600", "bert"), doubt_of("pod64", "mine")
    both = doubt_of("c600", "mine")
    assert (chip.grade, workload.grade) == (Grade.EXTRAPOLATED, Grade.ASSUMED)
    assert both.variances[Cause.CHIP] == pytest.approx(2 * OTHER_CHIP**2)
    assert chip.variances[Cause.CHIP] == workload.variances[Cause.CHIP] == pytest.approx(OTHER_CHIP**2)


def test_a_release_without_points_is_as_uncertain_as_fitted_releases_differ():
    """SDK 2.5 left out with all of its results: what 2.1 differs from 2.3 by, which the fit does know."""
    without = replace(PARAMETERS, sdks=("2.1", "2.3"))
    unseen = step_doubt(replace(machine("bow-pod64", without), sdk="2.5"), "bert", {}, ipus=64)
    assert unseen.variances[Cause.RELEASE] == pytest.approx(math.log(PARAMETERS.value("sdk-2.1.program")) ** 2)
    for sdk in ("2.1", "2.3", "2.5"):
        assert step_doubt(replace(machine("pod64"), sdk=sdk), "bert", {}, ipus=64).variances[Cause.RELEASE] == 0
    fitted_alone = replace(PARAMETERS, sdks=("2.3", "2.5"))
    assert (
        step_doubt(replace(machine("pod64", fitted_alone), sdk="2.1"), "bert", {}, ipus=64).variances[Cause.RELEASE]
        == 0
    )


def test_correlated_errors_add_or_cancel():
    """Two parameters of 10 % each on half of a step: 10 % if they move together, nothing if one undoes the other."""
    parameter = FittedParameter(value=1.0, error=0.1, prior=1.0, prior_error=1.0, pull=0.0, meaning="")
    for related, expected in ((1.0, 0.01), (0.0, 0.005), (-1.0, 0.0)):
        both = replace(
            PARAMETERS, fitted={"a": parameter, "b": parameter}, correlation={"a": {"b": related}, "b": {"a": related}}
        )
        assert parameter_variance(both, {"a": 0.5, "b": 0.5}) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", CASES[1::3], ids=lambda case: case.point.id)
def test_sensitivities_are_those_of_the_model_itself(case):
    """Each parameter a thousandth larger, the whole step predicted again: shares of the breakdown say the same."""
    question = case.question(PARAMETERS)
    timeline = step(question, case.mapping)
    table = sensitivity(question, timeline)
    for name, fitted in PARAMETERS.fitted.items():
        larger = {**PARAMETERS.fitted, name: replace(fitted, value=fitted.value * 1.001)}
        moved = step(case.question(replace(PARAMETERS, fitted=larger)), case.mapping)
        value = math.log(moved.step_s / timeline.step_s) / math.log(1.001)
        assert table.get(name, 0.0) == pytest.approx(value, abs=0.02), name


def test_one_rack_has_nothing_between_racks():
    pod64 = next(case for case in CASES if case.topology.name == "pod64")
    pod128 = next(case for case in CASES if case.topology.name == "pod128")
    values = [
        between_racks(question, case.mapping, step(question, case.mapping))
        for case in (pod64, pod128)
        for question in [case.question(PARAMETERS)]
    ]
    assert values[0] == 0 < values[1] < 1
