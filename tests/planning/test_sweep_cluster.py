"""A sweep on a Dask cluster: a scheduler and two processes on this machine, of which some are killed midway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import InputError
from podsim.studies.documents import answer_document
from podsim.studies.sweep import backends

pytest.importorskip("distributed")
SWEEP = """schema = "podsim.sweep/1"
workload = "bert"
[fixed]
pod = 64
engine = "analytic"
ipus_per_replica = 8
replicas = 8
micro_batch = 2
[[axis]]
name = "accumulation"
from = 20
to = 59
count = 40
whole = true
"""
PATIENCE_S = 60
LOST = min(int(os.environ.get("SWEEP_LOST", "1")), 3)  # a scheduler gives up a point that four processes died with


class Cluster:
    """Processes of Dask, each of one thread, which speak on the loopback only."""

    def __init__(self, folder: Path) -> None:
        self.file, self.folder = folder / "scheduler.json", folder
        self.running = [self._start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")]
        ended = time.monotonic() + PATIENCE_S
        while not self.file.exists():
            assert time.monotonic() < ended, "the scheduler does not start"
            time.sleep(0.05)

    def add(self) -> None:
        """One more that computes, which nobody starts again when it dies."""
        self.running.append(
            self._start("dask_worker", "--no-nanny", "--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1")
        )

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(json.loads(self.file.read_text())["address"])

    def _start(self, what: str, *flags: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{what}", *flags, "--scheduler-file", str(self.file)]
        with (self.folder / f"{what}.log").open("ab") as quiet:
            return subprocess.Popen(command, cwd=self.folder, stdout=quiet, stderr=quiet)

    def stop(self) -> None:
        """End whatever still runs."""
        for process in self.running:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler for which has no workers yet."""
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.stop()


@pytest.mark.slow
def test_some_are_killed_midway(cluster: Cluster, tmp_path: Path) -> None:
    """For each process that is lost, another one has come before."""
    cluster.add()
    cluster.add()
    file = tmp_path / "a.toml"
    file.write_text(SWEEP)
    here = podsim.sweep(file, results=tmp_path / "here.jsonl", jobs=1)
    lost: list[int] = []

    def on_progress(done: int, total: int) -> None:
        if len(lost) < LOST and done >= total * (len(lost) + 1) // (LOST + 3):
            cluster.running[1 + len(lost)].kill()
            lost.append(done)
            if len(lost) < LOST:
                cluster.add()

    there = podsim.sweep(
        file, results=tmp_path / "there.jsonl", backend="dask", scheduler=cluster.address, on_progress=on_progress
    )
    assert len(lost) == LOST
    assert [process.wait() < 0 for process in cluster.running[1 : 1 + LOST]] == [True] * LOST
    assert cluster.running[1 + LOST].poll() is None
    assert answer_document(there).json() == answer_document(here).json()
    lines = (tmp_path / "there.jsonl").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 41


@pytest.mark.slow
def test_the_scheduler_goes_away(cluster: Cluster, tmp_path: Path) -> None:
    cluster.add()
    file = tmp_path / "a.toml"
    file.write_text(SWEEP)
    with pytest.raises(InputError, match="it went away") as raised:
        podsim.sweep(
            file,
            backend="dask",
            scheduler=cluster.address,
            on_progress=lambda done, _: done and cluster.running[0].kill(),
        )
    assert raised.value.code == "cluster-failed"
    lines = (tmp_path / "a.results.jsonl").read_text().splitlines()
    assert 2 <= len(lines) == len(set(lines)) < 41


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(SWEEP)
    began_s = time.monotonic()
    with pytest.raises(InputError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9") as raised:
        podsim.sweep(file, backend="dask", scheduler="tcp://127.0.0.1:9")
    assert raised.value.code == "no-scheduler"
    assert time.monotonic() - began_s < 20
    assert (tmp_path / "a.results.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("address", slow_but(["nonsense"], ["nonsense", "foo://127.0.0.1:9", "tcp://127.0.0.1:port"]))
def test_what_is_no_address_is_refused_and_leaves_what_is_stored(tmp_path: Path, address: str) -> None:
    """In a process of its own: a client that was half made complains when that ends."""
    file, results = tmp_path / "a.toml", tmp_path / "a.results.jsonl"
    file.write_text(SWEEP.replace("count = 40", "count = 2"))
    podsim.sweep(file, jobs=1)
    before = results.read_bytes()
    words = ["sweep", str(file), "--anew", "--backend", "dask", "--scheduler", address]
    process = subprocess.run([sys.executable, "-m", "podsim", *words], capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert process.stderr.startswith("error: no-scheduler\n")
    assert "Traceback" not in process.stderr
    assert "Exception" not in process.stderr
    assert results.read_bytes() == before


@pytest.mark.slow
def test_nobody_computes(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podsim.studies.sweep.backends.HELPERS_S", 0.5)
    file = tmp_path / "a.toml"
    file.write_text(SWEEP)
    with pytest.raises(InputError, match="has no workers") as raised:
        podsim.sweep(file, backend="dask", scheduler=cluster.address)
    assert raised.value.code == "no-scheduler"


@pytest.mark.parametrize(
    "address", ["tls://127.0.0.1:9", "tls://", "foo://x", "ucx://a:1", "inproc://a", "://", "\x1b://"]
)
def test_an_address_that_is_none_is_refused_before_a_client_is_made(address):
    with pytest.raises(InputError) as error:
        backends.check_cluster(address)
    assert error.value.code == "no-scheduler"
