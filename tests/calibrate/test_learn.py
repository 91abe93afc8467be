"""What the logs say without a model: overheads and factors, against the filed runs."""

import csv
from dataclasses import replace
from math import exp, log
from pathlib import Path
from statistics import fmean, stdev

import pytest

from podsim.api.upkeep import cases as _cases
from podsim.calibrate import learn
from podsim.calibrate.overheads import apart, overheads, part
from podsim.files import catalog

CASES = _cases()
ROOT = Path(__file__).parents[2]


def test_start_up_is_the_geometric_mean_over_submissions():
    """Of submissions, each itself the median of its runs; its spread is that of their logs."""
    found = overheads(CASES)
    for sdk in ("2.1", "2.3"):
        logs = [log(c.point.startup_s) for c in CASES if c.point.workload == "bert" and c.point.sdk == sdk]
        startup = found["bert"][sdk].startup
        assert startup.fixed_s == pytest.approx(exp(fmean(logs)), abs=1e-4)
        assert startup.spread == pytest.approx(stdev(logs), abs=1e-4)


def test_later_evaluations_grow_with_the_machine():
    """A line meets sizes it has not seen far better than a median does: that is why there is one."""
    line = overheads(CASES)["resnet50"]["2.3"].each_evaluation
    assert line.per_ipu_s > 0
    two_sizes = overheads(CASES)["resnet50"]["2.1"].each_evaluation
    assert two_sizes.per_ipu_s == 0
    fits = {(one.workload, one.part): one for one in apart(CASES)}
    grown = fits["resnet50", "each_evaluation"]
    assert grown.held_out < 0.5 * grown.median_held_out
    for one in fits.values():
        assert one.held_out <= 1.02 * one.median_held_out, one


def test_a_line_is_found_again_and_a_mean_where_nothing_grows():
    def told(seconds_of):
        cases = [c for c in CASES if c.point.workload == "resnet50" and c.point.sdk == "2.3"]
        return [replace(c, point=replace(c.point, each_evaluation_s=seconds_of(c.topology.ipus))) for c in cases]

    line = part("each_evaluation", told(lambda ipus: 0.5 + 0.01 * ipus))
    assert (line.fixed_s, line.per_ipu_s, line.spread) == (0.5, 0.01, 0.0)
    assert part("each_evaluation", told(lambda ipus: 2.0)).per_ipu_s == pytest.approx(0.0, abs=1e-6)
    assert part("each_evaluation", told(lambda ipus: 100 / ipus)).per_ipu_s == 0


def test_no_machine_is_taken_for_larger_than_the_largest_fitted():
    parameters = catalog.parameters()
    largest = parameters.overhead_at("resnet50", "2.3", 256)
    assert parameters.overhead_at("resnet50", "2.3", 65536) == largest
    assert parameters.overhead_at("resnet50", "2.3", 16).each_evaluation_s < largest.each_evaluation_s
    assert parameters.overhead_at("resnet50", "9.9", 16) is None


def test_evaluations_of_bert_are_whole_steps():
    """Nothing is fitted to them, and they are met within 1 % where medians by SDK miss by half and more."""
    fit = next(one for one in apart(CASES) if (one.workload, one.part) == ("bert", "each_evaluation"))
    assert fit.held_out < 0.01
    assert fit.median_held_out > 0.5
    assert overheads(CASES)["bert"]["2.3"].each_evaluation.fixed_s == 0


def test_bert_writes_no_checkpoints_and_never_switches_graphs():
    for parts in overheads(CASES)["bert"].values():
        assert (parts.checkpoint.fixed_s, parts.graph_switch.fixed_s) == (0, 0)


def test_a_checkpoint_is_what_training_took_beyond_its_steps():
    """From the single runs: (train - steps x step) / evaluations, mean over the four LARS submissions."""
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    by_system: dict[str, list[float]] = {}
    for run in runs:
        if run["benchmark"] == "resnet" and run["round"] == "1.1":
            spare_s = float(run["train_s"]) - float(run["steps"]) * float(run["step_ms"]) / 1e3
            by_system.setdefault(run["system"], []).append(spare_s / float(run["evaluations"]))
    expected = exp(fmean(log(fmean(values)) for values in by_system.values()))
    assert overheads(CASES)["resnet50"]["2.3"].checkpoint.fixed_s == pytest.approx(expected, rel=0.05)


def test_an_sdk_without_a_log_takes_what_there_is():
    """BERT alone has no 2.1 log here, so both SDKs get the medians of its 2.3 logs."""
    kept = [c for c in CASES if c.point.workload == "resnet50" or c.point.sdk == "2.3"]
    found = overheads(kept)["bert"]
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
