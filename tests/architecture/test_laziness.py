"""What a command must not load: heavy packages cost a cold process more than the whole answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

MOST_MODULES = 280
"""Of podsim, that a short prediction loads. Who moves one out of its way lowers this number."""
PROBE = """
import json, sys
arguments = json.loads(sys.argv[1])
sys.argv = ["podsim", *arguments]
from podsim.cli.command_line import main
try:
    code = main()
except SystemExit as stop:
    code = stop.code
print(json.dumps([code or 0, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded_by(folder: Path, *arguments: str) -> set[str]:
    """Modules in memory when a podsim command of that line ends."""
    command = [sys.executable, "-c", PROBE, json.dumps(arguments)]
    run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    code, names = json.loads(run.stderr.splitlines()[-1])
    assert code == 0, run.stdout + run.stderr
    return set(names)


def test_import_podsim_loads_the_standard_library_only(tmp_path: Path) -> None:
    code = "import json, sys; old = set(sys.modules); import podsim; print(json.dumps(sorted(set(sys.modules) - old)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    assert "podsim" in loaded
    assert loaded - sys.stdlib_module_names == {"podsim"}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("predict", "--help")])
def test_help_loads_nothing_that_computes(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert loaded_by(tmp_path, *arguments).isdisjoint({"numpy", "networkx", "simpy", "scipy", "cattrs"})


def test_predict_loads_no_scipy(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "predict", "bert", "--pod", "16")
    assert "simpy" in loaded
    assert loaded.isdisjoint({"scipy", "networkx"})


def test_predict_loads_no_types_of_other_answers(tmp_path: Path) -> None:
    """Each dataclass costs half a millisecond, numpy.ma ten."""
    loaded = loaded_by(tmp_path, "predict", "bert", "--pod", "16")
    others = {
        f"podsim.model.{name}" for name in ("microbenchmark", "operator_report", "ranking", "trace", "validation")
    }
    assert "podsim.model.prediction" in loaded
    assert loaded.isdisjoint(others)
    assert ("numpy.ma" in loaded) is (int(np.__version__.split(".")[0]) < 2), "numpy 1 loads it by itself"


def test_the_analytic_engine_loads_no_simpy(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, "predict", "bert", "--pod", "16", "--engine", "analytic")
    assert loaded.isdisjoint({"simpy", "scipy", "networkx"})


def test_a_command_that_finds_its_plans_stored_loads_nothing_that_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PODSIM_CACHE", str(tmp_path / "cache"))
    making = {f"podsim.tiles.{name}" for name in ("product_plans", "product_search", "gather", "attention")}
    assert making < loaded_by(tmp_path, "predict", "bert", "--pod", "16", "--engine", "analytic")
    again = loaded_by(tmp_path, "predict", "bert", "--pod", "16", "--engine", "analytic")
    assert again.isdisjoint(making)
    assert sum(name.startswith("podsim") for name in again) <= MOST_MODULES
