"""A sweep that is killed again and again: every point once, none lost, none recomputed after it was stored."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import podsim
from podsim.model.sweep import SweepOutcome, SweepQuestion, SweepRefusal
from podsim.studies.documents import answer_document
from podsim.studies.sweep import points

KILLS = int(os.environ.get("SWEEP_KILLS", "5"))  # 50 were tried by hand
POINTS = max(300, 20 * KILLS)
SWEEP = f"""schema = "podsim.sweep/1"
workload = "bert"
design = "random"
points = {POINTS}
[fixed]
pod = 16
engine = "analytic"
[[axis]]
name = "gw-link.bandwidth"
from = "50 Gbit/s"
to = "400 Gbit/s"
[[axis]]
name = "chip.clock"
from = "1 GHz"
to = "2 GHz"
"""
# The whole of `podsim.sweep` but the prediction itself, in the place of which stands one that is quick and tells a file
# what it computes.
QUICK = """
import os, sys, time
import podsim
from podsim.model.sweep import SweepOutcome, SweepRefusal
from podsim.studies.sweep import points

log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def outcome(question, folder, turn):
    found = points.key(question, points.files_of(turn, folder))
    os.write(log, (found + "\\n").encode())
    time.sleep(0.002)
    return SweepOutcome(key=found, refusal=SweepRefusal(code="none", message=question.flags["chip.clock"]))

points.outcome = outcome
podsim.sweep(sys.argv[1], jobs=1)
"""


def stored(results: Path) -> list[str]:
    """Keys of the whole lines of a results file."""
    raw = results.read_bytes() if results.exists() else b""
    lines = raw[: raw.rfind(b"\n") + 1].splitlines()[1:]
    return [json.loads(line)["key"] for line in lines]


def start(file: Path, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", QUICK, str(file), str(log)])


def killed(running: subprocess.Popen[bytes], results: Path, after: int) -> None:
    """Wait until so many points are stored, and a little longer, and send SIGKILL."""
    while running.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") > after):
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.01))  # noqa: S311  (no secret)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL, "it was to be killed, not to end"


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    file, log, results = tmp_path / "a.toml", tmp_path / "log", tmp_path / "a.results.jsonl"
    file.write_text(SWEEP)
    before: list[str] = []
    computed = 0
    for after in sorted(random.sample(range(5, POINTS - 60), KILLS)):
        running = start(file, log)
        killed(running, results, max(after, len(before) + 1))
        now = stored(results)
        assert now[: len(before)] == before, "what was stored stays"
        fresh = log.read_text().split()[computed:]
        assert not set(fresh) & set(before), "what was stored is not recomputed"
        before, computed = now, computed + len(fresh)
    assert start(file, log).wait() == 0
    keys = stored(results)
    assert keys[: len(before)] == before
    assert len(keys) == len(set(keys)) == POINTS
    assert not set(log.read_text().split()[computed:]) & set(before)


def test_the_table_does_not_tell_who_computed_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep in one go, and one whose results came in another order and in two goes, are the same bytes."""

    def outcome(question: SweepQuestion, folder: str, turn: str) -> SweepOutcome:
        refusal = SweepRefusal(code="none", message=question.flags["chip.clock"])
        return SweepOutcome(key=points.key(question, points.files_of(turn, folder)), refusal=refusal)

    monkeypatch.setattr(points, "outcome", outcome)
    file, path, two = tmp_path / "a.toml", tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    file.write_text(SWEEP.replace(f"points = {POINTS}", "points = 4"))
    whole = podsim.sweep(file, results=path, jobs=1)
    head, *lines = path.read_bytes().splitlines(keepends=True)
    two.write_bytes(b"".join([head, lines[2], lines[0], lines[1][:50]]))
    names: list[str] = []
    resumed = podsim.sweep(file, results=two, jobs=1, on_warning=names.append)
    assert (whole.stored, resumed.stored) == (0, 2)
    assert tuple(names) == resumed.warnings
    assert len(names) == 3, "a line that is cut short, where it is kept, and that lines moved"
    assert answer_document(resumed).json() == answer_document(whole).json()
    assert answer_document(resumed).csv() == answer_document(whole).csv()
