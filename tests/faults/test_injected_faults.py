"""Each call of the system that a command makes fails once: a documented end, no file of the user lost, an answer."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest
from injection import injected

import podsim
from podsim.caches.cache import _SHELVES
from podsim.cli.command_line import main

ROOT = Path(__file__).parents[2]
ERRORS = (errno.EACCES, errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE)
EVERY = int(os.environ.get("FAULTS_EVERY", "23"))  # one in so many of all errors at all calls; 1 is all of them
OLD = b"what was there before\n"
MATMUL = ["op", "matmul", "--m", "64", "--k", "64", "--n", "64"]
PREDICT = ["predict", "bert", "--pod", "16", "--engine", "analytic"]


@dataclass(frozen=True)
class Case:
    """A command, and which of its files are the answer's (their loss is an error) or only a help (it is none)."""

    words: tuple[str, ...]
    files: tuple[str, ...] = ()
    only_helps: bool = False
    prepare: Callable[[Path], None] = lambda _: None


def settings(folder: Path) -> None:
    (folder / "work" / "podsim.toml").write_text("[topology.show]\nlinks = true\n")


def sweep(folder: Path) -> None:
    shutil.copy(ROOT / "tests/cases/sweeps/splits.toml", folder / "work" / "a.toml")


def sweep_damaged(folder: Path) -> None:
    """Results with two points, of which the second was edited."""
    sweep(folder)
    (folder / "work" / "a.results.jsonl").write_bytes(damaged(folder))


@lru_cache(maxsize=1)
def damaged(folder: Path) -> bytes:
    """The file of such results."""
    file = folder / "work" / "a.toml"
    podsim.sweep(file, jobs=1)
    lines = file.with_suffix(".results.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join([*lines[:2], lines[2].replace(b"1", b"2", 1)])


CASES = {
    "cache": Case((*MATMUL,), only_helps=True),
    "settings": Case(("topology", "show", "pod16"), only_helps=True, prepare=settings),
    "json": Case((*PREDICT, "-o", "a.json"), ("a.json",)),
    "html": Case((*PREDICT, "-o", "a.html"), ("a.html",)),
    "trace": Case(("trace", "bert", "--pod", "4", "--engine", "analytic", "-o", "t.json"), ("t.json",)),
    "sweep": Case(("sweep", "a.toml", "--jobs", "1"), prepare=sweep),
    "sweep-damaged": Case(("sweep", "a.toml", "--jobs", "1"), prepare=sweep_damaged),
    "calibrate": Case(("calibrate", "--comparators", "-o", "p.toml"), ("p.toml",)),
}


def arrange(folder: Path, case: Case, patch: pytest.MonkeyPatch) -> None:
    """A fresh world: a folder to work in, a cache, a folder of settings."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("work", "cache", "config"):
        (folder / name).mkdir(parents=True)
    (folder / "work" / ".git").mkdir()
    patch.chdir(folder / "work")
    case.prepare(folder)
    for name in case.files:
        (folder / "work" / name).write_bytes(OLD)
    _SHELVES.clear()


@pytest.fixture(scope="module", autouse=True)
def fitted_once() -> Iterator[None]:
    """What `calibrate --comparators` fits: the fit reads no file of the user, and takes seconds."""
    from podsim.calibration import fit_data

    with pytest.MonkeyPatch.context() as patch:
        result = fit_data.comparator_fit(None)
        patch.setattr(fit_data, "comparator_fit", lambda _: result)
        yield


def run(case: Case, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(list(case.words))
    return code, *capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_each_call_fails_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case, folder = CASES[name], tmp_path / "world"
    monkeypatch.setenv("PODSIM_CACHE", str(folder / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    arrange(folder, case, monkeypatch)
    capsys.readouterr()
    with injected(folder) as counted:
        code, answer, err = run(case, capsys)
    assert (code, "Traceback" in err) == (0, False)
    new = {file: (folder / "work" / file).read_bytes() for file in case.files}
    for at, call in enumerate(counted.calls):
        for turn, number in enumerate(ERRORS):
            if (at * len(ERRORS) + turn) % EVERY:
                continue
            arrange(folder, case, monkeypatch)
            capsys.readouterr()
            with injected(folder, fails=at, errno=number):
                code, out, err = run(case, capsys)
            where = f"{call} fails with {errno.errorcode[number]}: exit {code}\n{err}"
            check(case, folder, (code, out, err), (answer, new), where)


def shown(screen: str) -> list[str]:
    """An answer without its last lines, which name inputs by a hash of paths too."""
    return [line for line in screen.splitlines() if "inputs " not in line]


def check(
    case: Case, folder: Path, ended: tuple[int, str, str], undisturbed: tuple[str, dict[str, bytes]], where: str
) -> None:
    """What must hold however a call failed."""
    code, out, err = ended
    answer, new = undisturbed
    assert code in {0, 2}, where
    assert "Traceback" not in err, where
    assert code == 0 or "error: " in err, where
    if case.only_helps:
        assert code == 0 or "podsim.toml" in err, where
    if code == 0 and "is ignored" not in err:
        assert shown(out) == shown(answer), where
    for file, content in new.items():
        data = (folder / "work" / file).read_bytes()
        assert data == OLD or len(data) == len(content), where
        assert code != 0 or data != OLD, where
    left = [path.name for path in (folder / "work").iterdir() if path.name.startswith(".") and path.name != ".git"]
    assert left == [] or "unlink" in where, where
