import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.write import parameters_text, write_atomic
from podsim.model.calibration import FittedParameter, Outside, ParameterSet, SamplesFactor

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NOT_NEGATIVE = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
ABOVE_NOUGHT = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)
# Control characters and quotes included, lone surrogates not: those have no UTF-8.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
NAMES = st.sampled_from(["compute.efficiency", "sync", "gw-link.latency", "a b", 'quo"ted', "ümlaut"])


def by_name(values):
    return st.dictionaries(NAMES, values, max_size=3)


PARAMETERS = st.builds(
    ParameterSet,
    fitted=by_name(
        st.builds(
            FittedParameter,
            value=NUMBERS,
            error=NOT_NEGATIVE,
            prior=NUMBERS,
            prior_error=NUMBERS,
            pull=NUMBERS,
            meaning=TEXTS,
        )
    ),
    correlation=by_name(by_name(NUMBERS)),
    outside=st.builds(
        Outside,
        seconds=by_name(by_name(ABOVE_NOUGHT)),
        trend=by_name(ABOVE_NOUGHT),
        gain=NUMBERS,
        gain_error=NOT_NEGATIVE,
        scatter=NOT_NEGATIVE,
        newest=TEXTS,
    ),
    samples=by_name(
        by_name(
            by_name(st.builds(SamplesFactor, factor=ABOVE_NOUGHT, spread=NOT_NEGATIVE, points=st.integers(0, 2**53)))
        )
    ),
    step_error=NOT_NEGATIVE,
    largest=by_name(st.integers(1, 65536)),
    smallest=by_name(st.integers(1, 65536)),
    chips=st.lists(TEXTS, max_size=2).map(tuple),
    sdks=st.lists(TEXTS, max_size=2).map(tuple),
    points=st.integers(0, 1000),
)


@given(PARAMETERS)
def test_what_is_written_reads_back_equal(tmp_path_factory, parameters):
    path = tmp_path_factory.getbasetemp() / "parameters.toml"
    write_atomic(path, parameters_text(parameters))
    assert catalog.parameters(path) == parameters


@given(PARAMETERS)
def test_the_same_parameters_are_the_same_bytes(parameters):
    turned = replace(parameters, fitted=dict(reversed(parameters.fitted.items())))
    assert parameters_text(turned) == parameters_text(parameters)


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "parameters.toml"
    path.write_text("before")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(InputError) as caught:
        write_atomic(path, "after")
    assert (caught.value.code, caught.value.message) == (
        "cannot-write",
        f"cannot write {path}: No space left on device",
    )
    assert path.read_text() == "before"
    assert list(tmp_path.glob(".*")) == []


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(InputError) as caught:
        write_atomic(tmp_path / "none" / "parameters.toml", "x")
    assert caught.value.code == "cannot-write"


def test_a_file_keeps_its_rights_and_a_new_one_can_be_read_by_all(tmp_path):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text("before")
    old.chmod(0o600)
    for path in (old, new):
        write_atomic(path, "after")
        assert path.read_text() == "after"
    assert (old.stat().st_mode & 0o777, new.stat().st_mode & 0o777) == (0o600, 0o644)


EXAMPLE = ParameterSet(
    fitted={
        "compute.efficiency": FittedParameter(
            value=0.4, error=0.01, prior=0.5, prior_error=0.3, pull=-0.2, meaning='share of the "peak"'
        )
    },
    correlation={},
    outside=Outside(
        seconds={"load": {"2.1": 18.0, "2.3": 12.5}},
        trend={"load": 12.0},
        gain=0.25,
        gain_error=0.05,
        scatter=0.1,
        newest="2.3",
    ),
    samples={},
    step_error=0.05,
    largest={"bert": 128},
    smallest={"bert": 16},
    chips=("gc200",),
    sdks=("2.1", "2.3"),
    points=16,
)
EXAMPLE_TEXT = """\
# Written by podsim calibrate, which is the only thing that changes this file.
schema = "podsim.parameters/1"
kind = "fitted"
correlation = {}
forms = {}
samples = {}
step_error = 0.05
model_error = 0.0
run_spread = 0.0
outside_error = 0.0
chips = ["gc200"]
sdks = ["2.1", "2.3"]
points = 16

[fitted."compute.efficiency"]
value = 0.4
error = 0.01
prior = 0.5
prior_error = 0.3
pull = -0.2
meaning = "share of the \\"peak\\""
unit = ""

[outside]
gain = 0.25
gain_error = 0.05
scatter = 0.1
newest = "2.3"

[outside.seconds.load]
"2.1" = 18.0
"2.3" = 12.5

[outside.trend]
load = 12.0

[largest]
bert = 128

[smallest]
bert = 16
"""


def test_the_file_is_laid_out_for_people():
    assert parameters_text(EXAMPLE) == EXAMPLE_TEXT


def test_a_number_that_no_file_may_hold_is_not_written():
    with pytest.raises(ValueError, match="nan is no number"):
        parameters_text(replace(EXAMPLE, step_error=float("nan")))


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "trace.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, "spans")
        assert os.read(reader, 100) == b"spans"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_a_link_and_what_it_names_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.json", tmp_path / "link.json"
    real.write_text("before")
    link.symlink_to(real)
    write_atomic(link, "after")
    assert link.is_symlink()
    assert not real.is_symlink()
    assert real.read_text() == "after"


def test_a_link_to_nothing_yet_makes_the_file_it_names(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "new.json")
    write_atomic(link, "after")
    assert link.is_symlink()
    assert (tmp_path / "new.json").read_text() == "after"


@pytest.mark.parametrize("kind", ["loop", "folder"])
def test_a_loop_of_links_and_a_folder_are_one_message(tmp_path, kind):
    path = tmp_path / kind
    if kind == "loop":
        path.symlink_to(path)
    else:
        path.mkdir()
    with pytest.raises(InputError, match=f"cannot write .*{kind}") as caught:
        write_atomic(path, "text")
    assert caught.value.code == "cannot-write"
