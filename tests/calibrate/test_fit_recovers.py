"""The fit finds the parameters that made its points, and says what it cannot know."""

import math
from dataclasses import replace

import pytest

from podsim.api.upkeep import cases as _cases
from podsim.calibrate import fit as fitting
from podsim.calibrate.cases import by_size, steps_s
from podsim.calibrate.fit import FREE, blank, fit, rounded

CASES = _cases()
TRUE = {
    "program.stretch": 1.2,
    "sdk-2.1.program": 1.1,
    "collective.efficiency": 0.42,
    "collective.start": 350e-6,
    "step.host": 0.08,
}


def made_with(values):
    """The published cases with the step times that these parameters predict."""
    parameters = blank(fitting._values([values[free.name] for free in FREE]))
    seconds = steps_s(CASES, parameters)
    return tuple(
        replace(case, point=replace(case.point, step_s=step_s)) for case, step_s in zip(CASES, seconds, strict=True)
    )


def test_parameters_are_recovered_from_synthetic_points(monkeypatch):
    assert TRUE.keys() == {free.name for free in FREE}
    monkeypatch.setattr(fitting, "FREE", tuple(replace(free, prior_error=1e3) for free in FREE))
    found = fit(made_with(TRUE))
    assert {name: item.value for name, item in found.fitted.items()} == pytest.approx(TRUE, rel=0.01)


@pytest.mark.parametrize(("doubt", "nearest"), [(0.01, 200e-6), (1e3, 350e-6)])
def test_a_prior_holds_a_parameter_as_tightly_as_it_says(monkeypatch, doubt, nearest):
    """The prior says 200 us, the points say 350, and the other priors agree with the points."""
    stated = tuple(
        replace(free, prior_error=doubt) if free.name == "collective.start" else replace(free, prior=TRUE[free.name])
        for free in FREE
    )
    monkeypatch.setattr(fitting, "FREE", stated)
    item = fit([case for case in made_with(TRUE) if case.point.workload == "bert"]).fitted["collective.start"]
    assert item.value == pytest.approx(nearest, rel=0.1)
    assert item.prior < item.value
    assert item.pull == pytest.approx(math.log(item.value / 200e-6) / doubt)


def test_what_no_point_informs_is_said():
    """Without a log of SDK 2.1 its factor stays at the prior, with the whole prior error."""
    found = fit([case for case in CASES if case.point.sdk == "2.3" and case.topology.ipus == 16])
    item = found.fitted["sdk-2.1.program"]
    assert item.value == pytest.approx(item.prior, rel=1e-6)
    assert item.error == pytest.approx(item.prior_error, rel=1e-6)
    assert any(warning.startswith("sdk-2.1.program: barely informed") for warning in found.warnings)


def test_written_values_have_six_digits():
    values = {free.name: free.prior * 1.23456789 for free in FREE}
    short = rounded(blank(fitting._values(list(values.values()))))
    for name, item in short.fitted.items():
        assert item.value == float(f"{values[name]:.6g}")


def test_each_size_is_one_group():
    groups = by_size(CASES)
    assert list(groups) == [16, 64, 128, 256]
    assert sum(map(len, groups.values())) == len(CASES)
    assert all(case.topology.ipus == size for size, cases in groups.items() for case in cases)


def test_cases_of_one_mapping_have_one_step_time():
    by_id = dict(zip((case.point.id for case in CASES), steps_s(CASES, blank(fitting._values([0.5] * 5))), strict=True))
    assert by_id["bert/pod64/v1.1-closed"] == by_id["bert/pod64/v1.1-open"]
    assert by_id["bert/pod64/v1.0-closed"] != by_id["bert/pod64/v1.1-closed"]
