"""A sweep on all cores whose processes are killed: what one had is computed by another, and nothing is left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_sweep_cluster import SWEEP

import podsim
from podsim.errors import InputError
from podsim.model.sweep import SweepOutcome, SweepQuestion
from podsim.studies.documents import answer_document
from podsim.studies.sweep import backends

LOST = int(os.environ.get("SWEEP_LOST", "2"))  # 10 were tried by hand


def processes() -> list[int]:
    """Those that compute for this one."""
    from joblib.externals.loky import reusable_executor

    executor = reusable_executor._executor
    return [] if executor is None else list(executor._processes or ())


@pytest.mark.slow
def test_processes_that_die_cost_no_point(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(SWEEP)
    untouched = podsim.sweep(file, results=tmp_path / "one.jsonl", jobs=1)
    at = sorted(random.sample(range(1, 36), LOST))
    killed: list[int] = []

    def on_progress(done: int, total: int) -> None:
        if at and done >= at[0] and processes():
            del at[0]
            killed.append(random.choice(processes()))  # noqa: S311  (no secret)
            os.kill(killed[-1], signal.SIGKILL)

    report = podsim.sweep(file, results=tmp_path / "two.jsonl", jobs=2, on_progress=on_progress)
    assert len(killed) == LOST
    assert answer_document(report).json() == answer_document(untouched).json()
    lines = (tmp_path / "two.jsonl").read_bytes().splitlines()
    assert len(lines) == len(set(lines)) == 41


def _dies(_question: SweepQuestion) -> SweepOutcome:
    os._exit(9)


@pytest.mark.slow
def test_a_point_that_kills_whoever_computes_it_ends_the_sweep_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "RETRIES", 1)
    questions: Sequence[SweepQuestion] = [SweepQuestion(workload="bert", flags={})] * 2
    with pytest.raises(InputError, match="died again and again") as raised:
        list(backends.here(questions, _dies, 2))
    assert raised.value.code == "cluster-failed"
    assert "--jobs 1" in raised.value.hint


def running_with(text: str) -> list[str]:
    """Command lines that hold a text, of processes that did not end."""
    texts = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            words = (folder / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in words and state != "Z":
            texts.append(folder.name)
    return texts


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")
def test_no_process_outlives_a_sweep_that_is_killed(tmp_path: Path) -> None:
    file, mark = tmp_path / "a.toml", f"SWEEP_MARK={tmp_path}"
    file.write_text(SWEEP.replace("to = 59\ncount = 40", "to = 1019\ncount = 1000"))
    running = subprocess.Popen(
        [sys.executable, "-m", "podsim", "sweep", str(file), "--jobs", "2"],
        env={**os.environ, "SWEEP_MARK": str(tmp_path)},
    )
    results = tmp_path / "a.results.jsonl"
    ended_s = time.monotonic() + 60
    while not (results.exists() and results.read_bytes().count(b"\n") > 2):
        assert time.monotonic() < ended_s, "nothing is stored"
        time.sleep(0.02)
    assert len(running_with(mark)) >= 3
    running.kill()
    running.wait()
    ended_s = time.monotonic() + 90
    while running_with(mark):
        assert time.monotonic() < ended_s, "a process is left"
        time.sleep(0.1)
