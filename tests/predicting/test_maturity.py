"""Releases without published runs: by claims, by a law, or not at all."""

import math
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError, MissingParameter
from podsim.files import catalog
from podsim.files.releases import releases
from podsim.model.parameters import SOFTWARE
from podsim.model.program import Part
from podsim.model.quantity import Grade
from podsim.predicting.release_estimate import apply_maturity, later_gain, maturity

PARAMETERS = catalog.parameters()
RELEASES = releases().value
ASKED = {"topology": "pod64", "preset": "mlperf-v1.0-closed", "engine": "analytic"}


def of(sdk, workload="bert", parameters=PARAMETERS):
    return maturity(sdk, workload, parameters, RELEASES)


@pytest.mark.parametrize("sdk", ["2.1", "2.3", "2.5"])
def test_a_release_with_runs_needs_nothing(sdk):
    assert of(sdk) is None
    assert apply_maturity(PARAMETERS, None) is PARAMETERS


@pytest.mark.parametrize(("workload", "factor"), [("bert", 1.6), ("resnet50", 2.1)])
def test_an_earlier_release_has_the_factor_claimed_for_the_workload(workload, factor):
    result = of("1.4", workload)
    assert (result.like, result.factor, result.error, result.grade) == ("2.1", factor, 0.1, Grade.EXTRAPOLATED)
    assert "claim" in str(result.basis)


def test_a_workload_of_which_nothing_is_claimed_has_the_mean_and_its_spread():
    """Geometric mean of 2.1, 1.6 and 1.5, whose logs spread by 0.18."""
    result = of("1.4", "gpt")
    assert result.factor == pytest.approx((2.1 * 1.6 * 1.5) ** (1 / 3))
    assert result.error == pytest.approx(math.hypot(0.1, 0.178), abs=1e-3)
    assert result.grade is Grade.ASSUMED


def test_only_costs_of_software_are_scaled():
    parameters = apply_maturity(PARAMETERS, of("1.4"))
    for name, item in PARAMETERS.fitted.items():
        assert parameters.value(name) == pytest.approx(item.value * (1.6 if name in SOFTWARE else 1.0))


def test_later_gains_are_the_integral_of_a_pace_that_decays():
    """Steps of an hour's thousandth: the pace at the middle of each span is the gain there over its years."""
    pace, before = math.log(PARAMETERS.program("2.1")) / 1.0, math.log((2.1 * 1.6 * 1.5) ** (1 / 3)) / 0.5
    decay = math.log(before / pace) / 0.75
    steps = 20000
    for years in (0.5, 1.5):
        at = (years * (i + 0.5) / steps for i in range(steps))
        summed = sum(pace * math.exp(-decay * (0.5 + t)) for t in at) * years / steps
        assert later_gain(years, PARAMETERS, RELEASES) == pytest.approx((summed, pace * years), rel=1e-4)


def test_doubt_grows_with_the_years_and_the_gain_stays_small():
    result = [of(sdk) for sdk in ("2.6", "3.0", "3.3")]
    assert [item.like for item in result] == ["2.5"] * 3
    assert [item.error for item in result] == sorted(item.error for item in result)
    assert all(0.95 < item.factor < 1 for item in result)


def test_a_release_that_lost_gains_nothing_later():
    slower = replace(PARAMETERS.fitted["sdk-2.1.program"], value=0.95)
    parameters = replace(PARAMETERS, fitted={**PARAMETERS.fitted, "sdk-2.1.program": slower})
    assert of("3.3", parameters=parameters).factor == 1.0
    assert of("3.3", parameters=parameters).error == pytest.approx(-math.log(0.95))


def test_an_unknown_release_says_what_there_is():
    with pytest.raises(InputError) as caught:
        of("9.9")
    assert caught.value.code == "unknown-sdk"
    assert list(caught.value.context) == [
        "calibrated: 2.1, 2.3, 2.5",
        "by claims or extrapolation: 1.4, 2.6, 3.0, 3.1, 3.2, 3.3",
    ]


def test_nothing_to_go_by_is_said():
    with pytest.raises(MissingParameter):
        maturity("1.4", "bert", PARAMETERS, replace(RELEASES, speedups=()))
    with pytest.raises(MissingParameter):
        maturity("2.6", "bert", replace(PARAMETERS, sdks=("2.5",)), RELEASES)


def test_an_answer_for_1_4_is_slower_by_what_is_claimed_and_less_sure():
    """Links are not software: the step grows by a little less than the factor on its costs."""
    old, new = podsim.predict("bert", sdk="1.4", **ASKED), podsim.predict("bert", sdk="2.1", **ASKED)
    assert 1.5 < old.step_s.value / new.step_s.value <= 1.6
    assert old.step_s.high / old.step_s.low > new.step_s.high / new.step_s.low
    assert old.step_s.grade is Grade.EXTRAPOLATED
    assert old.run.startup_s > new.run.startup_s > 0, "older releases start more slowly"
    assert any(line.startswith("no run with SDK 1.4 is published") for line in map(str, old.assumptions))


def test_what_is_set_is_not_scaled():
    prediction = podsim.predict("bert", sdk="1.4", changes=["sharding.weight=0.01"], **ASKED)
    other = podsim.predict("bert", sdk="2.3", changes=["sharding.weight=0.01"], **ASKED)
    assert prediction.timeline.breakdown_s[Part.SHARDING] == pytest.approx(other.timeline.breakdown_s[Part.SHARDING])
