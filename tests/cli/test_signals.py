"""SIGINT, SIGTERM and SIGHUP: the documented exit code, one line of why, no traceback, no process left."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOMENTS = int(os.environ.get("SIGNAL_MOMENTS", "4"))  # 40 were tried by hand
ENDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "terminal closed"}


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A sweep of 2,000 points."""
    path = tmp_path / "a.toml"
    text = (ROOT / "tests/cases/sweeps/splits.toml").read_text(encoding="utf-8")
    path.write_text(text + '\n[[axis]]\nname = "samples"\nfrom = 1e6\nto = 2e6\ncount = 500\n')
    return path


def start(*words: str, before: str = "") -> subprocess.Popen[str]:
    """A command in a process group of its own; `before` is Python to run in its process first.

    It takes signals as one typed at a terminal does, also where the suite itself was started to ignore them.
    """
    reset = f"import signal\nfor number in {[int(number) for number in ENDS]}: signal.signal(number, signal.SIG_DFL)\n"
    reset += "signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{reset}\n{before}\nimport sys; from podsim.__main__ import run; sys.exit(run())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def wait_for_results(results: Path) -> None:
    ended_s = time.monotonic() + 60
    while not (results.exists() and results.read_bytes().count(b"\n") > 2):
        assert time.monotonic() < ended_s, "nothing is stored"
        time.sleep(0.02)


def living(group: int) -> list[str]:
    """Processes of a group that did not end within some seconds of the one that started them."""
    ended_s = time.monotonic() + 10
    while (living := _living(group)) and time.monotonic() < ended_s:
        time.sleep(0.05)
    return living


def _living(group: int) -> list[str]:
    living = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if of == str(group) and state != "Z":
            living.append(path.parent.name)
    return living


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["group", "process"])
@pytest.mark.parametrize("number", ENDS)
def test_a_sweep_says_how_to_go_on(number: signal.Signals, whom: str, sweep: Path) -> None:
    """A terminal and a service manager signal all processes at once, `kill` only one."""
    running = start("sweep", str(sweep), "--jobs", "2", "--anew")
    results = sweep.with_suffix(".results.jsonl")
    wait_for_results(results)
    (os.killpg if whom == "group" else os.kill)(running.pid, number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + number, err
    assert out == ""
    text, last = err.splitlines()
    assert last == ENDS[number]
    stored = results.read_bytes().count(b"\n") - 1
    assert text == f"{stored} of 2,000 points are stored; to go on: podsim sweep {sweep} --jobs 2"
    assert results.read_bytes().endswith(b"\n")
    assert living(running.pid) == []


@pytest.mark.slow
def test_two_signals_at_once_end_it_once(sweep: Path) -> None:
    running = start("sweep", str(sweep), "--jobs", "2")
    wait_for_results(sweep.with_suffix(".results.jsonl"))
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
        os.killpg(running.pid, number)
    _, err = running.communicate(timeout=60)
    assert running.returncode in {129, 143}
    assert len(err.splitlines()) == 2
    assert living(running.pid) == []


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_any_command_at_any_moment(moment: int, sweep: Path) -> None:
    draw = random.Random(moment)  # noqa: S311  (no secret)
    words = [["sweep", str(sweep), "--jobs", "2"], ["calibrate", "--dry-run"], ["plan", "bert", "--within", "1h"]]
    number, command = draw.choice(list(ENDS)), words[moment % len(words)]
    running = start(*command, before="import sys; sys.stdout.write('.'); sys.stdout.flush()")
    assert running.stdout
    assert running.stdout.read(1) == ".", "from here on podsim is responsible, not Python"
    time.sleep(0.05 + draw.uniform(0, 2.5))
    os.killpg(running.pid, number)
    _, err = running.communicate(timeout=60)
    if running.returncode != 0:  # it was quicker
        assert running.returncode == 128 + number, err
        assert err.splitlines()[-1] == ENDS[number]
        assert len(err.splitlines()) <= 2
    assert living(running.pid) == []


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_in_a_finalizer_is_not_lost(number: signal.Signals) -> None:
    """Python prints and forgets what is raised there, be it by the handler of a signal."""
    before = f"""
import os, podsim.cli.command_line
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), {int(number)})
def main():
    one = Finalized()
    del one
    import time
    time.sleep(60)
podsim.cli.command_line.main = main
"""
    running = start(before=before)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (128 + number, f"{ENDS[number]}\n")


@pytest.mark.slow
def test_what_the_caller_has_ignored_stays_ignored(tmp_path: Path) -> None:
    """As nohup does with SIGHUP."""
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    running = start("calibrate", "--dry-run", "-q", before=ignore + "; print('on', flush=True)")
    assert running.stdout
    assert running.stdout.readline() == "on\n"
    time.sleep(1)
    os.killpg(running.pid, signal.SIGHUP)
    time.sleep(0.5)
    assert running.poll() is None
    running.terminate()
    assert running.wait(timeout=60) == 143
    running.communicate()
