"""A free parameter is one object: what it moves, who uses it, and a prior with a source under the same name."""

import math
from importlib import import_module
from pathlib import Path

import pytest

from podsim.files import catalog, free
from podsim.model.parameters import BY_NAME, LABELS, NEEDED, PARAMETERS, PROGRAM, SHARDING, SOFTWARE, sensitivities
from podsim.model.program import Part

SHARES = {Part.COMPUTE: 0.5, Part.ALL_REDUCE: 0.2, Part.TENSOR_PARALLEL: 0.1, Part.RACK_STEPS: 0.15, Part.HOST: 0.05}


def test_every_parameter_has_a_prior_and_every_prior_a_parameter():
    file = free.free().value
    named = {each.name for each in (*file.parameters, *file.alternatives)}
    assert named - {name for name in named if name.startswith("sdk-")} == set(BY_NAME)


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
    assert NEEDED == ("program.stretch", "collective.efficiency", "rack.step")
    assert len(SHARDING) == 4
    assert "collective.efficiency" not in SOFTWARE
    assert set(LABELS) == {"program.stretch", "rack.step"}
    assert Part.RACK_STEPS not in PROGRAM


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_users_are_modules_that_name_it(parameter):
    for user in parameter.users:
        text = Path(str(import_module(user).__file__)).read_text(encoding="utf-8")
        assert f'"{parameter.name}"' in text or (parameter.form and "SHARDING" in text)
