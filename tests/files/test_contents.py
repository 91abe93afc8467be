"""Files are opened in one place: plain ones only, never a pipe that nobody writes into, never more than is allowed."""

import errno
import os
import socket
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import (
    answer_files,
    catalog,
    comparator_results,
    csv_rows,
    find,
    microbenchmarks,
    reference_points,
    settings,
)
from podsim.files.blocks import read as blocks
from podsim.files.contents import FilesRead, make_once, reading_once, text_of

READERS = {
    "described": (catalog.describe, "my.toml"),
    "config": (lambda path: catalog.workload(str(path)), "config.json"),
    "onnx": (lambda path: catalog.workload(str(path)), "my.onnx"),
    "saved": (answer_files.read, "old.json"),
    "diff": (lambda path: podsim.diff(path, path), "old.json"),
    "settings": (settings.read, "podsim.toml"),
    "csv": (lambda path: list(csv_rows.rows(path, ["a"], "comparator")), "my.csv"),
    "comparators": (comparator_results.read, "my.csv"),
    "microbenchmarks": (microbenchmarks.read, "my.csv"),
    "reference points": (reference_points.read, "my.csv"),
    "blocks": (blocks, "my.csv"),
    "points": (catalog.points_of, "my.toml"),
    "parameters": (catalog.own_parameters, "my.toml"),
    "mix": (podsim.plan_mix, "my.toml"),
    "sweep": (podsim.sweep, "my.toml"),
    "claims": (lambda path: podsim.claims(path=path), "my.toml"),
    "readings": (lambda path: podsim.validate_published(path=path), "my.toml"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "gone", "long", "nul"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, reader, kind):
    read, name = READERS[reader]
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "long":
        path = tmp_path / ("x" * 300 + name)
    elif kind == "nul":
        path = tmp_path / f"\0{name}"
    with pytest.raises(InputError) as error:
        read(path)
    assert error.value.code == "no-such-file" or error.value.code.startswith("bad-")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pipe", "it is a pipe, no plain file"),
        ("socket", "it is a socket, no plain file"),
        ("device", "it is a device, no plain file"),
        ("folder", "it is a folder, not a file"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "predict {} --pod 16",
        "predict bert --topology {}",
        "predict bert --pod 4 --chip {}",
        "check {}",
        "sweep {}",
        "scale {} --pods 4",
        "predict bert --pod 4 --parameters {}",
    ],
)
@pytest.mark.parametrize("name", ["it", "./it"])
def test_what_a_path_names_is_said(tmp_path, monkeypatch, capsys, kind, said, words, name):
    monkeypatch.chdir(tmp_path)
    if kind == "pipe":
        os.mkfifo("it")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as item:
            item.bind("it")
    elif kind == "device":
        Path("it").symlink_to("/dev/null")
    else:
        Path("it").mkdir()
    assert main(words.format(name).split()) == 2
    err = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert said in err
    assert err.count("error:") == 1


def test_a_plain_file_that_is_given_as_a_name_is_pointed_at(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("", encoding="utf-8")
    assert main(["predict", "mine", "--pod", "16"]) == 2
    assert "a file is named with its folder: ./mine" in capsys.readouterr().err


def test_a_pipe_among_logs_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "result_0.txt")
    (tmp_path / "result_1.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError) as error:
        podsim.calibrate_own(logs=tmp_path)
    assert "no plain file" in " ".join(error.value.context)


def test_a_pipe_that_somebody_writes_into_is_no_answer(tmp_path, capsys):
    reader, writer = os.pipe()
    os.write(writer, b"{}")
    assert main(["diff", f"/dev/fd/{reader}", f"/dev/fd/{reader}"]) == 2
    assert "no plain file" in capsys.readouterr().err
    os.close(reader)
    os.close(writer)


def test_a_file_above_the_limit_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "my.toml"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InputError, match="larger than any podsim file: more than 16 MiB"):
        text_of(path, "bad-input-file")


@pytest.mark.parametrize("name", slow_but(["1\u00b2"], ["1\u00b2", "\u0661pod", "pod\u2460", "\u00bd", "9" * 40]))
def test_digits_that_are_none_in_the_name_of_a_file_harm_no_list(tmp_path, monkeypatch, name, capsys):
    monkeypatch.chdir(tmp_path)
    for folder in ("topologies", "topologies/chips", "topologies/fabrics", "workloads"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.toml").write_text("", encoding="utf-8")
    odd = not name.isascii()
    for command, kinds in (("topology", ("topologies", "fabrics")), ("chip", ("chips",)), ("workload", ("workloads",))):
        for kind in kinds:
            assert (name in find.names(kind)) is not odd
        assert main([command, "list"]) == (0 if odd else 2)  # the file is empty, which is no chip
        err = capsys.readouterr().err
        assert err.count("is not listed: a name has letters from a to z") == (len(kinds) if odd else 0)
    assert main(["predict", "bert", "--topology", "pd"]) == 2
    assert "unknown-topology" in capsys.readouterr().err


@pytest.mark.parametrize("code", [errno.EIO, errno.EROFS, errno.EACCES])
def test_a_shipped_file_that_cannot_be_looked_at_lets_no_other_answer(code, monkeypatch):
    """IPU-M2000 is a file; without it, the rule of the family would make an IPU-POD4 of that size."""
    stat = Path.stat

    def refused(path: Path, **more: bool) -> os.stat_result:
        if path.name == "m2000.toml" and path.is_absolute():
            raise OSError(code, os.strerror(code))
        return stat(path, **more)

    monkeypatch.setattr(Path, "stat", refused)
    with pytest.raises(InputError, match=r"m2000\.toml cannot be looked at"):
        podsim.predict("resnet50", pod=4, samples=1e6, engine="analytic")


def test_questions_that_share_what_was_read_see_one_state_of_a_file(tmp_path):
    path, known = tmp_path / "my.toml", FilesRead()
    seen = []
    for text in ("before", "after"):
        path.write_text(text)
        with reading_once(known):
            seen += [text_of(path, "bad-file"), make_once("upper", lambda: text_of(path, "bad-file").upper())]
    assert seen == ["before", "BEFORE"] * 2
    with reading_once(FilesRead()):
        assert make_once("upper", lambda: text_of(path, "bad-file").upper()) == "AFTER"


def test_what_is_made_of_files_is_made_each_time_outside_of_a_question(tmp_path):
    path = tmp_path / "my.toml"
    seen = []
    for text in ("before", "after"):
        path.write_text(text)
        seen.append(make_once("own", lambda: text_of(path, "bad-file")))
    assert seen == ["before", "after"]
