"""Keys of earlier releases are refused with their names of now."""

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import find


def test_a_file_with_the_old_key_is_told_the_new_one(tmp_path):
    text = (find.data_folder("podsim") / "workloads" / "squad.toml").read_text()
    old = tmp_path / "old.toml"
    old.write_text(text.replace("[[configuration]]", "[[practice]]"))
    with pytest.raises(InputError) as refusal:
        podsim.predict(str(old), pod=16)
    assert any("practice" in line and 'did you mean "configuration"?' in line for line in refusal.value.context)


def test_a_change_by_the_old_path_is_told_the_new_one():
    with pytest.raises(InputError) as refusal:
        podsim.predict("bert", pod=16, changes=["workload.practice.popart-v1.1-pod16.io_tiles=32"])
    assert any("workload.configuration.popart-v1.1-pod16.io_tiles" in line for line in refusal.value.context)
