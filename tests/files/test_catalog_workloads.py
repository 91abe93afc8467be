from pathlib import Path

import pytest

from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, find


def refused(function, *arguments):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    return caught.value


# --- workloads --------------------------------------------------------------------------------------------------------

BERT = (Path(find.__file__).parents[1] / "workloads" / "bert.toml").read_text()


def test_a_workload_takes_the_convergence_of_its_name():
    assert catalog.workload("bert").value.convergence == catalog.convergence("bert").value


def test_a_workload_that_nobody_has_trained_is_a_missing_parameter(write):
    path = write("mine.toml", BERT.replace('name            = "bert"', 'name = "mine"'))
    with pytest.raises(MissingParameter) as caught:
        catalog.workload(str(path))
    assert caught.value.code == "missing-parameter"
    assert "mine" in caught.value.message


def test_a_workload_can_bring_its_own_convergence(write):
    own = (
        '[convergence]\noptimizer = "lamb"\nsource = "mine"\n'
        "[[convergence.point]]\nbatch = 1\nsamples = 10\nstd = 1\nruns = 1\n"
        "[[convergence.point]]\nbatch = 2\nsamples = 12\nstd = 0\nruns = 1\n"
    )
    path = write("mine.toml", BERT.replace('name            = "bert"', 'name = "mine"') + own)
    assert [point.batch for point in catalog.workload(str(path)).value.convergence.points] == [1, 2]


def test_a_preset_must_name_a_configuration_and_a_layout_stay_in_its_replica(write):
    text = BERT.replace('configuration    = "popart-v1.0-pod16"', 'configuration = "popart-v1.0-pod1"', 1)
    text = text.replace("{ ipu = 3, units", "{ ipu = 4, units", 1)
    error = refused(catalog.workload, str(write("mine.toml", text)))
    assert error.message == "mine.toml has 2 errors"
    assert error.context[0].endswith("configuration[0].layout[3].ipu  4 of 4 IPUs; the first is 0")
    assert error.context[1].endswith('"popart-v1.0-pod1" is not known; did you mean "popart-v1.0-pod16"?')


# --- what a file is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("topologies/chips/gc200.toml", "chip"),
        ("topologies/bow-pod256.toml", "topology"),
        ("topologies/family.toml", "family"),
        ("podsim/workloads/resnet50.toml", "workload"),
        ("calibration/convergence/bert.toml", "convergence"),
        ("calibration/points/bert-v1-1.toml", "points"),
    ],
)
def test_any_file_says_what_it_is(path, what):
    checked = catalog.describe(find.data_folder("topologies").parent / path)
    text, document = checked.what, checked.document
    assert text == what
    assert document.value
    assert document.provenance


def test_a_file_without_a_schema_is_told_what_there_is(write):
    error = refused(catalog.describe, write("my.toml", 'name = "x"\n'))
    assert error.code == "bad-input-file"
    assert error.context[0].startswith(
        '1  schema  is missing; a podsim file begins with schema = one of "podsim.chip/1"'
    )


def test_two_points_of_one_id_and_a_step_of_no_time_are_refused(write):
    text = (find.data_folder("calibration") / "points" / "bert-v1-1.toml").read_text()
    first, second, *_ = [line for line in text.splitlines() if line.startswith("id ")]
    text = text.replace(second, first).replace('"2.057936 s"', '"0 s"')
    error = refused(catalog.describe, write("my.toml", text))
    assert error.message == "my.toml has 2 errors"
    assert any(line.endswith("must be above 0, not 0.0") for line in error.context)
    assert any(line.endswith('"bert/pod16/v1.1-closed" is there twice') for line in error.context)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("= 2517005,", "= 3017005,", "samples_to_converge  3,017,005, but steps x global_batch is 2,471,040"),
        ("29.7784", "31.7784", "minutes  31.7784, but its parts add up to 29.7"),
        ("32.6968", "29.6968", "score_minutes  29.6968, but minutes x normalisation is 32.6967"),
        ("804.375", "850.375", "train  1652.57 s, but steps x step is 1750.02 s"),
    ],
)
def test_a_point_that_contradicts_itself_is_refused(write, old, new, said):
    text = (find.data_folder("calibration") / "points" / "bert-v1-1.toml").read_text()
    assert text.count(old) == 1
    error = refused(catalog.describe, write("my.toml", text.replace(old, new)))
    assert error.code == "bad-points-file"
    key, text = said.split("  ")
    assert any(f".{key}  " in line and text in line for line in error.context)


def test_one_id_in_two_files_is_refused(tmp_path, monkeypatch):
    shipped = find.data_folder("calibration") / "points" / "bert-v1-1.toml"
    (tmp_path / "points").mkdir()
    for name in ("a.toml", "b.toml"):
        (tmp_path / "points" / name).write_bytes(shipped.read_bytes())
    monkeypatch.setattr(find, "data_folder", lambda _: tmp_path)
    error = refused(catalog.points)
    assert error.code == "bad-points-file"
    assert any(line.endswith("is in a.toml already") for line in error.context)
