"""What points of a sweep share: processes, fabrics and collectives, counted."""

import joblib
import pytest

import podsim
from podsim.caches.tables import TABLES
from podsim.lowering import weight_update
from podsim.studies.sweep import backends, compute
from podsim.tiles import memory
from podsim.topology import build

SWEEP = """
schema = "podsim.sweep/1"
workload = "bert"
[fixed]
pod = 64
engine = "analytic"
ipus-per-replica = 4
micro-batch = 2
replicas = 16
[[axis]]
name = "accumulation"
values = [4, 8, 16]
[[axis]]
name = "ipu-link.bandwidth"
values = ["10 GB/s", "20 GB/s"]
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("PODSIM_CACHE", "")
    TABLES.clear()
    result = tmp_path / "splits.toml"
    result.write_text(SWEEP, encoding="utf-8")
    yield result
    TABLES.clear()


def counting(monkeypatch, owner, name):
    """A list with an entry for each call of a function that stays what it is."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *words, **named: calls.append(name) or function(*words, **named))
    return calls


def test_points_of_one_machine_share_its_fabric_and_collectives(file, monkeypatch):
    """Six points on two machines: collectives for the form in use and the others, none for what only notes weigh."""
    built, lowered = (
        counting(monkeypatch, build, "build"),
        counting(monkeypatch, weight_update, "_collectives"),
    )
    report = podsim.sweep(file, jobs=1)
    assert all(row.outcome.answer for row in report.rows)
    assert len(report.rows) == 6
    assert len(built) == 2
    assert len(lowered) == 2 * (1 + len(podsim.predict("bert", pod=64).forms or ()))


@pytest.mark.parametrize(
    ("change", "shared"),
    [("ipu-link.bandwidth=0.5x", True), ("chip.clock=1.5 GHz", True), ("chip.sram.per_tile=0.9x", False)],
)
def test_searches_of_machines_with_other_links_or_clock_share_what_fits(monkeypatch, change, shared):
    """Neither enters SRAM: what fits is weighed again only where the room is another."""
    TABLES.clear()
    weighed = counting(monkeypatch, memory, "fit")
    podsim.predict("bert", pod=16, engine="analytic")
    first = len(weighed)
    podsim.predict("bert", pod=16, engine="analytic", changes=[change])
    assert first > 20
    assert (len(weighed) - first < first / 4) == shared
    TABLES.clear()


def test_an_interruption_between_a_point_and_the_word_of_it_is_counted(file, monkeypatch):
    """What is stored is what the last word says, wherever a signal comes."""
    told, store = [], compute._store

    def interrupted(*words):
        store(*words)
        if len(told) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(compute, "_store", interrupted)
    with pytest.raises(KeyboardInterrupt):
        podsim.sweep(file, jobs=1, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 6), (1, 6), (2, 6), (3, 6)]
    assert file.with_suffix(".results.jsonl").read_text(encoding="utf-8").count("\n") == 1 + 3


def test_a_sweep_of_few_points_starts_no_process(file, monkeypatch):
    monkeypatch.setattr(backends, "START_S", float("inf"))
    started = counting(monkeypatch, joblib, "Parallel")
    assert len(podsim.sweep(file).rows) == 6
    assert not started


def test_points_that_are_left_go_to_all_cores(monkeypatch):
    """Those that this process has no time for, each once."""
    monkeypatch.setattr(backends, "START_S", 0.0)
    outcomes = list(backends.here(["a", "b", "c"], str.upper, None))
    assert sorted(outcomes) == ["A", "B", "C"]
