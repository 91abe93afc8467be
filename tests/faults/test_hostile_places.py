"""A disk that is full and a home that cannot be written: the answer is on the screen, and what was there stays."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from slow_cases import slow_but

ROOT = Path(__file__).parents[2]
PREDICT = ("predict", "bert", "--pod", "16", "--engine", "analytic")
OLD = b"what was there before\n"


def podsim(*words: str, most_bytes: int | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """A command that may write no file larger than `most_bytes`, as on a disk without room."""

    def limit() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.run(
        [sys.executable, "-m", "podsim", *words],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environ},
        preexec_fn=limit,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def answer() -> str:
    return podsim(*PREDICT, PODSIM_CACHE="").stdout


def read_only(folder: Path) -> str:
    (folder / "home").mkdir(mode=0o500)
    return str(folder / "home")


@pytest.mark.parametrize(
    "home", slow_but([read_only], [read_only, lambda _: "/proc", lambda _: "/dev/null", lambda _: "/none/such"])
)
def test_a_home_that_cannot_be_written_changes_no_answer(home, tmp_path: Path, answer: str) -> None:
    where = home(tmp_path)
    done = podsim(*PREDICT, HOME=where, XDG_CACHE_HOME="", XDG_CONFIG_HOME="")
    assert (done.returncode, done.stdout, done.stderr) == (0, answer, "")


@pytest.mark.slow
def test_a_full_cache_changes_no_answer(tmp_path: Path, answer: str) -> None:
    done = podsim(*PREDICT, most_bytes=0, PODSIM_CACHE=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, answer, "")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "CACHEDIR.TAG"] == []


@pytest.mark.parametrize("most_bytes", [0, 100])
def test_a_full_disk_is_found_out_before_anything_runs(most_bytes: int, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(OLD)
    done = podsim(*PREDICT, "-o", str(path), most_bytes=most_bytes, PODSIM_CACHE="")
    assert done.returncode == 2
    assert "error: cannot-write" in done.stderr
    assert done.stdout == ""
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.html", OLD)]


@pytest.mark.parametrize("most_bytes", slow_but([5000], [5000, 9000]))
def test_a_disk_that_fills_up_leaves_the_old_file_and_the_answer_on_the_screen(
    most_bytes: int, tmp_path: Path, answer: str
) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(OLD)
    done = podsim(*PREDICT, "-o", str(path), most_bytes=most_bytes, PODSIM_CACHE="")
    assert done.returncode == 2
    assert "error: cannot-write" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == answer
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.html", OLD)]


@pytest.mark.parametrize("most_bytes", slow_but([100], [0, 100, 1500]))
def test_a_full_disk_ends_a_sweep_with_whole_lines_and_it_goes_on_later(most_bytes: int, tmp_path: Path) -> None:
    file, results = tmp_path / "a.toml", tmp_path / "a.results.jsonl"
    shutil.copy(ROOT / "tests/cases/sweeps/splits.toml", file)
    done = podsim("sweep", str(file), "--jobs", "1", most_bytes=most_bytes, PODSIM_CACHE="")
    assert done.returncode == 2, done.stderr
    assert "error: cannot-write" in done.stderr
    assert "Traceback" not in done.stderr
    stored = results.read_bytes()
    assert stored == b"" or stored.endswith(b"\n")
    done = podsim("sweep", str(file), "--jobs", "1", "--json", PODSIM_CACHE="")
    assert done.returncode == 0, done.stderr
    assert results.read_bytes().startswith(stored)
    assert "warning" not in done.stderr
