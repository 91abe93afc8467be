"""What the logs say without a model: overheads and factors, against the filed runs."""

import csv
from math import exp, log
from pathlib import Path
from statistics import fmean, median

import pytest

from podsim.api.upkeep import cases as _cases
from podsim.calibrate import learn
from podsim.files import catalog

CASES = _cases()
ROOT = Path(__file__).parents[2]


def test_start_up_is_the_median_over_submissions():
    """Of submissions, each itself the median of its runs."""
    found = learn.overheads(CASES)
    for sdk in ("2.1", "2.3"):
        own = [c.point.startup_s for c in CASES if c.point.workload == "bert" and c.point.sdk == sdk]
        assert found["bert"][sdk].startup_s == pytest.approx(median(own), abs=1e-4)


def test_bert_writes_no_checkpoints_and_never_switches_graphs():
    for overhead in learn.overheads(CASES)["bert"].values():
        assert (overhead.checkpoint_s, overhead.graph_switch_s) == (0, 0)


def test_a_checkpoint_is_what_training_took_beyond_its_steps():
    """From the single runs: (train - steps x step) / evaluations, medians over the four LARS submissions."""
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    by_system: dict[str, list[float]] = {}
    for run in runs:
        if run["benchmark"] == "resnet" and run["round"] == "1.1":
            spare_s = float(run["train_s"]) - float(run["steps"]) * float(run["step_ms"]) / 1e3
            by_system.setdefault(run["system"], []).append(spare_s / float(run["evaluations"]))
    expected = median(fmean(values) for values in by_system.values())
    assert learn.overheads(CASES)["resnet50"]["2.3"].checkpoint_s == pytest.approx(expected, rel=0.05)


def test_an_sdk_without_a_log_takes_what_there_is():
    """BERT alone has no 2.1 log here, so both SDKs get the medians of its 2.3 logs."""
    kept = [c for c in CASES if c.point.workload == "resnet50" or c.point.sdk == "2.3"]
    found = learn.overheads(kept)["bert"]
    assert found["2.1"] == found["2.3"]


def test_factors_are_geometric_means_over_submissions():
    """BERT closed by hand: the reference needs 2,768,215 samples at 3,072 and 3,321,446 at 6,144."""
    reference = {3072: 2768215, 6144: 3321446}
    found = learn.samples_factors(CASES)["bert"]["lamb"]
    for division in ("closed", "open"):
        points = [p for p in catalog.points() if p.workload == "bert" and p.division == division]
        logs = [log(p.samples_to_converge / reference[p.global_batch]) for p in points]
        assert found[division].factor == pytest.approx(exp(fmean(logs)), rel=1e-4)
        assert found[division].points == 5
    assert found["open"].factor < found["closed"].factor


def test_momentum_needs_more_samples_than_lars():
    found = learn.samples_factors(CASES)["resnet50"]
    assert found["momentum"]["closed"].factor > 1.2 > found["lars"]["closed"].factor > 1
    assert (found["momentum"]["closed"].points, found["lars"]["closed"].points) == (2, 4)


def test_two_submissions_are_not_believed_to_the_digit():
    momentum = learn.samples_factors(CASES)["resnet50"]["momentum"]["closed"]
    assert momentum.spread >= learn.LEAST_SPREAD
