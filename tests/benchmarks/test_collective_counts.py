"""What large collectives cost, in events and calls, which do not depend on how busy the machine is."""

import cProfile
import pstats
import subprocess
import sys

import pytest

import podsim


def calls(**flags):
    """Function calls of one question, asked before so that nothing is loaded any more."""
    podsim.collective("all-reduce", bytes="64 MiB", **flags)
    profile = cProfile.Profile()
    report = profile.runcall(podsim.collective, "all-reduce", bytes="64 MiB", **flags)
    return report, pstats.Stats(profile).total_calls


def test_every_step_of_a_ring_of_1024_is_simulated_and_nothing_else():
    """2,046 steps of three events: a latency, the solving of what starts, the end of what moves."""
    report, count = calls(topology="ring-1024", algorithm="ring")
    assert report.phases[0].steps == 2046
    assert 2046 <= report.events <= 3 * 2046
    assert count < 200_000


def test_a_larger_ring_costs_its_steps():
    small, large = (calls(topology=f"ring-{ranks}", algorithm="ring")[1] for ranks in (1024, 4096))
    assert large < 5 * small


def test_1024_racks_cost_little_more_than_8():
    """Racks are alike and switches tell one from the other: only the steps between racks grow, with their logarithm."""
    few, many = (calls(pod=pod, algorithm="three-phase") for pod in (512, 65536))
    assert many[0].events < 2 * few[0].events
    assert many[1] < 10 * few[1]


ALONE = """
import podsim
podsim.collective("all-reduce", bytes="64 MiB", pod=65536)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_65536_ipus_fit_into_300_megabytes():
    """In a process of its own, by its own peak: that of getrusage begins with what the parent held."""
    run = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 300 * 1024
