"""Traces and goodput of a machine with faults say so, in JSON and on the screen."""

import json

import pytest

import podsim
from podsim.report import chrome_trace, terminal
from podsim.report.digits import round_floats
from podsim.studies.documents import answer_document
from podsim.studies.goodput import report as goodput
from podsim.studies.trace import report as trace

FAULTS = ["ipu:2=0.5", "link:ipu4-ipu6=0.5"]
FLAGS = {"pod": 16, "preset": "mlperf-v1.1-closed"}


def screen(doc):
    return terminal.render(doc, terminal.Look(width=100))


def test_a_trace_lists_its_faults():
    result = podsim.trace("bert", faults=FAULTS, **FLAGS)
    assert answer_document(result).tree()["faults"] == FAULTS
    assert json.loads(chrome_trace.text(result))["otherData"]["faults"] == FAULTS
    assert "Faults: ipu:2=0.5, link:ipu4-ipu6=0.5" in screen(trace.document(result))
    whole = podsim.trace("bert", **FLAGS)
    assert "faults" not in answer_document(whole).tree()
    assert "faults" not in screen(trace.document(whole))


@pytest.mark.parametrize(
    ("faults", "shown"),
    [
        ([], "one of 4 equal replicas"),
        (["ipu:2=0.5"], "2 of 4 replicas, all kinds among them"),
        (["ipu:2=0.5", "ipu:6=0.6", "ipu:10=0.7"], "all 4 replicas"),
    ],
)
def test_a_trace_counts_the_kinds_of_replicas_it_shows(faults, shown):
    assert podsim.trace("bert", faults=faults, **FLAGS).shown == shown


def test_goodput_says_what_faults_cost():
    report = podsim.goodput("bert", runs=5, faults=FAULTS, **FLAGS)
    faults = answer_document(report).tree()["faults"]
    assert faults["texts"] == FAULTS
    assert faults["step_s"] == round_floats(report.step_s) > faults["healthy_step_s"]
    assert "Faults: ipu:2=0.5" in screen(goodput.document(report))
    assert "faults" not in answer_document(podsim.goodput("bert", runs=5, **FLAGS)).tree()


def test_noise_that_is_in_the_fit_adds_nothing():
    prediction = podsim.predict("bert", steps=1000, engine="analytic", **FLAGS)
    assert abs(prediction.noise.added_s) == 0 or abs(prediction.noise.added_s) > 1e-9 * prediction.run.training_s
