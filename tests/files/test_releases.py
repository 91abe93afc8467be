"""Faults of sdk.toml, all with their lines."""

import pytest

from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, find, releases

SDK = (find.data_folder("calibration") / "sdk.toml").read_text(encoding="utf-8")


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
    path = tmp_path / "my.toml"
    path.write_text(SDK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalog.describe(path)
    assert caught.value.code == "bad-sdk-file"
    assert any(said in line for line in caught.value.context), caught.value.context


def test_a_missing_file_of_releases_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(find, "data_folder", lambda _: tmp_path)
    with pytest.raises(MissingParameter):
        releases.releases()
