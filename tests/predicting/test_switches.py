"""Switches of a configuration that move an answer by more than a tenth are named with their effect."""

import pytest

import podsim

ASKED = {"replicas": 64, "ipus_per_replica": 8, "micro_batch": 3, "engine": "analytic"}


def said(**keywords):
    prediction = podsim.predict("bert", pod=512, **(ASKED | keywords))
    return prediction, [line for line in map(str, prediction.assumptions) if "a step" in line and "with " in line]


def test_collectives_that_are_not_merged_are_named_where_they_matter():
    """On eight racks each of 42 tensors pays six steps between them; merged ones pay six."""
    result, lines = said(accumulation=34)
    (line,) = lines
    assert line.startswith("a collective for each weight tensor or buffer, as in popart-v1.1-pod128")
    share = float(line.rpartition("merged into one, a step takes ")[2].split()[0]) / 100
    steps_s = result.breakdown_s["rack_steps"] + result.breakdown_s["collective_steps"]
    assert share == pytest.approx(steps_s * (1 - 1 / 42) / result.step_s.value, abs=0.01)


def test_what_moves_less_than_a_tenth_is_not_named():
    """The same update on a step of ten times the micro-batches, and on one rack."""
    assert said(accumulation=340)[1] == []
    one_rack = podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed", engine="analytic")
    assert not any("merged into one" in line for line in map(str, one_rack.assumptions))
