"""A free parameter is one object: what it moves, who uses it, and a prior with a source under the same name."""

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from podsim.files import catalog
from podsim.model.parameters import (
    BY_NAME,
    FREE,
    LABELS,
    PROGRAM,
    RELEASE,
    REQUIRED_NAMES,
    SHARDING,
    SOFTWARE,
    sensitivities,
)
from podsim.model.program import Part

SHARES = {Part.COMPUTE: 0.5, Part.ALL_REDUCE: 0.2, Part.TENSOR_PARALLEL: 0.1, Part.RACK_STEPS: 0.15, Part.HOST: 0.05}


def test_what_the_shipped_file_holds_is_what_a_fit_moves():
    assert set(FREE.names) == set(catalog.parameters().fitted)
    assert set(REQUIRED_NAMES) < set(FREE.names)


def test_each_form_has_one_cost_of_sharded_state():
    assert [form.form for form in FREE.forms] == list(SHARDING)
    assert all(len(set(form.names) & set(SHARDING)) == 1 and not form.alternatives for form in FREE.forms)


@pytest.mark.parametrize("parameter", BY_NAME.values(), ids=lambda parameter: parameter.name)
def test_priors_have_a_source_and_a_reason(parameter):
    assert parameter.source in catalog.sources()
    assert parameter.reason


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"prior": 4.05}, "must lie between least and most"),
        ({"least": 0.0}, "must be above 0"),
        ({"prior_error": 0.0}, "prior_error must be above 0"),
        ({"power": -1}, "an efficiency is at most 1"),
    ],
)
def test_impossible_priors_are_refused(change, fault):
    with pytest.raises(ValueError, match=fault):
        replace(BY_NAME["program.stretch"], **change)


def test_time_goes_with_a_cost_and_against_an_efficiency():
    table = sensitivities(dict.fromkeys(BY_NAME), SHARES, "2.3")
    assert table["program.stretch"] == 0.5
    assert table["rack.step"] == 0.15
    assert math.isclose(table["collective.efficiency"], -0.3)


def test_only_the_release_that_runs_moves_a_step():
    table = sensitivities({"sdk-2.1.program": None, "sdk-2.3.program": None}, SHARES, "2.1")
    assert table == {"sdk-2.1.program": 0.5}


def test_what_is_fitted_is_what_a_step_moves_with():
    fitted = catalog.parameters().fitted
    assert set(sensitivities(fitted, SHARES, "2.1")) == set(fitted)


def test_lists_follow_from_the_objects():
    assert REQUIRED_NAMES == ("program.stretch", "collective.efficiency", "rack.step")
    assert len(SHARDING) == 4
    assert "collective.efficiency" not in SOFTWARE
    assert set(LABELS) == {"program.stretch", "rack.step"}
    assert Part.RACK_STEPS not in PROGRAM


@pytest.mark.parametrize(
    "parameter",
    [each for each in BY_NAME.values() if not RELEASE.fullmatch(each.name)],
    ids=lambda parameter: parameter.name,
)
def test_users_are_modules_that_name_it(parameter):
    for user in parameter.users:
        text = Path(str(import_module(user).__file__)).read_text(encoding="utf-8")
        assert f'"{parameter.name}"' in text or (parameter.name in SHARDING and "SHARDING" in text)
