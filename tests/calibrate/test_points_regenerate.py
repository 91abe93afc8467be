"""Every calibration point follows from the single runs kept in tests/data."""

from __future__ import annotations

import csv
import statistics
import tomllib
from pathlib import Path
from typing import Any

import pytest

from podsim.units import parse

ROOT = Path(__file__).parents[2]
WORKLOADS = {"bert": "bert", "resnet": "resnet50"}
OPTIMIZERS = {"lamb": "lamb", "lars": "lars", "sgd": "momentum"}
SDKS = {"1.0": "2.1", "1.1": "2.3", "2.0": "2.5"}  # from the filed system descriptions
SECONDS = ("step", "startup", "train", "first_evaluation", "each_evaluation", "graph_switch")

Run = dict[str, str]


def stack(locator: str) -> str:
    """What sets a submission apart from the others of its round, workload and machine: its framework, who submitted."""
    if "Paddle" not in locator:
        return ""
    return "-paddle-baidu" if locator.startswith("Baidu/") else "-paddle"


def submissions() -> dict[str, list[Run]]:
    """Point id to its runs."""
    submissions: dict[str, list[Run]] = {}
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        for run in csv.DictReader(file):
            machine = run["system"].removeprefix("IPU-").lower()
            key = f"{WORKLOADS[run['benchmark']]}/{machine}/v{run['round']}-{run['division']}"
            key += stack(run["source_path"])
            submissions.setdefault(key, []).append(run)
    return submissions


def filed_points() -> dict[str, dict[str, Any]]:
    """Point id to what its file says, quantities in SI, provenance dropped."""
    filed_points: dict[str, dict[str, Any]] = {}
    for path in sorted((ROOT / "calibration/points").glob("*.toml")):
        for table in tomllib.loads(path.read_text())["point"]:
            plain = {key: leaf["value"] if isinstance(leaf, dict) else leaf for key, leaf in table.items()}
            filed_points[plain["id"]] = plain | {key: parse(plain[key], "s") for key in SECONDS}
    return filed_points


def numbers(runs: list[Run], column: str) -> list[float]:
    """A column as floats; an empty cell is 0."""
    return [float(run[column] or 0) for run in runs]


def scored(runs: list[Run]) -> list[Run]:
    """The runs that count: fastest and slowest dropped, a run that missed the target being the slowest."""
    return sorted(runs, key=lambda run: (run["target_reached"] != "True", float(run["minutes_measured"])))[1:-1]


def spread(values: list[float]) -> float:
    """Relative standard deviation, three digits."""
    return float(f"{statistics.stdev(values) / statistics.mean(values):.3g}")


def regenerate(runs: list[Run]) -> dict[str, Any]:
    """The point that these runs make, rounded as the files are."""
    reached = [run for run in runs if run["target_reached"] == "True"]
    counted = scored(runs)

    def mean(column: str, digits: int) -> float:
        return round(statistics.mean(numbers(counted, column)), digits)

    def median(column: str) -> float:
        return round(statistics.median(numbers(runs, column)), 3)

    first = runs[0]
    return {
        "round": f"v{first['round']}",
        "division": first["division"],
        "sdk": SDKS[first["round"]],
        "optimizer": OPTIMIZERS[first["optimizer"]],
        "global_batch": int(first["global_batch"]),
        "runs": len(runs),
        "step": round(statistics.mean(numbers(reached, "step_ms")) / 1e3, 6),
        "step_spread": spread(numbers(reached, "step_ms")),
        "samples_to_converge": mean("samples_to_converge", 0),
        "samples_spread": spread(numbers(reached, "samples_to_converge")),
        "steps": mean("steps", 3),
        "evaluations": mean("evaluations", 3),
        "startup": median("startup_s"),
        "train": mean("train_s", 3),
        "first_evaluation": median("first_evaluation_s"),
        "each_evaluation": median("each_evaluation_s"),
        "graph_switch": median("graph_switch_s"),
        "minutes": mean("minutes_measured", 4),
        "score_minutes": mean("minutes", 4),
        "normalisation": float(first["normalisation"]),
        "locator": first["source_path"].replace("result_0", "result_*"),
    }


RUNS = submissions()
FILED = filed_points()


def test_every_submission_is_a_point() -> None:
    assert len(RUNS) == 28
    assert sum(map(len, RUNS.values())) == 230
    assert FILED.keys() == RUNS.keys()


@pytest.mark.parametrize("key", RUNS)
def test_point_follows_from_its_runs(key: str) -> None:
    filed = FILED[key]
    expected = regenerate(RUNS[key])
    assert {name: filed[name] for name in expected} == expected


@pytest.mark.parametrize("key", RUNS)
def test_point_names_agree_with_its_id(key: str) -> None:
    filed = FILED[key]
    name = f"{filed['workload']}/{filed['topology']}/{filed['round']}-{filed['division']}"
    assert key == name + stack(filed["locator"])
    assert filed["preset"] == f"mlperf-{filed['round']}-{filed['division']}"
    assert filed["source"] == f"mlperf-training-{filed['round'].replace('.', '-')}"


@pytest.mark.parametrize("key", RUNS)
def test_parts_of_a_point_add_up_to_its_minutes(key: str) -> None:
    """start + training + first evaluation + the others + graph switch; medians stand beside means, hence 1 %."""
    p = FILED[key]
    evaluations = p["first_evaluation"] + (p["evaluations"] - 1) * p["each_evaluation"]
    rebuilt = p["startup"] + p["train"] + evaluations + p["graph_switch"]
    assert rebuilt / 60 == pytest.approx(p["minutes"], rel=0.01)


@pytest.mark.parametrize("key", RUNS)
def test_steps_never_take_longer_than_training(key: str) -> None:
    """BERT trains nothing but steps; ResNet-50 also writes checkpoints, at most a seventh of its training."""
    p = FILED[key]
    least = 0.995 if p["workload"] == "bert" else 6 / 7
    assert least <= p["steps"] * p["step"] / p["train"] <= 1.005


@pytest.mark.parametrize("key", RUNS)
def test_score_is_what_the_clock_read_times_the_normalisation(key: str) -> None:
    p = FILED[key]
    assert p["minutes"] * p["normalisation"] == pytest.approx(p["score_minutes"], rel=1e-5)
    for run in RUNS[key]:
        assert float(run["normalisation"]) == p["normalisation"]


@pytest.mark.parametrize("key", [key for key in RUNS if key.startswith("bert/")])
def test_bert_samples_are_the_unpacked_sequences_of_its_steps(key: str) -> None:
    """2.0368 sequences a packed row over a nominal two: samples = 1.0184 x global batch x steps."""
    p = FILED[key]
    assert p["samples_to_converge"] / (p["global_batch"] * p["steps"]) == pytest.approx(1.0184, rel=1e-3)
