"""What a cold process costs: memory as the system counts it, time only as a difference within one run."""

import subprocess
import sys
import time

import pytest
from engines.worlds import published

from podsim.engines import analytic
from podsim.engines.des import pod as des

MOST_BYTES = 200e6
HELP_S = 0.150  # over a bare interpreter
RUNS = 5

CHILD = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "podsim", *sys.argv[1:]], stdout=subprocess.DEVNULL)
unit = 1 if sys.platform == "darwin" else 1024
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)
"""


def best_s(*arguments, folder):
    """Wall time of the quickest of a few runs of Python with these arguments."""
    took_s = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        took_s.append(time.perf_counter() - began)
    return min(took_s)


@pytest.mark.skipif(sys.platform == "win32", reason="resource is of Unix")
def test_a_prediction_fits_in_200_mb(tmp_path):
    command = [sys.executable, "-c", CHILD, "predict", "bert", "--pod", "512"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    code, peak_bytes = map(int, run.stdout.split())
    assert code == 0, run.stderr
    assert 10e6 < peak_bytes <= MOST_BYTES


def test_help_is_quick(tmp_path):
    bare_s = best_s("-c", "pass", folder=tmp_path)
    assert best_s("-m", "podsim", "--help", folder=tmp_path) - bare_s <= HELP_S


@pytest.mark.parametrize("engine", [analytic, des], ids=["analytic", "des"])
def test_folding_is_at_least_five_times_faster_on_a_rack(engine):
    """14,000 tasks against 400: both run in turn, the best of each."""
    setup = published("bert", "pod64")
    programs = {folded: setup.program(folded=folded) for folded in (True, False)}
    took_s = {True: [], False: []}
    for _ in range(3):
        for folded, program in programs.items():
            began = time.perf_counter()
            engine.run(program, setup.fabric)
            took_s[folded].append(time.perf_counter() - began)
    assert min(took_s[False]) >= 5 * min(took_s[True])
