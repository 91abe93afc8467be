"""Faults of free.toml and sdk.toml, all with their lines."""

import pytest

from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, find, free, releases
from podsim.model.parameters import NEEDED

FREE = (find.shipped("calibration") / "free.toml").read_text(encoding="utf-8")
SDK = (find.shipped("calibration") / "sdk.toml").read_text(encoding="utf-8")


def refused(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalog.describe(path)
    return caught.value


def test_every_parameter_that_a_step_asks_for_is_there():
    parameters = free.free().value
    assert set(NEEDED) < set(parameters.names)
    assert parameters.names == tuple(catalog.parameters().fitted) or set(parameters.names) == set(
        catalog.parameters().fitted
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'value = 1.05, note = "plans',
            'value = 4.05, note = "plans',
            "must lie between least and most, 0.5 and 3, not 4.05",
        ),
        ('"rack.step"', '"rack.stpe"', 'did you mean "rack.step"?'),
        ('"rack.step"', '"rack.stpe"', '"rack.step" is missing'),
        ('"sharding.weight"', '"sharding.wieght"', "needs one of sharding.weight, sharding.tensor"),
        ('"sharding.tensor"', '"sharding.weight"', '"sharding.weight" is there twice'),
        ('"sharding.turn"', '"rack.turn"', '"rack.turn" is not known'),
        ('"sdk-2.1.program"', '"program.stretch"', '"program.stretch" is there twice'),
        ("least       = 1e-6", "least       = 0.06", "must be below most, 0.05, not 0.06"),
        (
            'most        = 1.0\nmeaning     = "share',
            'most        = 2.0\nmeaning     = "share',
            "an efficiency is at most 1",
        ),
        ("prior_error = { value = 0.5", "prior_error = { value = 0", "must be above 0"),
    ],
)
def test_faults_of_free_parameters(tmp_path, old, new, said):
    assert old in FREE
    error = refused(tmp_path, FREE.replace(old, new, 1))
    assert error.code == "bad-free-file"
    assert any(said in line for line in error.context), error.context


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name    = "2.5"', 'name    = "two"', 'must be a version such as "2.3"'),
        ('name    = "2.5"', 'name    = "2.6"', '"2.6" is there twice'),
        ('"2022-06"', '"June 2022"', 'must be a month such as "2021-06"'),
        ('since    = "1.4"', 'since    = "1.5"', '"1.5" is not known'),
        ('until    = "2.1"', 'until    = "1.4"', "1.4 is not later than 1.4"),
        ("value = 2.1,", "value = 0,", "must be above 0"),
    ],
)
def test_faults_of_releases(tmp_path, old, new, said):
    assert old in SDK
    error = refused(tmp_path, SDK.replace(old, new, 1))
    assert error.code == "bad-sdk-file"
    assert any(said in line for line in error.context), error.context


@pytest.mark.parametrize("read", [free.free, releases.releases])
def test_a_missing_file_is_said(read, tmp_path, monkeypatch):
    monkeypatch.setattr(find, "shipped", lambda _: tmp_path)
    with pytest.raises(MissingParameter):
        read()
