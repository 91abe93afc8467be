"""`-o FILE`: a page, a picture, a table or JSON by its suffix, whole or not at all."""

import csv
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files.write import check_writable, write_atomic
from podsim.model.displayable import forms

QUESTION = ["predict", "bert", "--pod", "16", "--engine", "analytic"]
STARTS = {
    ".html": b"<!doctype",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".csv": b"workload,topology,",
    ".json": b"{",
}


@pytest.mark.parametrize("suffix", slow_but([".html", ".csv"], STARTS))
def test_each_suffix(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"answer{suffix}"
    assert main([*QUESTION, "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Time to train" in out
    assert err == f"wrote {path}\n"
    assert path.read_bytes().startswith(STARTS[suffix])
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


def test_the_file_is_what_stdout_would_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.JSON"
    assert main([*QUESTION, "--json", "-o", str(path)]) == 0
    assert capsys.readouterr().out == path.read_text(encoding="utf-8")


def test_the_page_names_the_command_that_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "answer.html"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert f"podsim predict bert --pod 16 --engine analytic -q -o {path}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("answer.txt", ".html, .pdf"),
        ("answer", "known suffixes"),
        ("none/answer.html", "no folder"),
        ("a.html", "a folder"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_anything_runs(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(podsim, "predict", lambda *_, **__: pytest.fail("it ran"))
    assert main([*QUESTION, "-o", name]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_an_answer_draws_itself_in_a_notebook() -> None:
    drawn = podsim.predict("bert", pod=16, engine="analytic")._repr_html_()
    assert drawn
    assert "Time to train" in drawn
    assert forms(7) is None


def test_json_and_pages_agree(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    (row,) = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    assert list(row)[:2] == ["workload", "topology"]
    assert row["schema"] == "podsim.prediction/1"


def unwritable(kind: str, folder: Path) -> str:
    """A file that cannot be written, each in its own way; names that no disk takes, places that refuse."""
    (folder / "loop.json").symlink_to(folder / "loop.json")
    names = {
        "long": "x" * 300 + ".json",
        "nul": "a\0.json",
        "loop": str(folder / "loop.json"),
        "proc": "/proc/podsim.json",
        "below a file": str(folder / "plain" / "a.json"),
        "half a pair": "\ud800.json",
        "no folder": "none/a.json",
    }
    (folder / "plain").write_text("", encoding="utf-8")
    return names[kind]


UNWRITABLE = ("long", "nul", "loop", "proc", "below a file", "half a pair", "no folder")
WRITERS = {
    "predict": (QUESTION, "-o", "predict"),
    "plan": (["plan", "bert"], "-o", "plan"),
    "scale": (["scale", "bert"], "-o", "scale"),
    "compare": (["compare", "bert", "pod16", "pod64"], "-o", "compare"),
    "explain": (["explain", "bert", "--pod", "16"], "-o", "explain"),
    "infer": (["infer", "bert", "--pod", "16"], "-o", "infer"),
    "map": (["workload", "map", "bert", "--pod", "16"], "-o", "mappings"),
    "trace": (["trace", "bert", "--pod", "16"], "--out", "trace"),
    "collective": (["collective", "all-reduce", "--pod", "16", "--bytes", "1MB"], "--out", "collective"),
    "sweep": (["sweep", "none.toml"], "-o", "sweep"),
}


@pytest.mark.parametrize("kind", UNWRITABLE)
@pytest.mark.parametrize("verb", WRITERS)
def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(
    verb: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, flag, name = WRITERS[verb]
    monkeypatch.chdir(tmp_path)
    out = unwritable(kind, tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(podsim, name, lambda *_, **__: pytest.fail("it ran"))
    assert main([*words, flag, out]) == 2
    err = capsys.readouterr().err
    assert "error: cannot-write" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


FITS = {
    "calibrate": (lambda path: podsim.calibrate(path=path), "podsim.calibration.holdout.calibrate"),
    "noise": (lambda path: podsim.calibrate_noise(path=path), "podsim.calibration.noise_fit.fit"),
    "comparators": (
        lambda path: podsim.calibrate_comparators(path=path),
        "podsim.calibration.comparator_holdout.calibrate",
    ),
    "freeze": (lambda path: podsim.freeze(path=path), "podsim.calibration.freeze.again"),
    "own": (lambda path: podsim.calibrate_own(logs=".", out=path), "podsim.calibration.own_logs_fit.read"),
    "own points": (
        lambda path: podsim.calibrate_own(logs=".", points_out=path),
        "podsim.calibration.own_logs_fit.read",
    ),
}


@pytest.mark.parametrize("kind", UNWRITABLE)
@pytest.mark.parametrize("fit", FITS)
def test_a_fit_does_not_begin_where_it_cannot_be_written(
    fit: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, long_work = FITS[fit]
    monkeypatch.chdir(tmp_path)
    module, _, function = long_work.rpartition(".")
    monkeypatch.setattr(import_module(module), function, lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises(InputError) as error:
        ask(unwritable(kind, tmp_path))
    assert error.value.code == ("bad-value" if kind == "nul" else "cannot-write")


def test_a_probe_leaves_what_is_there_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("mine", encoding="utf-8")
    known = path.stat()
    check_writable(path, tmp_path / "new.json", None)
    assert path.read_text(encoding="utf-8") == "mine"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (known.st_mtime_ns, known.st_ino)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_name_of_the_longest_that_a_disk_takes_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".json")
    check_writable(path)
    write_atomic(path, "{}")
    assert path.read_text(encoding="utf-8") == "{}"


def test_a_name_that_is_no_utf_8_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "\udcff.html"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert b"\\udcff.html" in path.read_bytes()
    assert main([*QUESTION, "-o", str(tmp_path / "\udcff.csv")]) == 0
    assert "\\udcff.csv" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["predict", "trace"])
def test_an_answer_whose_file_is_lost_at_the_end_is_shown(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("podsim.files.write._replace", full)
    words = (
        QUESTION
        if verb == "predict"
        else [
            "trace",
            "resnet50",
            "--pod",
            "4",
            "--replicas",
            "4",
            "--ipus-per-replica",
            "1",
            "--micro-batch",
            "16",
            "--accumulation",
            "8",
        ]
    )
    assert main([*words, "-o", str(tmp_path / "a.json")]) == 2
    out, err = capsys.readouterr()
    assert len(out) > 300
    assert "cannot-write" in err
    assert "No space left" in " ".join(err.split())


@pytest.mark.slow
def test_a_fit_whose_file_is_lost_at_the_end_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("podsim.files.write._replace", full)
    assert main(["calibrate", "--noise", "-o", str(tmp_path / "noise.toml")]) == 2
    out, err = capsys.readouterr()
    assert len(out) > 100
    assert "No space left" in " ".join(err.split())


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_permissions_are_found_out_first(kind: str, tmp_path: Path) -> None:
    """Root may write anywhere, so the process gives that up."""
    path = tmp_path / "a.json"
    if kind == "file":
        path.write_text("mine", encoding="utf-8")
        path.chmod(0o400)
    else:
        tmp_path.chmod(0o500)
    words = [*QUESTION, "-o", str(path)]
    program = (
        "import ctypes, os, sys\n"
        "os.geteuid() or ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)\n"  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        f"os.execv(sys.executable, [sys.executable, '-m', 'podsim', *{words!r}])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    tmp_path.chmod(0o700)
    assert (run.returncode, run.stdout) == (2, "")
    assert "Permission denied" in run.stderr
    assert kind == "folder" or path.read_text(encoding="utf-8") == "mine"
